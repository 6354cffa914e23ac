/** DIFF, SHOW and LOG: what changed, as data and as text, without files that the call may not read. */

import type { JsonObject } from "../../../base/json.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import {
  DISPLAY_OPTIONS,
  displayArguments,
  type Listed,
  listChanges,
  pathArguments,
  showsChanges,
} from "../calls/display.ts";
import {
  commitOf,
  firstProblem,
  parseRange,
  type Range,
  rangeArgument,
  revisionProblem,
  revisionsOf,
} from "../calls/names.ts";
import { has, lastValue, optionsOf, type Parsed, written } from "../calls/options.ts";
import { pinned, pinnedRanges, pinnedReferences } from "../calls/pinned.ts";
import { pathProblem } from "../calls/places.ts";
import { type Closed, GIT_PATHS_PER_RUN_MAX, leftOutFacts, type Runner } from "../calls/runner.ts";
import { GIT_LOG_COMMITS_MAX, searchCommits, searchesCommits, type Wanted } from "./log-search.ts";
import { type Asked, type Operation, type Running, readRef, type Touched, type Touches } from "./operation.ts";

/** Commits that a log shows when the call does not say. */
const GIT_LOG_COMMITS = 50;
/** Times that git is asked which files a log is about, because those that were left out let other commits in … */
const GIT_LOG_LISTINGS_MAX = 8;
/** … each time of so many times more commits. */
const GIT_LOG_LISTING_GROWTH = 8;

/** Revisions as ranges, or why one is refused. */
function rangesOf({ operands }: Parsed): readonly Range[] | string {
  const ranges: Range[] = [];
  for (const operand of operands) {
    const range = parseRange(operand);
    if (typeof range === "string") return `${range}; paths stand behind \`--\``;
    ranges.push(range);
  }
  return ranges;
}

function problemOf(parsed: Parsed, operandsMax: number): string | undefined {
  if (parsed.operands.length > operandsMax)
    return `at most ${operandsMax} revisions are taken; paths stand behind \`--\``;
  const ranges = rangesOf(parsed);
  if (typeof ranges === "string") return ranges;
  return firstProblem(parsed.paths ?? [], pathProblem);
}

function touchesOf({ parsed, repository }: Asked): Touches {
  const ranges = rangesOf(parsed);
  const revisions = typeof ranges === "string" ? [] : ranges.flatMap(revisionsOf);
  const refs = [...new Set(revisions)].map((revision) => readRef(repository, revision));
  const first: Touched = readRef(repository, "HEAD");
  return {
    refs: refs.length === 0 ? [first] : (refs as [Touched, ...Touched[]]),
    paths: (parsed.paths ?? []).map((path) => ({ path, effect: "read" })),
  };
}

function placed({ parsed, cwd, repository: { root } }: Running): readonly string[] {
  return pathArguments(parsed.paths ?? [], { cwd, root });
}

/** The revisions of the call, each as the commit that it names now. */
async function revisionArguments({ parsed, git }: Pick<Running, "parsed" | "git">): Promise<readonly string[]> {
  const ranges = rangesOf(parsed);
  return typeof ranges === "string" ? [] : (await pinnedRanges(git, ranges)).map(rangeArgument);
}

/** DIFF. */
export const diff: Operation = {
  usage: "DIFF [--cached] [<commit> [<commit>] | <from>..<to>] [-- <path>…]",
  options: { ...DISPLAY_OPTIONS, ...optionsOf("--cached|--staged --merge-base") },
  check: (parsed) => problemOf(parsed, 2),
  touches: touchesOf,
  async run(running) {
    const { parsed, git } = running;
    const question = ["diff", ...written(parsed, ["--cached", "-R"]), ...(await comparedIn(running))] as const;
    const { files, closed, paths } = await listChanges(git, question, placed(running));
    const text =
      files.length === 0
        ? ""
        : await git.run("nothing", ["diff", ...displayArguments(parsed), ...question.slice(1), "--", ...paths]);
    return { text, files: [...files], ...leftOutFacts(closed) };
  },
};

/** What is compared. What stands in the way between two questions is another commit, never another name for it. */
async function comparedIn({ parsed, git, repository }: Running): Promise<readonly string[]> {
  const given = await revisionArguments({ parsed, git });
  const isStaged = has(parsed, "--cached");
  const isAgainstHead = isStaged && given.length === 0 && repository.commit !== undefined;
  const compared = isAgainstHead ? (await pinned(git, ["HEAD"])).map(commitOf) : given;
  if (!has(parsed, "--merge-base")) return compared;
  const [one, other] = compared;
  if (one === undefined || one.includes("..")) return ["--merge-base", ...compared];
  const between = await git.run("nothing", ["merge-base", one, other ?? "HEAD"]);
  return [commitOf(between.trim()), ...(other === undefined ? [] : [other])];
}

/** SHOW. */
export const show: Operation = {
  usage: "SHOW [<commit>…] [-- <path>…]",
  options: { ...DISPLAY_OPTIONS, ...optionsOf("--no-patch|-s --first-parent -m") },
  check(parsed) {
    const ranged = firstProblem(parsed.operands, revisionProblem);
    return ranged ?? problemOf(parsed, 20);
  },
  touches: touchesOf,
  async run(running) {
    const { parsed, git } = running;
    const commits = await pinned(git, parsed.operands.length === 0 ? ["HEAD"] : parsed.operands);
    // Each parent by itself: a merge must not hide what it took from one of them.
    const { files, closed, paths } = await listChanges(git, ["show", "-m", "--format=", ...commits], placed(running));
    const how = [...displayArguments(parsed), ...written(parsed, ["--no-patch", "--first-parent", "-m"])];
    const text = await git.run("nothing", ["show", "--no-notes", ...how, ...commits, "--", ...paths]);
    return { text, files: [...files], ...leftOutFacts(closed) };
  },
};

const FILTERS = {
  "--author": { takes: "text" },
  "--committer": { takes: "text" },
  "--grep": { takes: "text" },
  "--fixed-strings": {},
  "-F": { same: "--fixed-strings" },
  "--regexp-ignore-case": {},
  "-i": { same: "--regexp-ignore-case" },
  "--since": { takes: "text" },
  "--after": { takes: "text", same: "--since" },
  "--until": { takes: "text" },
  "--before": { takes: "text", same: "--until" },
  "--skip": { takes: "count" },
  "--merges": {},
  "--no-merges": {},
  "--first-parent": {},
  "--all": {},
  "--branches": {},
  "--tags": {},
  "--remotes": {},
  "--reverse": {},
  "--date-order": {},
  "--topo-order": {},
} as const;

/** LOG. */
export const log: Operation = {
  usage: "LOG [-n <number>] [<commit> | <from>..<to>]… [-- <path>…]",
  options: {
    ...DISPLAY_OPTIONS,
    ...FILTERS,
    ...optionsOf("--max-count|-n|-<number>", { takes: "count" }),
    ...optionsOf("--oneline --decorate --graph", { idle: true }),
    ...optionsOf("--format|--pretty", { takes: ["oneline", "short", "medium", "full", "fuller", "reference"] }),
  },
  check(parsed) {
    if (Number(lastValue(parsed, "--max-count") ?? 0) > GIT_LOG_COMMITS_MAX)
      return `at most ${GIT_LOG_COMMITS_MAX} commits are shown at once`;
    return problemOf(parsed, 20);
  },
  touches: touchesOf,
  async run(running) {
    const { parsed, git, repository } = running;
    if (repository.commit === undefined && parsed.operands.length === 0)
      return { text: "there are no commits yet", commits: [] };
    const names = Object.entries(FILTERS).map(([name, spec]) => ("same" in spec ? spec.same : name));
    const count = Number(lastValue(parsed, "--max-count") ?? GIT_LOG_COMMITS);
    const isDetailed = showsChanges(parsed);
    const filters = searchesCommits(parsed)
      ? await foundCommits(running, names, count)
      : await loggedCommits(running, names, isDetailed);
    if (filters === undefined) return { text: "no commit is found", commits: [] };
    const asked = [`--max-count=${count}`, ...filters];
    const listed = isDetailed ? await listLogged(git, { count, filters, paths: placed(running) }) : undefined;
    const paths = listed?.paths ?? placed(running);
    const commits = parseCommits(
      await git.fields([
        "log",
        "-z",
        `--format=${FIELDS.join("%x00")}%x00`,
        "--no-show-signature",
        ...asked,
        "--",
        ...paths,
      ]),
    );
    const format = lastValue(parsed, "--format");
    const text =
      isDetailed || format !== undefined
        ? await git.run("nothing", [
            "log",
            "--no-notes",
            `--format=${format ?? "medium"}`,
            ...(isDetailed ? displayArguments(parsed) : []),
            ...asked,
            "--",
            ...paths,
          ])
        : commits.map(({ commit, subject }) => `${String(commit).slice(0, 12)} ${String(subject)}\n`).join("");
    return { text, commits, ...(listed && { files: [...listed.files], ...leftOutFacts(listed.closed) }) };
  },
};

/** The commits that are logged, as arguments: where their changes are shown, by nothing that can change its meaning. */
async function loggedCommits(
  running: Running,
  names: readonly string[],
  isDetailed: boolean,
): Promise<readonly string[]> {
  const { parsed, git } = running;
  const given = [...new Set(names)].filter((name) => !isDetailed || !REFERENCES.includes(name));
  const kinds = isDetailed ? written(parsed, REFERENCES) : [];
  const commits = [...(await revisionArguments(running)), ...(await pinnedReferences(git, kinds))];
  const isDefault = parsed.operands.length === 0 && !REFERENCES.some((name) => has(parsed, name));
  return [...written(parsed, given), ...commits, ...(isDefault ? await pinned(git, ["HEAD"]) : [])];
}

/** Options that stand for all references of a kind. */
const REFERENCES = ["--all", "--branches", "--tags", "--remotes"];

/** The commits that are searched for, as arguments; `undefined` where there are none. */
async function foundCommits(
  running: Running,
  names: readonly string[],
  count: number,
): Promise<readonly string[] | undefined> {
  const { parsed, git, context } = running;
  const kept = [...new Set(names)].filter((name) => name !== "--skip" && name !== "--reverse");
  const found = await searchCommits(git, context.hidden, {
    filters: [...written(parsed, kept), ...(await revisionArguments(running))],
    paths: placed(running),
    count,
    skip: Number(lastValue(parsed, "--skip") ?? 0),
    isReversed: has(parsed, "--reverse"),
  });
  return found.length === 0 ? undefined : ["--no-walk=unsorted", ...written(parsed, ["--first-parent"]), ...found];
}

/**
 * Which files the commits of a log are about. A commit that is about nothing but closed files is passed over once they
 * are left out, and another, with other files, takes its place: so it is asked until no closed one is named any more,
 * each time of more commits.
 */
async function listLogged(
  git: Runner,
  { count, filters, paths: named }: Pick<Wanted, "count" | "filters" | "paths">,
): Promise<Listed> {
  const ask = (commits: number, paths: readonly string[]) =>
    listChanges(
      git,
      ["log", "-m", "--format=", `--max-count=${Math.min(commits, Math.max(count, GIT_LOG_COMMITS_MAX))}`, ...filters],
      paths,
    );
  const closed: Closed[] = [];
  let listed = await ask(count, named);
  for (let times = 1; listed.closed.length > 0; times += 1) {
    closed.push(...listed.closed);
    if (times >= GIT_LOG_LISTINGS_MAX || closed.length > GIT_PATHS_PER_RUN_MAX) throw tooManyClosed();
    listed = await ask(count * GIT_LOG_LISTING_GROWTH ** times, listed.paths);
  }
  if (closed.length > 0) listed = await ask(count, listed.paths);
  return { ...listed, closed };
}

function tooManyClosed(): FailureWithoutEffect {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    "too many of the files concerned may not be shown to this call",
    "name the paths that you want, or leave the changes out",
  );
}

const FIELDS = ["%H", "%P", "%an", "%ae", "%aI", "%D", "%s"] as const;

function parseCommits(fields: readonly string[]): JsonObject[] {
  const commits: JsonObject[] = [];
  // behind each commit stands one more null byte
  for (let at = 0; at + FIELDS.length <= fields.length; at += FIELDS.length + 1) {
    const [commit = "", parents = "", author = "", email = "", date = "", refs = "", subject = ""] = fields.slice(
      at,
      at + FIELDS.length,
    );
    commits.push({
      commit,
      parents: parents === "" ? [] : parents.split(" "),
      author,
      email,
      date,
      ...(refs !== "" && { refs: refs.split(", ") }),
      subject,
    });
  }
  return commits;
}
