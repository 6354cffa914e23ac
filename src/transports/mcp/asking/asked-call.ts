/** Makes the call of a tool that asks its client, and prints its result or its question. */
import type { RequestId } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { type CallingClient, type CallParameters, callTool } from "../answers/call-tool.ts";
import { printAnswer, type ResultFrame } from "../answers/print-result.ts";
import { type ClientLink, LOG_LEVELS } from "../protocol/client-link.ts";
import type { McpOptions } from "../protocol/options.ts";
import { printError, type RpcError } from "../protocol/rpc-error.ts";

/** The call and its client. */
export interface AskedCall {
  readonly id: RequestId;
  readonly params: unknown;
  readonly parameters: CallParameters;
  readonly capabilities: JsonObject;
  readonly ask: ClientLink["ask"];
  /** The least level of which the client wants log messages. */
  readonly logLevel: unknown;
  readonly send: (line: string) => void;
  readonly frame: ResultFrame;
}

/** Makes the call. @returns the answer as one line without its end */
export async function makeAskedCall(options: McpOptions, call: AskedCall, client: CallingClient): Promise<string> {
  const { id, params, parameters, capabilities, ask, frame } = call;
  const { requestState: state, inputResponses: responses } = isJsonObject(params) ? params : ({} as JsonObject);
  let question: JsonObject | undefined;
  let refused: RpcError | undefined;
  const link: ClientLink = {
    capabilities,
    round: { state, responses },
    ask,
    require: (inputRequests, requestState) => {
      question = { inputRequests, ...(requestState !== undefined && { requestState }) };
    },
    refuse: (error) => {
      refused = error;
    },
    log: (level, data) => sendLog(call, level, data),
  };
  const requestId = options.newRequestId();
  const end = options.asking?.open(requestId, link);
  const result = await callTool({ ...options, newRequestId: () => requestId }, parameters, client).finally(end);
  if (refused !== undefined) return printError(id, refused);
  if (question === undefined) return printAnswer(id, result, frame);
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { resultType: "input_required", _meta: frame.meta, ...question },
  });
}

function sendLog({ logLevel, send }: AskedCall, level: string, data: string): void {
  const [least, own] = [logLevel, level].map((name) => (LOG_LEVELS as readonly unknown[]).indexOf(name));
  if (least === undefined || own === undefined || least < 0 || own < least) return;
  send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level, data } }));
}
