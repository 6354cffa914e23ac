/**
 * How much of a search `npm test` makes: a share that finds what is plainly wrong. A file in `full/` makes all of it,
 * from a seed of its own where the search is random.
 */

/** Makes the tests that `load` loads search for long. For a file in `full/`. */
export async function thoroughly(load: () => Promise<unknown>): Promise<void> {
  process.env["HANDRAIL_TEST_THOROUGH"] = "1";
  await load();
}

/** In how many parts the longest searches are cut, of which one is made: `HANDRAIL_SHARE`, 1 unless it is given. */
export const SHARE: number = shareOf(process.env);

/** How much of the longest searches is made, of `count` tries. */
export function sharedSearch(count: number): number {
  return Math.ceil(count / SHARE);
}

/** @throws Error for what is no such number */
function shareOf({ HANDRAIL_SHARE: given = "1" }: NodeJS.ProcessEnv): number {
  if (!/^[1-9]$/.test(given)) throw new Error(`\`HANDRAIL_SHARE\` is a number from 1 to 9, not \`${given}\``);
  return Number(given);
}

/** The one of two numbers that the running tests search by. */
export function searching({ shortly, thoroughly: long }: { readonly shortly: number; readonly thoroughly: number }) {
  return process.env["HANDRAIL_TEST_THOROUGH"] === undefined ? shortly : long;
}
