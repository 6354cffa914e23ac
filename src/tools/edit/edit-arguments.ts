/**
 * The arguments of `edit_file` in their two forms, and the edits that they stand for.
 *
 * The short form names one text and its replacement, as the editing tools do that models know best. The other is a list
 * of Loom's edits. A call has one of them.
 */
import { z } from "zod";
import { utf8 } from "../../base/bytes.ts";
import { MAX_EDIT_SIZE } from "../../base/limits.ts";
import { numberArgument, pathArgument, textArgument } from "../kit/argument.ts";
import { EDIT_MATCHES_MAX, LOOM_OPERATIONS, type LoomEdit } from "./loom.ts";

/** Edits in one call of `edit_file`. */
const EDITS_MAX = 256;

/** Files in one call of `edit_file`. */
const EDIT_FILES_MAX = 64;
/** Tokens of diff that a call may ask for. */
const DIFF_TOKENS_MIN = 16;
const DIFF_TOKENS_MAX = 100_000;
/** Bytes of a language's name. */
const LANGUAGE_BYTES_MAX = 32;
const LANGUAGE = "For `ast`: the file's language, such as `python`, where its name does not say it.";

const edit = z
  .strictObject({
    operation: z.enum(LOOM_OPERATIONS).meta({
      description:
        "`replace` or `delete` the matched text, or insert `content` directly after it (`append_after`) or before it (`prepend_before`).",
    }),
    match_mode: z
      .enum(["exact", "regex", "ast"])
      .optional()
      .meta({
        description:
          "`exact` (default): the text as it is, white space included. `regex`: RE2 syntax, `^` and `$` are the ends of " +
          "lines, and `content` may use `$1`, or `$` and a name in braces (`$$` for a dollar sign). `ast`: code with metavariables, such " +
          "as `foo($A, $$$REST)`, which `content` may use.",
      }),
    language: textArgument(LANGUAGE, LANGUAGE_BYTES_MAX).optional(),
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
    path: pathArgument("File to edit, relative to the workspace root. Not with `files`.").optional(),
    old_string: textArgument(OLD, MAX_EDIT_SIZE)
      .refine((text) => text !== "", {
        params: { rule: "required" },
        message: "must not be empty; give the text to replace, or make a file with `write_file`",
      })
      .meta({ description: OLD, minLength: 1 })
      .optional(),
    new_string: textArgument("The text in its place; empty to remove it.", MAX_EDIT_SIZE).optional(),
    replace_all: z.boolean().optional().meta({ description: "Replace `old_string` wherever it is. Default false." }),
    files: z
      .array(
        z.strictObject({
          path: pathArgument("File to edit, relative to the workspace root."),
          edits: z.array(edit).min(1).max(EDITS_MAX).meta({ description: "As `edits` of one file." }),
        }),
      )
      .min(1)
      .max(EDIT_FILES_MAX)
      .optional()
      .meta({
        description: "Instead of `path`: several files, each named once. All edits of all of them apply, or none.",
      }),
    dry_run: z.boolean().optional().meta({ description: "Show the diff, and change nothing. Default false." }),
    max_tokens: numberArgument(
      "Most tokens of diff in the answer, at 4 characters each. What was left out is counted.",
      DIFF_TOKENS_MIN,
      DIFF_TOKENS_MAX,
    ),
    edits: z.array(edit).min(1).max(EDITS_MAX).optional().meta({
      description:
        "Instead of `old_string`: several edits to the file as it is now. No two may touch the same line. All of them apply, or none.",
    }),
  })
  .superRefine((args, found) => {
    const { path, files, old_string: old, new_string: replacement, replace_all: all, edits } = args;
    const refuse = (path: string, rule: string, message: string): void =>
      found.addIssue({ code: "custom", path: [path], params: { rule }, message });
    const isShort = old !== undefined || replacement !== undefined || all !== undefined;
    if (files !== undefined) {
      if (path !== undefined || edits !== undefined || isShort)
        refuse("files", "mutually_exclusive", "stands instead of `path` and its edits; give one or the other");
      const paths = files.map((file) => file.path);
      const twice = paths.find((each, index) => paths.indexOf(each) !== index);
      if (twice !== undefined) refuse("files", "format", "names a file twice; give each file once, with all its edits");
    } else if (path === undefined) refuse("path", "required", "must be given, or `files` instead");
    else if (edits !== undefined && isShort)
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
export function wordsOf(
  { edits }: Pick<EditArguments, "edits">,
  { variant }: { readonly variant?: string | undefined },
): EditWords {
  if (variant === "file_edit") return WIRE_WORDS;
  return edits === undefined ? SHORT_WORDS : LOOM_WORDS;
}

/** One file of a call, and what is to become of it. */
export interface FileEdits {
  readonly path: string;
  readonly edits: readonly WantedEdit[];
  readonly words: EditWords;
}

/** The files of a call, each with its edits. */
export function filesOf(args: EditArguments, variant: string | undefined): readonly FileEdits[] {
  const { files, path = "" } = args;
  if (files === undefined) return [{ path, edits: editsOf(args), words: wordsOf(args, { variant }) }];
  return files.map((file, at) => ({
    path: file.path,
    edits: editsOf(file),
    words: { ...LOOM_WORDS, edit: (index) => `\`files[${at}].edits[${index}]\` (${JSON.stringify(file.path)})` },
  }));
}

/** An edit as a call asks for it: Loom's, or one whose places have to be found first. */
export interface WantedEdit extends LoomEdit {
  readonly mode: "exact" | "regex" | "ast";
  readonly language?: string | undefined;
}

/** The edits that a call asks for. */
export function editsOf({
  edits,
  old_string: old = "",
  new_string: replacement = "",
  replace_all: all,
}: Partial<Pick<EditArguments, "edits" | "old_string" | "new_string" | "replace_all">>): readonly WantedEdit[] {
  if (edits !== undefined) return edits.map(loomEdit);
  const count = all === true ? "any" : 1;
  return [{ mode: "exact", operation: "replace", spec: utf8(old), content: utf8(replacement), count }];
}

function loomEdit({ operation, match_mode: mode, language, spec, content, count }: z.infer<typeof edit>): WantedEdit {
  return {
    mode: mode ?? "exact",
    ...(language !== undefined && { language }),
    operation,
    spec: utf8(spec),
    content: utf8(operation === "delete" ? "" : (content ?? "")),
    count: count ?? 1,
  };
}
