// Secrets in text that is coloured, escaped or joined: found as a reader or a program sees them.
import { expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { builtInRules, withBar } from "../../../src/redact/rule-set.ts";

const VALUE = "correct-horse-9-battery";
/** Without a bar for tokens that no name announces, which would hide some of them for another reason. */
const redactor = createRedactor({
  known: [{ rule: "env-deploy", value: VALUE }],
  rules: withBar(builtInRules(), undefined),
});
const ESCAPE = String.fromCharCode(27);
const TOKEN = fillTemplate("ghp_{checked}", seededRandom(3)).text;
const PASSWORD = "kT8-vQ2mZp4x";
const every = (change: (code: number) => string) => (text: string) =>
  [...text].map((character) => change(character.charCodeAt(0))).join("");
const hex = (code: number) => code.toString(16).padStart(2, "0");
const MIDDLE = 17;
const cut = (mark: string) => (text: string) => `${text.slice(0, MIDDLE)}${mark}${text.slice(MIDDLE)}`;

const SHAPES: Readonly<Record<string, (text: string) => string>> = {
  "a colour inside": cut(`${ESCAPE}[1;31m`),
  "a colour inside, in JSON": cut("\\u001b[1;31m"),
  "a colour inside, as a shell writes it": cut("\\033[0m"),
  "a colour at every fourth character": (text) => text.replace(/.{4}(?=.)/g, `$&${ESCAPE}[0m`),
  "escapes of JSON": every((code) => `\\u00${hex(code)}`),
  "escapes of JSON in JSON": every((code) => `\\\\u00${hex(code).toUpperCase()}`),
  "escapes of a string": every((code) => `\\x${hex(code)}`),
  "escapes of an address": every((code) => `%${hex(code).toUpperCase()}`),
  entities: every((code) => `&#${code};`),
  "entities in hexadecimal": every((code) => `&#x${hex(code)};`),
  "a plus between two literals": cut('" + "'),
  "a plus at the end of a line": cut("' +\n      '"),
  "a dot between two literals": cut('" . "'),
};

test.each(Object.entries(SHAPES))("a token with %s is hidden, and what is around it stays", (_, shape) => {
  const text = `start of it "${shape(TOKEN)}" and its end`;
  expect(redactor.redact(text).text).toBe('start of it "[REDACTED:github-token]" and its end');
});

test.each(Object.entries(SHAPES).slice(0, 10))("a password with %s is hidden beside its name", (_, shape) => {
  const text = `first line\ndb_password="${shape(`${PASSWORD}${PASSWORD}`)}"\nnext line`;
  expect(redactor.redact(text).text).toBe('first line\ndb_password="[REDACTED:named-secret]"\nnext line');
});

test("a name and its value are read through colours around them", () => {
  const text = `${ESCAPE}[36mDB_PASSWORD${ESCAPE}[0m=${ESCAPE}[33m${PASSWORD}${ESCAPE}[0m`;
  expect(redactor.redact(text).text).toBe(
    `${ESCAPE}[36mDB_PASSWORD${ESCAPE}[0m=${ESCAPE}[33m[REDACTED:named-secret]${ESCAPE}[0m`,
  );
});

test.each(Object.entries(SHAPES))("a known value with %s is hidden", (_, shape) => {
  expect(redactor.redact(`x "${shape(VALUE)}" y`).text).toBe('x "[REDACTED:env-deploy]" y');
});

test("shapes around ordinary text are no secrets", () => {
  const words = "an ordinary sentence about nothing at all, 12 files";
  for (const shape of Object.values(SHAPES)) expect(redactor.find(`x "${shape(words)}" y`)).toEqual([]);
});

test.each(Object.entries(SHAPES))("in pieces, a token with %s is hidden like in the whole", (_, shape) => {
  const text = `before\nstart "${shape(TOKEN)}" end\n${"after it\n".repeat(3)}`;
  const whole = redactor.redact(text).text;
  for (let size = 1; size < 9; size += 1) {
    const stream = redactor.stream();
    let out = "";
    for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
    expect(out + stream.end()).toBe(whole);
  }
});

test("a coloured line leaves a stream at once", () => {
  const stream = redactor.stream();
  const line = `${ESCAPE}[32mok${ESCAPE}[0m compiled\n`;
  expect(stream.push(line)).toBe(line);
});
