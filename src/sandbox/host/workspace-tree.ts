/**
 * The files of a workspace as mounts are planned from them.
 *
 * INVARIANT: what cannot be listed is said to be so, or refuses the command; only what is gone is passed over.
 */
import { type Dirent, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { ToolFailure } from "../../model/failure.ts";
import type { Tree, TreeEntry } from "../plan/workspace-mounts.ts";

/**
 * The tree below `root`. `list` throws ToolFailure SANDBOX_UNAVAILABLE for paths that are too long.
 * @param reopen asked once to open a directory that its owner has closed; what it cannot open may not be looked at
 */
export function workspaceTree(root: string, reopen?: (directory: string) => void): Tree {
  const tried = <Result>(directory: string, look: () => Result): Result => {
    try {
      return look();
    } catch (error) {
      if (reopen === undefined || codeOf(error) !== "EACCES") throw error;
      reopen(directory);
      return look();
    }
  };
  return {
    list(directory) {
      try {
        const path = directory === "." ? root : join(root, directory);
        return tried(directory, () => readdirSync(path, { withFileTypes: true })).map(entryOf);
      } catch (error) {
        switch (codeOf(error)) {
          case "ENOENT":
          case "ENOTDIR":
            return []; // it went away meanwhile
          case "EACCES":
            return undefined;
          case "ENAMETOOLONG":
            throw tooLong();
          default:
            throw error;
        }
      }
    },
    stamp(directory) {
      const found = lstatSync(join(root, directory), { throwIfNoEntry: false });
      if (found === undefined) return undefined;
      const { ino, mode, ctimeMs } = found;
      // Some file systems count whole seconds, or pairs of them.
      const tickMs = ctimeMs % 1000 === 0 ? 2000 : TICK_MS;
      return ctimeMs < Date.now() - tickMs ? `${ino} ${mode} ${ctimeMs}` : undefined;
    },
    readLink(path) {
      try {
        // every byte of it, whatever it stands for
        return tried(dirname(path), () => readlinkSync(join(root, path), "latin1"));
      } catch (error) {
        if (["ENOENT", "ENOTDIR", "EINVAL"].includes(String(codeOf(error)))) return "";
        throw error;
      }
    },
  };
}

/** What changed so shortly before may change again and bear the same time. */
const TICK_MS = 20;

function entryOf(entry: Dirent): TreeEntry {
  const kind = entry.isFile() ? "file" : entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "other";
  return { name: entry.name, kind };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function tooLong(): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    "the workspace has a path that is too long; no command can be contained there",
    "ask the operator to rename or remove it",
  );
}
