/**
 * What gates cost a call that nobody has to be asked about and no limit concerns: switches, freezes, arming, modes,
 * pace, approval, budget.
 */
import { checkArming } from "../../src/approval/arming.ts";
import { pace, reserveBudget } from "../../src/kernel/answer/spend.ts";
import { approve } from "../../src/kernel/ask/approve.ts";
import { Holdings } from "../../src/kernel/call/holdings.ts";
import { callerOf } from "../../src/kernel/judge/caller.ts";
import { checkMasterGate } from "../../src/kernel/judge/gates.ts";
import { interleave, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { openBareKernel } from "../spine/bare-kernel.ts";
import { stageCall } from "../spine/running-call.ts";

/** The figure. */
export async function measureFreeGates(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("gates", 1);
  await using kernel = await openBareKernel(playground.directory("state-gates"), path);
  const { parts, token } = kernel;
  const call = {
    kind: "call",
    requestId: "bench",
    sessionToken: token,
    tool: "read_file",
    arguments: { path: files[0] },
  } as const;
  const { kernel: staged, who, running } = await stageCall(kernel, call);
  const { caller, ruling } = running;
  const waiter = { signal: new AbortController().signal };
  const gates = async () => {
    const granted = { ...running, holdings: new Holdings() };
    const open =
      checkMasterGate(parts.settings, "read_file").ok && checkArming("read_file", ruling.obligations, caller.armed).ok;
    const held = pace(parts, granted) ?? approve(staged, granted, waiter) ?? reserveBudget(parts, granted, waiter);
    if (!open || (held && (await held))) throw new Error("a gate was closed");
  };
  const whole = () => kernel.door.execute(call, waiter.signal);
  const subject = {
    id: "gates-free",
    what: "gates of a call that nobody is asked about",
    peer: "the whole 4 KB read through the door",
    unit: "µs",
    better: "lower",
  } as const;
  const caught = {
    ...subject,
    id: "gates-caller",
    what: "who calls: workspace, mark and arming",
  } as const;
  const turn = (work: () => Promise<unknown>) => () => microsecondsEachAwaited(effort.calls, work);
  for (const warm of [gates, whole]) await turn(warm)();
  return [
    await interleave(subject, effort.rounds, turn(gates), turn(whole)),
    await interleave(
      caught,
      effort.rounds,
      turn(() => callerOf(parts, who)),
      turn(whole),
    ),
  ];
}
