/** `handrail budgets`: what leases, agents and sessions may spend, have spent and have left. */
import type { Command } from "commander";
import { BUDGET_WORDS, printAmount } from "../../model/spending/budget-text.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { print, printJson, table, visible } from "../terminal/output.ts";

interface BudgetFlags extends KernelFlags {
  readonly json?: boolean;
}

/** Adds `handrail budgets`. */
export function addBudgetsCommand(program: Command): void {
  withKernelOptions(
    program
      .command("budgets")
      .description("show what is limited, spent, reserved by running calls, and left")
      .option("--json", "print JSON"),
  ).action(showBudgets);
}

async function showBudgets(flags: BudgetFlags): Promise<void> {
  await withKernel(flags, async ({ budgets }) => {
    const accounts = await budgets.list();
    if (flags.json) return printJson({ accounts, rates: await budgets.buckets() });
    if (accounts.length === 0)
      return print("nothing is limited; give a lease a --budget, or set limits in handrail.yaml");
    const rows = accounts.flatMap(({ kind, name, lines, renewsAtMs }) =>
      lines.map(({ member, limit, spent, reserved, left }) => [
        kind,
        visible(name),
        BUDGET_WORDS[member],
        limit === undefined ? "-" : printAmount(member, limit),
        printAmount(member, spent),
        printAmount(member, reserved),
        left === undefined ? "-" : printAmount(member, left),
        renewsAtMs === undefined ? "-" : new Date(renewsAtMs).toISOString(),
      ]),
    );
    print(table([["OF", "NAME", "AMOUNT", "LIMIT", "SPENT", "RESERVED", "LEFT", "BEGINS ANEW"], ...rows]));
  });
}
