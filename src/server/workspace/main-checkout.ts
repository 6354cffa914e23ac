/** Finds the main checkout of a worktree, so that a path into it can be answered with the worktree's own. */
import { KIB } from "../../base/bytes.ts";
import type { WorkspaceRoots } from "../../sandbox/files/files.ts";
import { repositoryFiles } from "../../sandbox/git/repository-files.ts";

/** What `.git` of a worktree says of the checkout that it belongs to. */
const MAIN_CHECKOUT = /^gitdir: (\/[^\n]*)\/\.git\/worktrees\/[^/\n]+\n?$/;

/** Its absolute path; `undefined` for a workspace that is no worktree. */
export function mainCheckoutOf(roots: WorkspaceRoots): string | undefined {
  const text = repositoryFiles(roots.service, ".").read(".git", 4 * KIB);
  return text === undefined ? undefined : MAIN_CHECKOUT.exec(text)?.[1];
}
