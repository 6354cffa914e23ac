/**
 * Defines the JSON-RPC errors that MCP uses, with closed codes and short messages.
 *
 * Messages say what to do, and nothing is longer than it must be.
 */
import type { RequestId } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../base/json.ts";

/** Characters (UTF-16 code units) of a stranger's text that an MCP error message repeats. */
const QUOTED_CHARACTERS_MAX = 128;

/** The line is no JSON. */
export const PARSE_ERROR = -32700;
/** The JSON is no request. */
export const INVALID_REQUEST = -32600;
/** The server has no such method. */
export const METHOD_NOT_FOUND = -32601;
/** The parameters are not what the method takes. */
export const INVALID_PARAMS = -32602;
/** A bug here. */
export const INTERNAL_ERROR = -32603;

/** There is no such resource (2025-11-25 and before). */
export const RESOURCE_NOT_FOUND = -32002;
/** HTTP headers and body name different things (2026-07-28). */
export const HEADER_MISMATCH = -32020;
/** The request needs something that its client has not said that it can do (2026-07-28). */
export const MISSING_CAPABILITY = -32021;
/** The revision is not spoken (2026-07-28). */
export const UNSUPPORTED_REVISION = -32022;

/** The `error` member of an answer. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
}

/** The whole answer as one line without its end. */
export function printError(id: RequestId | null, error: RpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

/** Text of a stranger, never longer than is needed to recognise it, and never half a character. */
export function shortened(text: string, charactersMax = QUOTED_CHARACTERS_MAX): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…`.toWellFormed() : text;
}
