/**
 * Labels: how far a piece of content is to be trusted and how confidential it is.
 *
 * Both are ordered: what is combined from several sources has the lowest trust and the highest class of them.
 * INVARIANT: combining is associative, commutative and idempotent, and never raises trust or lowers a class.
 */

/** Trust levels from lowest to highest. */
export const TRUST_LEVELS = ["untrusted", "verified", "user", "system"] as const;
/** One trust level. */
export type TrustLevel = (typeof TRUST_LEVELS)[number];
/** Data classes from lowest to highest. */
export const DATA_CLASSES = ["public", "internal", "sensitive", "secret"] as const;
/** One data class. */
export type DataClass = (typeof DATA_CLASSES)[number];

/** A label without its provenance: what flow control looks at. */
export interface Mark {
  readonly trustLevel: TrustLevel;
  readonly dataClass: DataClass;
}

/** A label in meao's shape; `timestamp` is ISO 8601. */
export interface Label extends Mark {
  readonly source: { readonly origin: string; readonly timestamp: string };
}

const TRUST_RANK: Readonly<Record<TrustLevel, number>> = { untrusted: 0, verified: 1, user: 2, system: 3 };
const CLASS_RANK: Readonly<Record<DataClass, number>> = { public: 0, internal: 1, sensitive: 2, secret: 3 };

/** The lower of two trust levels. */
export function lowerTrust(one: TrustLevel, other: TrustLevel): TrustLevel {
  return TRUST_RANK[one] <= TRUST_RANK[other] ? one : other;
}

/** The higher of two data classes. */
export function higherClass(one: DataClass, other: DataClass): DataClass {
  return CLASS_RANK[one] >= CLASS_RANK[other] ? one : other;
}

/** Whether `one` is at least as confidential as `other`. */
export function isAtLeast(one: DataClass, other: DataClass): boolean {
  return CLASS_RANK[one] >= CLASS_RANK[other];
}

/** The mark of what is made from both. */
export function combineMarks(one: Mark, other: Mark): Mark {
  return {
    trustLevel: lowerTrust(one.trustLevel, other.trustLevel),
    dataClass: higherClass(one.dataClass, other.dataClass),
  };
}

/** Whether combining `mark` with `other` changes nothing: it already stands for what `other` tells. */
export function covers(mark: Mark, other: Mark): boolean {
  return (
    TRUST_RANK[mark.trustLevel] <= TRUST_RANK[other.trustLevel] &&
    CLASS_RANK[mark.dataClass] >= CLASS_RANK[other.dataClass]
  );
}

/** The mark in data from outside; `undefined` when there is none. */
export function markOf(value: unknown): Mark | undefined {
  if (typeof value !== "object" || value === null || !("trustLevel" in value) || !("dataClass" in value))
    return undefined;
  const trustLevel = TRUST_LEVELS.find((level) => level === value.trustLevel);
  const dataClass = DATA_CLASSES.find((name) => name === value.dataClass);
  return trustLevel && dataClass && { trustLevel, dataClass };
}

/** Whether the marks are the same. */
export function equalMarks(one: Mark, other: Mark): boolean {
  return one.trustLevel === other.trustLevel && one.dataClass === other.dataClass;
}

/** The label of what is made from both: their marks combined, the source of the first. */
export function combineLabels(first: Label, second: Label): Label {
  return { ...combineMarks(first, second), source: first.source };
}
