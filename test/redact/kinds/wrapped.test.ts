// Secrets inside base64 that is wrapped at the end of a line, and inside hexadecimal.
import { describe, expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { builtInRules, withBar } from "../../../src/redact/rule-set.ts";

/** Without a bar for tokens that no name announces, which would hide some lines for another reason. */
const redactor = createRedactor({ rules: withBar(builtInRules(), undefined) });
const random = seededRandom(9);
const KEY = fillTemplate("-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----", random).text;
const TOKEN = fillTemplate("ghp_{checked}", random).text;
const ORDINARY = "an ordinary sentence about nothing at all, with 12 files and no more; ".repeat(12);

const wrap = (text: string, columns: number, between: string) =>
  (text.match(new RegExp(`.{1,${columns}}`, "g")) ?? []).join(between);

describe.each([
  ["at 76", 76, "\n"],
  ["at 76, by mail", 76, "\r\n"],
  ["at 64", 64, "\n"],
  ["at 76, indented", 76, "\n    "],
  ["at 76, in JSON", 76, "\\n"],
])("base64 wrapped %s", (_, columns, between) => {
  test("of a private key is hidden whole, and what is around it stays", () => {
    const encoded = wrap(Buffer.from(KEY).toString("base64"), columns, between);
    expect(redactor.redact(`data:${between}${encoded}${between}next: 1`).text).toBe(
      `data:${between}[REDACTED:private-key]${between}next: 1`,
    );
  });

  test("of a text with a private key in it hides the key", () => {
    for (let before = 0; before < 57; before += 4) {
      const text = `${"x".repeat(before)}\n${KEY}\n${ORDINARY}`;
      const encoded = wrap(Buffer.from(text).toString("base64"), columns, between);
      const { text: shown } = redactor.redact(encoded);
      const lines = encoded.split(between).slice(2, 12);
      // where the opening line itself is cut by the end of a line, no keyword stands
      if (shown === encoded) continue;
      expect(lines.filter((line) => shown.includes(line))).toEqual([]);
      expect(shown.endsWith(encoded.slice(-200))).toBe(true);
    }
  });

  test("of ordinary text stays, in pieces too", () => {
    const encoded = wrap(Buffer.from(ORDINARY).toString("base64"), columns, between);
    expect(redactor.find(encoded)).toEqual([]);
    const secret = `${encoded}${between}${wrap(Buffer.from(KEY).toString("base64"), columns, between)}`;
    const stream = redactor.stream();
    let out = "";
    for (let at = 0; at < secret.length; at += 37) out += stream.push(secret.slice(at, at + 37));
    expect(out + stream.end()).toBe(redactor.redact(secret).text);
  });
});

describe("hexadecimal", () => {
  test.each([
    ["a private key", KEY, "private-key"],
    ["a token", TOKEN, "github-token"],
  ])("of %s is hidden in both cases", (_, secret, rule) => {
    for (const hex of [Buffer.from(secret).toString("hex"), Buffer.from(secret).toString("hex").toUpperCase()]) {
      expect(redactor.redact(`data: ${hex} end`).text).toBe(`data: [REDACTED:${rule}] end`);
      expect(redactor.redact(`0x0a${hex}0a`).text).toBe(`0x0a[REDACTED:${rule}]0a`);
    }
  });

  test("of ordinary text and of beginnings alone stays", () => {
    for (const text of [ORDINARY, "-----BEGIN RSA PRIVATE KEY----- is how they begin", "ghp_ is how they begin"])
      expect(redactor.find(Buffer.from(text).toString("hex"))).toEqual([]);
  });
});
