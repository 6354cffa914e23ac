/** Records what components are loaded, withdrawn and refused, and tells the operator. */

import type { JsonObject } from "../../base/json.ts";
import { BY_KERNEL } from "../../ledger/actors.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import { type FolderPlan, moduleOf, type RefusedFile } from "./component-folder.ts";

/** Characters of a problem that the ledger keeps: the operator has the whole of it on standard error. */
const PROBLEM_CHARACTERS_MAX = 2_000;

/** Where it is recorded. */
export interface ComponentEvidence {
  readonly ledger: EventSink;
  readonly nowMs: () => number;
}

/** Records, durably, what a plan changes; before it is in force. */
export async function recordPlan(
  evidence: ComponentEvidence,
  plan: Pick<FolderPlan, "loaded" | "withdrawn" | "refused">,
): Promise<void> {
  for (const { one, replaces } of plan.loaded)
    await record(evidence, "plugin_loaded", {
      ...factsOf(one),
      ...(replaces !== undefined && { replaces: replaces.digest }),
    });
  for (const { one, why } of plan.withdrawn) await record(evidence, "plugin_withdrawn", { ...factsOf(one), why });
  for (const { file, problem, kept } of plan.refused)
    await record(evidence, "plugin_refused", {
      module: `components/${file}`,
      problem: problem.slice(0, PROBLEM_CHARACTERS_MAX).toWellFormed(),
      ...(kept !== undefined && { kept: kept.digest }),
    });
}

function factsOf(one: Parameters<typeof moduleOf>[0]): JsonObject {
  const { tools, ...module } = moduleOf(one);
  return { ...module, tools: [...tools] };
}

async function record({ ledger, nowMs }: ComponentEvidence, type: EventType, payload: JsonObject): Promise<void> {
  await ledger.record({ type, ...BY_KERNEL, timeMs: nowMs(), payload }, "durable");
}

/** What is told of a plan that is in force, line by line. */
export function linesOf({ loaded, withdrawn }: Pick<FolderPlan, "loaded" | "withdrawn">): readonly string[] {
  return [
    ...loaded.map(({ one: { file, tool, digest }, replaces }) =>
      replaces === undefined
        ? `component \`${file}\` is the tool \`${tool.name}\` now (blake3:${digest})`
        : `component \`${file}\` was replaced: \`${tool.name}\` is blake3:${digest} now, and calls in flight end with blake3:${replaces.digest}`,
    ),
    ...withdrawn.map(
      ({ one: { file, tool } }) => `component \`${file}\` is gone: \`${tool.name}\` is no tool any more`,
    ),
  ];
}

/** What is told of a file that is refused. */
export function refusalLine({ file, problem, kept }: RefusedFile): string {
  if (kept === undefined) return `component \`${file}\` is refused and is no tool: ${problem}`;
  return `the changed component \`${file}\` is refused, and \`${kept.tool.name}\` stays blake3:${kept.digest}: ${problem}`;
}
