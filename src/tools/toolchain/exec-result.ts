/** Builds a tool's result data from the outcome of a run. */
import type { JsonObject } from "../../base/json.ts";
import type { ToolOutput } from "../../model/tool/tool.ts";
import type { ExecOutcome } from "../../model/work/exec.ts";
import { EXEC_DATA_PROPERTIES, execData } from "../../model/work/exec-data.ts";
import { ENDED_BY, integer, text } from "../kit/result-schema.ts";
import { strategyOf, truncatedStreams } from "./truncation.ts";

/** Properties of the output schema that all runs of a toolchain share. */
export const RUN_PROPERTIES = {
  command: text("The command that ran."),
  exit_code: integer("Absent when the command was ended from outside."),
  signal: text(),
  ended_by: ENDED_BY,
  stdout: text(),
  stderr: text(),
  omitted: {
    type: "object",
    description: "What is not shown of each stream.",
    properties: Object.fromEntries(
      ["stdout_lines", "stdout_bytes", "stderr_lines", "stderr_bytes"].map((name) => [name, integer()]),
    ),
  },
  ...EXEC_DATA_PROPERTIES,
  duration_ms: integer(),
  processor_ms: integer(),
  memory_bytes_max: integer(),
} as const satisfies JsonObject;

/** Whether the command ended by itself and said that all is well. */
export function isPassed({ exitCode, endedBy }: ExecOutcome): boolean {
  return exitCode === 0 && endedBy === undefined;
}

/** The data of a run of `command`; `more` stands before the output. */
export function runResult(
  { command, strategy }: { readonly command: string; readonly strategy?: string | undefined },
  outcome: ExecOutcome,
  more: JsonObject,
): ToolOutput {
  const { exitCode, signal, endedBy, usage } = outcome;
  const wanted = strategyOf(strategy, isPassed(outcome));
  const { stdout, stderr } = truncatedStreams(outcome, wanted);
  const left = {
    stdout_lines: stdout.omittedLines,
    stdout_bytes: stdout.omittedBytes,
    stderr_lines: stderr.omittedLines,
    stderr_bytes: stderr.omittedBytes,
  };
  const omitted = Object.fromEntries(Object.entries(left).filter(([, count]) => count > 0));
  return {
    kind: "data",
    data: {
      command,
      ...more,
      ...(exitCode !== undefined && endedBy === undefined && { exit_code: exitCode }),
      ...(signal !== undefined && { signal }),
      ...(endedBy !== undefined && { ended_by: endedBy }),
      stdout: stdout.text,
      stderr: stderr.text,
      ...(Object.keys(omitted).length > 0 && { omitted }),
      ...execData(outcome),
      duration_ms: Math.round(outcome.durationMs),
      ...(usage && { processor_ms: Math.round(usage.processorMs), memory_bytes_max: usage.memoryBytesMax }),
    },
    ...(Object.keys(omitted).length > 0 && { truncated: true }),
  };
}
