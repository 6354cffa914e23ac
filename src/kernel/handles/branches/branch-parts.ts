/** What people's acts on branches take of the kernel: how they are described, and judged. */
export { branchFiles } from "./branch-files.ts";
export { isLeftOutOf, isRepositoryPath, mayBeMerged } from "./merge-scope.ts";
