/** Puts the scratch directory of a session beside its workspace, so that paths of both are resolved alike. */
import type { OpenWorkspace, SessionScratch } from "../../kernel/index.ts";
import type { WorkspaceRoots } from "../../sandbox/files/files.ts";
import type { ScratchDirectories } from "../../sandbox/scratch/scratch.ts";

/** Sessions of one workspace that are remembered; beyond it they are put together anew. */
const REMEMBERED_MAX = 1024;

/** The scratch directories of a kernel, for its sessions. */
export function sessionScratch(directories: ScratchDirectories): SessionScratch {
  const known = new WeakMap<OpenWorkspace, Map<string, OpenWorkspace>>();
  return {
    beside(place, { id }) {
      const bySession = known.get(place) ?? new Map<string, OpenWorkspace>();
      known.set(place, bySession);
      const before = bySession.get(id);
      if (before !== undefined) return before;
      const scratch = directories.rootOf(id, place.workspace.serviceRoot);
      // they stay open as long as the roots that they were made from are referred to, and so must be by these
      const roots: WorkspaceRoots = Object.create(place.roots, { scratch: { value: scratch, enumerable: true } });
      const found: OpenWorkspace = { ...place, roots };
      if (bySession.size >= REMEMBERED_MAX) bySession.clear();
      bySession.set(id, found);
      return found;
    },
  };
}
