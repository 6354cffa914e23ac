/**
 * The arguments of a call as a person is shown them: all names, texts and lists cut where nobody would read on, and what was
 * left out counted.
 *
 * INVARIANT: what comes back is plain JSON of bounded size, whatever was sent. It is cut after redaction, so that no cut
 * hides a secret from it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { PROMPT_ARGUMENTS_CHARACTERS_MAX, PROMPT_DEPTH_MAX, PROMPT_TEXT_CHARACTERS_MAX, PROMPT_VALUES_MAX } from "../base/limits.ts";
import type { CallRedaction } from "./redaction.ts";

/** Arguments as they are shown, and whether that is less than was sent. */
export interface ShownArguments {
  readonly shown: JsonObject;
  readonly isCut: boolean;
}

/** `args` without secrets, and no larger than a prompt shows. */
export function shownArguments(redaction: CallRedaction, args: Readonly<Record<string, unknown>>): ShownArguments {
  const plain = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, textOf(value)] as const));
  const left: Left = { values: PROMPT_VALUES_MAX, characters: PROMPT_ARGUMENTS_CHARACTERS_MAX, isCut: false };
  const shown = cutObject(redaction.facts(plain), left, 0);
  return { shown, isCut: left.isCut };
}

/** Bytes stand as the text that they are, or as how many they are. */
function textOf(value: unknown): JsonValue {
  if (!(value instanceof Uint8Array)) return value as JsonValue;
  try {
    return strictUtf8.decode(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return `(${value.byteLength} bytes that are no text)`;
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
  return isJsonObject(value) ? cutObject(value, left, depth + 1) : cutArray(value as readonly JsonValue[], left, depth + 1);
}

function cutText(text: string, left: Left): string {
  const max = Math.min(PROMPT_TEXT_CHARACTERS_MAX, Math.max(0, left.characters));
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
    shown.push([cutText(name, left), cut(value ?? null, left, depth)]);
  }
  return Object.fromEntries(shown);
}

function omitted(left: Left, text: string): string {
  left.isCut = true;
  return text;
}
