/**
 * JSON text from strangers, read strictly: one meaning, or none.
 *
 * Refused beyond what the grammar refuses: nesting deeper or values more than the limit (found before parsing), a
 * member named twice (parsers disagree about which one counts), the member `__proto__` (a copy of it would change a
 * prototype), text that is no Unicode (lone surrogates), and numbers too large for a double.
 *
 * INVARIANT: what is returned holds own members only, and has a canonical form (`canonicalJson` does not throw).
 */
import type { JsonObject, JsonValue } from "./json.ts";
import { NESTING_DEPTH_MAX } from "./limits.ts";

/** Values in one JSON text from a stranger: each costs far more memory than its two bytes. */
export const JSON_VALUES_MAX = 1_000_000;

/** The value of a JSON text, or what is wrong with it: a clause that is safe to show and quotes nothing. */
export type ParsedJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string };

/** Reads `text` strictly; linear in its length. */
export function parseJson(text: string): ParsedJson {
  const shape = scanShape(text);
  if (shape.depthMax > NESTING_DEPTH_MAX) return refuse(`nested more than ${NESTING_DEPTH_MAX} levels deep`);
  if (shape.values > JSON_VALUES_MAX) return refuse(`more than ${JSON_VALUES_MAX} values`);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // The parser's message quotes the text, which may hold a secret.
    return refuse("not valid JSON");
  }
  // Strings of a text that is Unicode are so too, unless an escape says otherwise.
  const walk: Walk = { members: 0, problem: undefined, isUnicode: !text.includes("\\") && text.isWellFormed() };
  inspect(value, walk);
  if (walk.problem !== undefined) return refuse(walk.problem);
  // Every member has one colon outside of strings; a name that came twice left fewer members than colons.
  return walk.members === shape.colons ? { ok: true, value } : refuse("an object names a member twice");
}

/** What keeps `value` from being plain JSON with a canonical form, or `undefined`; for values that were never text. */
export function jsonProblem(value: unknown, depth = 0): string | undefined {
  if (depth > NESTING_DEPTH_MAX) return `nested more than ${NESTING_DEPTH_MAX} levels deep`;
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "string")
    return value.isWellFormed() ? undefined : "a string with half of a surrogate pair is no Unicode text";
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "a number is too large";
  if (Array.isArray(value)) return firstProblem(value, depth);
  if (typeof value !== "object") return `a ${typeof value} is no JSON value`;
  for (const name of Object.keys(value)) {
    if (name === "__proto__") return "the member name `__proto__` is not allowed";
    if (!name.isWellFormed()) return "a member name with half of a surrogate pair is no Unicode text";
  }
  return firstProblem(Object.values(value), depth);
}

function firstProblem(values: readonly unknown[], depth: number): string | undefined {
  for (const value of values) {
    const problem = value === undefined ? undefined : jsonProblem(value, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function refuse(problem: string): ParsedJson {
  return { ok: false, problem };
}

interface Shape {
  /** Colons outside of strings. */
  colons: number;
  /** At least as many values as there are: every value is the first in its container or follows a comma. */
  values: number;
  depthMax: number;
}

/** Looks at the text between strings; stops where a limit is passed. */
function scanShape(text: string): Shape {
  const shape = { colons: 0, values: 1, depthMax: 0 };
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22) {
      index = endOfString(text, index);
    } else if (unit === 0x3a) {
      shape.colons += 1;
    } else if (unit === 0x2c) {
      shape.values += 1;
    } else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      shape.values += 1;
      shape.depthMax = Math.max(shape.depthMax, depth);
      if (depth > NESTING_DEPTH_MAX) return shape;
    } else if (unit === 0x7d || unit === 0x5d) {
      depth -= 1;
    }
    if (shape.values > JSON_VALUES_MAX) return shape;
  }
  return shape;
}

/** Index of the quote that ends the string beginning at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22) return index;
    index += unit === 0x5c ? 2 : 1;
  }
  return text.length;
}

interface Walk {
  members: number;
  problem: string | undefined;
  /** Nobody need look whether strings are Unicode. */
  readonly isUnicode: boolean;
}

function inspect(value: JsonValue, walk: Walk): void {
  if (typeof value === "string") {
    if (!walk.isUnicode && !value.isWellFormed())
      walk.problem = "a string with half of a surrogate pair is no Unicode text";
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) walk.problem = "a number is too large";
  } else if (Array.isArray(value)) {
    for (const item of value) inspect(item, walk);
  } else if (value !== null && typeof value === "object") {
    for (const name of Object.keys(value)) {
      const member = (value as JsonObject)[name];
      walk.members += 1;
      if (name === "__proto__") walk.problem = "the member name `__proto__` is not allowed";
      else if (!walk.isUnicode && !name.isWellFormed())
        walk.problem = "a member name with half of a surrogate pair is no Unicode text";
      if (member !== undefined) inspect(member, walk);
    }
  }
}
