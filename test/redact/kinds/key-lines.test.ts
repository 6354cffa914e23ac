// Private keys as logs, searches and source code show them: each line with something before and behind it.
import { describe, expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { builtInRules, withBar } from "../../../src/redact/rule-set.ts";

/** Without a bar for tokens that no name announces, which would hide some lines for another reason. */
const redactor = createRedactor({ rules: withBar(builtInRules(), undefined) });
const random = seededRandom(7);
const body = (lines: number, length: number) => [
  ...Array.from({ length: lines }, () => fillTemplate(`{b${length}}`, random).text),
  `${fillTemplate("{b22}", random).text}==`,
];
const KEYS: Readonly<Record<string, readonly string[]>> = {
  PEM: ["-----BEGIN RSA PRIVATE KEY-----", ...body(12, 64), "-----END RSA PRIVATE KEY-----"],
  OpenSSH: ["-----BEGIN OPENSSH PRIVATE KEY-----", ...body(5, 70), "-----END OPENSSH PRIVATE KEY-----"],
  PuTTY: ["Private-Lines: 9", ...body(8, 64), "Private-MAC: 00ff"],
};
const at = (index: number) => String(index).padStart(2, "0");
const ESCAPE = String.fromCharCode(27);
const SHAPES: Readonly<Record<string, (line: string, index: number) => string>> = {
  "with times": (line, index) => `2026-11-27T03:24:${at(index)}.123456789Z ${line}`,
  "of docker compose": (line) => `api-1  | ${line}`,
  "of docker compose, in colour": (line) => `${ESCAPE}[36mapi-1  | ${ESCAPE}[0m${line}`,
  "of docker compose, with times": (line, index) => `api-1  | 2026-11-27T03:24:${at(index)}Z ${line}`,
  "of grep -n": (line, index) => `deploy/keys/server.pem:${index + 1}:${line}`,
  "of grep in colour": (line, index) =>
    `${ESCAPE}[35m${ESCAPE}[Kkey.pem${ESCAPE}[m${ESCAPE}[K${ESCAPE}[36m:${ESCAPE}[m${ESCAPE}[32m${index}${ESCAPE}[m${ESCAPE}[36m:${ESCAPE}[m${line}`,
  "of grep -A": (line, index) => `key.pem-${index + 1}-${line}`,
  "of cat -n": (line, index) => `${String(index + 1).padStart(6)}\t${line}`,
  "with numbers and a bar": (line, index) => `${index + 1} | ${line}`,
  "of journalctl": (line) => `Nov 27 03:24:48 host-1 app[1234]: ${line}`,
  "in colour": (line) => `${ESCAPE}[32m${line}${ESCAPE}[0m`,
  "in JSON of a container's log": (line, index) =>
    `{"log":"${line}\\n","stream":"stdout","time":"2026-11-27T03:24:${at(index)}.1Z"}`,
  "joined by +": (line) => `    "${line}\\n" +`,
  "joined by dots": (line) => `    '${line}' . PHP_EOL .`,
  "joined by ampersands": (line) => `    "${line}" & vbCrLf & _`,
  "as elements of a list": (line) => `    "${line}",`,
  "as comments": (line) => `// ${line}`,
  "in a quoted mail": (line) => `> > ${line}`,
  "in a table": (line, index) => `| ${index} | ${line} | x |`,
  "of a log with levels": (line) => `[pod/api-7d9f/main] INFO  com.acme.Boot - ${line}`,
};

describe.each(Object.entries(KEYS))("a key of %s", (_, lines) => {
  const secret = lines.slice(1, -1);

  test.each(Object.entries(SHAPES))("%s is hidden whole, and what follows stays", (_name, shape) => {
    const text = `before\n${lines.map(shape).join("\n")}\nafter it 12\n`;
    const { text: shown } = redactor.redact(text);
    expect(secret.filter((line) => shown.includes(line))).toEqual([]);
    expect(shown.startsWith("before\n")).toBe(true);
    expect(shown.endsWith("\nafter it 12\n")).toBe(true);
    const inJson = redactor.redact(JSON.stringify({ text })).text;
    expect(secret.filter((line) => inJson.includes(line))).toEqual([]);
  });

  test.each(Object.entries(SHAPES))("%s is hidden when it ends early", (_name, shape) => {
    const text = lines.slice(0, 5).map(shape).join("\n");
    const { text: shown } = redactor.redact(text);
    expect(secret.filter((line) => shown.includes(line))).toEqual([]);
  });
});

test("lines of another container between those of a key hide neither it nor what is behind it", () => {
  const lines = (KEYS["PEM"] ?? []).flatMap((line, index) => [
    `api-1  | ${line}`,
    ...(index % 3 === 0 ? ["db-1   | LOG: checkpoint starting"] : []),
  ]);
  const { text } = redactor.redact(`${lines.join("\n")}\ndb-1   | ready\n`);
  expect(text).toBe("api-1  | [REDACTED:private-key]\ndb-1   | ready\n");
});

test.each([
  [
    "a message about a key",
    "bad key: want -----BEGIN PRIVATE KEY-----\n",
    "[12:00:01] trace {h32} GET /api/v1/users\n",
  ],
  [
    "paths below it",
    "if (!pem.startsWith('-----BEGIN PRIVATE KEY-----'))\n",
    "  at /srv/app/node_modules/aB3/dist/commonjs/lib/index (x)\n",
  ],
])("%s is no key", (_, first, other) => {
  const text = first + Array.from({ length: 30 }, () => fillTemplate(other, random).text).join("");
  expect(redactor.find(text)).toEqual([]);
});

test("a key in pieces is hidden like the whole", () => {
  const shape = SHAPES["of docker compose"] ?? String;
  const text = `x\n${(KEYS["PEM"] ?? []).map(shape).join("\n")}\ny\n`;
  const stream = redactor.stream();
  const pieces = text.split(/(?<=\n)/).map((piece) => stream.push(piece));
  expect(pieces.join("") + stream.end()).toBe(redactor.redact(text).text);
});
