/**
 * Builds the failures of edits that do not fit, in words that let the next call fit.
 *
 * INVARIANT: of the file only what the caller may see is shown: secrets stand as their markers.
 */
import { utf8 } from "../../base/bytes.ts";
import { MAX_WRITE_SIZE } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import { shownBytes } from "../../text/shown-text.ts";
import type { EditWords, WantedEdit } from "./edit-arguments.ts";
import { EDIT_MATCHES_MAX, type LoomResult, visibleMatches } from "./loom.ts";
import { nearestLines } from "./nearest-lines.ts";

/** The edits that came to nothing, and of what. */
export interface Attempt {
  readonly original: Uint8Array;
  readonly edits: readonly (WantedEdit & { readonly touchHidden?: number })[];
  readonly hidden: readonly HiddenRange[];
  readonly words: EditWords;
}

type Mismatch = Extract<LoomResult, { kind: "mismatch" }>;

/** The failure of edits that do not fit. */
export function failureOf(result: Exclude<LoomResult, { kind: "applied" }>, attempt: Attempt): ToolFailure {
  const { words } = attempt;
  switch (result.kind) {
    case "mismatch": {
      const expected = `${words.edit(result.edit)} expected ${times(result.expected)} of its ${words.spec}`;
      const message = `${expected}, but the file has ${result.found}${linesOf(result)}; nothing was changed`;
      return new ToolFailure("MATCH_COUNT_MISMATCH", message, mismatchAdvice(result, attempt));
    }
    case "overlap": {
      const [first, second] = result.edits;
      const message = `${words.edit(first)} and ${words.edit(second)} both touch line ${result.line}; nothing was changed`;
      return new ToolFailure("EDIT_OVERLAP", message, "make one edit of them, or send them in two calls");
    }
    case "too_large":
      return tooLarge(result.what);
  }
}

function times(count: number): string {
  return count === 1 ? "1 match" : `${count} matches`;
}

function linesOf({ found, lines }: Mismatch): string {
  if (lines.length === 0) return "";
  const more = found > lines.length ? ", …" : "";
  return ` (${lines.length === 1 && more === "" ? "line" : "lines"} ${lines.join(", ")}${more})`;
}

function mismatchAdvice({ found, edit: index }: Mismatch, { original, edits, hidden, words }: Attempt): string {
  const edit = edits[index];
  if (edit && /\[REDACTED:[a-z0-9-]+\]/.test(Buffer.from(edit.spec).toString())) {
    return `a redaction marker stands for text that is hidden from you: choose another ${words.spec}, which leaves it out`;
  }
  if (found > 0) {
    const all = words.all === undefined ? "" : `, or ${words.all(found)}`;
    return edit === undefined || edit.mode === "exact"
      ? `add lines around the text to ${words.spec} until it is unique${all}`
      : `make ${words.spec} narrower${all}`;
  }
  if (edit?.touchHidden)
    return `it matches ${edit.touchHidden} times where text is hidden from you, which no edit may touch: choose another ${words.spec}`;
  if (edit?.mode === "regex")
    return `read the file and correct ${words.spec}; \`search_file\` with the same expression shows what it matches`;
  if (edit?.mode === "ast")
    return `read the file and correct ${words.spec}: it has to be one whole piece of code, as the language's parser reads it`;
  if (edit && matchesWithCarriageReturns(original, edit, hidden))
    return `the file has CRLF line ends: write \`\\r\\n\` in ${words.spec} and ${words.content}`;
  if (isUtf16(original)) return "the file is UTF-16, which edits cannot match: write it anew with `write_file`";
  return (edit && nearestAdvice(original, edit, { hidden, words })) ?? COPY_AGAIN;
}

const COPY_AGAIN = "read the file again and copy the text exactly, white space included";

/** Bytes of a file in which the nearest lines are looked for. */
const NEAREST_BYTES_MAX = 8 * 1024 * 1024;

function nearestAdvice(
  original: Uint8Array,
  { spec }: WantedEdit,
  { hidden, words }: Pick<Attempt, "hidden" | "words">,
): string | undefined {
  const shown = shownBytes(original, hidden).bytes.subarray(0, NEAREST_BYTES_MAX);
  const nearest = nearestLines(shown.toString(), Buffer.from(spec).toString());
  if (nearest === undefined) return undefined;
  const { firstLine, lastLine, text, isCut, differs } = nearest;
  const where = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;
  const what = differs.length === 0 ? "" : `; what differs: ${differs.join("; ")}`;
  const whole = isCut ? `read ${where} and copy from there; it begins` : `copy ${words.spec} from there`;
  return `the closest text is ${where}${what}. ${whole[0]?.toUpperCase()}${whole.slice(1)}:\n${text}`;
}

function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function matchesWithCarriageReturns(original: Uint8Array, edit: WantedEdit, hidden: readonly HiddenRange[]): boolean {
  const text = Buffer.from(edit.spec).toString("utf8");
  if (!text.includes("\n") || text.includes("\r")) return false;
  const sought = { spec: utf8(text.replaceAll("\n", "\r\n")), count: 0, nativeStepsMax: 0 };
  return visibleMatches(original, sought, hidden).count > 0;
}

function tooLarge(what: "matches" | "search" | "result"): ToolFailure {
  switch (what) {
    case "matches":
      return new ToolFailure(
        "FILE_TOO_LARGE",
        `the edits expect more than ${EDIT_MATCHES_MAX} matches together; nothing was changed`,
        "change fewer places in one call",
      );
    case "search":
      return new ToolFailure(
        "FILE_TOO_LARGE",
        "the file is too large for this many edits at once; nothing was changed",
        "send fewer edits in one call",
      );
    case "result":
      return new ToolFailure(
        "FILE_TOO_LARGE",
        `the file would have more than ${MAX_WRITE_SIZE} bytes; nothing was changed`,
        "insert less text",
      );
  }
}
