/**
 * `edit_file`: several edits of one file through Loom, under the file's lock, all or none.
 *
 * Decides: what the caller is told. Trusts: `transform`, to change nothing when the edits do not fit.
 */
import { MIB, utf8 } from "../../base/bytes.ts";
import { MAX_WRITE_SIZE } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import { type Diff, type EditedText, unifiedDiff } from "../../text/unified-diff.ts";
import { WRITES } from "../kit/capabilities.ts";
import { countText, nameText } from "../kit/plain-text.ts";
import { integer, objectOf, text } from "../kit/result-schema.ts";
import { type EditArguments, type EditWords, editsOf, parameters, wordsOf } from "./edit-arguments.ts";
import { applyEdits, EDIT_MATCHES_MAX, type LoomEdit, type LoomResult, visibleMatches } from "./loom.ts";

/** Bytes of a file that the edit engine loads. */
const EDIT_FILE_BYTES_MAX = 64 * MIB;
/** The tool `edit_file`. */
export const editFile: Tool<EditArguments> = {
  name: "edit_file",
  title: "Edit a file",
  description:
    "Changes parts of an existing file: `old_string` to `new_string`, or several `edits`, each of which says how often its text occurs. When one " +
    "does not fit, nothing is changed. Line ends are part of the text: a file with CRLF needs `\\r\\n`.",
  parameters,
  outputSchema: objectOf({
    path: text(),
    replacements: integer("Places that were changed."),
    diff: text("Unified diff, for reading."),
    diff_lines_omitted: integer("Lines of the diff that were left out."),
    size_bytes: integer("Size of the whole file afterwards."),
    created: { const: false },
  }),
  capability: { ...WRITES, audit: { logArgs: false, logOutput: false } },
  analyse: (args) => [
    { resource: { kind: "file", path: args.path }, effect: "read" },
    { resource: { kind: "file", path: args.path }, effect: "write" },
  ],
  async preview(args, context) {
    const before = await context.read(args.path);
    const edits = editsOf(args);
    const hidden = context.hidden(before);
    const result = applyEdits(before, edits, hidden);
    if (result.kind !== "applied")
      throw failureOf(result, { original: before, edits, hidden, words: wordsOf(args, context) });
    return [{ path: args.path, before, after: result.bytes }];
  },
  async execute(args, context) {
    const edits = editsOf(args);
    let edited: EditedText | undefined;
    const receipt = await context.files.transform(args.path, EDIT_FILE_BYTES_MAX, (original) => {
      const hidden = context.hidden(original);
      const result = applyEdits(original, edits, hidden);
      if (result.kind !== "applied")
        throw failureOf(result, { original, edits, hidden, words: wordsOf(args, context) });
      edited = { original, changes: result.changes, updated: result.bytes };
      return result.bytes;
    });
    // Both versions were looked through for secrets by then, in slices if they are long.
    const diff = edited ? unifiedDiff(args.path, edited, { hidden: context.hidden }) : NO_DIFF;
    const data = {
      path: receipt.path,
      replacements: edited?.changes.length ?? 0,
      diff: diff.text,
      diff_lines_omitted: diff.linesOmitted,
      size_bytes: receipt.sizeBytes,
    };
    return { kind: "data", data: { ...data, created: false } };
  },
  toText: ({ path, replacements, diff, diff_lines_omitted: omitted }) => [
    `changed ${countText(replacements, "place")} in ${nameText(path)}`,
    ...(typeof diff === "string" && diff !== "" ? [diff] : []),
    ...(omitted === 0 ? [] : [`[${countText(omitted, "line")} of the diff left out]`]),
  ],
};

const NO_DIFF: Diff = { text: "", linesOmitted: 0, linesCut: 0 };

/** The edits that came to nothing, and of what. */
interface Attempt {
  readonly original: Uint8Array;
  readonly edits: readonly LoomEdit[];
  readonly hidden: readonly HiddenRange[];
  readonly words: EditWords;
}

function failureOf(result: Exclude<LoomResult, { kind: "applied" }>, attempt: Attempt): ToolFailure {
  const { words } = attempt;
  switch (result.kind) {
    case "mismatch": {
      const message = `${words.edit(result.edit)} expected ${times(result.expected)} of its ${words.spec}, but the file has ${result.found}; nothing was changed`;
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

function mismatchAdvice(
  { found, edit: index }: Extract<LoomResult, { kind: "mismatch" }>,
  { original, edits, hidden, words }: Attempt,
): string {
  const edit = edits[index];
  if (edit && /\[REDACTED:[a-z0-9-]+\]/.test(Buffer.from(edit.spec).toString())) {
    return `a redaction marker stands for text that is hidden from you: choose another ${words.spec}, which leaves it out`;
  }
  if (found > 0) {
    const all = words.all === undefined ? "" : `, or ${words.all(found)}`;
    return `add lines around the text to ${words.spec} until it is unique${all}`;
  }
  if (edit && matchesWithCarriageReturns(original, edit, hidden))
    return `the file has CRLF line ends: write \`\\r\\n\` in ${words.spec} and ${words.content}`;
  return "read the file again and copy the text exactly, white space included";
}

function matchesWithCarriageReturns(original: Uint8Array, edit: LoomEdit, hidden: readonly HiddenRange[]): boolean {
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
