/**
 * `edit_file`: several edits of one file or of several through Loom, under the files' locks, all or none.
 *
 * Decides: what the caller is told. Trusts: `transform` and `transformAll`, to change nothing when the edits do not
 * fit.
 */
import { MIB } from "../../base/bytes.ts";
import type { JsonObject } from "../../base/json.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { FileTransform, WriteReceipt } from "../../model/place/files.ts";
import type { FilePreview, Tool, ToolContext } from "../../model/tool/tool.ts";
import { type Diff, type EditedText, unifiedDiff } from "../../text/unified-diff.ts";
import { WRITES } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { type EditArguments, type FileEdits, filesOf, parameters } from "./edit-arguments.ts";
import { type Applied, applied } from "./located-edits.ts";

/** Bytes of a file, and of all files of a call together, that the edit engine loads. */
const EDIT_FILE_BYTES_MAX = 64 * MIB;
/** Characters that count as a token. */
const TOKEN_CHARACTERS = 4;

const OF_ONE_FILE = {
  path: text(),
  replacements: integer("Places that were changed."),
  diff: text("Unified diff, for reading."),
  diff_lines_omitted: integer("Lines of the diff that were left out."),
  size_bytes: integer("Size of the whole file afterwards."),
  created: { const: false },
};

/** The tool `edit_file`. */
export const editFile: Tool<EditArguments> = {
  name: "edit_file",
  title: "Edit files",
  description:
    "Changes parts of existing files: `old_string` to `new_string` in `path`, or several `edits` (exact text, regular expressions, " +
    "syntax patterns), each of which says how often it matches; or `files`, each with its edits. When one does not fit, nothing " +
    "is changed anywhere and the answer names the closest text. Line ends are part of the text: a file with CRLF needs `\\r\\n`. " +
    'Example: {"path": "a.ts", "edits": [{"operation": "replace", "match_mode": "ast", "spec": "log($A)", "content": "info($A)"}]}',
  parameters,
  outputSchema: objectOf(
    {
      ...OF_ONE_FILE,
      files: {
        ...listOf(objectOf(OF_ONE_FILE)),
        description: "For a call with `files`, in its order: what became of each.",
      },
      dry_run: flag("Nothing was changed: this is what would be."),
    },
    ["path", "diff", "diff_lines_omitted", "size_bytes", "files", "dry_run"],
  ),
  capability: { ...WRITES, audit: { logArgs: false, logOutput: false } },
  // A dry run is judged like the change that it shows: whether it may be made is part of what it says.
  analyse: (args) =>
    (args.files ?? [{ path: args.path ?? "" }]).flatMap(({ path }) => [
      { resource: { kind: "file", path }, effect: "read" },
      { resource: { kind: "file", path }, effect: "write" },
    ]),
  async preview(args, context) {
    const previews: FilePreview[] = [];
    for (const file of filesOf(args, context.variant)) {
      const before = await context.read(file.path);
      const after = (await applied(before, { ...file, ...context })).bytes;
      previews.push({ path: file.path, before, after: args.dry_run === true ? before : after });
    }
    return previews;
  },
  async execute(args, context) {
    const files = filesOf(args, context.variant).map((file) => new EditedFile(file, context, args.dry_run === true));
    const [first] = files;
    if (first === undefined) throw new ToolFailure("NOT_SUPPORTED", "no file is named", "name at least one file");
    const { path, bytesMax, transform } = first.plan(EDIT_FILE_BYTES_MAX);
    const receipts =
      args.files === undefined
        ? [await context.files.transform(path, bytesMax, transform)]
        : await context.files.transformAll(plansOf(files));
    const room = { characters: (args.max_tokens ?? Number.POSITIVE_INFINITY) * TOKEN_CHARACTERS };
    const results = files.map((file, index) => file.result(receipts[index], room));
    const dry = args.dry_run === true ? { dry_run: true } : {};
    if (args.files === undefined) return { kind: "data", data: { ...results[0], ...dry } };
    const replacements = results.reduce((sum, result) => sum + result.replacements, 0);
    return { kind: "data", data: { replacements, files: results, created: false, ...dry } };
  },
  toText: (data) => {
    const files = data["files"] === undefined ? [data] : objectsOf(data["files"]);
    return files.flatMap((file) => textOfFile(file, data["dry_run"] === true));
  },
};

function textOfFile({ path, replacements, diff, diff_lines_omitted: omitted }: JsonObject, isDry: boolean): string[] {
  const what = isDry ? "would change" : "changed";
  return [
    `${what} ${countText(replacements, "place")} in ${nameText(path)}`,
    ...(typeof diff === "string" && diff !== "" ? [diff] : []),
    ...(omitted === 0 ? [] : [`[${countText(omitted, "line")} of the diff left out; \`read_file\` shows the file]`]),
  ];
}

/** How each file is changed; all that are loaded together are bounded, too. */
function plansOf(files: readonly EditedFile[]): readonly FileTransform[] {
  let loaded = 0;
  return files.map((file) => {
    const plan = file.plan(EDIT_FILE_BYTES_MAX);
    return {
      ...plan,
      transform(original) {
        loaded += original.byteLength;
        if (loaded <= EDIT_FILE_BYTES_MAX) return plan.transform(original);
        const message = `the files have more than ${EDIT_FILE_BYTES_MAX} bytes together; nothing was changed`;
        throw new ToolFailure("FILE_TOO_LARGE", message, "edit fewer files in one call");
      },
    };
  });
}

const NO_DIFF: Diff = { text: "", linesOmitted: 0, linesCut: 0 };

/** One file of a call while it is edited. */
class EditedFile {
  readonly #file: FileEdits;
  readonly #context: Pick<ToolContext, "hidden" | "match">;
  readonly #isDry: boolean;
  #edited: EditedText | undefined;

  constructor(file: FileEdits, { hidden, match }: Pick<ToolContext, "hidden" | "match">, isDry: boolean) {
    this.#file = file;
    this.#context = { hidden, match };
    this.#isDry = isDry;
  }

  plan(bytesMax: number): FileTransform {
    const { path } = this.#file;
    const transform = (original: Uint8Array) => {
      const made = applied(original, { ...this.#file, ...this.#context });
      return made instanceof Promise ? made.then((late) => this.#take(original, late)) : this.#take(original, made);
    };
    return { path, bytesMax, transform };
  }

  /** A dry run leaves the file as it is. */
  #take(original: Uint8Array, { changes, bytes }: Applied): Uint8Array {
    this.#edited = { original, changes, updated: bytes };
    return this.#isDry ? original : bytes;
  }

  /** What is told of it. Both versions were looked through for secrets by then, in slices if they are long. */
  result(receipt: WriteReceipt | undefined, room: { characters: number }) {
    const { hidden } = this.#context;
    const edited = this.#edited;
    const diff = edited ? fitted(unifiedDiff(this.#file.path, edited, { hidden }), room) : NO_DIFF;
    return {
      path: receipt?.path ?? this.#file.path,
      replacements: edited?.changes.length ?? 0,
      diff: diff.text,
      diff_lines_omitted: diff.linesOmitted,
      size_bytes: edited?.updated.byteLength ?? receipt?.sizeBytes ?? 0,
      created: false as const,
    };
  }
}

/** As many whole lines of the diff as there is room for. */
function fitted(diff: Diff, room: { characters: number }): Diff {
  if (diff.text.length <= room.characters) {
    room.characters -= diff.text.length;
    return diff;
  }
  const lines = diff.text.replace(/\n$/, "").split("\n");
  let kept = 0;
  for (let left = room.characters; kept < lines.length; kept += 1) {
    left -= (lines[kept]?.length ?? 0) + 1;
    if (left < 0) break;
  }
  room.characters = 0;
  const text = lines
    .slice(0, kept)
    .map((line) => `${line}\n`)
    .join("");
  return { ...diff, text, linesOmitted: diff.linesOmitted + lines.length - kept };
}
