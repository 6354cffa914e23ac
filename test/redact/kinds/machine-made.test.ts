/** Random bytes in base64 are a secret beside a name that promises one, whatever their separators look like. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/redact/redact.ts";

const redactor = createRedactor();
const VALUES = 4_000;

/** The same bytes for everybody: they are drawn from a hash of their number. */
function bytesOf(number: number, length: number): Buffer {
  return createHash("shake256", { outputLength: length }).update(`value ${number}`).digest();
}

function missed(length: number, encoding: "base64" | "base64url", write: (value: string) => string): number {
  let count = 0;
  for (let number = 0; number < VALUES; number += 1) {
    const text = write(bytesOf(number, length).toString(encoding));
    if (redactor.find(text).length === 0) count += 1;
  }
  return count;
}

describe("random bytes beside a name", () => {
  test.each([
    [24, "base64", (value: string) => `password = "${value}"`, 8],
    [24, "base64", (value: string) => `secret: ${value}`, 8],
    [32, "base64", (value: string) => `CLIENT_SECRET=${value}`, 4],
    [48, "base64", (value: string) => `SECRET_KEY=${value}`, 4],
    [64, "base64", (value: string) => `"secretKey": "${value}"`, 4],
    [24, "base64url", (value: string) => `--token ${value}`, 8],
  ] as const)("%i of them in %s", (length, encoding, write, atMost) => {
    expect(missed(length, encoding, write)).toBeLessThanOrEqual(atMost);
  });

  test.each([
    "/n1YkCqxob/qg9H8h5kBhD/Wxch1Alfl",
    "QtndphWAn7u02jJkGpwJwG/r1RLQ/lYV",
    "kEAnUZIOoDJyBwTzxXl+UwatSrEfxkBd",
    "eg/ysvjz6lcBgEX8F3b10HD/xCnyMJ6Gw8i0Gaslt3TXdqDyELG/hXVoVgytIuvL",
  ])("%s", (value) => {
    expect(redactor.find(`password = "${value}"`)).toHaveLength(1);
  });
});

test.each([
  "src/components/MyButton/IndexPage.tsx",
  "/Applications/Xcode.app/Contents/Developer",
  "/home/somebody/Projects/Handrail/LICENSE",
  "com/example/MyHttpURLParser/IOUtils",
  "getTokenFromHttpServletRequest",
  "node_modules/@babel/parser/lib/index",
  "XMLHttpRequestUploadEventTarget",
  "C/Users/ADMINI~1/AppData/Local/Temp",
])("a path or a name is none: %s", (value) => {
  expect(redactor.find(`secret = "${value}"`)).toEqual([]);
});
