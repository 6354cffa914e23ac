/**
 * How much of a search `npm test` makes: a share that finds what is plainly wrong. A file in `full/` makes all of it,
 * from a seed of its own where the search is random.
 */

/** Makes the tests that `load` loads search for long. For a file in `full/`. */
export async function thoroughly(load: () => Promise<unknown>): Promise<void> {
  process.env["HANDRAIL_TEST_THOROUGH"] = "1";
  await load();
}

/** The one of two numbers that the running tests search by. */
export function searching({ shortly, thoroughly: long }: { readonly shortly: number; readonly thoroughly: number }) {
  return process.env["HANDRAIL_TEST_THOROUGH"] === undefined ? shortly : long;
}
