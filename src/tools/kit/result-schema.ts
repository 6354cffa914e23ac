/** Builders of the JSON schemas by which tools describe their results. */
import type { JsonObject } from "../../base/json.ts";
import type { ExecEnd } from "../../model/work/exec.ts";

/** An object of just these properties; those that are not among the `optional` are always there. */
export function objectOf(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

/** A list of what `items` describes. */
export function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

/** Text. */
export const text = described("string");
/** A whole number. */
export const integer = described("integer");
/** Yes or no. */
export const flag = described("boolean");

/** What ended a command from outside whose result is answered all the same. */
export const ENDED_BY: JsonObject = {
  enum: ["memory", "cancelled"] satisfies ExecEnd[],
  description: "What ended the command before it ended by itself; its time or its output is an error instead.",
};

function described(type: string): (description?: string) => JsonObject {
  return (description) => ({ type, ...(description !== undefined && { description }) });
}
