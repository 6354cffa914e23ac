/** Builds a tool's result data from the outcome of a machine's program. */
import type { JsonObject } from "../../base/json.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { commandOf } from "../../model/place/command.ts";
import type { ToolOutput } from "../../model/tool/tool.ts";
import type { ExecOutput } from "../../model/work/exec.ts";
import type { MachineCommand, MachineOutcome } from "../../model/work/machine.ts";
import { integer, text } from "../kit/result-schema.ts";
import { shownStreams } from "../kit/shown-output.ts";

/** Properties of the output schema that all of them share. */
export const RUN_PROPERTIES = {
  command: text("The command that ran, outside of the sandbox."),
  exit_code: integer("Absent when a signal ended the command."),
  signal: text(),
  stdout: text(),
  stderr: text(),
  omitted_bytes: integer("Bytes of the middle of both streams that are not shown."),
  duration_ms: integer(),
} as const satisfies JsonObject;
/** Those of them that are always there. */
export const RUN_REQUIRED = ["command", "stdout", "stderr", "duration_ms"] as const;

/** The data of a run of `argv`; `more` stands before the output. */
export function runResult(argv: MachineCommand["argv"], outcome: MachineOutcome, more: JsonObject): ToolOutput {
  const { exitCode, signal, durationMs } = outcome;
  const { stdout, stderr } = shownStreams(outcome);
  const omitted = stdout.omittedBytes + stderr.omittedBytes;
  return {
    kind: "data",
    data: {
      command: commandOf(argv).line,
      ...more,
      ...(exitCode !== undefined && { exit_code: exitCode }),
      ...(signal !== undefined && { signal }),
      stdout: shown(stdout),
      stderr: shown(stderr),
      ...(omitted > 0 && { omitted_bytes: omitted }),
      duration_ms: Math.round(durationMs),
    },
    ...(omitted > 0 && { truncated: true }),
  };
}

function shown({ head, tail, omittedBytes }: ExecOutput): string {
  return omittedBytes === 0 ? head + tail : `${head}\n[${omittedBytes} bytes are left out here]\n${tail}`;
}

/** A change of the machine that was broken off: what of it stands, nobody can say. @param repair what to do about it */
export function requireEnded({ endedBy }: MachineOutcome, repair: string): void {
  if (endedBy === undefined) return;
  const why = endedBy === "timeout" ? "took too long and was ended" : "was ended before it was done";
  throw new ToolFailure("OUTCOME_UNKNOWN", `the command ${why}; what it changed until then stands`, repair);
}
