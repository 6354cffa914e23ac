/**
 * The files of a workspace as mounts are planned from them.
 *
 * INVARIANT: what cannot be listed is said to be so, or refuses the command; only what is gone is passed over.
 */
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { SANDBOX_ENTRIES_MAX, type Tree, type TreeEntry } from "../plan/workspace-mounts.ts";
import { entriesIn, isLargeDirectory, type RawEntry } from "./directory-pieces.ts";

/** A directory as it was when it was looked at last. */
export interface SeenDirectory {
  readonly inode: number;
  readonly mode: number;
  readonly userId: number;
  readonly groupId: number;
}

/** A tree that remembers which directories it was asked about, relative to its root. */
export interface WorkspaceTree extends Tree {
  readonly seen: (directory: string) => SeenDirectory | undefined;
  readonly allSeen: () => Iterable<readonly [directory: string, SeenDirectory]>;
}

/** The tree below `root`. Its methods throw ToolFailure SANDBOX_UNAVAILABLE for paths that are too long. */
export function workspaceTree(root: string): WorkspaceTree {
  const seen = new Map<string, SeenDirectory>();
  return {
    seen: (directory) => seen.get(directory),
    allSeen: () => seen.entries(),
    *list(directory) {
      try {
        const path = pathOf(root, directory);
        const small = isLargeDirectory(path) ? undefined : readdirSync(path, { withFileTypes: true });
        // most directories: names are texts at once
        if (small?.some(({ name }) => name.includes(STAND_IN)) === false)
          return small.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
        const entries: TreeEntry[] = [];
        for (const [index, entry] of (yield* entriesIn(path, SANDBOX_ENTRIES_MAX)).entries()) {
          if (index % ENTRIES_PER_STEP === ENTRIES_PER_STEP - 1) yield;
          entries.push(entryOf(entry));
        }
        return entries;
      } catch (error) {
        switch (codeOf(error)) {
          case "ENOENT":
          case "ENOTDIR":
            return []; // it went away meanwhile
          case "EACCES":
            return undefined;
          default:
            throw translated(error, directory);
        }
      }
    },
    stamp(directory) {
      try {
        const found = lstatSync(pathOf(root, directory), { throwIfNoEntry: false });
        if (found === undefined) return undefined;
        const { ino, mode, uid, gid, ctimeMs } = found;
        seen.set(directory, { inode: ino, mode, userId: uid, groupId: gid });
        // Some file systems count whole seconds, or pairs of them.
        const tickMs = ctimeMs % 1000 === 0 ? 2000 : TICK_MS;
        return ctimeMs < Date.now() - tickMs ? `${ino} ${mode} ${ctimeMs}` : undefined;
      } catch (error) {
        if (codeOf(error) === "EACCES") return undefined; // nobody looks into it; listing says so
        throw translated(error, directory);
      }
    },
  };
}

function pathOf(root: string, directory: string): string {
  return directory === "." ? root : join(root, directory);
}

/** What changed so shortly before may change again and bear the same time. */
const TICK_MS = 20;

/** Entries that are made of what the machine says, before others may have their turn. */
const ENTRIES_PER_STEP = 2000;
/** What stands in a text for bytes that are not UTF-8; it can be in a name as well. */
const STAND_IN = "\u{fffd}";

function entryOf(entry: RawEntry): TreeEntry {
  const name = entry.name.toString();
  const kind = kindOf(entry);
  return name.includes(STAND_IN) ? { name, kind, isText: Buffer.from(name).equals(entry.name) } : { name, kind };
}

function kindOf(entry: RawEntry | Dirent): TreeEntry["kind"] {
  return entry.isFile() ? "file" : entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "other";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** What keeps every command from the workspace names what it is about. */
function translated(error: unknown, path: string): unknown {
  if (codeOf(error) !== "ENAMETOOLONG") return error;
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `the workspace has a path that is too long (\`${path.slice(0, SHOWN_CHARACTERS)}…\`), so that no command can be contained there; the command did not run`,
    "ask the operator to rename or remove it; `handrail doctor --workspace DIR` names what stands in the way",
  );
}

/** Of a path that is too long for the machine a message has the beginning. */
const SHOWN_CHARACTERS = 120;
