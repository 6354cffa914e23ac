// Trust holds for the very bytes that were pinned, and for nothing else.
import { expect, test } from "vitest";
import {
  type FileDigests,
  parsePin,
  pinFileName,
  printPin,
  trustStateOf,
  type WorkspacePin,
} from "../../src/config/trust.ts";

const A = "a".repeat(64);
const B = "b".repeat(64);
const pinOf = (files: WorkspacePin["files"], workspace = "/w"): WorkspacePin => ({
  version: 1,
  workspace,
  files,
  trustedAt: "2026-01-01T00:00:00.000Z",
  trustedBy: "ada",
});
const digests = (handrail: string | null): FileDigests => ({ "handrail.yaml": handrail, ".flow/config.json": null });

test.each([
  ["the same file", [pinOf({ "handrail.yaml": A })], A, "trusted"],
  ["another file", [pinOf({ "handrail.yaml": A })], B, "changed"],
  ["a file that is gone", [pinOf({ "handrail.yaml": A })], null, "changed"],
  ["a file where there was none", [pinOf({ "handrail.yaml": null })], A, "changed"],
  ["no file, as it was", [pinOf({ "handrail.yaml": null })], null, "trusted"],
  ["a file that the pin does not name", [pinOf({})], A, "changed"],
  ["a pinned file that is no longer read", [pinOf({ "handrail.yaml": A, "other.json": B })], A, "changed"],
  ["no pin", [], A, "untrusted"],
  ["the pin of another workspace", [pinOf({ "handrail.yaml": A }, "/other")], A, "untrusted"],
] as const)("%s", (_what, pins, now, state) => {
  expect(trustStateOf(pins, "/w", digests(now))).toBe(state);
});

test("a pin is read back as it was written, under its own name only", () => {
  const pin = pinOf({ "handrail.yaml": A });
  expect(parsePin(printPin(pin), `/c/trust/${pinFileName("/w")}`)).toEqual(pin);
  expect(() => parsePin(printPin(pin), `/c/trust/${pinFileName("/other")}`)).toThrow(
    /does not belong to the workspace `\/w`/,
  );
});

test.each([
  "",
  "{",
  "[]",
  '{"version":2}',
  JSON.stringify({ ...pinOf({ "handrail.yaml": "short" }) }),
  JSON.stringify({ ...pinOf({}), more: 1 }),
])("%j is no pin", (text) => {
  expect(() => parsePin(text, pinFileName("/w"))).toThrow(/run `handrail trust` again/);
});
