/**
 * Handles approval of a call that comes in several rounds.
 *
 * Its client cannot be asked while the call waits. The first round is therefore refused, the client shows what is
 * asked, and the next round brings the answer.
 *
 * INVARIANTS: Whoever is shown a question or answers one is the session that was refused, and the operator says that a
 * person attends its client. Nobody else learns that there is such a request. What was sealed for one call, client and
 * session opens nothing else, and nothing twice. An answer executes nothing: the round goes through the whole pipeline.
 */
import type { InBandAnswer, InBandClient, InBandQuestion } from "../approval/in-band.ts";
import { openRound, roundCall, sealRound } from "../approval/round-state.ts";
import { isJsonObject } from "../base/json.ts";
import { jsonProblem } from "../base/json-parse.ts";

import type { Session } from "../model/people/session.ts";
import type { CallResponse } from "../model/tool/call.ts";
import { type Asker, admit } from "./admit.ts";
import { Answer } from "./answer/answer.ts";
import type { Kernel } from "./answer/kernel.ts";
import { foreignRound } from "./ask/approval-denials.ts";
import { arrive, type Known } from "./call/stages.ts";
import { CallRedaction } from "./redaction/redaction.ts";

/**
 * Milliseconds that the state between two rounds of a call counts at most: as long as a request lives if nobody says
 * otherwise.
 */
export const ROUND_STATE_MS = 15 * 60_000;

/** A call as its client makes it, and the client. */
export interface RoundCall extends Asker {
  /** By the client's own word. */
  readonly client: string;
  readonly tool: string;
  readonly arguments: unknown;
}

/** What the client is to ask, and the state that it brings back with the answer. */
export interface OpenedQuestion {
  readonly question: InBandQuestion;
  readonly state: string;
}

/** What came of an answer; `taken`: the round goes on as a call, whatever was answered. */
export type AnsweredRound = { readonly kind: "taken" } | { readonly kind: "refused"; readonly response: CallResponse };

/**
 * What the attended client of a session is to ask about the request `ref`; `undefined` when there is nothing it may
 * answer.
 */
export async function openQuestion(kernel: Kernel, call: RoundCall, ref: string): Promise<OpenedQuestion | undefined> {
  const admitted = await admit(kernel, call);
  if (admitted.kind === "refused") return undefined;
  const { approvals, argumentsKey, clock, onInternalError } = kernel.parts;
  const approval = await approvals.find(ref).catch(onInternalError);
  const digest = digestOf(argumentsKey, call);
  if (!approval || approval.sessionId !== admitted.session.id || digest === undefined) return undefined;
  const question = approvals.inBandQuestion(approval, call);
  if (question === undefined) return undefined;
  const { sessionId, inBandAnswers: answersBefore, expiresAtMs } = approval;
  const endsAtMs = Math.min(expiresAtMs, clock.nowMs() + ROUND_STATE_MS);
  const facts = { ref, sessionId, client: call.client, call: digest, answersBefore, expiresAtMs: endsAtMs };
  return { question, state: sealRound(argumentsKey, facts) };
}

/** What a client brings back: the state that it was given, and the answer. */
export interface BroughtAnswer {
  readonly state: unknown;
  readonly answer: InBandAnswer;
}

/** Takes the answer that `call` brings, if its state was sealed for it. */
export async function answerRound(
  kernel: Kernel,
  call: RoundCall,
  { state, answer }: BroughtAnswer,
): Promise<AnsweredRound> {
  const { parts } = kernel;
  const admitted = await admit(kernel, call);
  if (admitted.kind === "refused") return admitted;
  const { session } = admitted;
  const refuse = async (problem: string): Promise<AnsweredRound> => ({
    kind: "refused",
    response: await refused(kernel, { ...call, session }, (end, known) => end.denied(known, foreignRound(problem))),
  });
  try {
    const digest = digestOf(parts.argumentsKey, call) ?? "";
    const opened = openRound(parts.argumentsKey, state, {
      sessionId: session.id,
      client: call.client,
      call: digest,
      nowMs: parts.clock.nowMs(),
    });
    if (!opened.ok) return await refuse(opened.problem);
    const { ref, answersBefore } = opened.round;
    const from: InBandClient = { client: call.client, channel: "multi_round_trip" };
    const outcome = await parts.approvals.answerInBand({ ref, sessionId: session.id, from, answer, answersBefore });
    const isOver = outcome.kind === "unknown" || (outcome.kind === "not_counted" && outcome.why === "repeated");
    return isOver ? await refuse("it was answered before") : { kind: "taken" };
  } catch (error) {
    return {
      kind: "refused",
      response: await refused(kernel, { ...call, session }, (end, known) => end.thrown(known, error)),
    };
  }
}

async function refused(
  kernel: Kernel,
  { requestId, sessionToken, session }: Asker & { readonly session: Session },
  finish: (answer: Answer, known: Known) => Promise<CallResponse>,
): Promise<CallResponse> {
  const { parts } = kernel;
  const answer = new Answer(kernel);
  let known: Known = { ...arrive(parts.clock), requestId, session };
  try {
    known = { ...known, redaction: new CallRedaction(await parts.redactor(), parts.sessionSecrets.of(sessionToken)) };
    return await finish(answer, known);
  } catch (error) {
    return answer.thrown(known, error);
  }
}

/** `undefined` for arguments that no call can have. */
function digestOf(key: Uint8Array, { tool, arguments: args = {} }: RoundCall): string | undefined {
  return isJsonObject(args) && jsonProblem(args) === undefined && tool.isWellFormed()
    ? roundCall(key, tool, args)
    : undefined;
}
