/**
 * Implements the git operations ADD and COMMIT.
 *
 * Every file by itself must be one that the call may write, and no message speaks for a person.
 */

import type { JsonObject } from "../../../base/json.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import { pathArguments } from "../calls/display.ts";
import { joinedMessage, messageProblem, requireFit, spokenFor } from "../calls/message.ts";
import { firstProblem, shownName } from "../calls/names.ts";
import { has, optionsOf } from "../calls/options.ts";
import { literal, pathProblem } from "../calls/places.ts";
import {
  type Closed,
  GIT_PATHS_PER_RUN_MAX,
  leftOutFacts,
  type Runner,
  refuseClosed,
  sorted,
} from "../calls/runner.ts";
import { bindStaged, movedBranch, type Operation, type Running } from "./operation.ts";
import { readStatus } from "./status.ts";

/** ADD. */
export const add: Operation = {
  usage: "ADD [--all | --update] [--] <path>…",
  options: { ...optionsOf("--all|-A --update|-u"), ...optionsOf("--verbose -v", { idle: true }) },
  check(parsed) {
    const paths = [...parsed.operands, ...(parsed.paths ?? [])];
    if (paths.length === 0 && !has(parsed, "--all") && !has(parsed, "--update"))
      return "name the files and directories to stage, or give --all";
    return firstProblem(paths, pathProblem);
  },
  touches: ({ parsed }) => ({
    refs: [{ ref: "index", effect: "write" }],
    // The files of a directory are judged when it is known which they are.
    paths: [...parsed.operands, ...(parsed.paths ?? [])].flatMap((path) => [
      { path, effect: "read" } as const,
      { path, effect: "write" } as const,
    ]),
  }),
  async run({ parsed, git, cwd, repository }) {
    const paths = pathArguments([...parsed.operands, ...(parsed.paths ?? [])], { cwd, root: repository.root });
    const untracked = has(parsed, "--update") ? "no" : "all";
    const report = await readStatus(git, [`--untracked-files=${untracked}`], paths);
    const wanted = report.paths.filter(({ kind, tree }) => kind !== "ignored" && (kind !== "changed" || tree !== "."));
    const { open, closed } = sorted(
      git,
      wanted.map(({ path }) => path),
      "write",
    );
    if (open.length === 0 && closed.length === 0 && paths.length > 0 && report.paths.length === 0)
      await requireKnown(git, paths);
    if (open.length === 0 && closed.length > 0)
      refuseClosed(closed, "nothing was staged: the only changes are in", "name files that may be written");
    await stage(git, open);
    return { text: stagedText(open, closed), staged: [...open], ...leftOutFacts(closed) };
  },
};

function stagedText(open: readonly string[], closed: readonly Closed[]): string {
  const left = closed.length === 0 ? "" : `; ${closed.length} left out`;
  return open.length === 0
    ? "there was nothing to stage"
    : `staged ${open.length} file${open.length === 1 ? "" : "s"}${left}`;
}

/** A path that git does not know is a mistake of whoever names it; one without changes is none. */
async function requireKnown(git: Runner, paths: readonly string[]): Promise<void> {
  const known = await git.fields(["ls-files", "-z", "--", ...paths]);
  if (known.length > 0) return;
  throw new FailureWithoutEffect(
    "FILE_NOT_FOUND",
    "none of the paths names a file that git knows, or that it would take: they do not exist, or `.gitignore` leaves them out",
    "look at the status for what there is",
  );
}

/** Stages just these files, each under its own name. */
async function stage(git: Runner, files: readonly string[]): Promise<void> {
  for (let at = 0; at < files.length; at += GIT_PATHS_PER_RUN_MAX) {
    const some = files.slice(at, at + GIT_PATHS_PER_RUN_MAX);
    // What is ignored was not named by the status; a file that became ignored since is said to be so.
    await git.run("repository", ["add", "--all", "--", ...some.map(literal)]);
  }
}

/** COMMIT. */
export const commit: Operation = {
  usage: "COMMIT -m <message> [-m <paragraph>]… [--all] [--amend] [--allow-empty]",
  options: {
    ...optionsOf("--message|-m", { takes: "text" }),
    ...optionsOf("--all|-a --amend --no-edit --allow-empty"),
    ...optionsOf("--quiet -q --verbose -v", { idle: true }),
  },
  check(parsed) {
    if (parsed.operands.length > 0 || (parsed.paths ?? []).length > 0)
      return "files are not named here: stage them with ADD, then commit what is staged";
    const parts = parsed.options.get("--message");
    // Without a message the one of the merge, or of the commit that is replaced, stays.
    if (parts === undefined)
      return has(parsed, "--no-edit") ? undefined : "give the message with -m; nobody can write one in an editor";
    return messageProblem(joinedMessage(parts));
  },
  touches({ parsed, repository }) {
    bindStaged(repository);
    return { refs: [movedBranch(repository, { force: has(parsed, "--amend") })] };
  },
  run: runCommit,
};

async function runCommit({ parsed, git, context, repository }: Running): Promise<JsonObject> {
  const parts = parsed.options.get("--message");
  const message = parts === undefined ? undefined : joinedMessage(parts);
  if (message !== undefined) requireFit(message, context, repository.rules.messagePattern);
  if (parts === undefined && !has(parsed, "--amend") && repository.state.inProgress !== "merge")
    throw new FailureWithoutEffect(
      "NOT_SUPPORTED",
      "no merge is under way whose message could be taken",
      "give a message with -m",
    );
  if (parts === undefined && has(parsed, "--amend")) await requireUnsigned(git);
  if (has(parsed, "--all")) await stageChanged(git);
  const staged = await requireStagedOpen(git);
  const mayBeEmpty = has(parsed, "--amend") || has(parsed, "--allow-empty") || repository.state.inProgress === "merge";
  if (staged === 0 && !mayBeEmpty)
    throw new FailureWithoutEffect(
      "GIT_FAILED",
      "nothing was committed, because nothing is staged",
      "ADD the files that belong to the commit first; STATUS shows what has changed",
    );
  const how = [
    ...(message === undefined ? [] : [`--message=${message}`]),
    ...["--amend", "--no-edit", "--allow-empty"].filter((name) => has(parsed, name)),
    "--cleanup=whitespace",
    "--no-verify",
    "--no-post-rewrite",
    "--no-gpg-sign",
    "--no-status",
    "--quiet",
  ];
  await git.run("repository", ["commit", ...how]);
  const [made = "", subject = ""] = await git.fields(["log", "-1", "-z", "--format=%H%x00%s"]);
  const branch = repository.state.rebasing ?? repository.branch;
  return {
    text: `${branch === undefined ? "" : `[${branch}] `}${made.slice(0, 12)} ${subject}`,
    commit: made,
    subject,
    ...(branch !== undefined && { branch }),
    ...(message === undefined ? {} : { message }),
  };
}

/** What somebody has signed or looked at is another commit when it is replaced. */
async function requireUnsigned(git: Runner): Promise<void> {
  const [kept = ""] = await git.fields(["log", "-1", "-z", "--format=%B"]);
  const trailer = spokenFor(kept);
  if (trailer === undefined) return;
  throw new FailureWithoutEffect(
    "PERMISSION_DENIED",
    `the message of the commit that would be replaced says \`${trailer.slice(0, 40)}:\`, which speaks for somebody about the commit as it was`,
    "give a message with -m, or make a commit of its own",
  );
}

async function stageChanged(git: Runner): Promise<void> {
  const { paths } = await readStatus(git, ["--untracked-files=no"], []);
  const conflicts = paths.filter(({ kind }) => kind === "conflict").map(({ path }) => path);
  if (conflicts.length > 0) {
    const [first] = sorted(git, conflicts, "read").open;
    const what = first === undefined ? "a file that this call may not see" : `\`${shownName(first)}\``;
    const next = first === undefined ? "ask a person to resolve it" : "edit it, ADD it by its name, then commit";
    throw new FailureWithoutEffect("GIT_FAILED", `${what} is in conflict`, next);
  }
  const changed = paths.filter(({ kind, tree }) => kind === "changed" && tree !== ".").map(({ path }) => path);
  const { open } = sorted(git, changed, "write");
  await stage(git, open);
}

/**
 * What somebody else has staged is committed as well: each file of it is judged like one's own.
 * @returns how many files are staged
 */
async function requireStagedOpen(git: Runner): Promise<number> {
  const staged = await git.fields([
    "diff",
    "--cached",
    "--name-only",
    "--no-renames",
    "--ignore-submodules=dirty",
    "-z",
  ]);
  const { closed } = sorted(git, staged, "write");
  refuseClosed(
    closed,
    "nothing was committed: somebody has staged",
    "ask a person to commit or unstage them, or RESET -- <path> what may be named",
  );
  return staged.length;
}
