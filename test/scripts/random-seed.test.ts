/** Which seed random tests start from: the written one, or the one that the long tests were given. */
import fc from "fast-check";
import { expect, test, vi } from "vitest";

/** The seed after the setup file was read with these variables. */
async function seedWith(variables: Readonly<Record<string, string | undefined>>): Promise<number | undefined> {
  for (const name of ["HANDRAIL_FULL", "HANDRAIL_SEED"]) vi.stubEnv(name, variables[name]);
  vi.resetModules();
  try {
    await import("../random-seed.ts");
    return fc.readConfigureGlobal().seed;
  } finally {
    vi.unstubAllEnvs();
  }
}

test("the same for everybody, unless the long tests were given one", async () => {
  const before = fc.readConfigureGlobal().seed;
  expect(before).toBeTypeOf("number");
  const written = await seedWith({});
  expect(await seedWith({ HANDRAIL_SEED: "12" })).toBe(written);
  expect(await seedWith({ HANDRAIL_FULL: "1", HANDRAIL_SEED: "12" })).toBe(12);
  expect(await seedWith({ HANDRAIL_FULL: "1", HANDRAIL_SEED: "-869549678" })).toBe(-869_549_678);
});

test.each(["", "x", "1.5", "1e3", "2147483648", "99999999999", undefined])(
  "long tests do not start with seed %s",
  async (seed) => {
    await expect(seedWith({ HANDRAIL_FULL: "1", HANDRAIL_SEED: seed })).rejects.toThrow("give a 32-bit integer");
  },
);
