/**
 * Checks the HTTP headers that repeat arguments of a call, for tools whose schema asks for them by `x-mcp-header`.
 *
 * INVARIANT: an argument that a header is to repeat is there in both or in neither, and is the same in both.
 */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { HEADER_MISMATCH } from "../protocol/rpc-error.ts";
import type { HttpRefusal } from "./header-checks.ts";
import { plainText } from "./header-text.ts";
import { type HttpRequest, headerOf } from "./http-types.ts";

/** Member of an argument's schema: the end of the header that repeats it. */
const ANNOTATION = "x-mcp-header";

/** Why the headers of a call do not go with its arguments. */
export function refuseArgumentHeaders(
  request: HttpRequest,
  inputSchema: JsonObject,
  args: unknown,
): HttpRefusal | undefined {
  const { properties } = inputSchema;
  if (!isJsonObject(properties)) return undefined;
  for (const [argument, schema] of Object.entries(properties)) {
    const ending = isJsonObject(schema) ? schema[ANNOTATION] : undefined;
    if (typeof ending !== "string" || !/^[\w-]{1,64}$/.test(ending)) continue;
    const name = `mcp-param-${ending.toLowerCase()}`;
    const value = isJsonObject(args) && Object.hasOwn(args, argument) ? args[argument] : undefined;
    const sent = headerOf(request, name)?.trim();
    const problem = problemOf(sent, value ?? undefined, argument);
    if (problem === undefined) continue;
    return { status: 400, error: { code: HEADER_MISMATCH, message: `the header \`${name}\` ${problem}` } };
  }
  return undefined;
}

function problemOf(sent: string | undefined, value: unknown, argument: string): string | undefined {
  if (value === undefined)
    return sent === undefined ? undefined : `repeats \`${argument}\`, which the call does not have`;
  if (sent === undefined) return `is missing; send the argument \`${argument}\``;
  const isPlain = ["string", "number", "boolean"].includes(typeof value);
  return isPlain && plainText(sent) === String(value) ? undefined : `is not the argument \`${argument}\``;
}
