/**
 * Keeps refusals small: whoever sends many mistakes, with long names, must not get a longer answer than their request.
 * The first violations are listed and the rest counted; names that strangers chose are cut.
 */
import { VIOLATION_FIELD_CHARACTERS_MAX, VIOLATIONS_LISTED_MAX, VIOLATIONS_SUMMARISED_MAX } from "../../base/limits.ts";
import type { Violation } from "../../model/outcome/decision.ts";

/** The first violations, their field names cut. */
export function listed(violations: readonly Violation[]): readonly Violation[] {
  return violations.slice(0, VIOLATIONS_LISTED_MAX).map((violation) => ({ ...violation, field: cutName(violation.field) }));
}

/** The first few of `violations` as `print` shows each, and how many there are besides. */
export function summarised(violations: readonly Violation[], separator: string, print: (violation: Violation) => string): string {
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
