/**
 * CHECKOUT, MERGE and REBASE: what changes files of the working tree.
 *
 * Git changes them in a view. INVARIANT: every file that it has changed there is one that the call may write, or
 * nothing is changed in the workspace.
 */
import type { JsonObject } from "../../../base/json.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { FoundRepository, GitOutcome, GitRepository } from "../../../model/work/git.ts";
import { pathArguments } from "../calls/display.ts";
import { joinedMessage, messageProblem, requireFit } from "../calls/message.ts";
import { firstProblem, meaningsOf, newNameProblem, revisionProblem } from "../calls/names.ts";
import { has, lastValue, optionsOf, type Parsed, written } from "../calls/options.ts";
import { judgedCommit, requireObject } from "../calls/pinned.ts";
import { pathProblem } from "../calls/places.ts";
import { failureOf, leftOutFacts, type Runner, refuseClosed, sorted } from "../calls/runner.ts";
import {
  type Asked,
  bindStaged,
  movedBranch,
  type Operation,
  type Running,
  readRef,
  type Touched,
  type TouchedPath,
} from "./operation.ts";

/** Options that say how little is said. */
export const QUIET = { "--quiet": { idle: true }, "-q": { idle: true } } as const;

/**
 * Refuses when one of the files may not be written of which the index will say something else.
 * @param question arguments of `git diff` that name them
 */
export async function requireWritable(git: Runner, question: readonly string[]): Promise<void> {
  const { closed } = sorted(git, await differing(git, question), "write");
  refuseClosed(closed, "this would change", "ask a person to do it, or choose commits that do not touch those files");
}

/** Files that differ. @param question arguments of `git diff` */
export function differing(git: Runner, question: readonly string[]): Promise<readonly string[]> {
  return git.fields(["diff", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z", ...question]);
}

/** Why a path of a call is refused. */
export function pathsProblem({ paths = [] }: Parsed): string | undefined {
  return firstProblem(paths, pathProblem);
}

/** Paths whose files are replaced. */
export function replaced(paths: readonly string[] | undefined): readonly TouchedPath[] {
  return (paths ?? []).map((path) => ({ path, effect: "write" }));
}

/** The paths of a call, for git. */
export function placed({ parsed, cwd, repository: { root } }: Running): readonly string[] {
  return pathArguments(parsed.paths ?? [], { cwd, root });
}

/** CHECKOUT. */
export const checkout: Operation = {
  usage: "CHECKOUT <branch> | -b <new> [<start>] | --detach <commit> | [<commit>] -- <path>…",
  options: {
    ...QUIET,
    "-b": { takes: "text" },
    ...optionsOf("--detach|-d --force|-f --ours --theirs"),
    ...optionsOf("--no-guess --no-track", { idle: true }),
  },
  check(parsed) {
    const { operands, paths } = parsed;
    const name = lastValue(parsed, "-b");
    if (operands.length > 1) return "one branch or commit is taken; paths stand behind `--`";
    if (paths !== undefined && paths.length === 0 && operands.length === 0)
      return "name the branch, or the paths to restore behind `--`";
    if (paths === undefined && name === undefined && operands.length === 0) return "name the branch";
    if (paths !== undefined && paths.length > 0 && name !== undefined)
      return "a new branch and paths do not go together";
    return (
      (name === undefined ? undefined : newNameProblem(name)) ??
      firstProblem(operands, revisionProblem) ??
      pathsProblem(parsed)
    );
  },
  touches({ parsed, repository }) {
    const [target = "HEAD"] = parsed.operands;
    const force = (has(parsed, "--force") || (parsed.paths ?? []).length > 0) && { force: true as const };
    const name = lastValue(parsed, "-b");
    const refs: Touched[] = name === undefined ? [] : [movedBranch(repository, { name })];
    const seen = readRef(repository, changesBranch(parsed) ? branchFirst(repository, target) : target);
    return { refs: [{ ...seen, ref: target, effect: "write", ...force }, ...refs], paths: replaced(parsed.paths) };
  },
  run: runCheckout,
};

/** Whether the operand is a branch to change to, rather than a commit. */
function changesBranch(parsed: Parsed): boolean {
  return !has(parsed, "--detach") && !has(parsed, "-b") && (parsed.paths ?? []).length === 0;
}

/** `target` as git reads it when it changes to it: of a branch and a tag of one name it takes the branch. */
function branchFirst(repository: GitRepository, target: string): string {
  const full = `refs/heads/${target}`;
  return repository.kind === "found" && repository.resolve(full) !== undefined ? full : target;
}

async function runCheckout(running: Running): Promise<JsonObject> {
  const { parsed, git, repository } = running;
  const [target] = parsed.operands;
  if ((parsed.paths ?? []).length > 0) {
    const paths = placed(running);
    const from = target === undefined ? [] : [judgedCommit(repository, target)];
    const side = written(parsed, ["--ours", "--theirs"]);
    const count = (await differing(git, [...from, "--", ...paths])).length;
    await git.run("files", ["checkout", ...side, ...from, "--", ...paths]);
    return { text: `restored ${count} file${count === 1 ? "" : "s"}`, restored: count };
  }
  const name = lastValue(parsed, "-b");
  if (name !== undefined) requireBranchName(name, repository);
  const how = [
    "--quiet",
    "--no-recurse-submodules",
    "--no-guess",
    ...written(parsed, ["--force", "--detach"]),
    ...(name === undefined ? [] : ["--no-track", "-b", name]),
    ...checkedOut(running),
  ];
  await git.run("files", ["checkout", ...how, "--"]);
  return whereNow(git);
}

/** What git is told to check out: a branch by its name, whatever else by the commit that was judged. */
function checkedOut({ parsed, repository }: Running): readonly string[] {
  const [target] = parsed.operands;
  const start = target ?? (lastValue(parsed, "-b") === undefined ? undefined : "HEAD");
  if (start === undefined) return [];
  // a branch that has no commit yet
  if (target === undefined && repository.resolve("HEAD") === undefined) return [];
  if (!changesBranch(parsed)) return [judgedCommit(repository, start)];
  if (/^@\{-\d+\}$/.test(start)) {
    requireObject(repository, start);
    return [start];
  }
  return branchFirst(repository, start) === start ? [judgedCommit(repository, start)] : [start];
}

/** Branches that agents make are named as the operator wants. */
export function requireBranchName(name: string, { rules: { branchPattern } }: FoundRepository): void {
  if (branchPattern === undefined || branchPattern.matches(name)) return;
  throw new FailureWithoutEffect(
    "PERMISSION_DENIED",
    `\`${name}\` is not of the form that the operator wants of new branches`,
    `make it match \`${branchPattern.source}\``,
  );
}

/** The branch and commit that are checked out now. */
export async function whereNow(git: Runner): Promise<JsonObject> {
  const branch = (await git.run("nothing", ["branch", "--show-current"])).trim();
  const [commit, subject = ""] = await git.fields(["log", "--ignore-missing", "-1", "-z", "--format=%H%x00%s", "HEAD"]);
  if (commit === undefined) return { text: `on ${branch}, without commits`, branch };
  const at = `${commit.slice(0, 12)} ${subject}`;
  return {
    text: branch === "" ? `at ${at}, on no branch` : `on ${branch}, at ${at}`,
    commit,
    ...(branch === "" ? { detached: true } : { branch }),
  };
}

/** Ends a merge, a rebase or the like that stopped with what to do next. */
export async function ended(git: Runner, outcome: GitOutcome, command: string): Promise<JsonObject> {
  const conflicts = await git.fields(["diff", "--name-only", "--diff-filter=U", "-z", "--ignore-submodules=dirty"]);
  if (outcome.exitCode === 0 && outcome.endedBy === undefined) return { ...(await whereNow(git)), conflicts: [] };
  const { open, closed } = sorted(git, conflicts, "read");
  if (conflicts.length === 0) throw failureOf(command, outcome, outcome.notKept === undefined);
  const name = command.toUpperCase();
  return {
    text: `${name} stopped: ${open.length} file${open.length === 1 ? " is" : "s are"} in conflict`,
    conflicts: [...open],
    next: `edit the files in conflict, ADD them, then ${name} --continue; ${name} --abort gives it up`,
    ...leftOutFacts(closed),
  };
}

const STRATEGY_OPTIONS =
  "ours theirs ignore-space-change ignore-all-space ignore-space-at-eol patience diff3 no-renames".split(" ");

/** MERGE. */
export const merge: Operation = {
  usage: "MERGE [--ff-only | --no-ff | --squash] [-m <message>] <commit> | --abort | --continue",
  options: {
    ...QUIET,
    ...optionsOf("--ff --ff-only --no-ff --squash --no-commit"),
    ...optionsOf("--message|-m", { takes: "text" }),
    ...optionsOf("--strategy-option|-X", { takes: STRATEGY_OPTIONS }),
    ...optionsOf("--abort --continue"),
    ...optionsOf("--no-edit --stat --no-stat", { idle: true }),
  },
  check: (parsed) => oneOrStep(parsed, ["--abort", "--continue"]),
  touches: branchMoved(["--abort"]),
  async run({ parsed, git, repository, context }) {
    const [other] = parsed.operands;
    const given = parsed.options.get("--message");
    if (given !== undefined) requireFit(joinedMessage(given), context, repository.rules.messagePattern);
    if (other === undefined)
      return step({ git, repository }, "merge", has(parsed, "--abort") ? "--abort" : "--continue");
    const parts = given ?? (has(parsed, "--squash") ? undefined : [mergeMessage(repository, other)]);
    const how = [
      "--no-edit",
      "--no-verify",
      "--no-gpg-sign",
      "--no-verify-signatures",
      "--no-stat",
      ...written(parsed, ["--ff", "--ff-only", "--no-ff", "--squash", "--no-commit", "--strategy-option"]),
      ...(parts === undefined ? [] : [`--message=${joinedMessage(parts)}`]),
    ];
    return ended(git, await git.try("files", ["merge", ...how, judgedCommit(repository, other)]), "merge");
  },
};

/** As git says it of a name. */
function mergeMessage({ branch, resolve }: FoundRepository, other: string): string {
  const name = other.replace(/^refs\/(?:heads|tags|remotes)\//, "");
  const { kind } = meaningsOf(name, resolve).find(({ full }) => name === other || full === other) ?? { kind: "commit" };
  const into = branch === undefined || branch === "main" || branch === "master" ? "" : ` into ${branch}`;
  return `Merge ${kind} '${name}'${into}`;
}

/** REBASE. */
export const rebase: Operation = {
  usage: "REBASE [--onto <commit>] <upstream> | --abort | --continue | --skip",
  options: {
    ...QUIET,
    "--onto": { takes: "text" },
    ...optionsOf("--abort --continue --skip"),
    ...optionsOf("--strategy-option|-X", { takes: STRATEGY_OPTIONS }),
    "--no-stat": { idle: true },
  },
  check: (parsed) => oneOrStep(parsed, ["--abort", "--continue", "--skip"]) ?? revisionOf(lastValue(parsed, "--onto")),
  touches: branchMoved(["--abort", "--continue", "--skip"], true),
  async run({ parsed, git, repository }) {
    const [upstream] = parsed.operands;
    if (upstream === undefined) {
      if (repository.state.runsCommands)
        throw new FailureWithoutEffect(
          "PERMISSION_DENIED",
          "what is left of this rebase would run commands, or cannot be read",
          "ask a person to look at `.git/rebase-merge/git-rebase-todo`, or give it up with --abort",
        );
      return step(
        { git, repository },
        "rebase",
        ["--abort", "--continue", "--skip"].find((name) => has(parsed, name)) ?? "--continue",
      );
    }
    const onto = lastValue(parsed, "--onto") ?? upstream;
    const how = [
      "--merge",
      "--no-verify",
      "--no-gpg-sign",
      "--no-autosquash",
      "--no-autostash",
      "--no-stat",
      ...written(parsed, ["--strategy-option"]),
    ];
    return ended(
      git,
      await git.try("files", [
        "rebase",
        ...how,
        "--onto",
        judgedCommit(repository, onto),
        judgedCommit(repository, upstream),
      ]),
      "rebase",
    );
  },
};

function revisionOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : revisionProblem(text);
}

/** Either one commit, or a step of what is under way. */
function oneOrStep(parsed: Parsed, steps: readonly string[]): string | undefined {
  const given = steps.filter((name) => has(parsed, name));
  const parts = parsed.options.get("--message");
  if ((parsed.paths ?? []).length > 0) return "no paths are taken";
  if (given.length > 1 || (given.length === 1 && (parsed.operands.length > 0 || parsed.options.size > 1)))
    return `${given.join(" and ")} stands alone`;
  if (given.length === 0 && parsed.operands.length !== 1) return `name one commit, or give ${steps.join(" or ")}`;
  return (
    firstProblem(parsed.operands, revisionProblem) ??
    (parts === undefined ? undefined : messageProblem(joinedMessage(parts)))
  );
}

/** The current branch is moved; with `forced`, or by one of `forcing`, what it named may be lost. */
function branchMoved(forcing: readonly string[], forced = false): Operation["touches"] {
  return ({ parsed, repository }: Asked) => {
    const named = [...parsed.operands, ...(parsed.options.get("--onto") ?? []).slice(-1)];
    const others = named.map((revision) => readRef(repository, revision));
    if (parsed.operands.length === 0) bindStaged(repository);
    return {
      refs: [movedBranch(repository, { force: forced || forcing.some((name) => has(parsed, name)) }), ...others],
    };
  };
}

async function step(
  { git, repository }: Pick<Running, "git" | "repository">,
  command: "merge" | "rebase",
  name: string,
): Promise<JsonObject> {
  if (repository.state.inProgress !== command)
    throw new FailureWithoutEffect("NOT_SUPPORTED", `no ${command} is under way`, "look at the status");
  return ended(git, await git.try("files", [command, name]), command);
}
