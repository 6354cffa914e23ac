/** Tells which branches of git the operator protects. */
import { compileMeasuredGlob } from "../../names/glob.ts";
import type { GitRepository } from "./git.ts";

/** Whether a branch of that name is one of those that the operator protects. */
export function isProtected(repository: GitRepository, name: string): boolean {
  if (repository.kind !== "found") return false;
  const names = [name, repository.branchOf(name)];
  // A pattern that cannot be read protects everything.
  return repository.rules.protectedBranches.some((pattern) => {
    const glob = compileMeasuredGlob(pattern, { ignoreCase: false, below: true });
    return glob === undefined || names.some((one) => glob.test(one));
  });
}
