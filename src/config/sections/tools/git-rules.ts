/**
 * Defines the operator's rules for git branches and messages, for all workspaces and for single ones.
 *
 * They stand in the section `git` of `handrail.yaml`. Only shapes and bounds are checked here. Whether a pattern can be
 * tried in linear time is checked when the settings are loaded. A workspace's own file may only protect further
 * branches.
 */
import * as z from "zod";
import { DANGER_PATTERN_CHARACTERS_MAX, GIT_REF_BYTES_MAX } from "../../../base/limits.ts";
import { DEFAULT_GIT_RULES } from "../../../model/work/git.ts";
import { compileMeasuredGlob } from "../../../names/glob.ts";

/** Patterns of protected branches in one list of settings. */
const GIT_PROTECTED_BRANCHES_MAX = 64;

const branch = z
  .string()
  .min(1)
  .max(GIT_REF_BYTES_MAX)
  .refine(
    (text) => compileMeasuredGlob(text, { ignoreCase: false, below: true }) !== undefined,
    "must be a branch or a pattern, as in `release/*`",
  )
  .refine((text) => !text.startsWith("refs/"), "must be the name of a branch without `refs/heads/`");
const branches = z.array(branch).max(GIT_PROTECTED_BRANCHES_MAX);
const pattern = z
  .string()
  .min(1)
  .max(DANGER_PATTERN_CHARACTERS_MAX)
  .refine(isExpression, "must be a regular expression, such as `(feature|fix)/[a-z0-9-]+`");

/** What the operator may say, of all workspaces or of one. */
export const gitRuleParts = {
  /** In place of `main`, `master` and `release/*`. */
  protected_branches: branches.optional(),
  /** What names of new branches match, whole. */
  branch_pattern: pattern.optional(),
  /** What the first line of a message matches, whole. */
  message_pattern: pattern.optional(),
};
/** What the operator says of one workspace. */
export const gitRuleSettings = z.strictObject(gitRuleParts);
/** What a workspace's own file may say. */
export const ownGitRuleSettings = z.strictObject({ protected_branches: branches.default([]) });

/** What the operator says of branches and messages. */
export type GitRuleSettings = z.infer<typeof gitRuleSettings>;
/** What a workspace's own file says of it. */
export type OwnGitRuleSettings = z.infer<typeof ownGitRuleSettings>;

/** Rules of git as all who may have a say left them; patterns as they are written. */
export interface ChosenGitRules {
  readonly protectedBranches: readonly string[];
  readonly branchPattern?: string;
  readonly messagePattern?: string;
}

/**
 * What the operator says of a workspace stands before what is said of all, key by key; what the workspace protects
 * itself comes on top.
 */
export function chosenGitRules(
  all: GitRuleSettings | undefined,
  granted: GitRuleSettings | undefined,
  own: OwnGitRuleSettings | undefined,
): ChosenGitRules {
  const branchPattern = granted?.branch_pattern ?? all?.branch_pattern;
  const messagePattern = granted?.message_pattern ?? all?.message_pattern;
  const standing = granted?.protected_branches ?? all?.protected_branches ?? DEFAULT_GIT_RULES.protectedBranches;
  return {
    protectedBranches: [...new Set([...standing, ...(own?.protected_branches ?? [])])],
    ...(branchPattern !== undefined && { branchPattern }),
    ...(messagePattern !== undefined && { messagePattern }),
  };
}

function isExpression(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
