/** Reports problems in policy files with their positions in the text that a person wrote. */
import { assert } from "../../base/errors.ts";

/** One policy file. */
export interface PolicySource {
  /** File name, for messages; distinct among the sources. */
  readonly name: string;
  readonly text: string;
  /** Shipped with the kernel, or written by the operator. Nobody else's policies are ever loaded. */
  readonly origin: "preset" | "operator";
}

/** Something wrong with a policy file. `line` and `column` start at 1; a column counts characters. */
export interface PolicyProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** An `error` refuses all sources; a `warning` is only told. */
  readonly severity: "error" | "warning";
}

/** The part of Cedar's error that is used. */
export interface CedarError {
  readonly message: string;
  readonly help: string | null;
  readonly sourceLocations?: readonly { readonly start: number; readonly label: string | null }[];
  readonly related?: readonly CedarError[];
}

/** Finds the file and the character at a byte of UTF-8 text, which is how Cedar counts. */
export type Locator = (byteOffset: number) => { readonly source: PolicySource; readonly offset: number };

/** The locator of the text of `source` alone. */
export function locateIn(source: PolicySource): Locator {
  const bytes = Buffer.from(source.text);
  return (byteOffset) => ({ source, offset: bytes.subarray(0, byteOffset).toString("utf8").length });
}

/** Joins `sources` (at least one) with newlines, and locates places in the whole. */
export function joinSources(sources: readonly PolicySource[]): { readonly text: string; readonly locate: Locator } {
  const starts: { readonly start: number; readonly locate: Locator }[] = [];
  let start = 0;
  for (const source of sources) {
    starts.push({ start, locate: locateIn(source) });
    start += Buffer.byteLength(source.text) + 1;
  }
  const locate: Locator = (byteOffset) => {
    const found = starts.findLast((candidate) => candidate.start <= byteOffset) ?? starts[0];
    assert(found !== undefined, "a position was looked up in no text");
    return found.locate(byteOffset - found.start);
  };
  return { text: sources.map((source) => source.text).join("\n"), locate };
}

/** What Cedar says in `errors`, as problems. */
export function cedarProblems(
  errors: readonly CedarError[],
  locate: Locator,
  severity: PolicyProblem["severity"],
): readonly LocatedProblem[] {
  return errors.flatMap((error) => {
    const place = error.sourceLocations?.[0];
    const { source, offset } = locate(place?.start ?? 0);
    const message = [error.message, place?.label, error.help]
      .filter(Boolean)
      .join("; ")
      .replace(/for policy `policy\d+`[,:] /g, "");
    return [
      { source, problem: { ...problemAt(source, offset, message), severity } },
      ...cedarProblems(error.related ?? [], locate, severity),
    ];
  });
}

/** A problem and the file it is in. */
export interface LocatedProblem {
  readonly source: PolicySource;
  readonly problem: PolicyProblem;
}

/** An error at the character `offset` of `source`. */
export function problemAt(source: PolicySource, offset: number, message: string): PolicyProblem {
  return { file: source.name, ...positionOf(source.text, offset), message, severity: "error" };
}

/** `problem` as one line: file, line, column, message. */
export function formatProblem(problem: PolicyProblem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
}

/** Line and column of a character; both start at 1. */
export function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
