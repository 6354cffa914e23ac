/**
 * Prints the answer to a call. The same text stands in it twice, once for clients that show text and once in the
 * structured result. It is left to whoever writes the answer to escape it, right into the bytes that leave: making a
 * text of it first would be the larger part of printing.
 */
import type { RequestId } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../base/json.ts";

/** A result of `tools/call`, before it is printed. */
export interface CallResult {
  readonly text: string;
  readonly structuredContent: JsonObject;
  readonly isError: boolean;
  /** Whether there was no call to make: the modern era answers that as an error of the protocol. */
  readonly isMalformed: boolean;
  /** The request for approval that an answer would let the call through by. */
  readonly awaits?: string;
}

/** A piece of a printed line: as it leaves, or text that leaves as JSON writes it between quotes. */
export type Piece = string | { readonly unescaped: string };

/** The whole line that `pieces` make. */
export function joined(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === "string" ? piece : JSON.stringify(piece.unescaped).slice(1, -1))).join("");
}

/**
 * The whole JSON-RPC answer, as the pieces of one line without its end.
 * @param first members that the result begins with, as JSON with a comma at its end
 */
export function printAnswer(id: RequestId, { text, structuredContent, isError }: CallResult, first = ""): readonly Piece[] {
  const shown = { unescaped: text };
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${first}"content":[{"type":"text","text":"`;
  const { data } = structuredContent;
  if (!isPlain(data) || data["content"] !== text) {
    return [head, shown, `"}],"structuredContent":${JSON.stringify(structuredContent)},"isError":${isError}}}`];
  }
  const rest = `"${following({ ...data, content: undefined })}${following({ ...structuredContent, data: undefined })},"isError":${isError}}}`;
  return [head, shown, '"}],"structuredContent":{"data":{"content":"', shown, rest];
}

/** The members of `object` as they follow one that is printed already, with the closing brace. */
function following(object: object): string {
  const printed = JSON.stringify(object);
  return printed === "{}" ? "}" : `,${printed.slice(1)}`;
}

function isPlain(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
