/**
 * `merge_branch`: brings what was changed on a branch back to where it was made from, all of it or nothing.
 *
 * Where a rule asks, a person sees the whole difference before anything lands.
 */
import type { infer as Infer } from "zod";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { BranchMerged } from "../../model/work/branches.ts";
import type { NotKeptReason } from "../../model/work/exec.ts";
import { WRITES } from "../kit/capabilities.ts";
import { nameText } from "../kit/plain-text.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { branchArgument } from "./branch-argument.ts";

const parameters = branchArgument("Name of the branch.");

/** Paths that a failure names. */
const SHOWN_MAX = 20;

/** The tool `merge_branch`. */
export const mergeBranch: Tool<Infer<typeof parameters>> = {
  name: "merge_branch",
  title: "Merge a branch",
  description:
    "Brings what was changed on a branch back to where it was made from, with its commits: all of it or nothing. A file that changed on both " +
    "sides is merged line by line, and is a conflict where that cannot be done. Installed packages are not merged. A person may be asked first. " +
    "The branch is gone afterwards, and you go on where it was made from.",
  parameters,
  outputSchema: objectOf({
    branch: text(),
    into: text("The branch that it was made from, or `the workspace`."),
    created: integer(),
    changed: integer(),
    removed: integer(),
    branch_stays: flag("Somebody wrote on it meanwhile, works on it yet, or it holds `commits_not_merged`: it stays."),
    commits_not_merged: listOf(
      text(
        "A directory with a repository of its own, whose commits were not brought back: they are on the branch alone.",
      ),
    ),
  }),
  capability: { ...WRITES, risk: "medium" },
  analyse: () => [],
  async execute({ name }, { branches }) {
    const merged = await branches.merge(name);
    if (merged.conflicts.length > 0) throw inConflict(merged);
    if (merged.notKept.length > 0) throw notLanded(merged);
    const { branch, into, created, changed, removed, isLeft, nested } = merged;
    const data = { branch, into, created, changed, removed, branch_stays: isLeft, commits_not_merged: [...nested] };
    return { kind: "data", data };
  },
  toText(data) {
    const { created, changed, removed, branch_stays: stays, commits_not_merged: nested } = data;
    const counts = `${String(created)} created, ${String(changed)} changed, ${String(removed)} removed`;
    return [
      `merged \`${String(data["branch"])}\` into ${String(data["into"])}: ${counts}`,
      ...(stays === true ? ["the branch stays"] : []),
      ...(Array.isArray(nested) && nested.length > 0
        ? [`commits not merged, they are on the branch alone: ${nested.map(nameText).join(", ")}`]
        : []),
    ].join("\n");
  },
};

const WHY: Readonly<Record<string, string>> = {
  changed_on_both: "changed on both sides",
  removed_on_one: "removed on one side and changed on the other",
  made_on_both: "made on both sides",
  hidden_from_branch: "written on the branch in the place of something that branches do not hold",
};

function inConflict({ branch, into, conflicts }: BranchMerged): ToolFailure {
  const named = conflicts.slice(0, SHOWN_MAX).map(({ path, why }) => `\`${path}\` (${WHY[why] ?? why})`);
  return new ToolFailure(
    "FILE_CHANGED",
    `the branch \`${branch}\` and ${into} are in conflict, so nothing was merged: ${listed(named, conflicts.length)}`,
    "make these files on the branch what both sides want, such as by writing the other side's content with your change, or drop the branch and begin anew",
  );
}

const REASONS: Readonly<Record<NotKeptReason, string>> = {
  not_allowed: "may not be changed there",
  not_approved: "a person did not agree",
  changed_meanwhile: "was changed meanwhile",
  held_back: "was held back for what could not be kept",
  not_a_file: "is no file, directory or link",
  unusable_name: "has a name that cannot be used",
  owner_not_kept: "belongs to another user or group, which a merge cannot keep",
  failed: "could not be written",
};

function notLanded({ branch, notKept }: BranchMerged): ToolFailure {
  const named = notKept.slice(0, SHOWN_MAX).map(({ path, reason }) => `\`${path}\` (${REASONS[reason] ?? reason})`);
  const isBusy = notKept.every(({ reason }) => reason === "changed_meanwhile");
  return new ToolFailure(
    isBusy ? "RESOURCE_BUSY" : "PERMISSION_DENIED",
    `nothing of the branch \`${branch}\` was merged, because not all of it may be: ${listed(named, notKept.length)}`,
    isBusy ? "try again" : "undo these changes on the branch, or leave the merge to a person",
  );
}

function listed(named: readonly string[], count: number): string {
  return count > named.length ? `${named.join(", ")} and ${count - named.length} more` : named.join(", ");
}
