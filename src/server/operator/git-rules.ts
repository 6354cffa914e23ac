/** The operator's rules of git: checked when settings are loaded, made ready when a workspace is opened. */
import { fileInvalid } from "../../base/errors.ts";
import type { Settings } from "../../config/config.ts";
import type { ChosenGitRules, GitRuleSettings } from "../../config/sections/tools/git-rules.ts";
import { compileWholePattern, problemOfWholePattern } from "../../kernel/index.ts";
import type { GitRules } from "../../model/work/git.ts";

/**
 * Refuses patterns that could be slow.
 * @param name the file's name, for the message
 * @throws KernelError CONFIG_INVALID naming each of them
 */
export function checkGitRules({ git, workspaces }: Pick<Settings, "git" | "workspaces">, name: string): void {
  const places = [
    { at: "git", says: git },
    ...workspaces.map((entry, index) => ({ at: `workspaces.${index}.git`, says: entry.git })),
  ];
  const problems = places.flatMap(({ at, says }) => (says === undefined ? [] : problemsOf(at, says)));
  if (problems.length > 0) throw fileInvalid(name, problems);
}

function problemsOf(at: string, says: GitRuleSettings): readonly string[] {
  return (["branch_pattern", "message_pattern"] as const).flatMap((key) => {
    const source = says[key];
    const problem = source === undefined ? undefined : problemOfWholePattern(source);
    return problem === undefined ? [] : [`${at}.${key}: ${problem}`];
  });
}

/** The rules with their patterns ready to be tried. */
export async function readyGitRules({
  protectedBranches,
  branchPattern,
  messagePattern,
}: ChosenGitRules): Promise<GitRules> {
  return {
    protectedBranches,
    ...(branchPattern !== undefined && { branchPattern: await compileWholePattern(branchPattern) }),
    ...(messagePattern !== undefined && { messagePattern: await compileWholePattern(messagePattern) }),
  };
}
