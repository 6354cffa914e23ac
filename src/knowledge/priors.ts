/**
 * Weighs where a chunk lies: what people wrote to be read counts more than what a program made.
 *
 * INVARIANT: a weight changes the order of what was found and never finds or hides anything.
 */

/** Files that a program made, or that were taken over from elsewhere. */
const MADE =
  /(?:^|\/)(?:dist|build|out|vendor|third_party|generated|gen|__snapshots__|fixtures)\/|\.(?:min\.[a-z]+|snap|lock|map)$/;
/** Tests: asked for by name more often than found by a question. */
const TEST = /(?:^|\/)(?:tests?|__tests__|specs?|e2e)\/|[._-](?:test|spec)\.[a-z]+$|(?:^|\/)test_[^/]+$/;
const ABOUT_TESTS: ReadonlySet<string> = new Set(["test", "tests", "spec", "specs"]);

/** The factor for the score of a chunk of the file at `path`. */
export function pathPrior(path: string, terms: readonly string[]): number {
  if (MADE.test(path)) return 0.5;
  if (TEST.test(path) && !terms.some((term) => ABOUT_TESTS.has(term))) return 0.8;
  return 1;
}

const FIRST = [/^docs\/specs\//, /^src\/core\//, /^(?:tests?|spec)\//];

/** When a file is indexed: lower comes first (Flow: specifications, core sources and tests first). */
export function indexingRank(path: string): number {
  const rank = FIRST.findIndex((pattern) => pattern.test(path));
  if (rank >= 0) return rank;
  if (/^(?:docs|src|lib)\//.test(path)) return FIRST.length;
  return MADE.test(path) ? FIRST.length + 2 : FIRST.length + 1;
}
