/**
 * Counts what happens in one kernel: calls, their stages, commands, and events of the ledger.
 *
 * INVARIANT: a label's values are names of registered tools, frozen codes, or one of few words: nothing that a caller,
 * a file or a person wrote.
 */
import { Counter, type Registry } from "prom-client";
import { KernelError } from "../../base/errors.ts";
import { securityEventOfRecorded } from "../../ledger/audit/security-event.ts";
import { CALL_STAGES, type CallStage, type ObservedCall } from "../../model/outcome/observed-call.ts";
import type { Observer, RecordedEvent } from "../telemetry/observers.ts";
import { METRICS, type MetricEntry } from "./catalog.ts";
import { LabelLimit } from "./label-limit.ts";
import { QuickHistogram, type Series, SeriesByValue } from "./quick-histogram.ts";

/** Tools, and reasons, that have series of their own. */
const TOOLS_MAX = 512;
const REASONS_MAX = 256;
/** Seconds: reads take parts of a millisecond, commands and people minutes. */
const CALL_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600];
const STAGE_BUCKETS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60];
/** The label of calls of no registered tool. */
export const UNKNOWN_TOOL = "unknown";

/** Makes the metric of an entry in a registry. */
export function counterOf(registry: Registry, { name, help, labels }: MetricEntry): Counter {
  return new Counter({ name, help, labelNames: [...labels], registers: [registry] });
}

function seriesOf(registry: Registry, entry: MetricEntry, buckets: readonly number[]): SeriesByValue {
  return new SeriesByValue(new QuickHistogram(registry, entry, buckets));
}

/** Counts for one kernel. */
export class CallMetrics implements Observer {
  readonly #tools = new LabelLimit(TOOLS_MAX);
  readonly #reasons = new LabelLimit(REASONS_MAX);
  readonly #executions: Counter;
  readonly #errors: Counter;
  readonly #execution: SeriesByValue;
  readonly #calls: Counter;
  readonly #denials: Counter;
  readonly #call: SeriesByValue;
  readonly #stages: ReadonlyMap<CallStage, Series>;
  readonly #outputBytes: Counter;
  readonly #truncated: Counter;
  readonly #secrets: Counter;
  readonly #runs: Counter;
  readonly #run: SeriesByValue;
  readonly #records: SeriesByValue;
  readonly #ledgerFailures: Counter;
  readonly #internalErrors: Counter;
  readonly #doorErrors: Counter;
  readonly #security: Counter;

  constructor(registry: Registry) {
    const counted = (entry: MetricEntry) => counterOf(registry, entry);
    this.#executions = counted(METRICS.executions);
    this.#errors = counted(METRICS.errors);
    this.#execution = seriesOf(registry, METRICS.execution, CALL_BUCKETS);
    this.#calls = counted(METRICS.calls);
    this.#denials = counted(METRICS.denials);
    this.#call = seriesOf(registry, METRICS.call, CALL_BUCKETS);
    const stage = new QuickHistogram(registry, METRICS.stage, STAGE_BUCKETS);
    this.#stages = new Map(CALL_STAGES.map((name) => [name, stage.series(name)]));
    this.#outputBytes = counted(METRICS.outputBytes);
    this.#truncated = counted(METRICS.truncated);
    this.#secrets = counted(METRICS.secrets);
    this.#runs = counted(METRICS.sandboxRuns);
    this.#run = seriesOf(registry, METRICS.sandboxRun, CALL_BUCKETS);
    this.#records = seriesOf(registry, METRICS.ledgerRecord, STAGE_BUCKETS);
    this.#ledgerFailures = counted(METRICS.ledgerFailures);
    this.#internalErrors = counted(METRICS.internalErrors);
    this.#doorErrors = counted(METRICS.doorErrors);
    this.#security = counted(METRICS.securityEvents);
  }

  readonly call = (call: ObservedCall): void => {
    const { outcome, denial, errorCode, durationMs, stages, outputBytes = 0, truncated, secretsFound } = call;
    const tool = this.#tools.of(call.tool ?? UNKNOWN_TOOL);
    this.#executions.inc({ tool });
    this.#calls.inc({ outcome, layer: denial?.layer ?? "" });
    this.#call.of(outcome).observe(durationMs / 1000);
    if (denial !== undefined) this.#refused(tool, denial);
    if (errorCode !== undefined) this.#errors.inc({ tool, error: errorCode.toLowerCase() });
    for (const { stage, durationMs: stageMs } of stages) {
      this.#stages.get(stage)?.observe(stageMs / 1000);
      if (stage === "execute" && call.hasRun) this.#execution.of(tool).observe(stageMs / 1000);
    }
    if (outputBytes > 0) this.#outputBytes.inc(outputBytes);
    if (truncated) this.#truncated.inc();
    if (secretsFound > 0) this.#secrets.inc(secretsFound);
    for (const { backend, endedBy = "exit", durationMs: runMs } of call.commands) {
      this.#runs.inc({ backend: this.#reasons.of(backend), end: this.#reasons.of(endedBy) });
      this.#run.of(this.#reasons.of(backend)).observe(runMs / 1000);
    }
  };

  readonly recorded = ({ event, durability, tookMs, isRecorded }: RecordedEvent): void => {
    if (isRecorded) this.#records.of(durability).observe(tookMs / 1000);
    else this.#ledgerFailures.inc();
    const shaped = securityEventOfRecorded(event, 0);
    if (shaped !== undefined) this.#security.inc({ severity: shaped.severity });
  };

  readonly failed = (error: unknown): void => {
    this.#internalErrors.inc({ code: error instanceof KernelError ? error.code : "INTERNAL" });
  };

  readonly refused = (): void => this.#doorErrors.inc();

  #refused(tool: string, { layer, reason }: NonNullable<ObservedCall["denial"]>): void {
    const named = this.#reasons.of(reason);
    this.#errors.inc({ tool, error: named });
    this.#denials.inc({ layer, reason: named });
  }
}
