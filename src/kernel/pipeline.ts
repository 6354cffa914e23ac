/**
 * The pipeline: one function owns the order of every check, and nothing else in the code base calls a tool.
 *
 * Each stage returns a value, either what it learned or a refusal; only bugs throw, and a bug answers `INTERNAL` and
 * refuses the call. INVARIANTS: every request gets exactly one response with its own id (CTR-0022, CTR-0023); for
 * effects a durable intent precedes and an outcome follows; nothing leaves before it is redacted and recorded.
 */
import { checkApproval, checkArming } from "../approval/approval.ts";
import { reserveBudget } from "../budget/budget.ts";
import { checkDedupe } from "../dedupe/dedupe.ts";
import { checkFlow } from "../flow/flow.ts";
import type { CallResponse } from "../model/call.ts";
import { authenticate } from "../session/session.ts";
import { analyse } from "./analyse.ts";
import { answerDenial, answerFailure, answerSuccess, answerThrown } from "./answer.ts";
import { evaluateAccesses, judgeByPolicy } from "./decide.ts";
import type { Evidence } from "./evidence.ts";
import type { KernelParts } from "./parts.ts";
import { recheck } from "./recheck.ts";
import { cleanResult } from "./result.ts";
import { runTool } from "./run.ts";
import { checkMasterGate, checkScope } from "./scope.ts";
import { receive, type Submission } from "./submission.ts";
import type { Trail } from "./trail.ts";

/** Takes one request through every stage and answers it once. */
export async function pipeline(parts: KernelParts, evidence: Evidence, submission: Submission, signal: AbortSignal): Promise<CallResponse> {
  const { clock } = parts;
  const trail: Trail = { requestId: "", startedMs: clock.monotonicMs(), receivedAtMs: clock.nowMs(), accesses: [], rules: [] };
  try {
    return await walk(parts, evidence, submission, trail, signal);
  } catch (thrown) {
    return answerThrown(parts, evidence, trail, thrown);
  }
}

async function walk(
  parts: KernelParts,
  evidence: Evidence,
  submission: Submission,
  trail: Trail,
  signal: AbortSignal,
): Promise<CallResponse> {
  // decode → validate
  const received = receive(submission);
  trail.requestId = received.requestId;
  if (!received.verdict.ok) return answerDenial(parts, evidence, trail, received.verdict.denial);
  const call = received.verdict.value;
  trail.call = call;

  // master gate
  const gate = checkMasterGate(parts.settings, call.tool);
  if (!gate.ok) return answerDenial(parts, evidence, trail, gate.denial);

  // authenticate
  const authenticated = await authenticate(parts.sessions, call.sessionToken, trail.receivedAtMs);
  if (!authenticated.ok) return answerDenial(parts, evidence, trail, authenticated.denial);
  const { session, lease } = authenticated.value;
  const caller = { session, lease, place: parts.workspaces.open(session) };
  trail.caller = caller;

  // analyse
  const analysed = analyse(parts.registry, call);
  if (!analysed.ok) return answerDenial(parts, evidence, trail, analysed.denial);
  const { tool, args } = analysed.value;
  trail.tool = tool;
  trail.args = args;

  // scope: lease ∧ role ∧ mode ∧ skill ∧ workspace
  const scoped = checkScope(caller, tool, analysed.value.accesses, trail.receivedAtMs);
  if (!scoped.ok) return answerDenial(parts, evidence, trail, scoped.denial);
  trail.accesses = scoped.value;

  // evaluate policy
  const policy = await parts.policy(session.preset);
  const decided = evaluateAccesses(policy, caller, tool, trail.accesses, trail.receivedAtMs);
  trail.policyHash = policy.hash;
  if (!decided.ok) return answerDenial(parts, evidence, trail, decided.denial);
  trail.rules = decided.value.permits;

  // flow control → dedupe
  const flow = checkFlow(trail.accesses);
  if (!flow.ok) return answerDenial(parts, evidence, trail, flow.denial);
  const replay = checkDedupe(call.dedupeKey);
  if (replay) return answerFailure(parts, evidence, trail, replay);

  // arming → approval
  const armed = checkArming(tool.name, decided.value.obligations);
  if (!armed.ok) return answerDenial(parts, evidence, trail, armed.denial);
  const approved = checkApproval(tool.name, decided.value.obligations);
  if (!approved.ok) return answerDenial(parts, evidence, trail, approved.denial);

  // reserve budget → record intent → re-check, because recording waited for the disk
  const reserved = reserveBudget(lease);
  if (!reserved.ok) return answerDenial(parts, evidence, trail, reserved.denial);
  if (tool.capability.effect !== "read") {
    trail.intent = await evidence.intent(trail);
    const still = await recheck(parts, trail, policy);
    if (!still.ok) return answerDenial(parts, evidence, trail, still.denial);
  }

  // execute
  const ran = await runTool(parts, evidence, trail, judgeByPolicy(policy, caller, tool, trail.receivedAtMs), signal);
  if (ran.kind === "refusal") return answerDenial(parts, evidence, trail, ran.denial);
  if (ran.kind === "failure") return answerFailure(parts, evidence, trail, ran.failure);

  // redact → truncate → label → record outcome → respond
  const secrets = [{ rule: "session-token", value: call.sessionToken }];
  return answerSuccess(parts, evidence, trail, () => cleanResult(tool, ran.output, secrets, parts.clock.nowMs()));
}
