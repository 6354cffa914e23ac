/** Says before a command runs what is wrong with the state that it works on. */
import type { Command } from "commander";
import { say } from "../terminal/output.ts";
import { stateDirectoryOf } from "./freeze-options.ts";

/** Commands that show the ledger's entries without verifying them. */
const READERS: ReadonlySet<string> = new Set(["ledger tail", "ledger show", "audit tail", "policy diff"]);

/** Looks at the state before each command that takes one; `doctor` finds the same by itself. */
export function withStateNotice(program: Command): void {
  program.hook("preAction", async (_, command) => {
    const name = [command.parent?.name(), command.name()].join(" ");
    const takesState = command.options.some(({ long }) => long === "--state");
    if (!takesState || command.name() === "doctor") return;
    const { stateWarnings } = await import("../../server/state-warnings.ts");
    for (const warning of stateWarnings(stateDirectoryOf(command.opts()), READERS.has(name)))
      say(`handrail: ${warning}`);
  });
}
