/**
 * The one seed of all random tests: written here for `npm test`, so that it does the same for everybody; chosen anew
 * and printed by `npm run test:full`, whose failures come again with `HANDRAIL_SEED`. No test brings a seed of its own;
 * `test/tidy.test.ts` holds that.
 */
import fc from "fast-check";

/** Where all random tests start, unless the long tests chose another. */
const WRITTEN_SEED = 20_261_123;

fc.configureGlobal({ seed: seedOf(process.env) });

/** @throws Error when the long tests run without a seed, or with one that is no 32-bit integer */
function seedOf({ HANDRAIL_FULL: full, HANDRAIL_SEED: given }: NodeJS.ProcessEnv): number {
  if (full === undefined) return WRITTEN_SEED;
  const seed = Number(given);
  if (given === undefined || !/^-?\d{1,10}$/.test(given) || seed !== (seed | 0)) {
    throw new Error(
      `no seed in \`HANDRAIL_SEED\`: \`${given ?? ""}\`; give a 32-bit integer, or start with \`npm run test:full\``,
    );
  }
  return seed;
}
