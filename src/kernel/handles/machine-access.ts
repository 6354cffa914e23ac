/**
 * The handle of a call that touches the machine itself: programs that analysis named, with their output redacted before anybody sees it.
 *
 * INVARIANTS: only tools of the effect class `system` have it, so that the role and the audit of those hold for all that happens here; only the command
 * that analysis named runs, so that policy saw it; everything is asked again right before the command begins.
 */
import { assert } from "../../base/errors.ts";
import { EXEC_KEPT_BYTES } from "../../base/limits.ts";
import { FailureWithoutEffect, Refusal } from "../../model/outcome/failure.ts";
import type { ProgressListener } from "../../model/outcome/progress.ts";
import { commandOf } from "../../model/place/command.ts";
import type { MachineAccess, MachineCommand, MachineOutcome } from "../../model/work/machine.ts";
import type { SystemSettings } from "../../model/work/system.ts";
import { noteCommand } from "../answer/exec-record.ts";
import type { KernelMachine } from "../call/parts.ts";
import type { Trail } from "../call/trail.ts";
import { unanalysed } from "../judge/scope.ts";
import { ShownOutput } from "../redaction/shown-output.ts";

/** What the handle is made of. */
interface MachineParts {
  readonly machine: KernelMachine;
  readonly trail: Trail;
  /** Ends the call unless it may still run. */
  readonly recheck: () => Promise<void>;
  readonly report: ProgressListener;
  readonly signal: AbortSignal;
}

/** The machine for one call. */
export function createMachineAccess(parts: MachineParts): MachineAccess {
  return {
    run: (command) => run(parts, command),
    async find(name) {
      const settings = requireSettings(parts);
      return (await parts.machine.open()).find(settings, name, parts.signal);
    },
  };
}

async function run(parts: MachineParts, command: MachineCommand): Promise<MachineOutcome> {
  const { trail, report, signal } = parts;
  assert(trail.redaction, "commands are run only for an authenticated call");
  requireAnalysed(trail, command.argv);
  const settings = requireSettings(parts);
  const machine = await parts.machine.open();
  await parts.recheck();
  const output = new ShownOutput(EXEC_KEPT_BYTES, report);
  const {
    exitCode,
    signal: by,
    endedBy,
    durationMs,
    userId,
  } = await trail.changes.during(() => machine.run(settings, command, output.takers, signal));
  trail.sandboxed = { backend: "none", namespaces: [], network: "host", userId };
  const outcome: MachineOutcome = {
    ...output.shown(trail.redaction),
    durationMs,
    userId,
    ...(exitCode !== undefined && { exitCode }),
    ...(by !== undefined && { signal: by }),
    ...(endedBy !== undefined && { endedBy }),
  };
  noteCommand(trail, outcome);
  return outcome;
}

function requireAnalysed({ accesses, call }: Trail, argv: MachineCommand["argv"]): void {
  const { line } = commandOf(argv);
  const isNamed = accesses.some(({ resource, effect }) => effect === "system" && resource.kind === "command" && resource.line === line);
  if (!isNamed) throw new Refusal(unanalysed(call?.tool ?? "", "system"));
}

/** What the operator allows now: it may have been changed since the tools were made. */
function requireSettings({ machine, trail }: MachineParts): SystemSettings {
  const settings = trail.tool?.capability.effect === "system" ? machine.settings() : undefined;
  if (settings !== undefined) return settings;
  throw new FailureWithoutEffect(
    "NOT_SUPPORTED",
    "tools may not touch the machine itself here",
    "ask the operator for `system` in handrail.yaml; a tool that uses it declares the effect class `system`",
  );
}
