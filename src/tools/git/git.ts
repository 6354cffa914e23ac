/**
 * Implements the tool `git` with its eighteen operations.
 *
 * Each operation is an action of its own to policy (CTR-0015, CTR-0016). It runs in the sandbox with nothing of a
 * repository's that names a program.
 *
 * INVARIANTS: arguments are read by a closed list before anything is decided. Policy sees the references, remotes,
 * hosts and paths that git is then given. No agent's code runs, because hooks, filters, drivers, aliases, monitors and
 * helpers are off.
 */
import { z } from "zod";
import type { JsonObject } from "../../base/json.ts";
import { MAX_ARG_LEN, MAX_PATH_LEN, MAX_REPEATED_ITEMS } from "../../base/limits.ts";
import { GIT_OPERATIONS } from "../../model/outcome/constraints.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import type { Access } from "../../model/place/access.ts";
import type { Tool, ToolContext, ToolOutput } from "../../model/tool/tool.ts";
import type { FoundRepository, GitRepository, RepositoryView } from "../../model/work/git.ts";
import { NO_REPOSITORY } from "../../model/work/git.ts";
import { RUNS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { text } from "../kit/result-schema.ts";
import { type Parsed, parseArguments } from "./calls/options.ts";
import { fromRoot, pathProblem, workspacePath } from "./calls/places.ts";
import { runnerOf } from "./calls/runner.ts";
import { cloneTarget } from "./operations/network-operations.ts";
import { accessesOf, type Running } from "./operations/operation.ts";
import { actionOf, argumentsProblem, GIT_ACTIONS, OPERATIONS, type OperationName } from "./operations/operations.ts";

/** `cwd` of every tool of git. */
export const cwdSchema = z
  .string()
  .max(MAX_PATH_LEN)
  .refine((text) => pathProblem(text === "" ? "." : text) === undefined, "must be a directory of the workspace")
  .meta({
    description:
      "Directory that paths are named from, and whose repository is meant; the workspace root when left out.",
  });

const parameters = z
  .strictObject({
    operation: z.enum(GIT_OPERATIONS).meta({ description: "What to do." }),
    args: z.array(z.string().max(MAX_ARG_LEN)).max(MAX_REPEATED_ITEMS).default([]).meta({
      description:
        "Options and names as git takes them, without the subcommand; paths stand behind `--`. Only listed options are taken.",
    }),
    cwd: cwdSchema.optional(),
  })
  .superRefine(({ operation, args }, problems) => {
    const problem = argumentsProblem(operation, args);
    if (problem !== undefined) problems.addIssue({ code: "custom", path: ["args"], message: problem });
  });

/** A call of an operation. */
export interface OperationCall {
  readonly operation: OperationName;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
}

/** The tool `git`. */
export const git: Tool<z.infer<typeof parameters>> = {
  name: "git",
  title: "Git",
  description:
    "Runs one operation of git on the workspace's repository, in a sandbox: STATUS, DIFF, LOG, SHOW, ADD, COMMIT, CHECKOUT, BRANCH, TAG, STASH, MERGE, REBASE, " +
    "RESET, REMOTE, FETCH, PULL, PUSH, CLONE. Arguments as git's own, from a closed list per operation. Secret files are left out. Hooks, filters, aliases and " +
    "settings of the user are off.",
  parameters,
  outputSchema: {
    type: "object",
    properties: {
      operation: { enum: [...GIT_OPERATIONS] },
      text: text("The result for people."),
    },
    required: ["operation", "text"],
  },
  capability: {
    ...RUNS,
    execution: { sandbox: "container", networkDefault: "proxy" },
    network: { mode: "any" },
    labels: { ...RUNS.labels, acceptsUntrusted: true },
  },
  actions: GIT_ACTIONS,
  toText: operationTexts,
  analyse: (args, _toolchain, repository) => analyseOperation(args, actionOf(args.operation), repository),
  execute: async (args, context) => runOperation(args, context),
};

/** The result for people, and what was left out of it. */
export function operationTexts({
  text: result,
  left_out: count,
  left_out_files: files,
}: JsonObject): readonly string[] {
  const named = objectsOf(files).map(({ path, why }) => `${nameText(path)} (${String(why)})`);
  const names = named.length > 0 ? `: ${named.join(", ")}` : "";
  return [
    String(result) || "[no output]",
    ...(typeof count === "number" ? [`[${countText(count, "file")} left out${names}]`] : []),
  ];
}

/** The accesses of an operation, judged as `action`; as their tool when absent. */
export function analyseOperation(
  call: OperationCall,
  action: string | undefined,
  view: RepositoryView | undefined,
): readonly Access[] {
  const { operation, cwd = "." } = call;
  const asked = {
    parsed: parsedOf(call),
    cwd: cwd === "" ? "." : cwd,
    repository: view?.(directoryOf(cwd)) ?? NO_REPOSITORY,
  };
  return accessesOf(OPERATIONS[operation].touches(asked), asked.cwd, { operation: operation.toLowerCase(), action });
}

/** Runs an operation. */
export async function runOperation(call: OperationCall, context: ToolContext): Promise<ToolOutput> {
  const { operation } = call;
  const { isNew, run } = OPERATIONS[operation];
  const cwd = call.cwd === undefined || call.cwd === "" ? "." : call.cwd;
  const parsed = parsedOf(call);
  const seen = context.repository(directoryOf(cwd));
  const repository = isNew ? newRepository(workspacePath(cwd, cloneTarget(parsed))) : requireRepository(seen);
  const running: Running = { parsed, cwd, repository, context, git: runnerOf(context.git, repository.root) };
  requireInside(running, operation);
  return { kind: "data", data: { operation, ...(await run(running)) } };
}

function parsedOf({ operation, args }: OperationCall): Parsed {
  const parsed = parseArguments(OPERATIONS[operation].options, args);
  // the schema has refused what cannot be read
  if (typeof parsed === "string") throw new FailureWithoutEffect("NOT_SUPPORTED", parsed, "leave it out");
  return parsed;
}

function directoryOf(cwd: string | undefined): string {
  return workspacePath(".", cwd === undefined || cwd === "" ? "." : cwd);
}

function requireRepository(seen: GitRepository): FoundRepository {
  if (seen.kind === "found") return seen;
  if (seen.kind === "none")
    throw new FailureWithoutEffect(
      "NOT_SUPPORTED",
      "there is no git repository here: neither this directory of the workspace nor one above it has a `.git`",
      "name the directory that has one as `cwd`, or CLONE one; a repository that begins above the workspace cannot be used",
    );
  throw new FailureWithoutEffect("NOT_SUPPORTED", `the repository cannot be used: ${seen.why}`, seen.suggestion);
}

/** Operations whose operands are paths. */
const TAKES_PATHS: readonly OperationName[] = ["ADD", "STATUS"];

function requireInside({ parsed, cwd, repository }: Running, operation: OperationName): void {
  const { operands, paths = [] } = parsed;
  const { root } = repository;
  const named = [...(TAKES_PATHS.includes(operation) ? operands : []), ...(operation === "CLONE" ? [] : paths)];
  const outside = named.find((path) => fromRoot(root, workspacePath(cwd, path)) === undefined);
  if (outside !== undefined)
    throw new FailureWithoutEffect(
      "NOT_SUPPORTED",
      `\`${outside.slice(0, 200)}\` lies in no part of the repository in \`${root}\``,
      "name the repository's directory as `cwd`",
    );
}

function newRepository(root: string): FoundRepository {
  const state = { runsCommands: false, shallow: false, worktrees: false, locked: false, submodules: [], lfs: false };
  return {
    kind: "found",
    root,
    resolve: () => undefined,
    branchOf: (name) => name,
    noteOf: () => undefined,
    staged: () => "",
    progress: () => "",
    remotes: {},
    upstreams: {},
    state,
    settings: "",
    ignoredSettings: [],
    hasIdentity: true,
    rules: { protectedBranches: [] },
  };
}
