/**
 * Keeps refusals small: whoever sends many mistakes, with long names, must not get a longer answer than their request.
 * The first violations are listed and the rest counted; names that strangers chose are cut.
 */

import type { Violation } from "../../model/outcome/decision.ts";

/** Violations that one refusal lists; the rest are counted. */
export const VIOLATIONS_LISTED_MAX = 100;
/** Violations that the message of a refusal names; the rest are counted. */
const VIOLATIONS_SUMMARISED_MAX = 8;
/**
 * Characters (UTF-16 code units) of the field name in a violation: strangers choose the names of unknown properties.
 */
export const VIOLATION_FIELD_CHARACTERS_MAX = 128;

/** The first violations, their field names cut. */
export function listed(violations: readonly Violation[]): readonly Violation[] {
  return violations
    .slice(0, VIOLATIONS_LISTED_MAX)
    .map((violation) => ({ ...violation, field: cutName(violation.field) }));
}

/** The first few of `violations` as `print` shows each, and how many there are besides. */
export function summarised(
  violations: readonly Violation[],
  separator: string,
  print: (violation: Violation) => string,
): string {
  const shown = listed(violations.slice(0, VIOLATIONS_SUMMARISED_MAX)).map(print);
  const more = violations.length - shown.length;
  return shown.join(separator) + (more > 0 ? `${separator}and ${more} more` : "");
}

/** `name`, cut to the limit but never inside a surrogate pair. */
function cutName(name: string): string {
  if (name.length <= VIOLATION_FIELD_CHARACTERS_MAX) return name.toWellFormed();
  const cut = name.slice(0, VIOLATION_FIELD_CHARACTERS_MAX);
  return cut.replace(/[\ud800-\udbff]$/, "").toWellFormed();
}
