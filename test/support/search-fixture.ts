/** Search in a place of the file tests, judged by zones alone unless a test says otherwise. */
import { systemClock } from "../../src/base/clock.ts";
import type { WorkspacePath } from "../../src/model/place/access.ts";
import type { IsolationLevel } from "../../src/model/place/workspace.ts";
import type { CountResult, FindResult, SearchAccess, SearchQuery } from "../../src/model/work/search.ts";
import { createSearchAccess } from "../../src/sandbox/search/search.ts";
import { createSearchThreads, type SearchThreads } from "../../src/sandbox/search/threads.ts";
import type { HiddenIn } from "../../src/sandbox/search/tree/hidden.ts";
import type { Place } from "./files-fixture.ts";

/** What is different from a plain search. */
export interface SearchOptions {
  readonly mayRead?: (place: WorkspacePath) => boolean;
  readonly isolationLevel?: IsolationLevel;
  readonly threads?: SearchThreads;
  readonly signal?: AbortSignal;
  readonly hidden?: HiddenIn;
}

let threads: SearchThreads | undefined;

/** Search access to `place`; the threads are those of all tests in a file. */
export function searchIn(place: Place, options: SearchOptions = {}): SearchAccess {
  threads ??= createSearchThreads();
  const { workspace, roots } = place;
  return createSearchAccess({
    workspace,
    roots,
    judge(target) {
      const zone = workspace.zones.classify(target);
      if (zone !== "secret" && zone !== "managed") return undefined;
      return {
        layer: "workspace",
        reason: "workspace_blocked_zone",
        ruleId: `ZONE:${zone}`,
        message: `the file lies in a ${zone} zone`,
      };
    },
    mayRead: options.mayRead ?? ((target) => !["secret", "managed"].includes(workspace.zones.classify(target))),
    isolationLevel: options.isolationLevel ?? "STRICT",
    threads: options.threads ?? threads,
    ...(options.hidden && { hidden: options.hidden }),
    clock: systemClock,
    signal: options.signal ?? new AbortController().signal,
  });
}

/** A query for a regular expression, or for text. */
export function queryFor(text: string, more: Partial<SearchQuery> & { readonly literal?: boolean } = {}): SearchQuery {
  const { literal, ...rest } = more;
  return { pattern: { kind: literal ? "literal" : "regex", text }, recursive: true, ...rest };
}

/** Finds lines with the defaults of a test. */
export function find(
  search: SearchAccess,
  path: string,
  text: string,
  more: Parameters<typeof queryFor>[1] = {},
): Promise<FindResult> {
  return search.find(path, { ...queryFor(text, more), context: 0, linesMax: 100 });
}

/** Counts occurrences. */
export function count(
  search: SearchAccess,
  path: string,
  text: string,
  more: Parameters<typeof queryFor>[1] = {},
): Promise<CountResult> {
  return search.count(path, queryFor(text, more));
}

/** The results as short lines: path, line, column and text. */
export function shortly({ lines }: FindResult): readonly string[] {
  return lines.map(({ path, line, column, text }) => `${path}:${line}:${column}:${text}`);
}
