// No random byte is given twice, whoever asks for how many.
import { expect, test } from "vitest";
import { newId, systemRandom } from "../../src/base/ids.ts";

test("identifiers never come twice, and what one asker changes no other sees", () => {
  const ids = Array.from({ length: 5000 }, () => newId("req", systemRandom));
  expect(new Set(ids).size).toBe(5000);
  const first = systemRandom(16);
  const copy = Uint8Array.from(first);
  first.fill(0);
  for (let round = 0; round < 300; round += 1) expect(systemRandom(16)).not.toEqual(copy);
});

test("as many bytes come as were asked for, and every value of a byte comes about as often", () => {
  const counts = new Array<number>(256).fill(0);
  for (let round = 0; round < 4000; round += 1) {
    const size = [1, 7, 16, 17, 32, 64][round % 6] ?? 0;
    const bytes = systemRandom(size);
    expect(bytes.byteLength).toBe(size);
    for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  }
  const mean = counts.reduce((sum, count) => sum + count, 0) / 256;
  expect(Math.min(...counts)).toBeGreaterThan(mean * 0.6);
  expect(Math.max(...counts)).toBeLessThan(mean * 1.4);
});
