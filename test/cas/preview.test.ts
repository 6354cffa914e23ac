/** A preview is a beginning of the text, in whole characters, and fits when it is printed. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { preview } from "../../src/cas/preview.ts";

test("a preview is a beginning of the text, and fits as it is and as a JSON string", () => {
  const values = fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { maxLength: 20 });
  fc.assert(
    fc.property(values, fc.integer({ min: 8, max: 300 }), (value, bytesMax) => {
      const text = JSON.stringify(value);
      const shown = preview(text, bytesMax);
      expect(text.startsWith(shown)).toBe(true);
      expect(shown.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(bytesMax + 2);
    }),
  );
});

test("as much is shown as fits", () => {
  expect([preview("abcdef", 8), preview("abcdef", 7), preview('""""""', 8)]).toEqual(["abcdef", "ab", '"""']);
});
