/**
 * What a call of the modern era is beyond one of the legacy era: it may take several rounds. A result says whether it is
 * complete; one that is not hands out state, which comes back with the answers to its questions in the next round.
 *
 * Every call here is complete after one round. INVARIANT: state that was not handed out here opens nothing.
 */
import type { JSONRPCRequest, RequestId } from "@modelcontextprotocol/server";
import { type CallResult, printAnswer } from "./print-result.ts";
import { INVALID_PARAMS, printError, type RpcError } from "./rpc-error.ts";

/** What is wrong with the round that a call says it is in, or `undefined`: no state was ever handed out. */
export function roundError(parameters: JSONRPCRequest["params"]): RpcError | undefined {
  if (parameters?.["requestState"] === undefined) return undefined;
  return { code: INVALID_PARAMS, message: "`requestState` is none of this server's; leave it out" };
}

/**
 * The answer to one round, as the pieces of one line without its end.
 * @param resultHead members that a complete result begins with, as JSON with a comma at its end
 */
export function printRound(id: RequestId, result: CallResult, resultHead: string): readonly string[] {
  if (!result.isMalformed) return printAnswer(id, result, resultHead);
  return [printError(id, { code: INVALID_PARAMS, message: result.text, data: result.structuredContent })];
}
