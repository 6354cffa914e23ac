/** `branch_diff`: what was changed on a branch since it was made. */
import type { infer as Infer } from "zod";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { BranchFile } from "../../model/work/branches.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText, objectsOf } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { BRANCH, branchArgument, branchText, described } from "./branch-argument.ts";

const parameters = branchArgument("Name of the branch.");

/** The tool `branch_diff`. */
export const branchDiff: Tool<Infer<typeof parameters>> = {
  name: "branch_diff",
  title: "Compare a branch",
  description:
    "Shows what was changed on a branch since it was made, file by file: made, changed, deleted, renamed, rights, and a unified diff of text " +
    "against the file as it is now where the branch came from. Installed packages and git's own files are not listed.",
  parameters,
  outputSchema: objectOf({
    branch: BRANCH,
    files: listOf(
      objectOf(
        {
          path: text(),
          change: text("`create`, `modify`, `delete`, `mode` or `rename`."),
          kind: text("`file`, `link` or `directory`."),
          from: text("The former path of what was renamed."),
          mode: text("Rights of a file or directory, octal."),
          mode_before: text("Its rights where the branch came from, where they are others."),
          bytes: integer(),
          binary: flag(),
          diff: text(),
          lines_omitted: integer(),
          not_merged: text(
            "Why no merge takes it, so that nothing of the branch is merged: `hidden_from_branch`, it stands in the place of something that the branch does not hold; `owner_not_kept`, what it replaces belongs to another user or group.",
          ),
        },
        ["from", "mode", "mode_before", "bytes", "binary", "diff", "lines_omitted", "not_merged"],
      ),
    ),
    files_omitted: integer("Paths beyond those that are named."),
    files_hidden: integer("Paths that you may not read."),
    commits_not_merged: listOf(text("A directory with a repository of its own, whose commits no merge brings back.")),
  }),
  capability: READS,
  analyse: () => [],
  async execute({ name }, { branches }) {
    const { branch, files, filesOmitted, filesHidden, nested } = await branches.diff(name);
    const data = {
      branch: described(branch),
      files: files.map(fileOf),
      files_omitted: filesOmitted,
      files_hidden: filesHidden,
      commits_not_merged: [...nested],
    };
    return { kind: "data", data };
  },
  toText(data) {
    const { branch, files_omitted: omitted, files_hidden: hidden, commits_not_merged: nested } = data;
    const files = objectsOf(data["files"]);
    return [
      `${branchText(isJsonObject(branch) ? branch : {})}: ${countText(files.length, "change")}`,
      ...files.map(fileText),
      ...(omitted === 0 ? [] : [`[${countText(omitted, "path")} more]`]),
      ...(hidden === 0 ? [] : [`[${countText(hidden, "path")} that you may not read]`]),
      ...(Array.isArray(nested) && nested.length > 0
        ? [`[commits that no merge brings back: ${nested.map(nameText).join(", ")}]`]
        : []),
    ].join("\n");
  },
};

/** A changed file: what was done to it, and its diff. */
function fileText(file: JsonObject): string {
  const { path, change, kind, from, mode, mode_before: before, binary, diff } = file;
  const { lines_omitted: omitted, not_merged: notMerged } = file;
  const facts = [
    ...(from === undefined ? [] : [`from ${nameText(from)}`]),
    ...(kind === "file" ? [] : [String(kind)]),
    ...(before === undefined ? [] : [`rights ${String(before)} to ${String(mode)}`]),
    ...(binary === true ? ["binary"] : []),
    ...(omitted === undefined ? [] : [`${countText(omitted, "line")} of the diff left out`]),
    ...(notMerged === undefined ? [] : [`not merged: ${String(notMerged)}`]),
  ];
  const head = `${String(change)} ${nameText(path)}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`;
  return typeof diff === "string" && diff !== "" ? `${head}\n${diff}` : head;
}

function fileOf({ isBinary, linesOmitted, modeBefore, notMerged, ...file }: BranchFile): JsonObject {
  return {
    ...file,
    ...(modeBefore !== undefined && { mode_before: modeBefore }),
    ...(isBinary === true && { binary: true }),
    ...(linesOmitted !== undefined && { lines_omitted: linesOmitted }),
    ...(notMerged !== undefined && { not_merged: notMerged }),
  };
}
