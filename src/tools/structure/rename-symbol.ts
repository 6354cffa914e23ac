/**
 * `rename_symbol`: gives a name of the code another one, wherever a language server knows that it stands.
 *
 * The server says where; every file of it was named by the call and judged like an edit of that file. INVARIANT: what
 * is written is the new name in place of the old one, in files that are as they were when the server was asked.
 */
import { z } from "zod";
import { blake3Hex } from "../../base/hash.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { CodeAccess, CodePlace, ProposedRename, RenamedFile } from "../../model/place/code.ts";
import type { FileTransform } from "../../model/place/files.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { type EditedText, unifiedDiff } from "../../text/unified-diff.ts";
import { numberArgument, pathArgument } from "../kit/argument.ts";
import { WRITES } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { TokenBudget, tokensArgument } from "./kit/token-budget.ts";

const FILES_MAX = 128;
const FILE_BYTES_MAX = 1_048_576;
const NAME_CHARACTERS_MAX = 200;
const TOKENS_DEFAULT = 3000;
/** Files that a refusal names. */
const NAMED_MAX = 128;

function nameArgument(description: string) {
  return z
    .string()
    .max(NAME_CHARACTERS_MAX)
    .regex(/^[\p{L}_$][\p{L}\p{N}\p{M}_$]*$/u, "must be one name, such as `loadConfig`; name no object before it")
    .meta({ description });
}

const parameters = z.strictObject({
  symbol: nameArgument("The name as it is."),
  new_name: nameArgument("The name that it gets."),
  defined_in: pathArgument("The file that defines it."),
  line: numberArgument("The line of its definition, where the file defines the name more than once.", 1),
  files: z.array(pathArgument("A file.")).max(FILES_MAX).optional().meta({
    description: "Every other file that uses it, as `find_usage` names them. Without one of them nothing is changed.",
  }),
  dry_run: z.boolean().optional().meta({ description: "Show the diff, and change nothing. Default false." }),
  max_tokens: tokensArgument(TOKENS_DEFAULT),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `rename_symbol`. */
export const renameSymbol: Tool<Arguments> = {
  name: "rename_symbol",
  title: "Rename a symbol",
  description:
    "Renames a function, class, method, variable or type in all files that use it, by the project's own language server: all of them, or none. Name every file in `files`, as `find_usage` lists them; where one is missing nothing is changed, and the answer names it.",
  parameters,
  outputSchema: objectOf(
    {
      server: text("The language server that knew where."),
      replacements: integer("Places that were changed."),
      files: listOf(
        objectOf({ path: text(), replacements: integer(), diff: text("Unified diff, for reading.") }, ["diff"]),
      ),
      diffs_left_out: integer("Files whose diff had no room in `max_tokens`."),
      dry_run: flag("Nothing was changed: this is what would be."),
    },
    ["dry_run"],
  ),
  capability: { ...WRITES, audit: { logArgs: true, logOutput: false } },
  // A dry run is judged like the change that it shows, as with `edit_file`.
  analyse: (args) =>
    pathsOf(args).flatMap((path) => [
      { resource: { kind: "file", path }, effect: "read" },
      { resource: { kind: "file", path }, effect: "write" },
    ]),
  async execute(args, { code, files, hidden }) {
    const place = await definitionOf(args, code);
    const { symbol, new_name: newName } = args;
    const proposal = await code.rename({ symbol, newName, places: [place], holding: pathsOf(args) });
    const proposed = requireProposed(proposal);
    const isDry = args.dry_run === true;
    const edited = proposed.files.map((file) => new RenamedText(file, isDry));
    await files.transformAll(edited.map((file) => file.plan()));
    const budget = new TokenBudget(args.max_tokens ?? TOKENS_DEFAULT);
    let diffsLeftOut = 0;
    const told = edited.map((file) => {
      const about = { path: file.path, replacements: file.count };
      budget.spend(about);
      const diff = file.edited === undefined ? "" : unifiedDiff(file.path, file.edited, { hidden }).text;
      const { leftOut } = budget.fit([diff]);
      diffsLeftOut += leftOut;
      return leftOut > 0 ? about : { ...about, diff };
    });
    const data = {
      server: proposed.server,
      replacements: told.reduce((sum, { replacements }) => sum + replacements, 0),
      files: told,
      diffs_left_out: diffsLeftOut,
      ...(isDry && { dry_run: true }),
    };
    return { kind: "data", data, ...(diffsLeftOut > 0 && { truncated: true }) };
  },
  toText: (data) => {
    const what = data["dry_run"] === true ? "would change" : "changed";
    const files = objectsOf(data["files"]).flatMap(({ path, replacements, diff }) => [
      `${what} ${countText(replacements, "place")} in ${nameText(path)}`,
      ...(typeof diff === "string" && diff !== "" ? [diff] : []),
    ]);
    const leftOut =
      data["diffs_left_out"] === 0
        ? []
        : [`[${countText(data["diffs_left_out"], "diff")} left out: raise \`max_tokens\`]`];
    return [...files, ...leftOut];
  },
};

function pathsOf({ defined_in: home, files = [] }: Arguments): readonly string[] {
  return [...new Set([home, ...files])];
}

/** Where the name is defined. @throws ToolFailure where that is not one place */
async function definitionOf({ symbol, defined_in: home, line }: Arguments, code: CodeAccess): Promise<CodePlace> {
  const found = await code.usages(home, symbol, [home]);
  const definitions = (found.files[0]?.usages ?? []).filter(
    (usage) => usage.kind === "definition" && (line === undefined ? usage.binding !== "local" : usage.line === line),
  );
  const [first, ...more] = definitions;
  if (first === undefined)
    throw new ToolFailure(
      "MATCH_COUNT_MISMATCH",
      `\`${home}\` does not define \`${symbol}\`${line === undefined ? "" : ` in line ${line}`}; nothing was changed`,
      "find the definition with `find_usage`, and name its file in `defined_in`",
    );
  if (more.length > 0)
    throw new ToolFailure(
      "MATCH_COUNT_MISMATCH",
      `\`${home}\` defines \`${symbol}\` in several lines (${definitions.map((each) => each.line).join(", ")}); nothing was changed`,
      "name the one that is meant in `line`",
    );
  return { path: home, line: first.line, column: first.column };
}

/** @throws ToolFailure where there is no proposal that the call may carry out */
function requireProposed(proposal: ProposedRename): Extract<ProposedRename, { kind: "proposed" }> {
  switch (proposal.kind) {
    case "proposed":
      return proposal;
    case "beyond": {
      const named = proposal.files.slice(0, NAMED_MAX).map((path) => `\`${path}\``);
      const hidden =
        proposal.hidden === 0 ? [] : [`${proposal.hidden} that this call may not read, or outside of the workspace`];
      throw new ToolFailure(
        "NOT_SUPPORTED",
        `the name is also used in files that the call does not name: ${[...named, ...hidden].join(", ")}; nothing was changed`,
        hidden.length === 0
          ? "name them in `files` as well"
          : "the name cannot be changed everywhere; ask somebody who may write all of them",
      );
    }
    case "refused":
      throw new ToolFailure(
        "NOT_SUPPORTED",
        `the language server does not rename this: ${proposal.message}; nothing was changed`,
        "change the name with `edit_file`",
      );
    case "none":
      throw new ToolFailure(
        "NOT_SUPPORTED",
        `no language server can say where the name stands: ${proposal.message}; nothing was changed`,
        "find the places with `find_usage`, and change them with `edit_file`",
      );
  }
}

/** One file while it is changed. */
class RenamedText {
  readonly #file: RenamedFile;
  readonly #isDry: boolean;
  edited: EditedText | undefined;

  constructor(file: RenamedFile, isDry: boolean) {
    this.#file = file;
    this.#isDry = isDry;
  }

  get path(): string {
    return this.#file.path;
  }

  get count(): number {
    return this.#file.changes.length;
  }

  plan(): FileTransform {
    return { path: this.path, bytesMax: FILE_BYTES_MAX, transform: (original) => this.#take(original) };
  }

  #take(original: Uint8Array): Uint8Array {
    if (blake3Hex(original) !== this.#file.digest)
      throw new ToolFailure(
        "FILE_CHANGED",
        `\`${this.path}\` changed while the language server was asked; nothing was changed`,
        "send the call again",
      );
    const changes = this.#file.changes.map(({ start, end, content }) => ({
      start,
      end,
      content: Buffer.from(content),
    }));
    const pieces: Uint8Array[] = [];
    let at = 0;
    for (const { start, end, content } of changes) {
      if (start < at)
        throw new ToolFailure(
          "NOT_SUPPORTED",
          "two changes overlap; nothing was changed",
          "change the name with `edit_file`",
        );
      pieces.push(original.subarray(at, start), content);
      at = end;
    }
    const updated = Buffer.concat([...pieces, original.subarray(at)]);
    this.edited = { original, changes, updated };
    return this.#isDry ? original : updated;
  }
}
