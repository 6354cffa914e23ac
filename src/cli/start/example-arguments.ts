/** Makes up the simplest arguments that the input schema of a tool takes, to ask policy about. Pure. */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { type ArgumentType, argumentTypes } from "./input-types.ts";

/** What arguments of these names stand for; every other text is `EXAMPLE`. */
const KNOWN: Readonly<Record<string, JsonValue>> = {
  path: "README.md",
  files: ["README.md"],
  command: "true",
  url: "https://example.org/",
  content_hash: "0".repeat(64),
};
const EXAMPLE = "example";

/** Values for the arguments that have to be given. */
export function exampleArguments(schema: JsonObject): JsonObject {
  const required = [...argumentTypes(schema)].filter(([, { isRequired }]) => isRequired);
  return Object.fromEntries(required.map(([name, type]) => [name, KNOWN[name] ?? exampleOf(type)]));
}

function exampleOf({ types, values, items }: ArgumentType): JsonValue {
  const [first] = values ?? [];
  if (first !== undefined) return first;
  if (types.has("string")) return EXAMPLE;
  if (types.has("integer") || types.has("number")) return 1;
  if (types.has("boolean")) return false;
  if (types.has("array")) return items === undefined ? [] : [exampleOf(items)];
  return {};
}
