/**
 * Watches one call for the kernel's observer: how long each stage took, and what came of it.
 *
 * INVARIANT: an observer changes nothing of a call. What it throws is reported as a bug, and the call goes on.
 */
import type { JsonObject } from "../../base/json.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type {
  CallObserver,
  CallStage,
  ObservedCall,
  ObservedCommand,
  ObservedStage,
} from "../../model/outcome/observed-call.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Known } from "../call/stages.ts";

/** What of the kernel a watch needs. */
export type WatchParts = Pick<KernelParts, "clock" | "registry" | "onInternalError">;

/** Commands of a call that an observer hears of. */
const COMMANDS_MAX = 64;

/** What the answer knows besides the response. */
export interface Answered {
  readonly outputBytes?: number | undefined;
  /** Whether it is the answer to an earlier call. */
  readonly isReplay?: true;
}

/** The watch over one call. */
export class CallWatch {
  readonly #parts: WatchParts;
  readonly #observer: CallObserver;
  readonly #traceparent: unknown;
  readonly #stages: CallStage[] = [];
  readonly #atMs: number[] = [];

  constructor(parts: WatchParts, observer: CallObserver, traceparent: unknown) {
    this.#parts = parts;
    this.#observer = observer;
    this.#traceparent = traceparent;
  }

  /** The call enters a stage, which ends the one before. */
  enter(stage: CallStage): void {
    if (this.#stages.at(-1) === stage) return;
    this.#stages.push(stage);
    this.#atMs.push(this.#parts.clock.monotonicMs());
  }

  /** The call was answered. */
  answered(known: Known, response: CallResponse, answered: Answered): void {
    try {
      this.#observer(this.#observed(known, response, answered));
    } catch (error) {
      this.#parts.onInternalError(error);
    }
  }

  #observed(known: Known, response: CallResponse, { outputBytes, isReplay }: Answered): ObservedCall {
    const { clock, registry } = this.#parts;
    const { outcome, requestId, rules, ledgerSequence } = response;
    const { session, redaction, run, startedMs } = known;
    const tool = known.tool ?? (known.call && registry.get(known.call.tool));
    const nowMs = clock.monotonicMs();
    return {
      requestId,
      ...(tool && { tool: tool.name, effect: tool.capability.effect }),
      outcome: isReplay ? "replayed" : outcome.kind,
      ...(outcome.kind === "denied" && { denial: refusalOf(outcome.denial) }),
      ...(outcome.kind === "error" && { errorCode: outcome.code }),
      rules,
      ...(session && { sessionId: session.id, role: session.role, preset: session.preset }),
      receivedAtMs: known.receivedAtMs,
      durationMs: nowMs - startedMs,
      stages: spansOf(this.#stages, this.#atMs, { startedMs, nowMs }),
      hasRun: run?.hasBegun === true,
      ...(outputBytes !== undefined && { outputBytes }),
      truncated: outcome.kind === "success" && outcome.truncated,
      secretsFound: redaction === undefined ? 0 : redaction.found.definite + redaction.found.probable,
      commands: run === undefined || run.commands.length === 0 ? NO_COMMANDS : commandsOf(run.commands, run.sandbox),
      ...(ledgerSequence !== undefined && { ledgerSequence }),
      ...(this.#traceparent !== undefined && { traceparent: this.#traceparent }),
    };
  }
}

const NO_COMMANDS: readonly ObservedCommand[] = [];

function spansOf(
  stages: readonly CallStage[],
  atMs: readonly number[],
  { startedMs, nowMs }: { readonly startedMs: number; readonly nowMs: number },
): readonly ObservedStage[] {
  return stages.map((stage, index) => {
    const beganMs = atMs[index] ?? nowMs;
    return { stage, startMs: beganMs - startedMs, durationMs: (atMs[index + 1] ?? nowMs) - beganMs };
  });
}

function commandsOf(commands: readonly JsonObject[], sandbox: JsonObject | undefined): readonly ObservedCommand[] {
  const said = sandbox?.["backend"];
  const backend = typeof said === "string" ? said : "unknown";
  return commands.slice(0, COMMANDS_MAX).map(({ endedBy, durationMs }) => ({
    backend,
    durationMs: typeof durationMs === "number" ? durationMs : 0,
    ...(typeof endedBy === "string" && { endedBy }),
  }));
}

function refusalOf({ layer, reason, ruleId }: Denial): NonNullable<ObservedCall["denial"]> {
  return { layer, reason, ruleId };
}
