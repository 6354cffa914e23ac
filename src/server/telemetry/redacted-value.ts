/** Redacts every text of a JSON value, and what stands under a name that promises a secret. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Redactor } from "../../redact/redact.ts";

/** Levels of a value; what lies deeper is left out. */
const DEPTH_MAX = 16;

/** `value` without its secrets; the names of members are judged with their values, as beside each other in text. */
export function redactedValue(redactor: Redactor, value: JsonObject): JsonObject {
  return redactedObject(redactor, value, 0);
}

function redactedObject(redactor: Redactor, value: JsonObject, depth: number): JsonObject {
  const members = Object.entries(value).map(([name, member]) => [
    redactor.redact(name).text,
    shown(redactor, { name, value: member ?? null, depth: depth + 1 }),
  ]);
  return Object.fromEntries(members);
}

interface Member {
  readonly name: string;
  readonly value: JsonValue;
  readonly depth: number;
}

function shown(redactor: Redactor, { name, value, depth }: Member): JsonValue {
  if (typeof value === "string") return redactedText(redactor, name, value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEPTH_MAX) return "(too deep)";
  if (Array.isArray(value))
    return value.map((entry: JsonValue) => shown(redactor, { name, value: entry, depth: depth + 1 }));
  return isJsonObject(value) ? redactedObject(redactor, value, depth) : null;
}

/** The text without its secrets; what its name says to be an id stays, however random it looks. */
export function redactedText(redactor: Redactor, name: string, text: string): string {
  const judge = redactor.judgeOf(name);
  const { text: shown, findings } = redactor.redact(text, undefined, judge?.(text));
  const isId = judge === redactor.notRandom && findings.every(({ rule }) => rule === redactor.randomRule);
  return isId ? text : shown;
}
