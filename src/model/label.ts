/**
 * Labels: how far a piece of content is to be trusted and how confidential it is.
 * Both are ordered: what is combined from several sources has the lowest trust and the highest class of them.
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
