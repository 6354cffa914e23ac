/**
 * Turns the names of a call into the commits that they name now.
 *
 * INVARIANT: whoever asks git twice asks about the same commits, whatever is checked out or renamed between.
 */
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import { commitOf, type Range, revisionsOf } from "./names.ts";
import type { Runner } from "./runner.ts";

/** Commits that all references together may name where changes are shown. */
const REFERENCES_MAX = 500;

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
