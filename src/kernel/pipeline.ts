/**
 * The pipeline: one function owns the order of every check, and nothing else in the code base calls a tool.
 *
 * Each stage returns a value, either what it learned or a refusal; only bugs throw, and a bug answers `INTERNAL` and
 * refuses the call. INVARIANTS: every request gets exactly one response with its own id (CTR-0022, CTR-0023); for
 * effects a durable intent precedes and an outcome follows; nothing leaves before it is redacted and recorded.
 */
import { checkObligations } from "../approval/approval.ts";
import { reserveBudget } from "../budget/budget.ts";
import { judgeFlow } from "../flow/flow.ts";
import type { CallResponse } from "../model/call.ts";
import { type Authentication, authenticate } from "../session/session.ts";
import { analyse } from "./analyse.ts";
import { Answer } from "./answer.ts";
import { callRules } from "./call-rules.ts";
import { callerOf } from "./caller.ts";
import { type Decided, evaluateAccesses } from "./decide.ts";
import type { Evidence } from "./evidence.ts";
import type { KernelParts } from "./parts.ts";
import { recheck } from "./recheck.ts";
import { CallRedaction, secretsOf } from "./redaction.ts";
import { replayed } from "./replay.ts";
import { finishResult } from "./result.ts";
import { runTool } from "./run.ts";
import { checkMasterGate, checkScope } from "./scope.ts";
import { markSecrets } from "./secret-writes.ts";
import { receive, type Submission, type Waiter } from "./submission.ts";
import { beginTrail, type Trail } from "./trail.ts";

/** Takes one request through every stage and answers it once. */
export async function pipeline(parts: KernelParts, evidence: Evidence, submission: Submission, waiter: Waiter): Promise<CallResponse> {
  const trail = beginTrail(parts.clock);
  const answer = new Answer(parts, evidence, trail);
  try {
    // without a redactor nothing is said about a call; decode → validate
    trail.redaction = new CallRedaction(await parts.redactor());
    const received = await receive(submission, trail);
    if (!received.ok) return await answer.denied(received.denial);
    const call = received.value;
    trail.redaction = trail.redaction.hiding(secretsOf(call));

    // master gate
    const gate = checkMasterGate(parts.settings, call.tool);
    if (!gate.ok) return await answer.denied(gate.denial);

    // authenticate
    const authenticated = identify(trail, await authenticate(parts.sessions, call.sessionToken, trail.receivedAtMs));
    if (!authenticated.ok) return await answer.denied(authenticated.denial);
    const caller = await callerOf(parts, authenticated.value);
    trail.caller = caller;

    // analyse
    await parts.registry.prepare(call.tool);
    const analysed = analyse(parts.registry, call, trail);
    if (!analysed.ok) return await answer.denied(analysed.denial);
    const { tool, accesses } = analysed.value;

    // scope: lease ∧ role ∧ mode ∧ skill ∧ workspace
    const scoped = checkScope(caller, tool, accesses, trail.receivedAtMs);
    if (!scoped.ok) return await answer.denied(scoped.denial);
    trail.accesses = markSecrets(trail.redaction, tool, call, scoped.value);

    // evaluate policy
    const policy = await parts.policy(caller.session.preset);
    trail.policyHash = policy.hash;
    const decided = evaluateAccesses(policy, caller, tool, trail.accesses, trail.receivedAtMs);
    if (!decided.ok) return await answer.denied(decided.denial);
    remember(trail, decided.value);

    // flow control → dedupe
    const flow = judgeFlow(caller.mark, tool.capability, trail.accesses);
    if (!flow.ok) return await answer.denied(flow.denial);
    const ended = await replayed(parts, trail, policy, waiter.signal);
    if (ended) return await answer.ended(ended);

    // arming → approval
    const due = checkObligations(tool.name, decided.value.obligations);
    if (!due.ok) return await answer.denied(due.denial);

    // reserve budget → record intent → re-check, because recording waited for the disk
    const reserved = reserveBudget(caller.lease);
    if (!reserved.ok) return await answer.denied(reserved.denial);
    if (tool.capability.effect !== "read") {
      await trail.claim?.begin();
      trail.intent = await evidence.intent(trail);
      const still = await recheck(parts, trail, policy);
      if (!still.ok) return await answer.denied(still.denial);
    }

    // execute
    const ran = await runTool(parts, evidence, trail, callRules(parts, trail, caller, policy), waiter);
    if (ran.kind === "refusal") return await answer.denied(ran.denial);
    if (ran.kind === "failure") return await answer.failed(ran.failure);

    // redact → truncate → label → store → record outcome → respond
    return await answer.succeeded(await finishResult(parts, trail, ran.output, waiter.signal));
  } catch (thrown) {
    return answer.thrown(thrown);
  }
}

/** What policy said, for evidence. */
function remember(trail: Trail, { permits, obligations }: Decided): void {
  trail.rules = permits;
  trail.obligations = obligations.map((due) => `${due.obligation} ${due.ruleId}`);
}

/** From here on everything about the call is recorded under the session that its token belongs to, refusals included. */
function identify(trail: Trail, authenticated: Authentication): Authentication {
  const session = authenticated.ok ? authenticated.value.session : authenticated.session;
  if (session !== undefined) trail.session = session;
  return authenticated;
}
