/**
 * The pipeline: one function owns the order of every check, and nothing else in the code base calls a tool.
 *
 * Each stage returns a value, either what it learned or a refusal; only bugs throw, and a bug answers `INTERNAL` and
 * refuses the call. INVARIANTS: every request gets exactly one response with its own id (CTR-0022, CTR-0023); for
 * effects a durable intent precedes and an outcome follows; nothing leaves before it is redacted and recorded.
 */
import { checkArming } from "../approval/arming.ts";
import { judgeFlow } from "../flow/flow.ts";
import type { CallResponse } from "../model/call.ts";
import { analyse } from "./analyse.ts";
import { Answer } from "./answer.ts";
import { approve } from "./approve.ts";
import { authenticateCall } from "./authenticate.ts";
import { callRules } from "./call-rules.ts";
import { callerOf } from "./caller.ts";
import { type Decided, evaluateAccesses } from "./decide.ts";
import type { Evidence } from "./evidence.ts";
import { checkMasterGate, withGateDemands } from "./gates.ts";
import { recordIntent } from "./intent.ts";
import type { KernelParts } from "./parts.ts";
import { CallRedaction, secretsOf } from "./redaction.ts";
import { replayed } from "./replay.ts";
import { finishResult } from "./result.ts";
import { runTool } from "./run.ts";
import { checkScope } from "./scope.ts";
import { markSecrets } from "./secret-writes.ts";
import { outOfTime, pace, paid, reserveBudget, timed } from "./spend.ts";
import { receive, type Submission, type Waiter } from "./submission.ts";
import type { Trail } from "./trail.ts";

/** Takes one request through every stage and answers it once. `trail` is the request's own, and has just begun. */
export async function pipeline(
  parts: KernelParts,
  evidence: Evidence,
  submission: Submission,
  waiter: Waiter,
  trail: Trail,
): Promise<CallResponse> {
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
    const authenticated = await authenticateCall(parts, trail, call.sessionToken);
    if (!authenticated.ok) return await answer.denied(authenticated.denial);
    const caller = await callerOf(parts, authenticated.value);
    trail.caller = caller;

    // analyse
    const analysed = analyse(parts.registry, call, trail, caller.gates);
    if (!analysed.ok) return await answer.denied(analysed.denial);
    const { tool } = analysed.value;

    // scope: lease ∧ role ∧ mode ∧ skill ∧ workspace
    const scoped = checkScope(caller, tool, analysed.value, trail.receivedAtMs);
    if (!scoped.ok) return await answer.denied(scoped.denial);
    trail.accesses = markSecrets(trail.redaction, tool, call, scoped.value);

    // evaluate policy
    const policy = await parts.policy(caller.session.preset);
    trail.policyHash = policy.hash;
    const demands = withGateDemands(caller, tool.name, analysed.value.demands);
    const decided = evaluateAccesses(policy, caller, tool, trail.accesses, trail.receivedAtMs, demands);
    if (!decided.ok) return await answer.denied(decided.denial);
    remember(trail, decided.value);

    // flow control → dedupe
    const flow = judgeFlow(caller.mark, tool.capability, trail.accesses);
    if (!flow.ok) return await answer.denied(flow.denial);
    const ended = await replayed(parts, trail, policy, waiter.signal);
    if (ended) return await answer.ended(ended);

    // rate limit
    const pacing = pace(parts, trail);
    const tooFast = pacing && (await pacing);
    if (tooFast) return await answer.failed(tooFast);

    // arming → approval, which may wait for a person and then looks at everything again
    const armed = checkArming(tool.name, decided.value.obligations, caller.armed);
    if (!armed.ok) return await answer.denied(armed.denial);
    const asking = approve(parts, trail, policy, decided.value, waiter);
    const unapproved = asking && (await asking);
    if (unapproved) return await answer.ended(unapproved);

    // reserve budget → record intent → re-check, because recording waited for the disk
    const reserving = reserveBudget(parts, trail, waiter);
    const unpaid = reserving && (await reserving);
    if (unpaid) return await answer.denied(unpaid);
    if (tool.capability.effect !== "read" || trail.waited) {
      const still = await recordIntent(parts, evidence, trail, policy);
      if (!still.ok) return await answer.denied(still.denial);
    }

    // execute
    const ran = await runTool(parts, evidence, trail, callRules(parts, trail, caller, policy), timed(parts, trail, waiter));
    if (ran.kind === "refusal") return await answer.denied(ran.denial);
    if (ran.kind === "failure") return await answer.failed(outOfTime(trail) ?? ran.failure);

    // redact → truncate → label → store → record outcome → settle budget → respond
    const finished = await finishResult(parts, trail, ran.output, waiter.signal);
    return await answer.succeeded(trail.spending ? await paid(trail, finished, ran.output, waiter) : finished);
  } catch (thrown) {
    return answer.thrown(thrown);
  }
}

/** What policy said, for evidence. */
function remember(trail: Trail, { permits, obligations }: Decided): void {
  trail.rules = permits;
  trail.obligations = obligations.map((due) => `${due.obligation} ${due.ruleId}`);
}
