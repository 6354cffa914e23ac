/** Collects the texts of a value that are so long together that looking through them would keep others waiting. */
import { AT_ONCE_CHARACTERS_MAX } from "./limits.ts";

/** Characters (or bytes) of all texts in `value`, at any depth, with names of members. */
export function textLength(value: unknown, charactersMax = Number.POSITIVE_INFINITY): number {
  if (typeof value === "string") return value.length <= charactersMax ? value.length : 0;
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return value.byteLength <= charactersMax ? value.byteLength : 0;
  let length = 0;
  if (Array.isArray(value)) for (const item of value) length += textLength(item, charactersMax);
  else {
    const object = value as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(object)) length += name.length + textLength(object[name], charactersMax);
  }
  return length;
}

/**
 * The texts in `value`, at any depth, with names of members; none when they are short together.
 * @param charactersMax of a text that counts
 */
export function longTexts(value: unknown, charactersMax: number): readonly (string | Uint8Array)[] {
  if (textLength(value, charactersMax) <= AT_ONCE_CHARACTERS_MAX) return NOTHING;
  const texts: (string | Uint8Array)[] = [];
  const collect = (part: unknown): void => {
    if (typeof part === "string" || part instanceof Uint8Array) {
      if (part.length <= charactersMax) texts.push(part);
    } else if (Array.isArray(part)) part.forEach(collect);
    else if (typeof part === "object" && part !== null) Object.entries(part).flat().forEach(collect);
  };
  collect(value);
  return texts;
}

const NOTHING: readonly never[] = [];
