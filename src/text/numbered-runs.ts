/** Finds bytes that are written by their numbers, as `%41` in addresses. */

/** A byte that is written by its number, as addresses have it. */
export const NUMBERED = /%[0-9a-f]{2}/i;
/** A run of them. */
export const NUMBERED_RUN = /(?:%[0-9a-f]{2})+/gi;
/** Numbers of numbers that are looked through. */
export const NUMBERED_ROUNDS_MAX = 3;

/** The text of a run of bytes that are written by their numbers. */
export function decodedRun(run: string): string {
  return Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8");
}
