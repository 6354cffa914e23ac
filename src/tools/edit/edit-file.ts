/**
 * `edit_file`: several edits of one file through Loom, under the file's lock, all or none.
 *
 * Decides: what the caller is told. Trusts: `transform`, to change nothing when the edits do not fit.
 */
import { z } from "zod";
import { MIB, utf8 } from "../../base/bytes.ts";
import { MAX_EDIT_SIZE, MAX_WRITE_SIZE } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import { type Diff, type EditedText, unifiedDiff } from "../../text/unified-diff.ts";
import { numberArgument, pathArgument, textArgument } from "../kit/argument.ts";
import { WRITES } from "../kit/capabilities.ts";
import { integer, objectOf, text } from "../kit/result-schema.ts";
import {
  applyEdits,
  EDIT_MATCHES_MAX,
  LOOM_OPERATIONS,
  type LoomEdit,
  type LoomResult,
  visibleMatches,
} from "./loom.ts";

/** Bytes of a file that the edit engine loads. */
const EDIT_FILE_BYTES_MAX = 64 * MIB;
/** Edits in one call of `edit_file`. */
const EDITS_MAX = 256;

const edit = z
  .strictObject({
    operation: z.enum(LOOM_OPERATIONS).meta({
      description:
        "`replace` or `delete` the matched text, or insert `content` directly after it (`append_after`) or before it (`prepend_before`).",
    }),
    match_mode: z.enum(["exact", "regex", "ast"]).optional().meta({
      description:
        "Use `exact` (default): the text as it is, white space included. `regex` and `ast` are refused for now.",
    }),
    spec: textArgument("The text to find, exactly as it stands in the file.", MAX_EDIT_SIZE)
      .refine((text) => text !== "", {
        params: { rule: "required" },
        message: "must not be empty; give the text to find",
      })
      .meta({ description: "The text to find, exactly as it stands in the file.", minLength: 1 }),
    content: textArgument("The new text; not needed for `delete`.", MAX_EDIT_SIZE).optional(),
    count: numberArgument(
      "How often `spec` occurs in the file. Default 1. Any other number of matches changes nothing and fails.",
      1,
      EDIT_MATCHES_MAX,
    ),
  })
  .refine((value) => value.operation === "delete" || value.content !== undefined, {
    path: ["content"],
    params: { rule: "required" },
    message: "must be given, unless the operation is `delete`",
  });

const parameters = z.strictObject({
  path: pathArgument("File to edit, relative to the workspace root."),
  edits: z.array(edit).min(1).max(EDITS_MAX).meta({
    description: "Edits to the file as it is now. No two may touch the same line. All of them apply, or none.",
  }),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `edit_file`. */
export const editFile: Tool<Arguments> = {
  name: "edit_file",
  title: "Edit a file",
  description:
    "Changes parts of an existing file. Each edit names the text to find and how often it occurs; when one does not fit, nothing is changed. " +
    "Line ends are part of the text: a file with CRLF needs `\\r\\n` in `spec` and `content`.",
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
    const edits = args.edits.map(loomEdit);
    const hidden = context.hidden(before);
    const result = applyEdits(before, edits, hidden);
    if (result.kind !== "applied")
      throw failureOf(result, { original: before, edits, hidden, names: namesFor(context) });
    return [{ path: args.path, before, after: result.bytes }];
  },
  async execute(args, context) {
    const edits = args.edits.map(loomEdit);
    let edited: EditedText | undefined;
    const receipt = await context.files.transform(args.path, EDIT_FILE_BYTES_MAX, (original) => {
      const hidden = context.hidden(original);
      const result = applyEdits(original, edits, hidden);
      if (result.kind !== "applied") throw failureOf(result, { original, edits, hidden, names: namesFor(context) });
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
};

const NO_DIFF: Diff = { text: "", linesOmitted: 0, linesCut: 0 };

function loomEdit(value: Arguments["edits"][number], index: number): LoomEdit {
  const { operation, match_mode: mode, spec, content, count } = value;
  if (mode !== undefined && mode !== "exact") {
    const message = `\`edits[${index}]\` asks for the match mode \`${mode}\`, which is not available`;
    throw new ToolFailure("NOT_SUPPORTED", message, 'use `match_mode: "exact"` with the text as it stands in the file');
  }
  return {
    operation,
    spec: utf8(spec),
    content: utf8(operation === "delete" ? "" : (content ?? "")),
    count: count ?? 1,
  };
}

/** The edits that came to nothing, and of what. */
interface Attempt {
  readonly original: Uint8Array;
  readonly edits: readonly LoomEdit[];
  readonly hidden: readonly HiddenRange[];
  readonly names: Names;
}

/** What the caller calls the parts of an edit. */
interface Names {
  readonly spec: string;
  readonly content: string;
  /** The caller may say how often the text occurs. */
  readonly counts: boolean;
}

/** APM2's `FileEdit` is one edit with names of its own. */
function namesFor({ variant }: { readonly variant?: string }): Names {
  return variant === "file_edit"
    ? { spec: "old_content", content: "new_content", counts: false }
    : { spec: "spec", content: "content", counts: true };
}

function failureOf(result: Exclude<LoomResult, { kind: "applied" }>, attempt: Attempt): ToolFailure {
  switch (result.kind) {
    case "mismatch": {
      const { counts, spec } = attempt.names;
      const whose = counts ? `\`edits[${result.edit}]\` expected` : "the edit expected";
      const message = `${whose} ${times(result.expected)} of its \`${spec}\`, but the file has ${result.found}; nothing was changed`;
      return new ToolFailure("MATCH_COUNT_MISMATCH", message, mismatchAdvice(result, attempt));
    }
    case "overlap": {
      const [first, second] = result.edits;
      const message = `\`edits[${first}]\` and \`edits[${second}]\` both touch line ${result.line}; nothing was changed`;
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
  { original, edits, hidden, names }: Attempt,
): string {
  const edit = edits[index];
  if (edit && /\[REDACTED:[a-z0-9-]+\]/.test(Buffer.from(edit.spec).toString())) {
    return `a redaction marker stands for text that is hidden from you: choose another \`${names.spec}\`, which leaves it out`;
  }
  if (found > 0) {
    const all = names.counts ? `, or set \`count\` to ${found} to change all of them` : "";
    return `add lines around the text to \`${names.spec}\` until it is unique${all}`;
  }
  if (edit && matchesWithCarriageReturns(original, edit, hidden))
    return `the file has CRLF line ends: write \`\\r\\n\` in \`${names.spec}\` and \`${names.content}\``;
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
