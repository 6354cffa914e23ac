/**
 * Prints what a branch changed, and asks whether to merge it.
 *
 * INVARIANT: every path is named, first those that tools obey, that are protected and programs. Where not all that
 * lands was shown, `y` is not enough.
 */
import type { BranchFile } from "../../model/work/branches.ts";
import type { ShownDifference } from "../../server/branches/branch-desk.ts";
import { confirms } from "../terminal/inputs.ts";
import { print, visible } from "../terminal/output.ts";

/** Whose difference is printed; `isShort` without the differences of its files. */
export interface PrintedBranch {
  readonly name: string;
  readonly isShort?: boolean;
}

/** Prints what a branch changed. */
export function showDifference(difference: Omit<ShownDifference, "shown">, { name, isShort }: PrintedBranch): void {
  const { files, namedOnly, changesRepository, references, areReferencesKnown, nested } = difference;
  if (files.length === 0) print("no file was changed");
  showNotMerged(files);
  showNotices(files);
  for (const file of files) {
    print(titleOf(file));
    if (isShort === true) continue;
    if (file.diff !== undefined) for (const line of linesOf(file.diff)) print(visible(line));
    if (file.linesOmitted !== undefined) print(`(${file.linesOmitted} more lines)`);
    else if (file.isNamedOnly === true) print("(its content is not shown)");
  }
  for (const { name: reference, before, after, isProtected, brings } of references) {
    const mark = isProtected ? " (protected)" : "";
    print(`git ${visible(reference)}${mark}: ${visible(before || "nothing")} -> ${visible(after || "nothing")}`);
    for (const line of brings) print(`  ${visible(line)}`);
  }
  const noticed = files.filter(({ notice }) => notice !== undefined).length;
  if (noticed > 0 && isShort !== true) print(`(${noticed} to look at first: the list at the top)`);
  if (!areReferencesKnown) print("git's list of packed references cannot be read: any reference may change");
  if (changesRepository) print("and what git keeps: its objects, logs or index");
  for (const directory of nested)
    print(`commits of ${visible(directory)} are not brought back by a merge: the branch stays with them`);
  if (namedOnly > 0 && isShort !== true)
    print(`${shownByName(namedOnly)}; \`handrail branches diff ${visible(name)} --path FILE\` shows all of one`);
}

/** Asks whether to merge; `all` is the answer where a part was not shown. @param signal ends the question */
export async function agreesToMerge(
  { namedOnly }: Pick<ShownDifference, "namedOnly">,
  question: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (namedOnly === 0) return await confirms(`${question} [y/N] `, undefined, signal);
  return await confirms(`${shownByName(namedOnly)}; ${question} [all/N] `, /^all$/i, signal);
}

function shownByName(count: number): string {
  return count === 1 ? "1 file was shown by name only" : `${count} files were shown by name only`;
}

function showNotices(files: readonly BranchFile[]): void {
  const noticed = files.filter(({ notice }) => notice !== undefined);
  if (noticed.length === 0) return;
  print("files that tools obey, that are protected, and programs:");
  for (const file of noticed) print(`  ${titleOf(file)}: ${visible(file.notice ?? "")}`);
  print("");
}

const NOT_MERGED = {
  hidden_from_branch: "something stands there that the branch does not hold",
  owner_not_kept: "what it replaces, or its directory, belongs to another user or group, which would be lost",
} as const;

/** Says what no merge takes: with it on the branch, nothing of it is merged. */
function showNotMerged(files: readonly BranchFile[]): void {
  const named = files.flatMap(({ path, notMerged }) => (notMerged === undefined ? [] : [{ path, notMerged }]));
  if (named.length === 0) return;
  print("no merge takes these, and nothing else with them:");
  for (const { path, notMerged } of named) print(`  ${visible(path)}: ${NOT_MERGED[notMerged]}`);
  print("");
}

function titleOf({ path, change, kind, from, isBinary, bytes, mode, modeBefore, notice }: BranchFile): string {
  const what = kind === "file" ? "" : ` ${kind}`;
  const size = bytes === undefined ? "" : `, ${bytes} bytes`;
  const formerRights = modeBefore === undefined ? "" : `${modeBefore} to `;
  const hasRights = change === "mode" || modeBefore !== undefined || notice !== undefined;
  const rights = hasRights && mode !== undefined ? `, rights ${formerRights}${mode}` : "";
  const former = from === undefined ? "" : ` (was ${visible(from)})`;
  return `${change}${what} ${visible(path)}${former}${isBinary === true ? ", no text" : ""}${size}${rights}`;
}

function linesOf(diff: string): readonly string[] {
  return diff.replace(/\n$/, "").split("\n");
}
