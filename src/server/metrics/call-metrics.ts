/**
 * Counts and times calls for Prometheus, under Brio's names and names of Handrail's own.
 *
 * INVARIANT: labels are names of registered tools, layers, reasons and codes: callers cannot make a series.
 */
import { Counter, Histogram, type Registry } from "prom-client";
import type { CallObservation } from "../../model/tool/observation.ts";

/** Seconds: calls take from a tenth of a millisecond to an hour. */
const DURATIONS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];
/** What stands for a call that named no tool of the registry. */
const UNKNOWN = "unknown";

/** The metrics of calls in `registry`. @returns what is told of each call */
export function callMetrics(registry: Registry): (call: CallObservation) => void {
  const registers = [registry];
  const executions = new Counter({
    name: "tool_executions_total",
    help: "Calls whose tool was run.",
    labelNames: ["tool"],
    registers,
  });
  const errors = new Counter({
    name: "tool_errors_total",
    help: "Calls that were refused or failed, by the reason or code.",
    labelNames: ["tool", "error"],
    registers,
  });
  const durations = new Histogram({
    name: "tool_execution_duration_seconds",
    help: "Time from the arrival of a call whose tool was run to its answer.",
    labelNames: ["tool"],
    buckets: DURATIONS,
    registers,
  });
  const calls = new Counter({
    name: "handrail_calls_total",
    help: "Calls that were answered, by outcome and, of refusals, by layer.",
    labelNames: ["outcome", "layer", "effect"],
    registers,
  });
  const stages = new Histogram({
    name: "handrail_stage_duration_seconds",
    help: "Time of each stage of the pipeline; `grant` holds waiting for people and for turns.",
    labelNames: ["stage"],
    buckets: DURATIONS,
    registers,
  });
  return ({ tool = UNKNOWN, effect = "none", outcome, layer = "", error, ran, durationMs, stages: times }) => {
    calls.inc({ outcome, layer, effect });
    if (error !== undefined) errors.inc({ tool, error });
    if (ran) {
      executions.inc({ tool });
      durations.observe({ tool }, durationMs / 1000);
    }
    for (const [stage, ms] of Object.entries(times)) stages.observe({ stage }, ms / 1000);
  };
}
