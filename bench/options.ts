/** The command line of the benchmarks. */
import { parseArgs } from "node:util";

/** How much is measured: `quick` shows that every figure can be taken and proves nothing about speed. */
export interface Effort {
  readonly rounds: number;
  /** Milliseconds that one turn of a throughput figure lasts. */
  readonly turnMs: number;
  readonly warmUpCalls: number;
  /** Files that are never read twice, for each number of calls in flight: enough for turns of half a second. */
  readonly distinctFiles: number;
  readonly starts: number;
  readonly idleMs: number;
  /** Calls in one turn of a figure taken inside this process. */
  readonly calls: number;
}

const FULL: Effort = {
  rounds: 7,
  turnMs: 1000,
  warmUpCalls: 3000,
  distinctFiles: 40_000,
  starts: 12,
  idleMs: 2000,
  calls: 5000,
};
const QUICK: Effort = {
  rounds: 1,
  turnMs: 60,
  warmUpCalls: 100,
  distinctFiles: 300,
  starts: 1,
  idleMs: 50,
  calls: 100,
};

/** The suites. */
const SUITES = [
  "spine",
  "surface",
  "redact",
  "redact-quality",
  "gates",
  "exec",
  "git",
  "branch",
  "net",
  "search",
  "edit",
  "extend",
  "mcp",
  "upstream",
] as const;
/** One of them. */
export type Suite = (typeof SUITES)[number];

/** What was asked for. */
export interface Options {
  readonly suite: Suite;
  readonly json: string | undefined;
  /** Whether the figures are kept, and the table of docs/internals/performance.md is written anew. */
  readonly table: boolean;
  readonly effort: Effort;
  /** Only figures whose id begins so. */
  readonly only: string;
}

/** Reads the command line. @throws Error saying what to type instead */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "string" },
      table: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string", default: "" },
    },
  });
  const [wanted = "spine", ...more] = positionals;
  const suite = SUITES.find((name) => name === wanted);
  if (suite === undefined || more.length > 0)
    throw new Error(`there is no suite \`${positionals.join(" ")}\`; use ${SUITES.join(" or ")}`);
  if (values.table && values.quick)
    throw new Error("`--quick` proves nothing about speed; leave out `--quick` or `--table`");
  return { suite, json: values.json, table: values.table, effort: values.quick ? QUICK : FULL, only: values.only };
}
