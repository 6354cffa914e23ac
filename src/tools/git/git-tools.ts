/**
 * Defines `git` and the tools that name its operations by their purpose.
 *
 * These say what is meant rather than how git is told: `git_status`, `git_diff`, `git_add`, `git_commit`,
 * `git_checkout`, `git_push`.
 *
 * INVARIANT: each of them is an operation of `git`, with the same analysis and the same run. A push without `confirm`
 * changes nothing, and `confirm` asks for an approval and is none.
 */
import { z } from "zod";
import { MAX_ARG_LEN, MAX_PATH_LEN, MAX_REPEATED_ITEMS } from "../../base/limits.ts";
import type { EffectClass } from "../../model/outcome/effect.ts";
import type { ToolCapability } from "../../model/tool/capability.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { NO_REPOSITORY, type RepositoryView } from "../../model/work/git.ts";
import { messageProblem } from "./calls/message.ts";
import { nameProblem, newNameProblem, remoteProblem } from "./calls/names.ts";
import { pathProblem } from "./calls/places.ts";
import { analyseOperation, git, type OperationCall, operationTexts, runOperation } from "./git.ts";

/** A text that `problem` has nothing against. */
function checked(problem: (text: string) => string | undefined, length: number) {
  return z
    .string()
    .max(length)
    .superRefine((text, found) => {
      const message = problem(text);
      if (message !== undefined) found.addIssue({ code: "custom", message });
    });
}

const branchName = checked(nameProblem, MAX_ARG_LEN);

interface Wrapper<Arguments> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: z.ZodType<Arguments>;
  readonly effect: EffectClass;
  readonly capability?: Partial<ToolCapability>;
  readonly call: (args: Arguments, repository: RepositoryView) => OperationCall;
}

function wrapper<Arguments>({ effect, capability, call, ...named }: Wrapper<Arguments>): Tool<Arguments> {
  const { network: _, ...shared } = git.capability;
  return {
    ...named,
    ...(git.outputSchema && { outputSchema: git.outputSchema }),
    capability: { ...shared, effect, risk: "low", ...capability },
    analyse: (args, _toolchain, repository) =>
      analyseOperation(call(args, repository ?? (() => NO_REPOSITORY)), undefined, repository),
    execute: async (args, context) => runOperation(call(args, context.repository), context),
    toText: operationTexts,
  };
}

const gitStatus = wrapper({
  name: "git_status",
  title: "Git status",
  description:
    "Says what is staged, changed, new and in conflict, on which branch, and what is under way, with what to do about it.",
  parameters: z.strictObject({}),
  effect: "read",
  call: () => ({ operation: "STATUS", args: [] }),
});

const gitDiff = wrapper({
  name: "git_diff",
  title: "Git diff",
  description: "Shows what changed in the working tree, or with `staged` what is staged. Secret files are left out.",
  parameters: z.strictObject({
    staged: z.boolean().default(false).meta({ description: "What is staged, instead of what is not." }),
  }),
  effect: "read",
  call: ({ staged }) => ({ operation: "DIFF", args: staged ? ["--cached"] : [] }),
});

const gitAdd = wrapper({
  name: "git_add",
  title: "Stage files",
  description:
    "Stages files, each of which the call must be allowed to write. Paths are names, not patterns; `.` is everything.",
  parameters: z.strictObject({
    files: z
      .array(checked(pathProblem, MAX_PATH_LEN))
      .min(1)
      .max(MAX_REPEATED_ITEMS)
      .meta({ description: "Files and directories." }),
  }),
  effect: "write",
  call: ({ files }) => ({ operation: "ADD", args: ["--", ...files] }),
});

const gitCommit = wrapper({
  name: "git_commit",
  title: "Commit",
  description:
    "Commits what is staged. The first line of the message has at most 72 characters, the second is empty; no line speaks for a person.",
  parameters: z.strictObject({ message: checked(messageProblem, MAX_ARG_LEN) }),
  effect: "write",
  call: ({ message }) => ({ operation: "COMMIT", args: [`--message=${message}`] }),
});

const gitCheckout = wrapper({
  name: "git_checkout",
  title: "Change to a branch",
  description: "Changes to a branch; with `create_if_missing` one that is not there is made from the current commit.",
  parameters: z
    .strictObject({
      branch: branchName,
      create_if_missing: z.boolean().default(false),
    })
    .superRefine(({ branch, create_if_missing: creates }, found) => {
      const message = creates ? newNameProblem(branch) : undefined;
      if (message !== undefined) found.addIssue({ code: "custom", path: ["branch"], message });
    }),
  effect: "write",
  call({ branch, create_if_missing: creates }, repository) {
    const found = repository(".");
    const isMissing =
      found.kind === "found" && found.branch !== branch && found.resolve(`refs/heads/${branch}`) === undefined;
    return { operation: "CHECKOUT", args: creates && isMissing ? ["-b", branch] : [branch] };
  },
});

const gitPush = wrapper({
  name: "git_push",
  title: "Push",
  description:
    "Tries a push of a branch, and changes nothing; with `confirm` it asks a person and then pushes. For the role release_manager.",
  parameters: z.strictObject({
    remote: checked(remoteProblem, MAX_ARG_LEN).meta({ description: "The remote's name." }),
    branch: branchName,
    confirm: z
      .boolean()
      .default(false)
      .meta({ description: "Push, once a person agrees. Without it the push is only tried." }),
  }),
  effect: "network",
  capability: {
    risk: "medium",
    requiredRole: "release_manager",
    ...(git.capability.network && { network: git.capability.network }),
  },
  call({ remote, branch, confirm }, repository) {
    const found = repository(".");
    const full = `refs/heads/${branch}`;
    const isBranch = found.kind === "found" && found.resolve(full) !== undefined;
    return { operation: "PUSH", args: [...(confirm ? [] : ["--dry-run"]), remote, isBranch ? full : branch] };
  },
});

/** `git`, and its operations by what they are for. */
export const gitTools = [git, gitStatus, gitDiff, gitAdd, gitCommit, gitCheckout, gitPush] as readonly Tool[];
