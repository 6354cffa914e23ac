/**
 * Runs the analysed programs of a call on the machine itself, and redacts their output.
 *
 * Nobody sees the output before it is redacted.
 *
 * INVARIANTS: Only tools of the effect class `system` have this handle, so the role and the audit of those tools hold
 * for all that happens here. Only the command that analysis named runs, so policy saw it. Everything is asked again
 * right before the command begins.
 */

import { FailureWithoutEffect, Refusal } from "../../model/outcome/failure.ts";
import { commandOf } from "../../model/place/command.ts";
import type { MachineAccess, MachineCommand, MachineOutcome } from "../../model/work/machine.ts";
import type { SystemSettings } from "../../model/work/system.ts";
import { noteCommand } from "../answer/exec-record.ts";
import type { Running } from "../call/stages.ts";
import { unanalysed } from "../judge/scope.ts";
import { ShownOutput } from "../redaction/shown-output.ts";
import { EXEC_KEPT_BYTES } from "./exec-access.ts";
import type { HandleParts } from "./handle-parts.ts";
import { requireAllowed } from "./still-allowed.ts";

/** The machine for one call. */
export function createMachineAccess(handle: HandleParts): MachineAccess {
  return {
    run: (command) => run(handle, command),
    async find(name) {
      const settings = requireSettings(handle);
      return (await handle.kernel.parts.machine.open()).find(settings, name, handle.signal);
    },
  };
}

async function run(handle: HandleParts, command: MachineCommand): Promise<MachineOutcome> {
  const { kernel, running, report, signal } = handle;
  requireAnalysed(running, command.argv);
  const settings = requireSettings(handle);
  const machine = await kernel.parts.machine.open();
  await requireAllowed(handle);
  const output = new ShownOutput(EXEC_KEPT_BYTES, report);
  const {
    exitCode,
    signal: by,
    endedBy,
    durationMs,
    userId,
  } = await running.run.changes.during(() => machine.run({ settings, command }, output.takers, signal));
  running.run.noteSandbox({ backend: "none", namespaces: [], network: "host", userId });
  const outcome: MachineOutcome = {
    ...output.shown(running.redaction),
    durationMs,
    userId,
    ...(exitCode !== undefined && { exitCode }),
    ...(by !== undefined && { signal: by }),
    ...(endedBy !== undefined && { endedBy }),
  };
  noteCommand(running.run, outcome);
  return outcome;
}

function requireAnalysed({ accesses, tool }: Running, argv: MachineCommand["argv"]): void {
  const { line } = commandOf(argv);
  const isNamed = accesses.some(
    ({ resource, effect }) => effect === "system" && resource.kind === "command" && resource.line === line,
  );
  if (!isNamed) throw new Refusal(unanalysed(tool.name, "system"));
}

/** What the operator allows now: it may have been changed since the tools were made. */
function requireSettings({ kernel, running }: HandleParts): SystemSettings {
  const settings = running.tool.capability.effect === "system" ? kernel.parts.machine.settings() : undefined;
  if (settings !== undefined) return settings;
  throw new FailureWithoutEffect(
    "NOT_SUPPORTED",
    "tools may not touch the machine itself here",
    "ask the operator for `system` in handrail.yaml; a tool that uses it declares the effect class `system`",
  );
}
