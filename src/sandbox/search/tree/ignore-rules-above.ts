/**
 * The `.gitignore` rules that come from the directories above the place where a search begins, from the project root
 * down.
 *
 * They are read by the kernel for itself, through the handles of the roots, and nothing of them is shown.
 */
import type { WorkspacePath } from "../../../model/place/access.ts";
import type { WorkspaceRoots } from "../../files/places/roots.ts";
import type { SearchExclusions } from "./exclusions.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { readIgnoreFile } from "./walk.ts";

/**
 * The rules that hold inside `start` without its own file. What the call names is searched, whatever they say of it.
 */
export function ignoreRulesAbove(
  roots: WorkspaceRoots,
  { fromProject }: SearchExclusions,
  start: WorkspacePath,
): IgnoreRules {
  const path = fromProject(start);
  if (path === "" || start.root === "scratch") return IgnoreRules.none;
  const components = path.split("/");
  let rules = IgnoreRules.none;
  for (let depth = 0; depth < components.length; depth += 1) {
    const directory = components.slice(0, depth).join("/");
    const text = readIgnoreFile(roots.project.descriptor, directory);
    if (text !== undefined) rules = rules.with(directory, text);
    rules = rules.inside(components.slice(0, depth + 1).join("/"));
  }
  return rules;
}
