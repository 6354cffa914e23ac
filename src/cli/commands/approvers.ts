/** `handrail approvers`: the credentials of the people who approve. */
import type { Command } from "commander";
import { directoriesOf, withKernelOptions } from "../start/kernel-options.ts";
import { print, printJson, say, table } from "../terminal/output.ts";

interface ApproverFlags {
  readonly state?: string;
  readonly config?: string;
  readonly save?: boolean;
  readonly json?: boolean;
}

/** Adds `handrail approvers`. */
export function addApproversCommand(program: Command): void {
  const approvers = program
    .command("approvers")
    .description("the credentials of the people who approve calls; agents never hold one");
  withKernelOptions(
    approvers.command("add").argument("<name>").description("make an approver's credential and show it once"),
  )
    .option("--save", "keep it in the operator directory, where `handrail approve` finds it, instead of showing it")
    .option("--json", "print JSON")
    .action(addApprover);
  withKernelOptions(approvers.command("list").description("list approvers").option("--json", "print JSON")).action(
    listAll,
  );
  withKernelOptions(
    approvers.command("remove").argument("<name>").description("take a credential back, from the next decision on"),
  )
    .option("--json", "print JSON")
    .action(removeApprover);
}

async function addApprover(name: string, { save = false, json, ...flags }: ApproverFlags): Promise<void> {
  const { newApprover } = await import("../../server/admin/change-approvers.ts");
  const made = await newApprover(process.env, directoriesOf(flags), { name, save });
  if (json) return printJson({ name, ...made });
  if ("savedAs" in made) return print(`saved as ${made.savedAs}`);
  print(made.token);
  say(
    "handrail: the credential is shown this once; only its hash is stored. Set HANDRAIL_APPROVER_TOKEN to it where you approve",
  );
}

async function listAll({ json, ...flags }: ApproverFlags): Promise<void> {
  const { approversOf } = await import("../../server/admin/change-approvers.ts");
  const approvers = await approversOf(process.env, directoriesOf(flags));
  if (json) return printJson(approvers);
  print(
    table([["NAME", "SINCE"], ...approvers.map(({ name, addedAtMs }) => [name, new Date(addedAtMs).toISOString()])]),
  );
}

async function removeApprover(name: string, { json, ...flags }: ApproverFlags): Promise<void> {
  const { dismissApprover } = await import("../../server/admin/change-approvers.ts");
  await dismissApprover(process.env, directoriesOf(flags), name);
  if (json) return printJson({ name, removed: true });
  print(`removed ${name}`);
}
