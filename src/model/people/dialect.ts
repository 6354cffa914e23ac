/** Dialects: the source systems whose names, arguments and results a session may speak. */

/** Names of the dialects. */
export const DIALECT_NAMES = ["flow", "meao", "brio", "apm2"] as const;
/** One dialect. */
export type DialectName = (typeof DIALECT_NAMES)[number];

/** Whether `name` names one. */
export function isDialectName(name: string): name is DialectName {
  return DIALECT_NAMES.some((known) => known === name);
}
