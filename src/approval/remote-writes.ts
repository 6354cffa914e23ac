/**
 * Decides whether a call may write to a remote, so that only a second channel may approve it. Pure.
 *
 * The rule: a git reference that a remote gets; a command of a version control system that is not known to stay local
 * or to fetch, whether or not the call has a network, because a remote may be a directory; and where the call has a
 * network, a program that nobody knows, one of the workspace, and one that runs files of the workspace. INVARIANT: what
 * is not listed as harmless may write.
 */
import type { Access } from "../model/place/access.ts";
import { type CommandDanger, type CommandResource, programName, UNKNOWN_BINARY } from "../model/place/command.ts";

/** Verbs, parted by commas, that write to no remote. A verb of two words is one of those that have more below them. */
function verbs(text: string): ReadonlySet<string> {
  return new Set(text.split(",").map((verb) => verb.trim()));
}

const GIT = verbs(
  "add, am, annotate, apply, bisect, blame, branch, bundle, cat-file, check-attr, check-ignore, check-mailmap, check-ref-format, checkout, " +
    "checkout-index, cherry, cherry-pick, clean, clone, column, commit, commit-graph, commit-tree, config, count-objects, describe, diff, " +
    "diff-files, diff-index, diff-tree, difftool, fast-export, fast-import, fetch, fetch-pack, fmt-merge-msg, for-each-ref, format-patch, fsck, " +
    "gc, grep, hash-object, help, http-fetch, index-pack, init, interpret-trailers, log, ls-files, ls-remote, ls-tree, mailinfo, mailsplit, merge, " +
    "merge-base, merge-file, merge-tree, mergetool, mktag, mktree, mv, name-rev, notes, pack-objects, pack-refs, patch-id, prune, pull, " +
    "range-diff, read-tree, rebase, reflog, remote, repack, replace, rerere, reset, restore, rev-list, rev-parse, revert, rm, shortlog, show, " +
    "show-branch, show-ref, sparse-checkout, stash, status, stripspace, switch, symbolic-ref, tag, unpack-objects, update-index, update-ref, var, " +
    "verify-commit, verify-pack, verify-tag, version, whatchanged, worktree, write-tree",
);
const HG = verbs(
  "add, addremove, annotate, archive, backout, blame, bookmarks, branch, branches, cat, clone, commit, copy, diff, export, files, forget, graft, " +
    "grep, heads, help, id, identify, import, incoming, init, log, manifest, merge, outgoing, parents, pull, purge, recover, remove, rename, " +
    "resolve, revert, rm, root, status, summary, tag, tags, tip, unshelve, shelve, update, verify, version",
);
const FORGE = verbs(
  "pr list, pr view, pr diff, pr status, pr checks, pr checkout, mr list, mr view, mr diff, mr checkout, issue list, issue view, issue status, " +
    "repo view, repo list, repo clone, run list, run view, run watch, run download, release list, release view, release download, gist list, " +
    "gist view, label list, workflow list, workflow view, auth status, search code, search issues, search prs, search repos, status, ci list, " +
    "ci status, version, help",
);
const NONE = verbs("");

/** By program: what of it writes to no remote. Other commands of these programs may. */
const VERSION_CONTROL: Readonly<Record<string, ReadonlySet<string>>> = {
  git: GIT,
  hub: GIT,
  hg: HG,
  chg: HG,
  sl: HG,
  svn: verbs(
    "add, annotate, blame, cat, changelist, checkout, cleanup, co, diff, export, help, info, list, log, ls, merge, patch, propget, proplist, " +
      "relocate, resolve, resolved, revert, st, stat, status, sw, switch, up, update, upgrade",
  ),
  jj: verbs(
    "abandon, absorb, backout, branch, commit, config, describe, diff, diffedit, duplicate, edit, evolog, file, git clone, git export, git fetch, " +
      "git import, git init, git remote, git root, help, interdiff, log, new, next, operation, op, parallelize, prev, rebase, resolve, restore, " +
      "revert, root, show, simplify-parents, sparse, split, squash, st, status, tag, undo, version, workspace",
  ),
  cvs: verbs("annotate, checkout, co, diff, export, log, status, update"),
  bzr: verbs("add, annotate, branch, cat, checkout, diff, info, log, merge, pull, revert, status, update, version"),
  brz: verbs("add, annotate, branch, cat, checkout, diff, info, log, merge, pull, revert, status, update, version"),
  darcs: verbs("add, annotate, changes, clone, diff, get, init, log, pull, record, revert, status, whatsnew"),
  fossil: verbs("add, annotate, cat, diff, finfo, info, log, pull, revert, status, timeline, version"),
  repo: verbs("diff, help, info, init, list, status, sync, version"),
  gh: FORGE,
  glab: FORGE,
  ...Object.fromEntries(
    [
      "tea",
      "p4",
      "pijul",
      "got",
      "stg",
      "svnadmin",
      "svnsync",
      "svnmucc",
      "tig",
      "lazygit",
      "gitui",
      "gitk",
      "gix",
      "ein",
      "etckeeper",
      "mr",
    ].map((name) => [name, NONE]),
  ),
};

/** Options before the verb that take the next word. */
const TAKES_NEXT: ReadonlySet<string> = new Set([
  "-C",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "-R",
  "--repository",
  "--cwd",
  "--repo",
]);

/** Programs that run files of the workspace, or what these say: with a network those may push. */
const RUNS_FILES =
  /^(?:(?:ba|da|a|k|mk|z|c|tc|fi)?sh|\.|source|(?:python|pypy|perl|ruby|php|lua|luajit|tclsh)[\d.]*|node|nodejs|deno|bun|tsx|ts-node|gmake|make|just|task|rake|invoke|tox|nox|gradlew?|mvnw?|ant|sbt|ninja|cmake|ctest|go|awk|gawk|expect|R|Rscript|julia|java|dotnet|cargo|poetry|uv|pipenv|pdm|hatch)$/;
/**
 * Sub-commands of those, and of package managers, that only fetch: what they install may bring programs, none of the
 * workspace's.
 */
const FETCHES: Readonly<Record<string, ReadonlySet<string>>> = {
  cargo: verbs("fetch, update, search, info, add, vendor, tree, metadata, audit"),
  go: verbs("mod, get, list, version, env"),
  poetry: verbs("install, add, update, lock, show, search"),
  uv: verbs("sync, lock, add, pip"),
  pipenv: verbs("install, sync, lock, update"),
  pdm: verbs("install, sync, lock, update, add"),
  dotnet: verbs("restore, list"),
};
const MANAGERS: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  ["npm", "pnpm", "yarn", "bun"].map((name) => [
    name,
    verbs(
      "ci, i, install, clean-install, add, update, up, upgrade, outdated, audit, view, info, show, ls, list, fetch, pack, search, why, ping",
    ),
  ]),
);

/** Whether one of the things that a call touches may be a remote that it writes to. */
export function mayWriteToRemote(accesses: readonly Access[]): boolean {
  const hasNetwork = accesses.some(({ effect }) => effect === "network");
  const isBent = accesses.some(
    ({ resource }) => resource.kind === "command" && resource.dangers.some((danger) => BENDS.has(danger)),
  );
  return accesses.some(({ resource, effect }) => {
    if (resource.kind === "git_ref")
      return resource.operation?.toLowerCase() === "push" || (resource.remote !== undefined && effect === "network");
    return resource.kind === "command" && (mayPush(resource, isBent) || (hasNetwork && isUnknown(resource)));
  });
}

/** A verb by which programs write to a remote, whatever they are called. */
const PUSHES = /^(?:[a-z]+-)*(?:push|send-pack|dcommit)$/i;

/** What makes the commands of the whole line mean something else than they say. */
const BENDS: ReadonlySet<CommandDanger> = new Set(["environment", "shell_state"]);

/**
 * A command of a version control system that is not known to leave remotes as they are; none is known where the line is
 * bent.
 */
function mayPush(command: CommandResource, isBent: boolean): boolean {
  const { binary, dangers } = command;
  const name = programName(binary).replace(/\.exe$/, "");
  if (binary === UNKNOWN_BINARY) return command.arguments.some((word) => PUSHES.test(word)); // it may be any of these
  const joined = /^git-(.+)$/.exec(name)?.[1];
  if (joined !== undefined) return !GIT.has(joined);
  const harmless = Object.hasOwn(VERSION_CONTROL, name) ? VERSION_CONTROL[name] : undefined;
  if (harmless === undefined) return false;
  const asksOnly = command.arguments.length === 1 && /^--(?:version|help)$/.test(command.arguments[0] ?? "");
  // An alias, a configuration or a helper makes a verb mean something else; a word that is only known at run time may
  // be a verb.
  return isBent || (!asksOnly && (dangers.some((danger) => danger !== "dynamic_options") || !names(command, harmless)));
}

/** Whether the sub-command that is named is one of `harmless`, whatever its words become at run time. */
function names({ arguments: given, dynamic }: CommandResource, harmless: ReadonlySet<string>): boolean {
  let at = 0;
  for (; given[at]?.startsWith("-") === true; at += 1) if (TAKES_NEXT.has(given[at] ?? "")) at += 1;
  if (dynamic && at > 0) return false;
  const verb = given[at] ?? "";
  return harmless.has(verb) || harmless.has(`${verb} ${given[at + 1] ?? ""}`);
}

/** A program that nobody knows, or that does what files of the workspace say. */
function isUnknown({ binary, arguments: given, dynamic }: CommandResource): boolean {
  if (binary === UNKNOWN_BINARY || binary.includes("/")) return true;
  const name = programName(binary);
  const fetches = Object.hasOwn(FETCHES, name)
    ? FETCHES[name]
    : Object.hasOwn(MANAGERS, name)
      ? MANAGERS[name]
      : undefined;
  if (fetches !== undefined) return !fetches.has(given[0] ?? "") || (dynamic && given[0]?.startsWith("-") === true);
  return RUNS_FILES.test(name);
}
