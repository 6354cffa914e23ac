/**
 * The pipeline: one function owns the order of every check, and nothing else in the code base calls a tool.
 *
 * Each stage returns a value, either what it learned or a refusal; only bugs throw, and a bug answers `INTERNAL` and
 * refuses the call. INVARIANTS: every request gets exactly one response with its own id (CTR-0022, CTR-0023); for
 * effects a durable intent precedes and an outcome follows; nothing leaves before it is redacted and recorded.
 */
import { checkArming } from "../approval/arming.ts";
import { judgeFlow } from "../flow/flow.ts";
import type { Verdict } from "../model/outcome/decision.ts";
import type { CallResponse } from "../model/tool/call.ts";
import { Answer } from "./answer/answer.ts";
import type { Evidence } from "./answer/evidence.ts";
import { finishResult } from "./answer/result.ts";
import { outOfTime, pace, paid, reserveBudget, timed } from "./answer/spend.ts";
import { approve } from "./ask/approve.ts";
import type { Ended } from "./call/ended.ts";
import type { KernelParts } from "./call/parts.ts";
import { receive, type Submission, type Waiter } from "./call/submission.ts";
import type { Trail } from "./call/trail.ts";
import { callRules } from "./handles/call-rules.ts";
import { recordIntent } from "./intent.ts";
import { analyse } from "./judge/analyse.ts";
import { authenticateCall } from "./judge/authenticate.ts";
import { callerOf } from "./judge/caller.ts";
import { type Decided, evaluateAccesses } from "./judge/decide.ts";
import { checkMasterGate, withGateDemands } from "./judge/gates.ts";
import { checkScope } from "./judge/scope.ts";
import { markSecrets } from "./judge/secret-writes.ts";
import { wholeCall } from "./judge/whole-call.ts";
import { CallRedaction, secretsOf } from "./redaction/redaction.ts";
import { replayed } from "./replay.ts";
import { runTool } from "./run.ts";

/** The kernel that takes a request, and the request's own trail, which has just begun. */
interface Begun {
  readonly parts: KernelParts;
  readonly evidence: Evidence;
  readonly trail: Trail;
}

/** Takes one request through every stage and answers it once. */
export async function pipeline({ parts, evidence, trail }: Begun, submission: Submission, waiter: Waiter): Promise<CallResponse> {
  const answer = new Answer(parts, evidence, trail);
  try {
    // without a redactor nothing is said about a call; decode → validate
    trail.redaction = new CallRedaction(await parts.redactor());
    const received = await receive(submission, trail);
    if (!received.ok) return await answer.denied(received.denial);
    const call = received.value;
    trail.redaction = trail.redaction.hiding(secretsOf(call)).knowing(call.arguments);

    // master gate
    const gate = checkMasterGate(parts.settings, call.tool);
    if (!gate.ok) return await answer.denied(gate.denial);

    // authenticate
    const authenticated = await authenticateCall(parts, trail, call.sessionToken);
    if (!authenticated.ok) return await answer.denied(authenticated.denial);
    const caller = await callerOf(parts, authenticated.value);
    trail.caller = caller;

    // analyse
    await parts.registry.prepare(call.tool);
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
    const whole = wholeCall(tool, trail.accesses, call.arguments);
    const decided = evaluateAccesses(policy, caller, tool, trail.accesses, trail.receivedAtMs, demands, whole);
    if (!decided.ok) return await answer.denied(decided.denial);
    remember(trail, decided.value);

    // flow control → dedupe → rate limit → arming → approval, which may wait for a person and then looks at everything again
    // → reserve budget → record intent → re-check, because recording waited for the disk
    for (const step of [
      () => unless(judgeFlow(caller.mark, tool.capability, trail.accesses)),
      () => replayed(parts, trail, policy, waiter.signal),
      () => pace(parts, trail),
      () => unless(checkArming(tool.name, decided.value.obligations, caller.armed)),
      () => approve(parts, trail, policy, decided.value, waiter),
      () => reserveBudget(parts, trail, waiter),
      () => recordIntent(parts, evidence, trail, policy),
    ]) {
      const ending = step();
      const ended = ending instanceof Promise ? await ending : ending;
      if (ended) return await answer.ended(ended);
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

/** How the call ends, unless it may go on. */
function unless(verdict: Verdict<unknown>): Ended | undefined {
  return verdict.ok ? undefined : { kind: "denial", denial: verdict.denial };
}

/** What policy said, for evidence. */
function remember(trail: Trail, { permits, obligations }: Decided): void {
  trail.rules = permits;
  trail.obligations = obligations.map((due) => `${due.obligation} ${due.ruleId}`);
}
