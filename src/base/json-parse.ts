/**
 * JSON text from strangers, read strictly: one meaning, or none.
 *
 * Refused beyond what the grammar refuses: nesting deeper than the limit (found before parsing), a member named twice
 * (parsers disagree about which one counts), the member `__proto__` (a copy of it would change a prototype), text that
 * is no Unicode (lone surrogates), and numbers too large for a double.
 *
 * INVARIANT: what is returned holds own members only, and has a canonical form (`canonicalJson` does not throw).
 */
import type { JsonValue } from "./json.ts";
import { NESTING_DEPTH_MAX } from "./limits.ts";

/** The value of a JSON text, or what is wrong with it: a clause that is safe to show and quotes nothing. */
export type ParsedJson = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: string };

/** Reads `text` strictly; linear in its length. */
export function parseJson(text: string): ParsedJson {
  const shape = scanShape(text);
  if (shape === undefined) return refuse(`nested more than ${NESTING_DEPTH_MAX} levels deep`);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // The parser's message quotes the text, which may hold a secret.
    return refuse("not valid JSON");
  }
  const walk = { members: 0, problem: undefined as string | undefined };
  inspect(value, walk);
  if (walk.problem !== undefined) return refuse(walk.problem);
  // Every member has one colon outside of strings; a name that came twice left fewer members than colons.
  return walk.members === shape.colons ? { ok: true, value } : refuse("an object names a member twice");
}

function refuse(problem: string): ParsedJson {
  return { ok: false, problem };
}

/** Counts the colons outside of strings; `undefined` when the text is nested too deeply. */
function scanShape(text: string): { readonly colons: number } | undefined {
  let colons = 0;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22) {
      index = endOfString(text, index);
    } else if (unit === 0x3a) {
      colons += 1;
    } else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > NESTING_DEPTH_MAX) return undefined;
    } else if (unit === 0x7d || unit === 0x5d) {
      depth -= 1;
    }
  }
  return { colons };
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
}

function inspect(value: JsonValue, walk: Walk): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) walk.problem = "a string with half of a surrogate pair is no Unicode text";
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) walk.problem = "a number is too large";
  } else if (Array.isArray(value)) {
    for (const item of value) inspect(item, walk);
  } else if (value !== null && typeof value === "object") {
    for (const [name, member] of Object.entries(value)) {
      walk.members += 1;
      if (name === "__proto__") walk.problem = "the member name `__proto__` is not allowed";
      else if (!name.isWellFormed()) walk.problem = "a member name with half of a surrogate pair is no Unicode text";
      if (member !== undefined) inspect(member, walk);
    }
  }
}
