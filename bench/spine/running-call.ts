/** Takes one call by name through the stages of a bare kernel, up to the record with which its tool runs. */
import { DocumentWriter } from "../../src/kernel/answer/documents/document-writer.ts";
import { Evidence } from "../../src/kernel/answer/evidence.ts";
import type { Kernel } from "../../src/kernel/answer/kernel.ts";
import { Holdings } from "../../src/kernel/call/holdings.ts";
import { RunRecord } from "../../src/kernel/call/run-record.ts";
import { arrive, type Running } from "../../src/kernel/call/stages.ts";
import { decode, type Submission } from "../../src/kernel/call/submission.ts";
import { WorkspaceLook } from "../../src/kernel/call/workspace-look.ts";
import { type Analysis, analyse, findTool } from "../../src/kernel/judge/analyse.ts";
import { callerOf } from "../../src/kernel/judge/caller.ts";
import { evaluateAccesses } from "../../src/kernel/judge/decide.ts";
import { checkScope } from "../../src/kernel/judge/scope.ts";
import { CallRedaction } from "../../src/kernel/redaction/redaction.ts";
import type { Verdict } from "../../src/model/outcome/decision.ts";
import { type Authenticated, authenticate } from "../../src/session/session.ts";
import type { BareKernel } from "./bare-kernel.ts";

/** A call that may run, and what its stages were given. */
export interface StagedCall {
  readonly kernel: Kernel;
  readonly who: Authenticated;
  readonly analysis: Analysis;
  readonly running: Running;
}

/** Stages `submission`. @throws Error when a stage refuses it */
export async function stageCall({ parts, policy, token }: BareKernel, submission: Submission): Promise<StagedCall> {
  const call = allowed((await decode(submission)).validate());
  const who = allowed(await authenticate(parts.sessions, token, parts.clock.nowMs()));
  const caller = await callerOf(parts, who);
  const arrived = { ...arrive(parts.clock), requestId: call.requestId };
  const tool = allowed(findTool(parts.registry, caller.gates, call.tool));
  const look = new WorkspaceLook(caller.place);
  const analysis = allowed(analyse(tool, call, look));
  const { args, demands } = analysis;
  const accesses = allowed(checkScope({ caller, tool, nowMs: arrived.receivedAtMs }, analysis));
  const ruling = allowed(evaluateAccesses({ policy, caller, tool, nowMs: arrived.receivedAtMs, demands }, accesses));
  const redaction = new CallRedaction(await parts.redactor(), parts.sessionSecrets.of(call.sessionToken));
  const decidedAtMs = parts.clock.monotonicMs();
  const known = { ...arrived, call, redaction, session: caller.session, caller, tool, args, demands, look, accesses };
  const running = {
    ...known,
    policy,
    ruling,
    decidedAtMs,
    holdings: new Holdings(),
    intent: undefined,
    run: new RunRecord(),
  };
  return {
    kernel: { parts, evidence: new Evidence(parts), documents: new DocumentWriter(parts) },
    who,
    analysis,
    running,
  };
}

function allowed<T>(verdict: Verdict<T>): T {
  if (!verdict.ok) throw new Error(`the measured call was refused: ${verdict.denial.message}`);
  return verdict.value;
}
