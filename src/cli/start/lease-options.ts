/** Options that say what a lease covers: one for each dimension that a lease can restrict, and the budget. */
import type { Command } from "commander";
import {
  type LeaseBudget,
  type LeaseDimension,
  type LeaseScope,
  UNRESTRICTED_SCOPE,
} from "../../model/people/lease.ts";
import { budgetOption } from "../terminal/inputs.ts";

/** The flag of each dimension; a test holds that none is missing. */
export const SCOPE_FLAGS = [
  { flag: "tools", dimension: "tools", meaning: "<names...>: tools that the lease covers" },
  {
    flag: "read",
    dimension: "readPaths",
    meaning: "<globs...>: paths that may be read, from the workspace root or @project/",
  },
  { flag: "write", dimension: "writePaths", meaning: "<globs...>: paths that may be written" },
  {
    flag: "commands",
    dimension: "commands",
    meaning: "<programs...>: programs that commands may start, such as npm node",
  },
  { flag: "git", dimension: "gitOperations", meaning: "<operations...>: operations of git, such as STATUS DIFF" },
  { flag: "hosts", dimension: "hosts", meaning: "<patterns...>: hosts that may be reached, such as '*.example.org'" },
  { flag: "providers", dimension: "providers", meaning: "<names...>: providers of models that may be asked" },
  { flag: "models", dimension: "models", meaning: "<names...>: models that may be asked" },
  { flag: "artifacts", dimension: "artifacts", meaning: "<patterns...>: artifacts that may be fetched and published" },
] as const satisfies readonly { readonly flag: string; readonly dimension: LeaseDimension; readonly meaning: string }[];

/** The options as commander parses them. */
export type ScopeFlags = { readonly [F in (typeof SCOPE_FLAGS)[number]["flag"]]?: string[] } & {
  readonly budget?: LeaseBudget;
};

/** Adds an option for each dimension, and `--budget`. */
export function withScopeOptions(command: Command): Command {
  for (const { flag, meaning } of SCOPE_FLAGS) {
    const [values = "", ...words] = meaning.split(": ");
    command.option(`--${flag} ${values}`, `${words.join(": ")} (default: all)`);
  }
  return command.option(
    "--budget <amounts>",
    "what may be spent, such as calls=100,duration=10m,bytes=1GB,tokens=50000,cost=2.50",
    budgetOption,
  );
}

/** The scope that the options say; what is not said is not restricted. */
export function scopeOf(flags: ScopeFlags): LeaseScope {
  const said = SCOPE_FLAGS.map(({ flag, dimension }) => {
    const patterns = flags[flag];
    return [dimension, patterns === undefined ? [] : [patterns]] as const;
  });
  return { ...UNRESTRICTED_SCOPE, ...Object.fromEntries(said) };
}
