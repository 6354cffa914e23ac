/** Asks before a file is deleted that cannot be brought back. */
import type { Session } from "../../model/people/session.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { ToolCapability } from "../../model/tool/capability.ts";
import type { RepositoryView } from "../../model/work/git.ts";
import type { WorkspaceRoots } from "../../sandbox/files/places/roots.ts";
import type { Demands } from "../declared/capability-obligations.ts";
import { canBeBroughtBack } from "./brought-back.ts";
import type { FileHistory } from "./file-history.ts";

const REASON = "the file cannot be brought back: git does not hold it as it is now, and this session has not made it";

/** A call that may delete files. */
interface Deleting {
  readonly caller: {
    readonly session: Session;
    readonly place: { readonly roots?: WorkspaceRoots; readonly repository?: RepositoryView };
  };
  readonly tool: { readonly name: string; readonly capability: Pick<ToolCapability, "deletes"> };
  readonly accesses: readonly { readonly effect: string; readonly target?: { readonly place: WorkspacePath } }[];
}

/** Where what calls changed is kept. */
interface HistoryHolder {
  readonly history?: FileHistory | undefined;
}

/**
 * What a call asks for because of what it deletes, besides its other `demands`; the same at once where it deletes
 * nothing. On a branch nothing is lost before somebody has merged it.
 */
export function withDeletionDemands(
  { history }: HistoryHolder,
  deleting: Deleting,
  demands: Demands,
): Demands | Promise<Demands> {
  const { caller, tool } = deleting;
  if (tool.capability.deletes !== true || caller.session.branchId !== undefined) return demands;
  const asking = { obligation: "ask", ruleId: `CAPABILITY:${tool.name}:unrecoverable`, reason: REASON } as const;
  return losesAny({ history }, deleting).then((isLost) => (isLost ? [...demands, asking] : demands));
}

async function losesAny({ history }: HistoryHolder, { caller, accesses }: Deleting): Promise<boolean> {
  const { session, place } = caller;
  const { roots, repository } = place;
  for (const { effect, target } of accesses) {
    if (effect !== "write" || target === undefined) continue;
    if (roots === undefined) return true;
    if (!(await canBeBroughtBack({ session, roots, repository, history }, target.place))) return true;
  }
  return false;
}
