/**
 * The arguments of a call as a person is shown them: all names, texts and lists cut where nobody would read on, and what was
 * left out counted.
 *
 * INVARIANT: what comes back is plain JSON of bounded size, whatever was sent. It is cut after redaction, so that no cut
 * hides a secret from it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { PROMPT_DEPTH_MAX, PROMPT_TEXT_CHARACTERS_MAX, PROMPT_VALUES_MAX } from "../base/limits.ts";
import type { CallRedaction } from "./redaction.ts";

/** `args` without secrets, and no larger than a prompt shows. */
export function shownArguments(redaction: CallRedaction, args: Readonly<Record<string, unknown>>): JsonObject {
  const plain = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, textOf(value)] as const));
  return cutObject(redaction.facts(plain), { values: PROMPT_VALUES_MAX }, 0);
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

/** How much may still be shown. */
interface Left {
  values: number;
}

function cut(value: JsonValue, left: Left, depth: number): JsonValue {
  left.values -= 1;
  if (typeof value === "string") return cutText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= PROMPT_DEPTH_MAX) return "(nested deeper than is shown)";
  return isJsonObject(value) ? cutObject(value, left, depth + 1) : cutArray(value as readonly JsonValue[], left, depth + 1);
}

function cutText(text: string): string {
  const rest = text.length - PROMPT_TEXT_CHARACTERS_MAX;
  return rest <= 0 ? text.toWellFormed() : `${text.slice(0, PROMPT_TEXT_CHARACTERS_MAX).toWellFormed()}… (${rest} more characters)`;
}

function cutArray(values: readonly JsonValue[], left: Left, depth: number): JsonValue {
  const shown: JsonValue[] = [];
  for (const value of values) {
    if (left.values <= 0) return [...shown, `(${values.length - shown.length} more)`];
    shown.push(cut(value, left, depth));
  }
  return shown;
}

function cutObject(object: JsonObject, left: Left, depth: number): JsonObject {
  const entries = Object.entries(object);
  const shown: [string, JsonValue][] = [];
  for (const [name, value] of entries) {
    if (left.values <= 0) {
      shown.push(["…", `(${entries.length - shown.length} more)`]);
      break;
    }
    shown.push([cutText(name), cut(value ?? null, left, depth)]);
  }
  return Object.fromEntries(shown);
}
