/**
 * Turns the names of a call into the commits that they name now.
 *
 * INVARIANTS: what changes something gets the objects by which it was judged, and no names. Whoever asks git twice asks
 * about the same commits, whatever is checked out or renamed between.
 */
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { FoundRepository, GitRepository } from "../../../model/work/git.ts";
import { commitOf, meaningsOf, partsOf, type Range, revisionsOf, shownName } from "./names.ts";
import type { Runner } from "./runner.ts";

/** Commits that all references together may name where changes are shown. */
const REFERENCES_MAX = 500;

/**
 * What `revision` named when the call was judged, by the name of an object, which never stands for another: with the
 * steps from there, if there are any (`8c1f…~2`). `undefined` where it names nothing.
 */
export function judgedObject(repository: GitRepository, revision: string): string | undefined {
  const parts = partsOf(revision);
  const found = parts === undefined || repository.kind !== "found" ? undefined : repository.resolve(parts.base);
  return found === undefined ? undefined : `${found}${parts?.steps}`;
}

/** The same. @throws ToolFailure FILE_NOT_FOUND where it names nothing, or what cannot be seen without running git */
export function requireObject(repository: FoundRepository, revision: string): string {
  const found = judgedObject(repository, revision);
  if (found !== undefined) return found;
  throw new FailureWithoutEffect(
    "FILE_NOT_FOUND",
    `\`${shownName(revision)}\` names no commit here, or more than one`,
    "list what there is with BRANCH or LOG, and name that, or give the whole name of a commit",
  );
}

/**
 * The commit that `revision` named when the call was judged.
 * @throws ToolFailure for a name of two things, or of none
 */
export function judgedCommit(repository: FoundRepository, revision: string): string {
  requireOneMeaning(repository, revision);
  return commitOf(requireObject(repository, revision));
}

/** @throws ToolFailure NOT_SUPPORTED for a name that a branch and a tag have, which programs take differently */
export function requireOneMeaning({ resolve }: FoundRepository, revision: string): void {
  const name = (partsOf(revision)?.base ?? revision).replace(/@\{.*$/, "");
  const [first, second] = meaningsOf(name, resolve);
  if (first === undefined || second === undefined) return;
  throw new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `\`${shownName(name)}\` is the name of a ${first.kind} and of a ${second.kind}`,
    `write \`${first.full}\` or \`${second.full}\`, whichever is meant`,
  );
}

/** The commits that `revisions` name, in their order. */
export async function pinned(git: Runner, revisions: readonly string[]): Promise<readonly string[]> {
  if (revisions.length === 0) return [];
  return linesOf(await git.run("nothing", ["rev-parse", ...revisions.map(commitOf)]));
}

/** The same ranges, of commits. */
export async function pinnedRanges(git: Runner, ranges: readonly Range[]): Promise<readonly Range[]> {
  const names = [...new Set(ranges.flatMap(revisionsOf))];
  const commits = await pinned(git, names);
  const commit = new Map(names.map((name, index) => [name, commits[index] ?? name]));
  const of = (name: string) => commit.get(name) ?? name;
  return ranges.map((range) =>
    "revision" in range
      ? { ...range, revision: of(range.revision) }
      : { ...range, from: of(range.from), to: of(range.to) },
  );
}

/** The commits that all references of some kinds name. @param kinds such as `--all` */
export async function pinnedReferences(git: Runner, kinds: readonly string[]): Promise<readonly string[]> {
  if (kinds.length === 0) return [];
  const commits = [...new Set(linesOf(await git.run("nothing", ["rev-parse", ...kinds])))];
  if (commits.length <= REFERENCES_MAX) return commits;
  throw new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `${kinds.join(" and ")} name more than ${REFERENCES_MAX} commits, whose changes are not shown at once`,
    "name the branches that you want, or leave the changes out",
  );
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}
