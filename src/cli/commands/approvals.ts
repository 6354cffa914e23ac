/**
 * `handrail approvals`, `approve` and `deny`: people look at what agents ask for, and decide.
 *
 * Deciding takes an approver's credential; looking takes access to the state directory. Before anything is approved it
 * is shown.
 */
import { type Command, Option } from "commander";
import { usageError } from "../../base/errors.ts";
import { shortRef } from "../../model/approval/prompt-lines.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { parseScope } from "../approvals/approval-scope.ts";
import {
  type Approval,
  agentOf,
  approvalJson,
  approvalLines,
  isReadable,
  scopeOf,
  standingOf,
  summaryOf,
  targetOf,
} from "../approvals/approval-view.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_FAILURE, EXIT_OK } from "../terminal/exit-codes.ts";
import { confirms } from "../terminal/inputs.ts";
import { print, printJson, printRow, say, table, visible } from "../terminal/output.ts";
import { rowsFor, wantsColours } from "../terminal/screen-colours.ts";

/** States that a list can be of, and `all`. */
const STATES = ["pending", "approved", "denied", "expired", "consumed", "void"] as const;

interface ListFlags extends KernelFlags {
  readonly state?: string;
  readonly only: (typeof STATES)[number] | "all";
  readonly json?: boolean;
}

interface ShowFlags extends KernelFlags {
  readonly full?: boolean;
  readonly path?: string;
  readonly json?: boolean;
}

interface DecideFlags extends KernelFlags {
  readonly for: string;
  readonly reason?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Adds `handrail approvals`. */
export function addApprovalsCommand(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("what agents ask for: list, show and watch requests for approval");
  const list = approvals
    .command("list", { isDefault: true })
    .description("list requests, newest first")
    .addOption(
      new Option("--only <state>", "only requests in this state").choices([...STATES, "all"]).default("pending"),
    )
    .option("--json", "print JSON");
  withKernelOptions(list).action(listApprovals);
  const show = approvals
    .command("show <ref>")
    .description("show a request; a unique beginning of its reference is enough")
    .option("--full", "show all that it asks about, however much that is; takes an approver's credential")
    .option("--path <path>", "the same of one file or directory of the workspace")
    .option(
      "--json",
      "print JSON; with --full a line for the request, for each effect, and for each piece of its diff",
    );
  withKernelOptions(show).action((ref: string, flags: ShowFlags) =>
    withKernel(flags, async (kernel) => {
      const approval = await findApproval(kernel, ref);
      if (flags.full !== true && flags.path === undefined) {
        showApproval(approval, flags.json);
        return;
      }
      const { showEverything } = await import("../approvals/approval-effects.ts");
      await showEverything(kernel, approval, flags);
    }),
  );
  const watch = approvals
    .command("watch")
    .description(
      "show requests as they come, and decide them with the keyboard; one line for each where there is no terminal",
    )
    .option("--json", "print one line of JSON for each change");
  withKernelOptions(watch).action(async (flags: ListFlags) => {
    const { watchApprovals } = await import("../approvals/approval-watch.ts");
    await withKernel(flags, (kernel) => watchApprovals(kernel, flags.json === true));
  });
  const always = approvals
    .command("always <ref>")
    .description("propose a permit that allows exactly this without asking, and show what else it would have allowed")
    .option("--write", "write the permit to the operator's policies")
    .option("--json", "print JSON");
  withKernelOptions(always).action(
    async (ref: string, flags: KernelFlags & { readonly write?: boolean; readonly json?: boolean }) => {
      const { proposeAlways } = await import("../approvals/always-allow.ts");
      process.exitCode = await withKernel(flags, async (kernel) =>
        proposeAlways(kernel, await findApproval(kernel, ref), flags),
      );
    },
  );
}

/** Adds `handrail approve` and `handrail deny`. */
export function addDecideCommands(program: Command): void {
  const approve = program
    .command("approve <ref>")
    .description("show a request and approve it; a unique beginning of its reference is enough")
    .option(
      "--for <scope>",
      "this very call: once, session, or a duration such as 15m; all calls of its kind: kind (in this session) or project:30d",
      "once",
    )
    .option("--reason <text>", "why, for the record")
    .option("--yes", "do not ask for confirmation; needed where there is no terminal to confirm at")
    .option("--json", "print JSON, and show nothing else; wants --yes, too");
  withKernelOptions(approve).action(async (ref: string, flags: DecideFlags) => {
    process.exitCode = await withKernel(flags, (kernel) => decide(kernel, ref, { ...flags, approved: true }));
  });
  const deny = program
    .command("deny <ref>")
    .description("deny a request, or take back an approval that nobody has used yet")
    .option("--reason <text>", "why, for the record; the agent is not told")
    .option("--json", "print JSON");
  withKernelOptions(deny).action(async (ref: string, flags: DecideFlags) => {
    process.exitCode = await withKernel(flags, (kernel) =>
      decide(kernel, ref, { ...flags, approved: false, yes: true }),
    );
  });
}

/** The request that `ref`, or a beginning of one, names. @throws KernelError USAGE */
async function findApproval(kernel: OpenKernel, ref: string): Promise<Approval> {
  const found = await kernel.approvals.find(ref);
  switch (found.kind) {
    case "found":
      return found.approval;
    case "ambiguous":
      throw usageError(`several requests begin with \`${ref}\`; give more of the reference`);
    case "unknown":
      throw usageError(`there is no request \`${ref}\`; \`handrail approvals list --only all\` shows them`);
  }
}

async function listApprovals(flags: ListFlags): Promise<void> {
  await withKernel(flags, async (kernel) => {
    const approvals = await kernel.approvals.list(flags.only === "all" ? {} : { state: flags.only });
    if (flags.json) {
      printJson(approvals.map(approvalJson));
      return;
    }
    const nowMs = Date.now();
    const rows = approvals.map((approval) => [
      shortRef(approval.ref),
      agentOf(approval),
      summaryOf(approval),
      targetOf(approval),
      visible(approval.serviceRoot),
      standingOf(approval, nowMs),
    ]);
    print(table([["REQUEST", "AGENT", "WHAT", "TARGET", "WORKSPACE", "STATE"], ...rows]));
  });
}

function showApproval(approval: Approval, json: boolean | undefined): void {
  if (json) {
    printJson(approvalJson(approval));
    return;
  }
  const colours = wantsColours(process.stdout, process.env);
  for (const row of rowsFor(approvalLines(approval, Date.now()), process.stdout, colours)) printRow(row);
}

async function decide(
  kernel: OpenKernel,
  prefix: string,
  { approved, ...flags }: DecideFlags & { readonly approved: boolean },
): Promise<number> {
  const { approverToken } = await import("../../server/people/approver-credentials.ts");
  const credential = await approverToken(process.env, kernel.operator.path);
  const scope = approved ? parseScope(flags.for, Date.now()) : undefined;
  const approval = await findApproval(kernel, prefix);
  if (approved && !isReadable(approval))
    throw usageError("the request cannot be read, so it cannot be approved; deny it, and tell the operator");
  if (!flags.json && approved) showApproval(approval, false);
  if (approved && !flags.yes && (flags.json === true || !process.stdin.isTTY))
    throw usageError(
      `nothing was approved: there is no terminal to confirm at; look at what is asked, and approve it with \`handrail approve ${shortRef(approval.ref)} --yes\``,
    );
  if (approved && !flags.yes && !(await confirms(`approve this ${scope === undefined ? "" : scopeOf(scope)}? [y/N] `)))
    return EXIT_FAILURE;
  const wanted = { approved, ...(scope && { scope }), ...(flags.reason !== undefined && { reason: flags.reason }) };
  const outcome = await kernel.approvals.decide(approval.ref, wanted, credential);
  if (outcome.kind === "wrong_credential")
    throw usageError("this is no approver's credential; make one with `handrail approvers add NAME --save`");
  if (outcome.kind === "unknown") throw usageError("the request is gone; it was over long ago");
  const standing = `${shortRef(approval.ref)} is ${standingOf(outcome.approval, Date.now())}`;
  const told = { decided: outcome.kind === "decided", by: outcome.by, ...approvalJson(outcome.approval) };
  if (flags.json && outcome.kind === "decided") printJson(told);
  else if (flags.json) printJson(told, { code: "NOT_DECIDED", message: `nothing was changed: ${standing}` });
  else if (outcome.kind === "decided") print(standing);
  else say(`handrail: nothing was changed: ${standing}`);
  return outcome.kind === "decided" ? EXIT_OK : EXIT_FAILURE;
}
