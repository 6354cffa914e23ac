/** Secrets where people put them: every way to write a name beside its value that is documented. */
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/redact/redact.ts";

const redactor = createRedactor();
const KEY = "kT8vQ2mZp4xR7wLn9bYc";
const PASSWORD = "hunter22x9";

describe.each([
  ["a makefile's default", `DB_PASSWORD ?= ${KEY}`],
  ["a makefile's expansion", `api_token ::= ${KEY}`],
  ["what is appended in a script", `$password .= "${KEY}"`],
  ["a short declaration", `secret := "${KEY}"`],
  ["a declaration of Go", `var dbPassword string = "${PASSWORD}"`],
  ["a declaration with a type", `const apiKey: string = "${KEY}"`],
  ["a comparison", `if (password === '${PASSWORD}') {`],
  ["an element on lines of its own", `<password>\n    ${PASSWORD}\n  </password>`],
  ["cells of a table", `| api_key | ${KEY} |`],
  ["a variable of a container", `- name: DB_PASSWORD\n  value: ${PASSWORD}`],
  ["a pair in JSON", `{"name":"API_TOKEN","value":"${KEY}"}`],
  ["a default of Terraform", `variable "db_password" {\n  type = string\n  default = "${PASSWORD}"\n}`],
  ["an array of C", `char password[33] = "${PASSWORD}";`],
  ["a property list", `<key>ApiToken</key>\n  <string>${KEY}</string>`],
  ["a setting of .NET", `<setting name="ApiKey" serializeAs="String">\n  <value>${KEY}</value>`],
  ["elements beside each other", `<name>db.password</name><value>${PASSWORD}</value>`],
  ["a statement of PostgreSQL", `ALTER USER app WITH PASSWORD '${PASSWORD}';`],
  ["a statement of MySQL", `CREATE USER a IDENTIFIED BY '${PASSWORD}';`],
  ["mysql", `mysql -uroot -p${PASSWORD} db`],
  ["sshpass", `sshpass -p '${PASSWORD}' ssh a@b`],
  ["redis-cli", `redis-cli -a ${PASSWORD}`],
  ["docker login", `docker login -u x -p ${PASSWORD} r.io`],
  ["an option of one dash", `keytool -storepass ${PASSWORD} -list`],
  ["a header of curl", `curl -H "X-Api-Key: ${KEY}" https://x`],
  ["a folded value of YAML", `password: >-\n  ${KEY}\n`],
  ["a sentence", `the password is ${PASSWORD}.`],
  ["an arrow", `token -> ${KEY}`],
  ["an address of JDBC", `jdbc:mysql://h/db?user=x&password=${PASSWORD}`],
  ["a connection string", `Server=h;Uid=a;Pwd=${PASSWORD};`],
  ["a configuration of Redis", `requirepass ${KEY}`],
] as const)("%s", (_, text) => {
  const secret = text.includes(KEY) ? KEY : PASSWORD;

  test("hides the value", () => expect(redactor.redact(text).text).not.toContain(secret));

  test("leaves a reference alone", () => {
    const reference = text.replace(secret, "$" + "{SECRET_VALUE}");
    expect(redactor.redact(reference).text).toBe(reference);
  });
});

test.each([
  ["DB_PASSWORD=ab{c}d$12(x)9", "DB_PASSWORD=[REDACTED:named-secret]"],
  ['password: "Tr0ub4dor & 3"', 'password: "[REDACTED:named-secret]"'],
  ['password = "pa\\"ss12word9x"', 'password = "[REDACTED:named-secret]"'],
  ['{\\"password\\":\\"hunter22x9\\"}', '{\\"password\\":\\"[REDACTED:named-secret]\\"}'],
])("a value with spaces, brackets or quotes goes as a whole: %s", (text, expected) => {
  expect(redactor.redact(text).text).toBe(expected);
});

test.each([
  "if (token == nextToken) return",
  "docker run -p 127.0.0.1:8080:80 image2",
  "password=read_password(prompt2)",
  "the token is next_token2",
  '{"name":"passwordField","value":"shown"}',
  "password: |\n  username: bob\n",
  "<password>the new one</password>",
])("what only stands in such a place is no secret: %s", (text) => {
  expect(redactor.find(text)).toEqual([]);
});
