/**
 * The repository in which a directory of a workspace lies, as far as that can be seen without running git.
 *
 * It trusts nothing of it. INVARIANTS: only a real directory named `.git` is a repository, so that none can be made up
 * in a tree (a bare one, one behind a link or a file); one whose parts lie elsewhere is not used; git is shown no
 * setting that is not on a closed list.
 */

import { KIB, MIB } from "../../base/bytes.ts";
import { resolveWorkspacePath } from "../../model/place/workspace.ts";
import type { GitRepository, GitRules, RepositoryState } from "../../model/work/git.ts";
import type { FileScope } from "../files/places/open.ts";
import { requireRootsInPlace } from "../files/places/roots.ts";
import { parseConfig } from "./config-text.ts";
import { GIT_FILE_BYTES_MAX, type Head, References } from "./references.ts";
import { type RepositoryFiles, repositoryFiles } from "./repository-files.ts";
import { type SafeSettings, safeSettings } from "./safe-settings.ts";

/** Bytes of settings that are handed to git: they go through a pipe that nobody reads before it is full. */
const GIT_SETTINGS_BYTES_MAX = 32 * KIB;

/** Bytes of an index whose content is looked at; of a larger one it is when it was changed that counts. */
const GIT_INDEX_BYTES_MAX = 64 * MIB;

/** The repository of `directory`, or of the nearest directory of the workspace above it that has one. */
export function lookAtRepository(
  { workspace, roots }: Pick<FileScope, "workspace" | "roots">,
  directory: string,
  rules: GitRules,
): GitRepository {
  requireRootsInPlace(roots);
  const resolved = resolveWorkspacePath(workspace, directory);
  // Scope refuses such a directory by itself.
  if (!resolved.ok || resolved.value.root !== "service") return { kind: "none" };
  for (const root of upwards(resolved.value.path)) {
    // What lies in a repository's own directory, or among what a package manager keeps, is nobody's working tree.
    if (["managed", "secret"].includes(workspace.zones.classify({ root: "service", path: root }))) continue;
    const files = repositoryFiles(roots.service, root);
    const kind = files.kindOf(".git");
    if (kind !== "nothing") return kind === "directory" ? openRepository(files, root, rules) : elsewhere(root, kind);
  }
  return { kind: "none" };
}

function upwards(path: string): readonly string[] {
  const parts = path === "." ? [] : path.split("/");
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join("/")), "."];
}

function elsewhere(root: string, kind: "file" | "other"): GitRepository {
  const why =
    kind === "file"
      ? `\`${nameIn(root, ".git")}\` is a file that says the repository lies elsewhere, as in a linked working tree or a submodule`
      : `\`${nameIn(root, ".git")}\` is a link or no directory`;
  return { kind: "unusable", why, suggestion: "ask a person for a clone whose `.git` is a directory of its own" };
}

function openRepository(files: RepositoryFiles, root: string, rules: GitRules): GitRepository {
  const unusable = (why: string): GitRepository => ({
    kind: "unusable",
    why,
    suggestion: "ask a person to look at the repository, or to make a fresh clone of it",
  });
  const settings = settingsOf(files);
  if (typeof settings === "string") return unusable(settings);
  const references = new References(files, settings.upstreams);
  const head = references.head();
  if (head === undefined) return unusable("`.git/HEAD` cannot be read, or names no branch");
  const { text, ignored, ...named } = settings;
  return {
    kind: "found",
    root,
    ...head,
    resolve: references.resolve,
    noteOf: references.noteOf,
    branchOf: references.branchOf,
    staged: () => contentMark(files, "index"),
    progress: () => PROGRESS.map((name) => files.markOf(`.git/${name}`)).join("\n"),
    ...named,
    settings: text,
    ignoredSettings: ignored,
    state: stateOf(files, head),
    rules,
  };
}

/**
 * What git gets to see of the settings of a repository, all of which lies where it should; why it cannot be used
 * otherwise.
 */
export function settingsOf(files: RepositoryFiles): SafeSettings | string {
  for (const name of ["objects", "refs"])
    if (files.kindOf(`.git/${name}`) !== "directory") return `\`.git/${name}\` is missing or lies elsewhere`;
  if (files.kindOf(".git/config") !== "file") return "`.git/config` is missing or no regular file";
  if (files.kindOf(".git/commondir") !== "nothing")
    return "`.git/commondir` says that parts of the repository lie elsewhere";
  const text = files.read(".git/config", GIT_FILE_BYTES_MAX);
  const written = text === undefined ? undefined : parseConfig(text);
  if (written === undefined) return "`.git/config` is too large or not well-formed";
  const settings = safeSettings(written);
  if (typeof settings === "string") return settings;
  return Buffer.byteLength(settings.text) > GIT_SETTINGS_BYTES_MAX ? "`.git/config` has too many settings" : settings;
}

/** What decides about the next commit beside the index. */
const PROGRESS = [
  ..."MERGE_HEAD MERGE_MODE MERGE_MSG SQUASH_MSG AUTO_MERGE CHERRY_PICK_HEAD REVERT_HEAD".split(" "),
  ...["", "git-rebase-todo", "done", "onto", "orig-head", "head-name", "stopped-sha", "message", "amend"].map(
    (name) => `rebase-merge/${name}`,
  ),
  ...["", "next", "onto", "orig-head", "head-name", "final-commit"].map((name) => `rebase-apply/${name}`),
].map((name) => name.replace(/\/$/, ""));

/** Another mark for any other file, and for any other content: a clock's tick is longer than a moment. */
function contentMark(files: RepositoryFiles, name: string): string {
  const mark = files.markOf(`.git/${name}`);
  return `${mark} ${files.digestOf(`.git/${name}`, GIT_INDEX_BYTES_MAX)}`;
}

function stateOf(files: RepositoryFiles, head: Head): RepositoryState {
  const has = (name: string) => files.kindOf(`.git/${name}`) !== "nothing";
  const small = (name: string) => files.read(`.git/${name}`, GIT_FILE_BYTES_MAX)?.trim();
  const rebase = has("rebase-merge")
    ? (["rebase-merge", "msgnum", "end"] as const)
    : (["rebase-apply", "next", "last"] as const);
  const isRebasing = has(rebase[0]);
  const isApplying = isRebasing && has("rebase-apply/applying");
  const inProgress = isApplying
    ? "am"
    : isRebasing
      ? "rebase"
      : has("MERGE_HEAD")
        ? "merge"
        : has("CHERRY_PICK_HEAD")
          ? "cherry-pick"
          : has("REVERT_HEAD")
            ? "revert"
            : has("BISECT_LOG")
              ? "bisect"
              : undefined;
  const [step, steps] = isRebasing
    ? [counted(small(`${rebase[0]}/${rebase[1]}`)), counted(small(`${rebase[0]}/${rebase[2]}`))]
    : [];
  const rebasing = isRebasing ? small(`${rebase[0]}/head-name`)?.replace(/^refs\/heads\//, "") : undefined;
  return {
    ...(inProgress && { inProgress }),
    ...(step !== undefined && { step }),
    ...(steps !== undefined && { steps }),
    ...(rebasing !== undefined && head.branch === undefined && { rebasing }),
    runsCommands: isRebasing && mayRunCommands(files),
    shallow: has("shallow"),
    worktrees: has("worktrees"),
    locked: has("index.lock"),
    submodules: submodulesOf(files.read(".gitmodules", GIT_FILE_BYTES_MAX) ?? ""),
    lfs: /(?:^|\s)filter=lfs(?:\s|$)/m.test(files.read(".gitattributes", GIT_FILE_BYTES_MAX) ?? ""),
  };
}

function counted(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,6}$/.test(text) ? Number(text) : undefined;
}

/** What is left of a rebase may be commands; what cannot be read may be as well. */
function mayRunCommands(files: RepositoryFiles): boolean {
  const todo = ".git/rebase-merge/git-rebase-todo";
  if (files.kindOf(todo) === "nothing") return false;
  const text = files.read(todo, GIT_FILE_BYTES_MAX);
  return (
    text === undefined ||
    text
      .split("\n")
      .some((line) => !/^\s*(?:$|#|(?:pick|p|reword|r|edit|e|squash|s|fixup|f|drop|d|break|b|noop)(?:\s|$))/.test(line))
  );
}

function submodulesOf(text: string): readonly string[] {
  return (parseConfig(text) ?? []).flatMap(({ section, name, value }) =>
    section === "submodule" && name === "path" ? [value] : [],
  );
}

function nameIn(root: string, name: string): string {
  return root === "." ? name : `${root}/${name}`;
}
