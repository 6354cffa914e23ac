/**
 * Plays the rounds of a modern-era call, which may take several of them.
 *
 * A legacy-era call has no such rounds. A result says whether it is complete. One that is not hands out state, which
 * comes back with the answers to its questions in the next round.
 *
 * The one thing that a call asks for is approval, of a client that can show a form. Whether the client may answer, and
 * what state opens, is the kernel's to decide.
 *
 * INVARIANTS: nothing is kept between rounds, except of a call that is a task. State that was not handed out for this
 * very call opens nothing. A round that brought an answer asks no further question.
 */
import type { JSONRPCRequest, RequestId } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import type { InBandAsker } from "../../../kernel/index.ts";
import { type CallResult, resultOf } from "../answers/call-result.ts";
import type { CallParameters } from "../answers/call-tool.ts";
import { printAnswer, type ResultFrame } from "../answers/print-result.ts";
import type { McpOptions } from "../protocol/options.ts";
import { INVALID_PARAMS, printError } from "../protocol/rpc-error.ts";
import { answerIn, approvalForm } from "./approval-form.ts";
import { askedBetweenRounds } from "./asked-client.ts";

/** What a round brings besides the call. */
interface Round {
  readonly state: unknown;
  readonly responses: unknown;
}

/** What a round comes to. */
export type RoundResult =
  | { readonly kind: "complete"; readonly result: CallResult }
  | { readonly kind: "question"; readonly form: JsonObject; readonly state: string };

/** Makes the call of a round. */
export type RoundCaller = (inBand?: InBandAsker) => Promise<CallResult>;

/** Name of the one question among `inputRequests`. */
const QUESTION = "approval";

/**
 * Plays one round of a call; `params` are its parameters as they came, `parameters` as they were read. A call that may
 * become a task asks by `inTask` instead of ending.
 */
export async function playRound(
  { door, sessionToken, newRequestId }: Pick<McpOptions, "door" | "sessionToken" | "newRequestId">,
  {
    parameters,
    params,
    inTask,
  }: {
    readonly parameters: CallParameters;
    readonly params: JSONRPCRequest["params"];
    readonly inTask?: ((client: string) => InBandAsker) | undefined;
  },
  call: RoundCaller,
): Promise<RoundResult> {
  const { state, responses } = roundOf(params);
  const client = askedBetweenRounds(parameters._meta);
  const same = { sessionToken, client: client ?? "", tool: parameters.name, arguments: parameters.arguments };
  if (state !== undefined) {
    const answered = await door.answerRound(
      { ...same, requestId: newRequestId() },
      state,
      answerIn(bareAnswer(responses)),
    );
    if (answered.kind === "taken") return complete(await call());
    const { response } = answered;
    const isForeign = response.outcome.kind === "denied" && response.outcome.denial.layer === "approval";
    return complete({ ...resultOf(response), isMalformed: isForeign });
  }
  if (client === undefined) return complete(await call());
  if (inTask !== undefined) return complete(await call(inTask(client)));
  const result = await call({ client, channel: "multi_round_trip" });
  if (result.awaits === undefined) return complete(result);
  const opened = await door.openQuestion({ ...same, requestId: newRequestId() }, result.awaits);
  if (opened === undefined) return complete(result);
  const form = approvalForm(opened.question);
  // What cannot be shown in full others are waited for, as with any client.
  return form === undefined ? complete(await call()) : { kind: "question", form, state: opened.state };
}

/** The answer to one round, as one line without its end, a complete result in the `frame` of its era. */
export function printRound(id: RequestId, result: CallResult, frame: ResultFrame): string {
  if (!result.isMalformed) return printAnswer(id, result, frame);
  return printError(id, {
    code: INVALID_PARAMS,
    message: result.texts.filter((text) => typeof text === "string").join("\n"),
    data: result.facts,
  });
}

/** The answer to a round that asks, as one line without its end. */
export function printQuestion(
  id: RequestId,
  { form, state }: Extract<RoundResult, { kind: "question" }>,
  meta: JsonObject,
): string {
  const inputRequests = { [QUESTION]: { method: "elicitation/create", params: { mode: "form", ...form } } };
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { resultType: "input_required", _meta: meta, inputRequests, requestState: state },
  });
}

function roundOf(params: JSONRPCRequest["params"]): Round {
  const { requestState: state, inputResponses: responses }: Readonly<Record<string, unknown>> = params ?? {};
  return { state, responses };
}

/** The answer to the one question; without any the person has not answered. */
function bareAnswer(responses: unknown): unknown {
  const answer = isJsonObject(responses) ? responses[QUESTION] : undefined;
  return answer === undefined ? { action: "cancel" } : answer;
}

function complete(result: CallResult): RoundResult {
  return { kind: "complete", result };
}
