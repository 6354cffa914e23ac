/** Tells which files have changed since a moment, by their status alone. */
import { lstatSync } from "node:fs";
import { join } from "node:path";

/** Those of `paths` below `root` whose status changed after `sinceMs`, by the machine's clock; none that are gone. */
export function changedFiles(root: string, paths: readonly string[], sinceMs: number): readonly string[] {
  return paths.filter((path) => {
    const found = lstatSync(join(root, path), { throwIfNoEntry: false });
    return found !== undefined && found.ctimeMs > sinceMs;
  });
}
