/** Says what a person should know first of a changed path: who obeys it, and whether it is a program. */
import { isPlainDocument, obeyedBy } from "../../../model/place/obeyed-files/obeyed-files.ts";
import type { BranchChange } from "../../../sandbox/branches/branch-changes.ts";
import type { OpenWorkspace } from "../../call/parts.ts";

const EXECUTABLE = 0o111;

/** Says it of each path that is obeyed, protected or a program. */
export function noticeOf({
  workspace: { zones },
}: Pick<OpenWorkspace, "workspace">): (change: BranchChange) => string | undefined {
  return ({ path, is, mode = 0 }) => {
    const isProtected = zones.classify({ root: "service", path }) === "protected";
    const obeyed = obeyedBy(path);
    const isObeyed = obeyed !== undefined && (isProtected || !isPlainDocument(path));
    const notices = [
      ...(isObeyed ? [obeyed.reason] : isProtected ? ["protected"] : []),
      ...(is === "file" && (mode & EXECUTABLE) !== 0 ? ["a program"] : []),
    ];
    return notices.length === 0 ? undefined : notices.join("; ");
  };
}
