/**
 * Prepares the arguments of a call for a person to see, redacted and cut.
 *
 * Names stand up to a maximum number. Texts and lists are cut where nobody would read on, and what was left out is
 * counted.
 *
 * INVARIANT: what comes back is plain JSON of bounded size, whatever was sent. It is cut after redaction, so no cut
 * hides a secret from it.
 */

import { KIB } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { PROMPT_TEXT_CHARACTERS_MAX } from "./limits.ts";
import { recordedArguments } from "./recorded-arguments.ts";
import type { CallRedaction } from "./redaction.ts";

/** Characters of all arguments that a prompt shows together. */
const PROMPT_ARGUMENTS_CHARACTERS_MAX = 16 * KIB;
/** Arguments that a prompt names; the rest are counted. */
const PROMPT_ARGUMENTS_MAX = 64;
/** Values of the arguments that a prompt shows, containers too: a person reads no more; the rest are counted. */
const PROMPT_VALUES_MAX = 256;
/** Levels of nested arguments that a prompt shows. */
const PROMPT_DEPTH_MAX = 8;

/** Arguments as they are shown, and whether that is less than was sent. */
export interface ShownArguments {
  readonly shown: JsonObject;
  readonly isCut: boolean;
}

/**
 * `args` without secrets, and no larger than a prompt shows. Each argument has its share, so that none crowds out the
 * others.
 */
export function shownArguments(redaction: CallRedaction, args: Readonly<Record<string, unknown>>): ShownArguments {
  const plain = recordedArguments(redaction, args, ({ byteLength }) => `(${byteLength} bytes that are no text)`);
  const entries = Object.entries(redaction.facts(plain));
  const names: Left = {
    values: PROMPT_ARGUMENTS_MAX,
    characters: PROMPT_ARGUMENTS_CHARACTERS_MAX,
    isCut: entries.length > PROMPT_ARGUMENTS_MAX,
  };
  const shares = Math.min(entries.length, PROMPT_ARGUMENTS_MAX);
  const shown = entries.slice(0, PROMPT_ARGUMENTS_MAX).map(([name, value], index): [string, JsonValue] => {
    const left = {
      values: PROMPT_VALUES_MAX / shares,
      characters: PROMPT_ARGUMENTS_CHARACTERS_MAX / shares,
      isCut: false,
    };
    const cutValue = cut(value ?? null, left, 1);
    names.isCut ||= left.isCut;
    return [`${cutText(name, names)}${isRepeated(entries, index) ? ` (${index})` : ""}`, cutValue];
  });
  return { shown: Object.fromEntries(shown), isCut: names.isCut };
}

/** Whether a name before this one looks the same once it is well formed. */
function isRepeated(entries: readonly (readonly [string, unknown])[], index: number): boolean {
  const name = entries[index]?.[0].toWellFormed();
  return entries.slice(0, index).some(([other]) => other.toWellFormed() === name);
}

/** How much may still be shown, and whether something was left out. */
interface Left {
  values: number;
  characters: number;
  isCut: boolean;
}

function cut(value: JsonValue, left: Left, depth: number): JsonValue {
  left.values -= 1;
  if (typeof value === "string") return cutText(value, left);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= PROMPT_DEPTH_MAX) return omitted(left, "(nested deeper than is shown)");
  return isJsonObject(value)
    ? cutObject(value, left, depth + 1)
    : cutArray(value as readonly JsonValue[], left, depth + 1);
}

function cutText(text: string, left: Left): string {
  const max = Math.floor(Math.min(PROMPT_TEXT_CHARACTERS_MAX, Math.max(0, left.characters)));
  left.characters -= text.length;
  if (text.length <= max) return text.toWellFormed();
  return omitted(left, `${text.slice(0, max).toWellFormed()}… (${text.length - max} more characters)`);
}

function cutArray(values: readonly JsonValue[], left: Left, depth: number): JsonValue {
  const shown: JsonValue[] = [];
  for (const value of values) {
    if (left.values <= 0) return [...shown, omitted(left, `(${values.length - shown.length} more)`)];
    shown.push(cut(value, left, depth));
  }
  return shown;
}

function cutObject(object: JsonObject, left: Left, depth: number): JsonObject {
  const entries = Object.entries(object);
  const shown: [string, JsonValue][] = [];
  for (const [name, value] of entries) {
    if (left.values <= 0) {
      shown.push(["…", omitted(left, `(${entries.length - shown.length} more)`)]);
      break;
    }
    const repeated = isRepeated(entries, shown.length) ? ` (${shown.length})` : "";
    shown.push([cutText(name, left) + repeated, cut(value ?? null, left, depth)]);
  }
  return Object.fromEntries(shown);
}

function omitted(left: Left, text: string): string {
  left.isCut = true;
  return text;
}
