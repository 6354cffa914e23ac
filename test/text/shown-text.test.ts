// Bytes as a caller may see them: markers for secrets, and the way back.
import fc from "fast-check";
import { expect, test } from "vitest";
import { shownBytes } from "../../src/text/shown-text.ts";

test("a place that is shown leads back to the same bytes, and one with a marker in it leads nowhere", () => {
  const texts = fc.array(fc.tuple(fc.string({ maxLength: 6 }), fc.string({ minLength: 1, maxLength: 6 })), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(texts, fc.nat(80), fc.nat(20), (parts, from, length) => {
      let at = 0;
      const hidden = parts.map(([open, secret]) => {
        const start = at + Buffer.byteLength(open);
        at = start + Buffer.byteLength(secret);
        return { start, end: at, marker: "[M]" };
      });
      const original = Buffer.from(`${parts.map(([open, secret]) => open + secret).join("")}end`);
      const shown = shownBytes(original, hidden);
      expect(shown.bytes.toString("latin1")).toBe(
        Buffer.from(`${parts.map(([open]) => `${open}[M]`).join("")}end`).toString("latin1"),
      );
      const start = Math.min(from, shown.bytes.length);
      const end = Math.min(start + length, shown.bytes.length);
      const place = shown.placeOf(start, end);
      if (place === undefined) expect(hidden.length).toBeGreaterThan(0);
      else {
        expect(original.subarray(place.start, place.end)).toEqual(shown.bytes.subarray(start, end));
        for (const range of hidden)
          expect(place.end <= range.start || place.start >= range.end || place.start === place.end).toBe(true);
      }
    }),
  );
});

test("each position leads to where it is shown, and back; one within a secret leads nowhere", () => {
  const hidden = [
    { start: 2, end: 5, marker: "[MARKER]" },
    { start: 8, end: 9, marker: "[]" },
  ];
  const original = Buffer.from("ab345fghX-end");
  const shown = shownBytes(original, hidden);
  expect(shown.bytes.toString()).toBe("ab[MARKER]fgh[]-end");
  const ways = [...original.keys()].map((position) => shown.shownAt(position));
  expect(ways).toEqual([0, 1, 2, undefined, undefined, 10, 11, 12, 13, 15, 16, 17, 18]);
  for (const position of [0, 1, 5, 6, 7, 9, 12]) {
    const at = shown.shownAt(position) ?? -1;
    expect(shown.placeOf(at, at + 1)).toEqual({ start: position, end: position + 1 });
  }
  expect(shownBytes(original, []).shownAt(4)).toBe(4);
});
