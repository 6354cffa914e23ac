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
  ["a sentence with a place", `the db_password for staging is ${PASSWORD}, change it`],
  ["the shell of C", `setenv DB_PASSWORD ${PASSWORD}`],
  ["a variable of an image", `FROM debian\nENV DB_PASSWORD ${PASSWORD}\n`],
  ["what counts where a variable is not set", `const a = process.env.DB_PASSWORD ?? "${PASSWORD}";`],
  ["the same in a shell", `echo "\${DB_PASSWORD:-${PASSWORD}}"`],
  ["a property of C#", `public string Password { get; set; } = "${PASSWORD}";`],
  ["cells of CSV", `host,db,main\nDB_PASSWORD,"${PASSWORD}",rotate\n`],
  ["a command that reads it from another", `echo '${PASSWORD}' | docker login -u bot --password-stdin`],
  ["PowerShell", `$p = ConvertTo-SecureString "${PASSWORD}" -AsPlainText -Force`],
  ["a block of YAML", `data:\n  password: |\n    ${PASSWORD}\n  other: 1\n`],
  ["a login of curl", `curl -u 'bot:${PASSWORD}' https://x`],
  ["a variable before a command", `PGPASSWORD=${PASSWORD} psql -h db`],
  ["a line of a log", `loaded smtp_password=${PASSWORD} from env`],
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

const CHOSEN = [
  "dragon42x",
  "tiger1987",
  "Falcon2019!",
  "winter-dragon-2024",
  "4051728396",
  "winter falcon dragon 1720",
  "kT8v{Q2mZp}4x",
  "vr<qW.K$&H|ceJ5)Q2NY",
  "aqEDr3\\EYYVcH",
  "x7/io<?(:a{N9}-Vp]5w",
];

test.each(CHOSEN)("what people choose is one behind a name that says so: %s", (password) => {
  const literal = JSON.stringify(password);
  for (const text of [`DB_PASSWORD=${literal}`, `session_secret: ${literal}\n`, `password = ${password}\nport = 1\n`])
    expect(redactor.redact(text).text).toContain("[REDACTED:named-secret]");
  for (const text of [`DB_HOST=${literal}`, `title: ${literal}\n`]) expect(redactor.redact(text).text).toBe(text);
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
  'algorithms = ["password", "scram-sha-256"]',
  "if you pass `spec=True` here",
  "to pass -R/path/to/dir has been replaced",
  "apt\tpasswd\t1:4.13+dfsg1-1+deb12u1",
  "setSecret(secret: Uint8Array): void",
  "P.Minipass=P.isWritable=P.isReadable=P.isStream=void 0",
  "onresumptiontoken: onLastEventIdUpdate",
  "s({...t,oauthClientSecret:e.clientSecret,oauthScopes:e.scopes,x})",
  'all columns identified by "colUsed"',
  "socat -u UDP-RECVFROM:8888,reuseaddr,fork x",
  "-pass | -pkcs11engine | -x",
  'password: "Must have at least 8 characters"',
  "the secret: correct horse battery staple",
])("what only stands in such a place is no secret: %s", (text) => {
  expect(redactor.find(text)).toEqual([]);
});

const HEADER = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
const SIGNATURE = "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
const claims = (name: string) =>
  Buffer.from(JSON.stringify({ sub: "1234567890", name, iat: 1516239022 })).toString("base64url");
const login = (text: string) => Buffer.from(text).toString("base64");

test.each([
  ["a token", `${HEADER}.${claims("John Doe")}.${SIGNATURE}`, `${HEADER}.${claims("Jane Roe")}.${SIGNATURE}`],
  ["a token for access", '"access_token":"2YotnFZFEjr1zCsicMWpAA"', '"access_token":"3YotnFZFEjr1zCsicMWpAA"'],
  [
    "a login",
    `Authorization: Basic ${login("s6BhdRkqt3:gX1fBat3bV")}`,
    `Authorization: Basic ${login("s6BhdRkqt4:gX1fBat3bV")}`,
  ],
])("%s that a standard prints is no secret, and another one is", (_, printed, other) => {
  expect(redactor.find(printed)).toEqual([]);
  expect(redactor.find(other)).toHaveLength(1);
});
