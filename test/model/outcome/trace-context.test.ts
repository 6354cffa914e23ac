/** The place in a trace that a caller sends, by W3C Trace Context. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTraceparent } from "../../../src/model/outcome/trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

test("a place is read with whether it is sampled", () => {
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.isSampled).toBe(false);
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-03`)?.isSampled).toBe(true);
});

test("a later version is read as far as it is known, with or without more", () => {
  expect(parseTraceparent(`01-${TRACE}-${SPAN}-01`)?.traceId).toBe(TRACE);
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-will-be`)?.traceId).toBe(TRACE);
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01.what`)).toBeUndefined();
});

test.each([
  ["the forbidden version", `ff-${TRACE}-${SPAN}-01`],
  ["more in the first version", `00-${TRACE}-${SPAN}-01-more`],
  ["upper case", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["an id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["an id that is short", `00-${TRACE.slice(1)}-${SPAN}-01`],
  ["blanks around it", ` 00-${TRACE}-${SPAN}-01 `],
  ["a line end behind it", `00-${TRACE}-${SPAN}-01\n`],
  ["nothing", ""],
  ["no text", 7],
  ["no text at all", null],
  ["what is longer than any may be", `cc-${TRACE}-${SPAN}-01-${"x".repeat(600)}`],
])("%s is no place", (_, text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test("whatever is sent, what is read are two ids of their length that are not zero", () => {
  const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
  const near = fc.tuple(hex(2), hex(32), hex(16), hex(2)).map((parts) => parts.join("-"));
  fc.assert(
    fc.property(fc.oneof(fc.anything(), near), (sent) => {
      const read = parseTraceparent(sent);
      if (read === undefined) return;
      expect(read.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
      expect(read.spanId).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
    }),
  );
});
