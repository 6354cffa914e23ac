/**
 * Reads traces of tool calls: one JSON object a line, `{"tool", "arguments"}`, and what is known of the call.
 *
 * A line may say `"harmless": true` (nobody would want it refused) and `"wanted": true` (a careful person would want to
 * be asked). What is no such line is counted, and passed over.
 */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { parseJson } from "../../src/base/json-parse.ts";

/** Characters of a line; a longer one is passed over. */
const LINE_CHARACTERS_MAX = 2_000_000;

/** A recorded call. */
export interface TracedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly isHarmless: boolean;
  readonly isWanted: boolean;
}

/** The calls of a trace, and a text for each line that is none. */
export async function* readTrace(file: string): AsyncGenerator<TracedCall | string> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === "") continue;
    yield callIn(line) ?? `line ${number} is no call`;
  }
}

function callIn(line: string): TracedCall | undefined {
  const read = line.length > LINE_CHARACTERS_MAX ? undefined : parseJson(line);
  if (read?.ok !== true || !isJsonObject(read.value)) return undefined;
  const { tool, arguments: args, harmless, wanted } = read.value;
  if (typeof tool !== "string" || !isJsonObject(args)) return undefined;
  return { tool, arguments: args, isHarmless: harmless === true, isWanted: wanted === true };
}
