/**
 * The arguments of `edit_file` in their two forms, and the edits that they stand for.
 *
 * The short form names one text and its replacement, as the editing tools do that models know best. The other is a list
 * of Loom's edits. A call has one of them.
 */
import { z } from "zod";
import { utf8 } from "../../base/bytes.ts";
import { MAX_EDIT_SIZE } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { numberArgument, pathArgument, textArgument } from "../kit/argument.ts";
import { EDIT_MATCHES_MAX, LOOM_OPERATIONS, type LoomEdit } from "./loom.ts";

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

const OLD = "The text to replace, exactly as it stands in the file. It must be there once, unless `replace_all`.";

/** The schema of the arguments. */
export const parameters = z
  .strictObject({
    path: pathArgument("File to edit, relative to the workspace root."),
    old_string: textArgument(OLD, MAX_EDIT_SIZE)
      .refine((text) => text !== "", {
        params: { rule: "required" },
        message: "must not be empty; give the text to replace, or make a file with `write_file`",
      })
      .meta({ description: OLD, minLength: 1 })
      .optional(),
    new_string: textArgument("The text in its place; empty to remove it.", MAX_EDIT_SIZE).optional(),
    replace_all: z.boolean().optional().meta({ description: "Replace `old_string` wherever it is. Default false." }),
    edits: z.array(edit).min(1).max(EDITS_MAX).optional().meta({
      description:
        "Instead of `old_string`: several edits to the file as it is now. No two may touch the same line. All of them apply, or none.",
    }),
  })
  .superRefine((args, found) => {
    const { old_string: old, new_string: replacement, replace_all: all, edits } = args;
    const refuse = (path: string, rule: string, message: string): void =>
      found.addIssue({ code: "custom", path: [path], params: { rule }, message });
    const isShort = old !== undefined || replacement !== undefined || all !== undefined;
    if (edits !== undefined && isShort)
      refuse("edits", "mutually_exclusive", "stands instead of `old_string` and `new_string`; give one or the other");
    else if (edits === undefined && !isShort)
      refuse("old_string", "required", "must be given with `new_string`, or `edits` instead of both");
    else if (edits === undefined && old === undefined)
      refuse("old_string", "required", "must be given: the text to replace");
    else if (edits === undefined && replacement === undefined)
      refuse("new_string", "required", "must be given: the text in its place, empty to remove it");
    else if (edits === undefined && old === replacement)
      refuse("new_string", "format", "is the same as `old_string`, so that nothing would change; give another text");
  });

/** The arguments of a call. */
export type EditArguments = z.infer<typeof parameters>;

/** How failures name the members of a call's form. */
export interface EditWords {
  /** The edit of that index. */
  readonly edit: (index: number) => string;
  readonly spec: string;
  readonly content: string;
  /** How to change all of so many matches; absent where the form has no way to. */
  readonly all?: (count: number) => string;
}

const LOOM_WORDS: EditWords = {
  edit: (index) => `\`edits[${index}]\``,
  spec: "`spec`",
  content: "`content`",
  all: (count) => `set \`count\` to ${count} to change all of them`,
};
const SHORT_WORDS: EditWords = {
  edit: () => "the edit",
  spec: "`old_string`",
  content: "`new_string`",
  all: () => "set `replace_all` to change all of them",
};

/** APM2's `FileEdit` is one edit with names of its own. */
const WIRE_WORDS: EditWords = { edit: () => "the edit", spec: "`old_content`", content: "`new_content`" };

/** How the failures of a call name what it has sent, as a call of that variant of the wire. */
export function wordsOf({ edits }: EditArguments, { variant }: { readonly variant?: string }): EditWords {
  if (variant === "file_edit") return WIRE_WORDS;
  return edits === undefined ? SHORT_WORDS : LOOM_WORDS;
}

/** The edits that a call asks for. @throws ToolFailure for a match mode that is not available */
export function editsOf({
  edits,
  old_string: old = "",
  new_string: replacement = "",
  replace_all: all,
}: EditArguments): readonly LoomEdit[] {
  if (edits !== undefined) return edits.map(loomEdit);
  return [{ operation: "replace", spec: utf8(old), content: utf8(replacement), count: all === true ? "any" : 1 }];
}

function loomEdit(value: z.infer<typeof edit>, index: number): LoomEdit {
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
