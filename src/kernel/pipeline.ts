/**
 * The pipeline: one function owns the order of every check, and nothing else in the code base calls a tool.
 *
 * Each stage returns a value, either what it learned or a refusal; only bugs throw, and a bug answers `INTERNAL` and
 * refuses the call. INVARIANTS: every request gets exactly one response with its own id (CTR-0022, CTR-0023); for
 * effects a durable intent precedes and an outcome follows; nothing leaves before it is redacted and recorded.
 */
import { checkArming } from "../approval/arming.ts";
import { assert } from "../base/errors.ts";
import { judgeFlow } from "../flow/flow.ts";
import { allow, type Verdict } from "../model/outcome/decision.ts";
import type { CallStage } from "../model/outcome/observed-call.ts";
import type { CallResponse } from "../model/tool/call.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import type { CustomRule } from "../redact/custom-rules.ts";
import type { KnownSecret } from "../redact/redact.ts";
import { Answer } from "./answer/answer.ts";
import type { Kernel } from "./answer/kernel.ts";
import { finishResult } from "./answer/result.ts";
import { outOfTime, pace, paid, reserveBudget, timed } from "./answer/spend.ts";
import { approve } from "./ask/approve.ts";
import { recheck } from "./ask/recheck.ts";
import type { Ended } from "./call/ended.ts";
import { Holdings } from "./call/holdings.ts";
import type { RunningCall } from "./call/kill-switch.ts";
import { RunRecord } from "./call/run-record.ts";
import {
  type Analysed,
  type Authenticated,
  arrive,
  type Granted,
  type Known,
  type Received,
  type Ruling,
  type Running,
} from "./call/stages.ts";
import { decode, type Submission, type Waiter } from "./call/submission.ts";
import { WorkspaceLook } from "./call/workspace-look.ts";
import { namedCall } from "./dialect/named-call.ts";
import { inWordsOf } from "./dialect/speak.ts";
import { understand } from "./dialect/understand.ts";
import { mustRecheck, recordIntent } from "./intent.ts";
import { analyse, findTool } from "./judge/analyse.ts";
import { authenticateCall } from "./judge/authenticate.ts";
import { callQuestion } from "./judge/call-question.ts";
import { callerOf } from "./judge/caller.ts";
import { withSentContent } from "./judge/content/sent-content.ts";
import { evaluateAccesses } from "./judge/decide.ts";
import { checkMasterGate } from "./judge/gates.ts";
import { checkScope } from "./judge/scope.ts";
import { markSecrets, mayWriteSecrets } from "./judge/secret-writes.ts";
import { withDeletionDemands } from "./keeping/deletion.ts";
import { CallWatch } from "./observe/call-watch.ts";
import { ANALYSED_CHARACTERS_MAX } from "./redaction/argument-secrets.ts";
import { CallRedaction } from "./redaction/redaction.ts";
import { replayed } from "./replay.ts";
import { runTool } from "./run.ts";
import type { Turns } from "./turns.ts";

/** A request, who waits for its answer, and the kill switch's hold on it. */
export interface Arrival {
  readonly submission: Submission;
  readonly waiter: Waiter;
  readonly running: RunningCall;
}

/** A kernel with the turns of its sessions. */
export interface TurnedKernel extends Kernel {
  readonly turns: Turns;
}

/** Takes one request through every stage and answers it once, in the words of its session. */
export async function pipeline(kernel: TurnedKernel, arrival: Arrival): Promise<CallResponse> {
  const { parts } = kernel;
  const { observer } = parts;
  const watch = observer && new CallWatch(parts, observer, arrival.waiter.traceparent);
  const walk = new Walk(arrive(parts.clock, arrival.running), watch);
  const response = await walked(kernel, walk, arrival);
  return inWordsOf(parts, walk.known, response);
}

async function walked(
  kernel: TurnedKernel,
  walk: Walk,
  { submission, waiter, running }: Arrival,
): Promise<CallResponse> {
  const { parts } = kernel;
  const answer = new Answer(kernel, walk.watch);
  try {
    const received = await readCall(kernel, walk, submission);
    if (!received.ok) return await answer.denied(walk.known, received.denial);
    const admitted = await admitCall(kernel, walk, { ...received.value, running });
    if (!admitted.ok) return await answer.denied(walk.known, admitted.denial);
    const judged = await judgeCall(kernel, walk, admitted.value);
    if (!judged.ok) return await answer.denied(walk.known, judged.denial);
    const granted = judged.value;
    const { caller, tool, accesses, ruling } = granted;

    // flow control → dedupe → rate limit → arming → approval, which may wait for a person and then looks at everything
    // again → the session's turn → reserve budget
    let hasWaited = false;
    const steps: readonly Step[] = [
      ["flow", () => unless(judgeFlow(caller.mark, tool.capability, accesses))],
      ["dedupe", () => replayed(kernel, granted, waiter.signal)],
      ["rate", () => pace(parts, granted)],
      ["arming", () => unless(checkArming(tool.name, ruling.obligations, caller.armed))],
      ["approval", () => approve(kernel, granted, waiter)],
      ["turn", () => kernel.turns.take(granted, waiter.signal)],
      ["budget", () => reserveBudget(parts, granted, waiter)],
    ];
    for (const [stage, step] of steps) {
      walk.enter(stage);
      const ending = step();
      hasWaited ||= ending instanceof Promise;
      const ended = ending instanceof Promise ? await ending : ending;
      if (ended) return await answer.ended(walk.known, ended);
    }

    // record intent → re-check, because recording waited for the disk
    walk.enter("intent");
    const mayHaveChanged = hasWaited && mustRecheck(parts.clock, granted);
    const announced = tool.capability.effect === "read" ? undefined : await recordIntent(kernel, granted);
    const intent = announced?.intent;
    walk.learn({ ...granted, intent });
    const documents = await announced?.documents;
    walk.enter("recheck");
    const still = mayHaveChanged || intent !== undefined ? await recheck(parts, granted) : undefined;
    if (still?.ok === false) return await answer.denied(walk.known, still.denial);

    walk.enter("execute");
    const started: Running = walk.learn({ ...granted, intent, documents, run: new RunRecord() });
    const ran = await runTool(kernel, started, timed(parts, granted, waiter));
    if (ran.kind === "refusal") return await answer.denied(started, ran.denial);
    if (ran.kind === "failure") return await answer.failed(started, outOfTime(started) ?? ran.failure);

    // redact → truncate → label → store → record outcome → settle budget → respond
    walk.enter("finish");
    const finished = await finishResult({ parts, running: started }, ran.output, waiter.signal);
    return await answer.succeeded(started, await paid(started, finished, { ...waiter, output: ran.output }));
  } catch (thrown) {
    return await answer.thrown({ ...walk.known, session: walk.known.session ?? running.session }, thrown);
  } finally {
    walk.known.holdings?.endTurn();
  }
}

/** A stage that may end the call. */
type Step = readonly [CallStage, () => Ended | undefined | Promise<Ended | undefined>];

/** How far a call has come: the last record of it, for whatever ends it. */
class Walk {
  known: Known;
  readonly watch: CallWatch | undefined;

  constructor(arrived: Known, watch: CallWatch | undefined) {
    this.known = arrived;
    this.watch = watch;
    watch?.enter("decode");
  }

  /** Marks where a stage begins, for whoever observes. */
  enter(stage: CallStage): void {
    this.watch?.enter(stage);
  }

  learn<Stage extends Known>(record: Stage): Stage {
    this.known = record;
    return record;
  }
}

/** Decode → validate. Without a redactor nothing is said about a call. */
async function readCall({ parts }: Kernel, walk: Walk, submission: Submission): Promise<Verdict<Received>> {
  const redaction = new CallRedaction(await parts.redactor());
  walk.learn({ ...walk.known, redaction });
  const { requestId, validate } = await decode(submission);
  const identified = walk.learn({ ...walk.known, requestId });
  const valid = validate();
  if (!valid.ok) return valid;
  const named = namedCall(valid.value);
  if (!named.ok) return named;
  const call = named.value;
  const hiding = redaction.hiding(parts.sessionSecrets.of(call.sessionToken));
  // Nothing is awaited for a call as short as most are.
  const analysed = hiding.ahead(call.arguments, ANALYSED_CHARACTERS_MAX);
  if (analysed !== undefined) await analysed;
  return allow(walk.learn({ ...identified, call, redaction: hiding.knowing(call.arguments) }));
}

/** Master gate → authenticate → understand. */
async function admitCall(
  { parts }: Kernel,
  walk: Walk,
  { running, ...received }: Received & Pick<Arrival, "running">,
): Promise<Verdict<Admitted>> {
  const { call, receivedAtMs: nowMs } = received;
  walk.enter("gate");
  const gate = checkMasterGate(parts.settings, call.tool);
  if (!gate.ok) return gate;

  walk.enter("authenticate");
  const who = await authenticateCall(parts, { token: call.sessionToken, atMs: nowMs, running });
  walk.learn({ ...received, session: (who.ok ? who.value.session : who.session) ?? running.session });
  if (!who.ok) return who;
  const caller = await callerOf(parts, who.value);
  const { redactRules } = caller.place;
  const ground = redactRules === undefined ? received.redaction : await hiddenBy(parts, received, redactRules);
  const redaction = ground.also(caller.place.envSecrets?.() ?? NO_SECRETS);
  const authenticated: Authenticated = walk.learn({ ...received, redaction, session: caller.session, caller });

  walk.enter("understand");
  const { dialect } = caller.session;
  if (dialect === undefined || call.variant !== "call") return allow({ ...authenticated, plain: received.redaction });
  const spoken = walk.learn({ ...authenticated, spokenAs: call.tool });
  const understood = await understand(parts.registry, dialect, call);
  if (!understood.ok) return understood;
  const meant = understood.value;
  const ahead = redaction.ahead(meant.arguments, ANALYSED_CHARACTERS_MAX);
  if (ahead !== undefined) await ahead;
  const known = walk.learn({ ...spoken, call: meant, redaction: redaction.knowing(meant.arguments) });
  const own = checkMasterGate(parts.settings, meant.tool);
  return own.ok ? allow({ ...known, plain: received.redaction.knowing(meant.arguments) }) : own;
}

/** An authenticated call, and what is known of its arguments alone: without what the workspace's own files hold. */
interface Admitted extends Authenticated {
  readonly plain: CallRedaction;
}

/** Analyse → scope → policy. */
async function judgeCall(
  { parts }: Kernel,
  walk: Walk,
  { plain, ...authenticated }: Admitted,
): Promise<Verdict<Granted>> {
  const { call, caller, receivedAtMs: nowMs } = authenticated;

  walk.enter("analyse");
  await parts.registry.prepare(call.tool);
  const found = findTool(parts.registry, caller.gates, call.tool);
  if (!found.ok) return found;
  const tool = found.value;
  walk.learn({ ...authenticated, tool });
  const look = new WorkspaceLook(caller.place);
  const analysis = analyse(tool, call, look);
  if (!analysis.ok) return analysis;
  const { args, demands } = analysis.value;
  walk.learn({ ...authenticated, tool, demands, look });

  walk.enter("scope"); // lease ∧ role ∧ mode ∧ skill ∧ workspace
  const scoped = checkScope({ caller, tool, nowMs }, analysis.value);
  if (!scoped.ok) return scoped;
  // by what is known of the arguments alone: whoever writes a value of a `.env` file has not seen it there
  const ahead = mayWriteSecrets(tool, scoped.value) ? plain.ahead(call.arguments) : undefined;
  if (ahead !== undefined) await ahead;
  const accesses = markSecrets(plain, { tool, call }, scoped.value);

  const resolved: Analysed = walk.learn({ ...authenticated, tool, args, demands, look, accesses });

  walk.enter("policy");
  let analysed = walk.learn({ ...resolved, policy: await parts.policy(caller.session.preset) });
  const sending = withSentContent(parts, { ...analysed, nowMs });
  const sent = sending instanceof Promise ? await sending : sending;
  if (!sent.ok) return sent;
  if (sent.value !== caller) analysed = walk.learn({ ...analysed, caller: sent.value });
  const deleting = withDeletionDemands(parts, resolved, demands);
  if (deleting instanceof Promise) analysed = walk.learn({ ...analysed, demands: await deleting });
  const evaluated = evaluateCall(analysed);
  const fresh = asks(evaluated) ? await freshPolicy(parts, analysed) : undefined;
  if (fresh !== undefined) analysed = walk.learn({ ...analysed, policy: fresh });
  const ruling = fresh === undefined ? evaluated : evaluateCall(analysed);
  if (!ruling.ok) return ruling;
  const decidedAtMs = parts.clock.monotonicMs();
  return allow(walk.learn({ ...analysed, ruling: ruling.value, decidedAtMs, holdings: new Holdings() }));
}

const NO_SECRETS: readonly KnownSecret[] = [];

/** The redaction of a call, which hides what `rules` of its workspace find as well. */
async function hiddenBy(
  { redactorWith, sessionSecrets }: Kernel["parts"],
  { redaction, call }: Received,
  rules: readonly CustomRule[],
): Promise<CallRedaction> {
  assert(redactorWith, "the kernel has redactors for workspaces with rules of their own");
  const hiding = new CallRedaction(await redactorWith(redaction.by, rules));
  return hiding.hiding(sessionSecrets.of(call.sessionToken)).knowing(call.arguments);
}

type WithPolicy = Analysed & Pick<Granted, "policy">;

function evaluateCall(analysed: WithPolicy): Verdict<Ruling> {
  return evaluateAccesses(callQuestion(analysed), analysed.accesses);
}

function asks(ruling: Verdict<Ruling>): boolean {
  return ruling.ok && ruling.value.obligations.some(({ obligation }) => obligation === "ask");
}

/** The policy in force where it has just changed: nobody is asked about what was allowed for good a moment ago. */
async function freshPolicy(parts: Kernel["parts"], { caller, policy }: WithPolicy): Promise<PolicyEngine | undefined> {
  await parts.freshRules();
  const fresh = await parts.policy(caller.session.preset);
  return fresh.hash === policy.hash ? undefined : fresh;
}

/** How the call ends, unless it may go on. */
function unless(verdict: Verdict<unknown>): Ended | undefined {
  return verdict.ok ? undefined : { kind: "denial", denial: verdict.denial };
}
