/**
 * Hands out what people's acts on branches take of the kernel.
 *
 * It is how branches are described, and what of them may be merged.
 */
export { branchFiles } from "./branch-files.ts";
export { noticeOf } from "./merge-notices.ts";
export { isLeftOutOf, isProtectedReference, isRepositoryPath, mayBeMerged, REPOSITORY_RULES } from "./merge-scope.ts";
export { referenceSummaries, summaryLines } from "./reference-summaries.ts";
