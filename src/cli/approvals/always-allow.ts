/**
 * Shows people a permit before they allow something for good, and writes it.
 *
 * Beside the permit stand the past calls that it would have let through. The permit repeats names that the agent chose,
 * so it is shown where the agent's text is shown.
 */

import type { PromptLine } from "../../model/approval/prompt-lines.ts";
import type { OpenKernel } from "../../server/compose.ts";
import type { AlwaysProposal } from "../../server/policy/always-allow.ts";
import { visibleLine, visibleLines } from "../../text/foreign-text.ts";
import { EXIT_FAILURE, EXIT_OK } from "../terminal/exit-codes.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, printRow } from "../terminal/output.ts";
import { rowsFor, wantsColours } from "../terminal/screen-colours.ts";
import type { Approval } from "./approval-view.ts";

/** Past calls that are listed; the rest are counted. */
const PAST_LISTED_MAX = 50;

/** When it holds: kernels look whether their configuration has changed before they ask anybody. */
export const TAKEN_OVER = "it holds for the next call, in every running kernel";

/** A proposal as lines, and whether it can be written. */
export interface ProposalLines {
  readonly lines: readonly PromptLine[];
  readonly canWrite: boolean;
}

/** The lines of the proposal for a request. */
export async function alwaysLines(kernel: OpenKernel, approval: Approval): Promise<ProposalLines> {
  const proposal = await kernel.alwaysAllow.propose(approval);
  return { lines: linesOf(proposal), canWrite: proposal.kind === "proposed" };
}

/** Writes the permit; resolves with the file. */
export function writeAlways(kernel: OpenKernel, approval: Approval): Promise<string> {
  return kernel.alwaysAllow.write(approval, currentUser());
}

/** `handrail approvals always`: proposes, and writes where that is asked for. */
export async function proposeAlways(
  kernel: OpenKernel,
  approval: Approval,
  { write, json }: { readonly write?: boolean; readonly json?: boolean },
): Promise<number> {
  const proposal = await kernel.alwaysAllow.propose(approval);
  if (!json)
    for (const row of rowsFor(linesOf(proposal), process.stdout, wantsColours(process.stdout, process.env)))
      printRow(row);
  const canWrite = proposal.kind === "proposed" && write === true;
  const file = canWrite ? await writeAlways(kernel, approval) : undefined;
  const problem = proposal.kind === "proposed" ? undefined : { code: "NOT_PROPOSED", message: proposal.why };
  const warnings = proposal.kind === "proposed" ? warningsOf(proposal) : [];
  if (json) printJson({ ...proposal, warnings, written: file !== undefined }, problem);
  else if (file !== undefined) print(`written to ${file}; ${TAKEN_OVER}`);
  return proposal.kind === "proposed" ? EXIT_OK : EXIT_FAILURE;
}

function linesOf(proposal: AlwaysProposal): readonly PromptLine[] {
  if (proposal.kind === "impossible") return [kernel("warning", "there is no such permit"), ...foreign(proposal.why)];
  const { file, text, waives, past } = proposal;
  const changed = Object.values(past.changed).reduce((sum, count) => sum + count, 0);
  const listed = past.changes.slice(0, PAST_LISTED_MAX);
  const skipped = Object.values(past.notReplayed).reduce((sum, count) => sum + count, 0);
  return [
    kernel("title", `always allow: this would not ask any more by ${waives.join(", ")}`),
    ...warningsOf(proposal).map((text) => kernel("warning", text)),
    kernel("heading", `the permit, for ${file}`),
    ...foreign(text.trimEnd()),
    kernel("heading", `past calls that it would have allowed: ${changed} of ${past.entries} entries`),
    ...listed.flatMap(({ sequence, time, tool, recorded, accesses }) => [
      kernel(
        "fact",
        `entry ${sequence}, ${time}, ${tool} ${recorded.decision === "deny" ? "was denied" : `needed ${recorded.obligations.join(", ") || "nothing"}`}`,
      ),
      ...accesses.flatMap(foreign),
    ]),
    ...(changed > listed.length ? [kernel("warning", `and ${changed - listed.length} more`)] : []),
    ...(skipped > 0 ? [kernel("warning", `${skipped} calls could not be judged again`)] : []),
  ];
}

/** How far a permit reaches, which does not stand in its text or is easily missed there. */
function warningsOf({ text, role, onBranches }: Extract<AlwaysProposal, { kind: "proposed" }>): readonly string[] {
  return [
    `holds for every session of this user and agent with the role ${role} ${onBranches ? "on every branch of" : "in"} this workspace, under every preset, until the file is removed`,
    onBranches
      ? "does not hold in the workspace itself, because the call was on a branch: there the same call asks again"
      : "holds in the workspace itself and on its branches",
    text.includes("context.call == ")
      ? "holds for this very call, to the letter; what the files that it names hold may change, and is not asked about"
      : "holds for every such call there, whatever it writes: any later content, and any other arguments, are not asked about",
  ];
}

function kernel(kind: Extract<PromptLine, { by: "kernel" }>["kind"], text: string): PromptLine {
  return { by: "kernel", kind, text: visibleLine(text) };
}

function foreign(text: string): readonly PromptLine[] {
  return visibleLines(text).map((line) => ({ by: "agent", kind: "text", text: line }));
}
