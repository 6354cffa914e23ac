/**
 * Tracks the directories in which a command of a line may run.
 *
 * They are those that `cd` may have led to, so that a relative redirection is judged as the file that it writes.
 *
 * INVARIANT: the directory in which the command really runs is one of these, or they are unknown. Links are followed by
 * the sandbox, whose mounts hold in any case.
 */

/** Directories in which a command of a line may find itself after several `cd`. */
const COMMAND_DIRECTORIES_MAX = 8;

/** The possible directories of one shell process; a child gets a copy. */
export class Directories {
  #paths: readonly string[] | undefined;

  constructor(paths: readonly string[] | undefined) {
    this.#paths = paths;
  }

  /** As the workspace names them; `undefined` when they are only known at run time. */
  get paths(): readonly string[] | undefined {
    return this.#paths;
  }

  /** Those of a child process, which changes its own. */
  copy(): Directories {
    return new Directories(this.#paths);
  }

  /** A `cd` that succeeded; `undefined` to a place that is only known at run time. */
  enter(path: string | undefined): void {
    if (path === undefined || this.#paths === undefined)
      this.#paths = path?.startsWith("/") ? [normalised(path)] : undefined;
    else this.#keep(this.#paths.map((from) => joined(from, path)));
  }

  /** They may also be what they were: a `cd` may have failed, or not been reached. */
  orElse(before: readonly string[] | undefined): void {
    if (before === this.#paths) return;
    if (before === undefined || this.#paths === undefined) this.#paths = undefined;
    else this.#keep([...before, ...this.#paths]);
  }

  #keep(paths: readonly string[]): void {
    const each = [...new Set(paths)];
    this.#paths = each.length > COMMAND_DIRECTORIES_MAX ? undefined : each;
  }
}

/** `path` as it is named from the root of the workspace, when it is meant from `directory`. */
export function joined(directory: string, path: string): string {
  return path.startsWith("/") ? normalised(path) : normalised(directory === "." ? path : `${directory}/${path}`);
}

/** Without empty and `.` parts, and without `..` but for what leads out at the beginning. */
function normalised(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  if (path.startsWith("/")) return `/${parts.join("/")}`;
  return parts.length === 0 ? "." : parts.join("/");
}
