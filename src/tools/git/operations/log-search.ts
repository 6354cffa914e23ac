/**
 * Searching commits by their messages and people, past what redaction hides.
 *
 * INVARIANT: a commit whose message or names hold a hidden text is found by no search, whatever the search says:
 * otherwise asking letter by letter would tell it. How often git runs does not depend on such commits either.
 */

import type { ToolContext } from "../../../model/tool/tool.ts";
import { has, type Parsed } from "../calls/options.ts";
import type { Runner } from "../calls/runner.ts";

/** Commits that a log shows at most. */
export const GIT_LOG_COMMITS_MAX = 10_000;
/** Commits with hidden text in their messages that a search passes over before it finds fewer than are wanted. */
const GIT_LOG_HIDDEN_MATCHES_MAX = 1000;

/** Options that look for text. */
const SEARCHES = ["--grep", "--author", "--committer"];

/** Whether the call looks for text in commits. */
export function searchesCommits(parsed: Parsed): boolean {
  return SEARCHES.some((name) => has(parsed, name));
}

/** What is searched for, and how many of it are wanted. */
export interface Wanted {
  /** Without how many, from which on, and in which order. */
  readonly filters: readonly string[];
  readonly paths: readonly string[];
  readonly count: number;
  readonly skip: number;
  readonly isReversed: boolean;
}

/** The commits that are found, in their order. */
export async function searchCommits(
  git: Runner,
  hidden: ToolContext["hidden"],
  { filters, paths, count, skip, isReversed }: Wanted,
): Promise<readonly string[]> {
  const most = Math.min(skip + count + GIT_LOG_HIDDEN_MATCHES_MAX, GIT_LOG_COMMITS_MAX + GIT_LOG_HIDDEN_MATCHES_MAX);
  const format = "--format=%H%x00%an <%ae> %cn <%ce>%n%B%x00";
  const fields = await git.fields([
    "log",
    "-z",
    "--no-notes",
    format,
    `--max-count=${most}`,
    ...filters,
    "--",
    ...paths,
  ]);
  const found: string[] = [];
  // behind each commit stands one more null byte
  for (let at = 0; at + 1 < fields.length; at += 3)
    if (hidden(Buffer.from(fields[at + 1] ?? "")).length === 0) found.push(fields[at] ?? "");
  const wanted = found.slice(skip, skip + count);
  return isReversed ? wanted.reverse() : wanted;
}
