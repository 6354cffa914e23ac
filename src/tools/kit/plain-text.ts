/** Builds texts that a model reads out of the data of a result. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";

/** A name of the workspace as it may stand within a line: one with control characters is written as a JSON string. */
export function nameText(name: JsonValue | undefined): string {
  const text = String(name);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\u0000-\u001f\u007f\u2028\u2029]/.test(text) ? JSON.stringify(text) : text;
}

/** The objects of a list. */
export function objectsOf(list: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter((each) => isJsonObject(each)) : [];
}

/** `3 lines`, `1 line`. */
export function countText(count: JsonValue | undefined, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
