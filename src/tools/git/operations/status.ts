/**
 * Implements the git operation STATUS.
 *
 * It shows what is staged, changed, new and in conflict, and what a repository is in the middle of, with what to do
 * about it.
 */
import type { JsonObject } from "../../../base/json.ts";
import type { FoundRepository, RepositoryState } from "../../../model/work/git.ts";
import { pathArguments } from "../calls/display.ts";
import { firstProblem } from "../calls/names.ts";
import { lastValue, optionsOf } from "../calls/options.ts";
import { pathProblem } from "../calls/places.ts";
import { leftOutFacts, type Runner, sorted } from "../calls/runner.ts";
import { type Operation, type Running, readRef } from "./operation.ts";

/** One file that is not as it was committed. */
export interface ChangedPath {
  readonly path: string;
  /** Of the index and of the working tree, as git's letters; `.` is unchanged. */
  readonly index: string;
  readonly tree: string;
  readonly kind: "changed" | "conflict" | "untracked" | "ignored";
}

/** What `status` said. */
export interface StatusReport {
  readonly branch?: string;
  readonly commit?: string;
  readonly upstream?: string;
  readonly ahead?: number;
  readonly behind?: number;
  readonly stashes: number;
  readonly paths: readonly ChangedPath[];
}

/** Asks for the status of `paths`, all when there are none. */
export async function readStatus(
  git: Runner,
  more: readonly string[],
  paths: readonly string[],
): Promise<StatusReport> {
  const options = ["--porcelain=v2", "--branch", "--show-stash", "-z", "--no-renames", "--ignore-submodules=dirty"];
  return parseStatus(await git.fields(["status", ...options, ...more, "--", ...paths]));
}

function parseStatus(fields: readonly string[]): StatusReport {
  const head: Record<string, string> = {};
  const paths: ChangedPath[] = [];
  for (const field of fields) {
    const header = /^# (\S+) (.*)$/s.exec(field);
    if (header !== null) {
      head[header[1] ?? ""] = header[2] ?? "";
      continue;
    }
    const entry = /^(?:1 (..) \S+(?: \S+){5} |u (..) \S+(?: \S+){7} |([?!]) )(.+)$/s.exec(field);
    if (entry === null) continue;
    const [, changed, conflict, other, path = ""] = entry;
    const letters = changed ?? conflict ?? "..";
    const kind =
      conflict !== undefined ? "conflict" : other === "?" ? "untracked" : other === "!" ? "ignored" : "changed";
    paths.push({ path, index: letters.charAt(0), tree: letters.charAt(1), kind });
  }
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(head["branch.ab"] ?? "") ?? [];
  const { "branch.head": branch, "branch.oid": commit, "branch.upstream": upstream, stash } = head;
  return {
    ...(branch !== undefined && branch !== "(detached)" && { branch }),
    ...(commit !== undefined && commit !== "(initial)" && { commit }),
    ...(upstream !== undefined && { upstream }),
    ...(ahead !== undefined && { ahead: Number(ahead) }),
    ...(behind !== undefined && { behind: Number(behind) }),
    stashes: Number(stash ?? 0),
    paths,
  };
}

/** STATUS. */
export const status: Operation = {
  usage: "STATUS [--untracked-files=no|normal|all] [-- <path>…]",
  options: {
    ...optionsOf("--short -s --branch -b", { idle: true }),
    "--porcelain": { takes: ["v1", "v2"], optional: true, idle: true },
    "--long": { idle: true },
    ...optionsOf("--untracked-files|-u", { takes: ["no", "normal", "all"], optional: true }),
    "--ignored": {},
  },
  check: ({ operands, paths = [] }) => firstProblem([...operands, ...paths], pathProblem),
  touches: ({ parsed, repository }) => ({
    refs: [readRef(repository, "HEAD")],
    paths: [...parsed.operands, ...(parsed.paths ?? [])].map((path) => ({ path, effect: "read" })),
  }),
  run: runStatus,
};

async function runStatus({ parsed, git, cwd, repository }: Running): Promise<JsonObject> {
  const paths = pathArguments([...parsed.operands, ...(parsed.paths ?? [])], { cwd, root: repository.root });
  const untracked = `--untracked-files=${lastValue(parsed, "--untracked-files") ?? "normal"}`;
  const report = await readStatus(git, [untracked, ...(parsed.options.has("--ignored") ? ["--ignored"] : [])], paths);
  const { open, closed } = sorted(
    git,
    report.paths.map(({ path }) => path),
    "read",
  );
  const isOpen = new Set(open);
  const shown = report.paths.filter(({ path }) => isOpen.has(path));
  const named = (kind: ChangedPath["kind"]) => shown.filter((one) => one.kind === kind).map(({ path }) => path);
  const lettered = (which: "index" | "tree") =>
    shown
      .filter((one) => one.kind === "changed" && one[which] !== ".")
      .map((one) => ({ path: one.path, status: LETTERS[one[which]] ?? "modified" }));
  const { branch, commit, upstream, ahead, behind, stashes } = report;
  return {
    text: [headline(report), ...shown.map(line)].join("\n"),
    ...(branch !== undefined && { branch }),
    ...(commit !== undefined && { commit }),
    ...(upstream !== undefined && { upstream }),
    ...(ahead !== undefined && { ahead }),
    ...(behind !== undefined && { behind }),
    ...(stashes > 0 && { stashes }),
    staged: lettered("index"),
    changed: lettered("tree"),
    untracked: named("untracked"),
    conflicts: named("conflict"),
    ...(parsed.options.has("--ignored") && { ignored: named("ignored") }),
    clean: shown.every(({ kind }) => kind === "ignored"),
    ...circumstances(repository, git.nested()),
    ...leftOutFacts(closed.filter(({ path }) => !git.nested().some((directory) => path === `${directory}/`))),
  };
}

const LETTERS: Readonly<Record<string, string>> = {
  A: "added",
  D: "deleted",
  M: "modified",
  T: "type changed",
  R: "renamed",
  C: "copied",
};

function headline({ branch, commit, upstream, ahead = 0, behind = 0 }: StatusReport): string {
  const at = branch ?? `HEAD (no branch) at ${(commit ?? "").slice(0, 12)}`;
  const apart = ahead === 0 && behind === 0 ? "" : ` [ahead ${ahead}, behind ${behind}]`;
  return `## ${at}${upstream === undefined ? "" : `...${upstream}`}${apart}`;
}

function line({ path, index, tree, kind }: ChangedPath): string {
  const letters = kind === "untracked" ? "??" : kind === "ignored" ? "!!" : `${index}${tree}`.replaceAll(".", " ");
  return `${letters} ${JSON.stringify(path).slice(1, -1)}`;
}

/** What the repository is in the middle of, and what of it is not as usual, each with what to do. */
export function circumstances(
  { state, branch, commit, ignoredSettings }: FoundRepository,
  nested: readonly string[],
): JsonObject {
  const notes: string[] = [];
  const { inProgress, step, steps, rebasing } = state;
  if (inProgress !== undefined) notes.push(progressNote(inProgress, state));
  if (branch === undefined && inProgress === undefined && commit !== undefined)
    notes.push("no branch is checked out: commits made now belong to none; CHECKOUT -b <name> makes one");
  if (state.shallow) notes.push("the clone has only the newest commits: FETCH --unshallow brings the rest");
  if (state.locked)
    notes.push("another git is at work (`.git/index.lock`); if none is, ask a person to remove the lock");
  if (state.submodules.length > 0) notes.push("submodules are not entered: open a session in one to work on it");
  if (nested.length > 0) notes.push("directories with a repository of their own are not entered: name one as `cwd`");
  if (state.lfs)
    notes.push("files kept by Git LFS are pointers here: do not change them, and do not add others of their kind");
  if (state.worktrees)
    notes.push("other working trees share this repository: their branches cannot be checked out here");
  if (ignoredSettings.length > 0)
    notes.push("some settings of the repository have no effect here (`settings_ignored`)");
  return {
    ...(inProgress && {
      in_progress: {
        operation: inProgress,
        ...(step !== undefined && { step }),
        ...(steps !== undefined && { steps }),
      },
    }),
    ...(rebasing !== undefined && { rebasing }),
    ...(branch === undefined && commit !== undefined && { detached: true }),
    ...(state.shallow && { shallow: true }),
    ...(state.submodules.length > 0 && { submodules: state.submodules.slice(0, 100) }),
    ...(nested.length > 0 && { nested_repositories: nested.slice(0, 100) }),
    ...(state.lfs && { lfs: true }),
    ...(ignoredSettings.length > 0 && { settings_ignored: ignoredSettings.slice(0, 20) }),
    ...(notes.length > 0 && { notes }),
  };
}

function progressNote(operation: string, { step, steps, rebasing }: RepositoryState): string {
  const at = step === undefined ? "" : ` (step ${step}${steps === undefined ? "" : ` of ${steps}`})`;
  const name = operation.toUpperCase();
  if (operation === "merge")
    return "a merge is under way: edit the files in conflict, ADD them, then COMMIT or MERGE --continue; MERGE --abort gives it up";
  if (operation === "rebase")
    return `a rebase${rebasing === undefined ? "" : ` of \`${rebasing}\``} is under way${at}: edit the files in conflict, ADD them, then REBASE --continue; REBASE --skip leaves the commit out, REBASE --abort gives it up`;
  return `${name} is under way and was not begun here: ask a person to end it`;
}
