/** Text made to keep the redactor busy costs no more than a bounded factor of plain text, and is searched in steps. */

import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/redact/redact.ts";
import { timesOfPlain } from "../../support/redaction-time.ts";

const CHARACTERS = 512 * 1024;
/** Times that hostile text may take as long as plain text of the same size, in the same run. */
const FACTOR_MAX = 30;

const redactor = createRedactor();
const filled = (unit: string) => unit.repeat(Math.ceil(CHARACTERS / unit.length));

const PARTS = [
  'password="',
  "eyJ",
  "token=",
  "-----BEGIN ",
  "abcDEF123456ghi",
  '"\n',
  "secret: ",
  "QUtJQ",
  "ghp_",
  " ",
];

const HOSTILE: Readonly<Record<string, string>> = {
  "names that begin": filled('password="'),
  "names with values": filled('password = "abcDEF123456ghi"\n'),
  "beginnings of tokens": filled("eyJ"),
  "values in values": filled("token="),
  "beginnings of keys": filled("-----BEGIN "),
  "tokens with dashes": filled("sk-ant-api03-"),
  "names with many keywords": filled("aws_secret_access_key_token_pass: aB3dE5gH7xx "),
  "base64 in two alignments": filled("LS0tLS1CRUdJTi"),
  "base64 with keywords of different lengths": filled("xpbl9vYXV0aF9"),
  hexadecimal: filled("0123456789abcdef0f1e2d3c4b5a6978"),
  "a mixture": filled(
    Array.from({ length: 997 }, (_, index) => PARTS[(index * index + index) % PARTS.length]).join(""),
  ),
  "UTF-16 as bytes": Buffer.from(filled("-----BEGIN ").slice(0, CHARACTERS / 2), "utf16le").toString("latin1"),
};

describe("hostile text", () => {
  test.each(Object.entries(HOSTILE))("%s costs a bounded factor of plain text", (_, text) => {
    expect(timesOfPlain(redactor, text, FACTOR_MAX)).toBeLessThan(FACTOR_MAX);
  });

  test.each(Object.entries(HOSTILE))("%s gives the same in steps, each of them a small part", (_, text) => {
    const steps = redactor.findInSteps(text);
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count += 1;
    expect(step.value).toEqual(redactor.find(text));
    expect(count).toBeGreaterThanOrEqual(CHARACTERS / 16_384);
  });
});
