/**
 * Globs over workspace paths: `*` within a component, `**` across, `?`, `[…]` and `{a,b}`, dot files included.
 *
 * Patterns may come from people who are not the operator (a workspace's own settings, a sub-agent's lease), so none may
 * take long: groups and repetitions, which can take exponential time, are literal characters here, and wildcards are
 * few. A leading `!` is literal too: it would turn "any of" into "any but".
 */
import picomatch from "picomatch";
import { GLOB_STARS_MAX, MAX_PATH_LEN } from "../base/limits.ts";

/** Whether a path matches. */
export type GlobTest = (path: string) => boolean;

/** Compiles `pattern`, or `undefined` when it is empty, too long, has too many wildcards or unbalanced brackets. */
export function compileGlob(pattern: string, options: { readonly ignoreCase: boolean } = { ignoreCase: false }): GlobTest | undefined {
  const cleaned = pattern.replace(/^\.\//, "").replace(/(?<=.)\/+$/, "");
  if (cleaned === "" || cleaned.length > MAX_PATH_LEN || hasManyStars(cleaned)) return undefined;
  // The root itself is `.`, which a glob takes for a dot file's beginning.
  if (cleaned === "**") return (path) => path.length <= MAX_PATH_LEN;
  const literal = cleaned.replace(/\\.|[()+|]/gs, (found) => (found.startsWith("\\") ? found : `\\${found}`));
  try {
    const matches = picomatch(literal, { dot: true, nonegate: true, noextglob: true, strictBrackets: true, nocase: options.ignoreCase });
    return (path) => path.length <= MAX_PATH_LEN && matches(path);
  } catch {
    return undefined;
  }
}

function hasManyStars(pattern: string): boolean {
  const components = pattern.split("/");
  const deep = components.filter((component) => component === "**").length;
  return deep > GLOB_STARS_MAX || components.some((component) => component.split("*").length - 1 > GLOB_STARS_MAX);
}
