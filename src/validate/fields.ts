/**
 * One check per kind of field. Each adds every broken rule to a list; none stops early except a path, which reports its
 * first problem, and an empty required text, which reports `required` alone.
 *
 * Messages name the limit and what to do, and quote nothing of the input: it may be huge or secret.
 */
import {
  type BytesConstraint,
  CONSTRAINTS,
  type ConstrainedField,
  type HashConstraint,
  hasMoreBytes,
  hasMoreCharacters,
  hasTraversal,
  type IntegerConstraint,
  type ListConstraint,
  type PathConstraint,
  type TextConstraint,
  type ValidationRule,
  type WordConstraint,
} from "../model/outcome/constraints.ts";
import type { Violation } from "../model/outcome/decision.ts";

/** Violations found so far. */
export type Violations = Violation[];

type FieldOf<Constraint> = {
  [F in ConstrainedField]: (typeof CONSTRAINTS)[F] extends Constraint ? F : never;
}[ConstrainedField];

const NOT_UNICODE = "is not Unicode text: it holds half of a surrogate pair; send whole characters";

/** A field, and what was found so far. */
interface CheckedField {
  readonly found: Violations;
  readonly field: string;
}

/** Adds one violation. */
export function report({ found, field }: CheckedField, rule: ValidationRule, message: string): void {
  found.push({ field, rule, message });
}

/** Text: present where required, not too long, Unicode. */
export function checkText(found: Violations, field: FieldOf<TextConstraint>, value: string): void {
  const { required, max, unit, rule }: TextConstraint = CONSTRAINTS[field];
  if (value === "") {
    if (required) report({ found, field }, "required", "must not be empty; give it a value");
    return;
  }
  const tooLong = unit === "characters" ? hasMoreCharacters(value, max) : hasMoreBytes(value, max);
  if (tooLong) report({ found, field }, rule, `is longer than ${max} ${unit}; shorten it`);
  if (!value.isWellFormed()) report({ found, field }, "format", NOT_UNICODE);
}

/** A path: its first problem alone, in the order required, length, null byte, traversal, format. */
export function checkPath(found: Violations, field: FieldOf<PathConstraint>, value: string): void {
  const { required, max }: PathConstraint = CONSTRAINTS[field];
  if (value === "") {
    if (required) report({ found, field }, "required", "must not be empty; name a path in the workspace");
  } else if (hasMoreCharacters(value, max)) {
    report({ found, field }, "max_length", `is longer than ${max} characters; use a shorter path`);
  } else if (value.includes("\0")) {
    report({ found, field }, "no_null_bytes", "holds a null byte; remove it");
  } else if (hasTraversal(value)) {
    report({ found, field }, "no_path_traversal", "has a `..` component; name the path from the workspace root");
  } else if (!value.isWellFormed()) {
    report({ found, field }, "format", NOT_UNICODE);
  }
}

/** Bytes: not too many. Whether they were few enough. */
export function checkBytes(found: Violations, field: FieldOf<BytesConstraint>, value: Uint8Array): boolean {
  const { max }: BytesConstraint = CONSTRAINTS[field];
  if (value.byteLength <= max) return true;
  report({ found, field }, "max_size", `is larger than ${max} bytes; send less`);
  return false;
}

/** A hash: exactly as long as one, or absent where it may be. */
export function checkHash(found: Violations, field: FieldOf<HashConstraint>, value: Uint8Array): void {
  const { required, size }: HashConstraint = CONSTRAINTS[field];
  if (value.byteLength === size || (value.byteLength === 0 && !required)) return;
  report({ found, field }, "hash_size", `must be exactly ${size} bytes (BLAKE3-256)${required ? "" : " or empty"}`);
}

/** A number: not too large. */
export function checkInteger(found: Violations, field: FieldOf<IntegerConstraint>, value: bigint): void {
  const { max }: IntegerConstraint = CONSTRAINTS[field];
  if (value > max) report({ found, field }, "max_value", `is larger than ${max}; use a smaller number`);
}

/** A list: not too many entries; of those that may be there, each not too long and, where so ruled, one `=` in each. */
export function checkList(found: Violations, field: FieldOf<ListConstraint>, values: readonly string[]): void {
  const { itemsMax, entryBytesMax, pairs }: ListConstraint = CONSTRAINTS[field];
  if (values.length > itemsMax) report({ found, field }, "max_items", `has more than ${itemsMax} entries; send fewer`);
  const checked = Math.min(values.length, itemsMax);
  for (let index = 0; index < checked; index += 1) {
    const value = values[index] ?? "";
    if (hasMoreBytes(value, entryBytesMax)) {
      report({ found, field: `${field}[${index}]` }, "max_length", `is longer than ${entryBytesMax} bytes; shorten it`);
    }
    if (pairs && !hasOneEquals(value))
      report({ found, field: `${field}[${index}]` }, "format", "must hold exactly one `=`, as in `KEY=VALUE`");
    else if (!value.isWellFormed()) report({ found, field: `${field}[${index}]` }, "format", NOT_UNICODE);
  }
}

/** A word of a fixed set. */
export function checkWord(found: Violations, field: FieldOf<WordConstraint>, value: string): void {
  const { words }: WordConstraint = CONSTRAINTS[field];
  if (value === "") report({ found, field }, "required", `must not be empty; use one of ${words.join(", ")}`);
  else if (!words.includes(value))
    report({ found, field }, "known_operation", `is not known; use one of ${words.join(", ")}`);
}

function hasOneEquals(value: string): boolean {
  const first = value.indexOf("=");
  return first !== -1 && value.indexOf("=", first + 1) === -1;
}
