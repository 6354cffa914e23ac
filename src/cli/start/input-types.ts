/** Reads from a tool's input schema which types its arguments take, for words of a command line. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";

/** What one argument takes. */
export interface ArgumentType {
  readonly types: ReadonlySet<string>;
  /** The only values, where there are few. */
  readonly values?: readonly JsonValue[];
  /** Of a list. */
  readonly items?: ArgumentType;
  readonly description: string;
  readonly isRequired: boolean;
}

/** The arguments of a tool by name, in the order of its schema. */
export function argumentTypes(schema: JsonObject): ReadonlyMap<string, ArgumentType> {
  const found = new Map<string, ArgumentType>();
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const branch of branches(schema))
    for (const [name, property] of Object.entries(asObject(branch["properties"])))
      if (!found.has(name)) found.set(name, typeOf(asObject(property), required.includes(name)));
  return found;
}

/** The schema and what it is composed of. */
function branches(schema: JsonObject): readonly JsonObject[] {
  const parts = ["allOf", "anyOf", "oneOf"].flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : []));
  return [schema, ...parts.filter(isJsonObject).flatMap(branches)];
}

function typeOf(schema: JsonObject, isRequired: boolean): ArgumentType {
  const types = new Set<string>();
  let values: readonly JsonValue[] | undefined;
  let items: ArgumentType | undefined;
  for (const branch of branches(schema)) {
    for (const type of [branch["type"]].flat()) if (typeof type === "string") types.add(type);
    const named = Array.isArray(branch["enum"]) ? branch["enum"] : "const" in branch ? [branch["const"] ?? null] : [];
    if (named.length > 0) values = [...(values ?? []), ...named];
    for (const value of named) types.add(typeof value === "object" ? "object" : typeof value);
    if (isJsonObject(branch["items"])) items ??= typeOf(branch["items"], true);
  }
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  return { types, description, isRequired, ...(values && { values }), ...(items && { items }) };
}

/** The type in words, such as `text`, `one of HEAD, TAIL` or `list of text`. */
export function typeName({ types, values, items }: ArgumentType): string {
  if (values !== undefined)
    return `one of ${values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(", ")}`;
  const names = [...types].map((type) =>
    type === "array" && items ? `list of ${typeName(items)}` : (WORDS[type] ?? type),
  );
  return names.length === 0 ? "any JSON" : names.join(" or ");
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  array: "list",
  object: "JSON object",
  null: "null",
};

function asObject(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
