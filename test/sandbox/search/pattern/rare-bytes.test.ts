// A text is found where it is, whichever of its bytes is looked for, and however often that stands elsewhere.
import fc from "fast-check";
import { expect, test } from "vitest";
import { earliestPlace, soughtOf } from "../../../../src/sandbox/search/pattern/rare-bytes.ts";

test("the rarest byte of a text is looked for", () => {
  const rare = (text: string) => Buffer.from(soughtOf(Buffer.from(text)).rare).toString();
  expect(rare("value77 = compute")).toBe("77 = c");
  expect(rare("createSearchAccess")).toBe("Search");
  expect(rare("aaa")).toBe("aaa");
  expect(rare("done(")).toBe("(");
});

test("no text begins before the place that is told, and most begin there", () => {
  const letters = fc
    .array(fc.constantFrom("a", "b", "Q", "7", " ", "\n", "é"), { maxLength: 60 })
    .map((parts) => parts.join(""));
  const wanted = fc
    .array(fc.constantFrom("a", "b", "Q", "7", " ", "é"), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(letters, wanted, fc.nat(10), (content, text, from) => {
      const bytes = Buffer.from(content);
      expect(earliestPlace(bytes, soughtOf(Buffer.from(text)), from)).toBe(bytes.indexOf(text, from));
    }),
    { numRuns: 2000 },
  );
});

test("where its rare bytes are frequent it is not looked for any further, and it is not before", () => {
  const bytes = Buffer.from(`${"Qa".repeat(1000)}Qb`);
  const place = earliestPlace(bytes, soughtOf(Buffer.from("Qb")), 0);
  expect(place).toBe(bytes.indexOf("Qb")); // the byte behind it is looked for with it
  const far = Buffer.from(`${"aaQcccccd".repeat(1000)}bbQccccce`);
  const told = earliestPlace(far, soughtOf(Buffer.from("bbQccccce")), 0);
  expect(told).toBeGreaterThan(0);
  expect(told).toBeLessThanOrEqual(far.indexOf("bbQ"));
  expect(earliestPlace(far, soughtOf(Buffer.from("bbX")), 0)).toBe(-1);
});
