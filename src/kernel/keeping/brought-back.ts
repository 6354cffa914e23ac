/**
 * Decides whether a file can be brought back once it is deleted.
 *
 * It can where git holds it as it is, and where the session has made it, in the workspace or on a branch of its own.
 * What nobody can look at cannot.
 */
import { MIB } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import type { Session } from "../../model/people/session.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { RepositoryView } from "../../model/work/git.ts";
import { rootPath, type WorkspaceRoots } from "../../sandbox/files/places/roots.ts";
import { indexHolds } from "../../sandbox/git/index-file.ts";
import { repositoryFiles } from "../../sandbox/git/repository-files.ts";
import type { FileHistory } from "./file-history.ts";

/** Bytes of a file that is compared with what git or the history holds of it; a larger one is asked about. */
const COMPARED_BYTES_MAX = 16 * MIB;

/** What is looked at. */
export interface KeptElsewhere {
  readonly session: Pick<Session, "id" | "createdAtMs">;
  readonly roots: WorkspaceRoots;
  readonly repository?: RepositoryView | undefined;
  readonly history?: FileHistory | undefined;
}

/** Whether deleting what stands at a place of the workspace loses nothing that somebody made. */
export async function canBeBroughtBack(where: KeptElsewhere, { root, path }: WorkspacePath): Promise<boolean> {
  if (root === "scratch") return true; // nobody else misses it
  if (root !== "service") return false;
  const files = repositoryFiles(where.roots.service, ".");
  const kind = files.kindOf(path);
  // there is nothing to lose, and the tool will say so
  if (kind === "nothing" || kind === "directory") return true;
  const content = kind === "file" ? files.piece(path, 0, COMPARED_BYTES_MAX + 1) : undefined;
  if (content === undefined || content.byteLength > COMPARED_BYTES_MAX) return false;
  return isInGit(where, path, content) || (await wasMadeHere(where, path, content));
}

function isInGit({ roots, repository }: KeptElsewhere, path: string, content: Uint8Array): boolean {
  const directory = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
  const found = repository?.(directory);
  if (found?.kind !== "found") return false;
  const inside = found.root === "." ? path : path.slice(found.root.length + 1);
  return indexHolds(repositoryFiles(roots.service, found.root), inside, content);
}

/** Whether nothing stood there when the session began, and what stands there now is what the session left. */
async function wasMadeHere(
  { session, roots, history }: KeptElsewhere,
  path: string,
  content: Uint8Array,
): Promise<boolean> {
  if (history === undefined || history.limits.keepMs === 0) return false;
  const root = rootPath(roots.service);
  const first = await history.store.earliestSince(root, path, session.createdAtMs);
  if (first?.entry.sessionId !== session.id || first.change.before !== undefined) return false;
  const [last] = await history.store.ofPath(root, path, 1);
  if (last?.change.path !== path || last.entry.sessionId !== session.id) return false;
  return last.change.isMade && last.change.after?.content === blake3Hex(content);
}
