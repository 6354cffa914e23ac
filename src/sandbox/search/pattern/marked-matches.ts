/**
 * Reads matches one by one from a text in which the engine has marked each.
 *
 * It is for texts that are too long to list all their matches. A list takes hundreds of bytes for each match, and a
 * thread that runs out of memory inside the engine's glue takes the process with it.
 *
 * INVARIANTS: memory is a small multiple of the text, however many matches there are. The matches are the same that the
 * engine would list. More than SEARCH_MARKED_MATCHES_MAX are reported as not fitting, never left out.
 */
import type { RRegex } from "rregex";

/**
 * Matches in a line or file of more than some 100 KiB that cannot be cut; more would not fit the budget of time either.
 */
const SEARCH_MARKED_MATCHES_MAX = 2_000_000;

/** Characters that seldom stand in text, first those of one byte; one that does not stand in it becomes its mark. */
const MARKS: readonly string[] = [
  ...charactersFrom(0x01, 0x08),
  ...charactersFrom(0x0e, 0x1f),
  ...charactersFrom(0xe000, 0xe03f),
];

function charactersFrom(first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index));
}

/**
 * Tells `onMatch` of each match in `text`, as offsets in its UTF-8, until it wants no more.
 * @returns `unwanted` when it wanted no more, `too_many` when not all could be told of
 */
export function eachMarkedMatch(
  { regex, matchesMax = SEARCH_MARKED_MATCHES_MAX }: { readonly regex: RRegex; readonly matchesMax?: number },
  text: string,
  onMatch: (start: number, end: number) => boolean,
): "all" | "unwanted" | "too_many" {
  const mark = unusedMark(text);
  if (mark === undefined) return "too_many";
  const marked = Buffer.from(regex.replacen(text, matchesMax + 1, `${mark}\${0}${mark}`));
  const sought = Buffer.from(mark);
  let marks = 0;
  for (let open = marked.indexOf(sought); open !== -1; ) {
    if (marks === 2 * matchesMax) return "too_many";
    const close = marked.indexOf(sought, open + sought.length);
    const start = open - marks * sought.length;
    if (!onMatch(start, close - (marks + 1) * sought.length)) return "unwanted";
    marks += 2;
    open = marked.indexOf(sought, close + sought.length);
  }
  return "all";
}

/** A character that does not stand in `text`, if there is one. */
export function unusedMark(text: string): string | undefined {
  return MARKS.find((candidate) => !text.includes(candidate));
}
