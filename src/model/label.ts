/**
 * Labels: how far a piece of content is to be trusted and how confidential it is.
 *
 * Both are lattices; combining takes the lowest trust and the highest class. INVARIANT: combining is associative,
 * commutative and idempotent, and never raises trust nor lowers the class.
 */

/** Trust levels from lowest to highest. */
export const TRUST_LEVELS = ["untrusted", "verified", "user", "system"] as const;
/** One trust level. */
export type TrustLevel = (typeof TRUST_LEVELS)[number];
/** Data classes from lowest to highest. */
export const DATA_CLASSES = ["public", "internal", "sensitive", "secret"] as const;
/** One data class. */
export type DataClass = (typeof DATA_CLASSES)[number];

/** A label in meao's shape; `timestamp` is ISO 8601. */
export interface Label {
  readonly trustLevel: TrustLevel;
  readonly dataClass: DataClass;
  readonly source: { readonly origin: string; readonly timestamp: string };
}

/** The trust and class of `left` and `right` together; provenance of `left`. */
export function combineLabels(left: Label, right: Label): Label {
  return {
    trustLevel: lowest(TRUST_LEVELS, left.trustLevel, right.trustLevel),
    dataClass: highest(DATA_CLASSES, left.dataClass, right.dataClass),
    source: left.source,
  };
}

function lowest<T extends string>(order: readonly T[], left: T, right: T): T {
  return order.indexOf(left) <= order.indexOf(right) ? left : right;
}

function highest<T extends string>(order: readonly T[], left: T, right: T): T {
  return order.indexOf(left) >= order.indexOf(right) ? left : right;
}
