/** Dialects: the source systems whose names, arguments and results a session may speak. */

import { usageError } from "../../base/errors.ts";

/** Names of the dialects. */
export const DIALECT_NAMES = ["flow", "meao", "brio", "apm2"] as const;
/** One dialect. */
export type DialectName = (typeof DIALECT_NAMES)[number];

/** The dialect of that name. @throws KernelError USAGE naming those that there are */
export function dialectOf(name: string): DialectName {
  const found = DIALECT_NAMES.find((known) => known === name);
  if (found === undefined) throw usageError(`there is no dialect \`${name}\`; use one of ${DIALECT_NAMES.join(", ")}`);
  return found;
}
