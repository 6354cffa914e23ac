/**
 * Opens the directory in which a landing keeps what waits or was taken away.
 *
 * It lies on the mount of the workspace, so that everything goes there and comes from there by one renaming. Where the
 * view lies on that mount it is a part of the view; else it stands at the top of the workspace, under a name that is
 * left out of every listing.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { HELD_DIRECTORY } from "../files/left-files.ts";
import type { NewFiles } from "../files/new-files.ts";
import { syncDirectory } from "../files/places/directory-sync.ts";
import { removeTree } from "../files/remove-tree.ts";
import { ownPath } from "../native/syscalls.ts";
import { pathIn } from "./standing.ts";

/** The directory of one landing. */
export interface AsideDirectory {
  readonly descriptor: number;
  /** Real. */
  readonly path: string;
  /** Whether the view lies on another mount than the workspace. */
  readonly isElsewhere: boolean;
  /** Says that a journal names it, so that nobody takes it for something that is left over. */
  readonly hold: () => void;
  readonly release: () => Promise<void>;
  /** Closes it, and removes what nobody else does, unless it `isKept`. */
  readonly dispose: (isKept: boolean) => Promise<void>;
}

/**
 * @param root an open descriptor of the workspace
 * @param upper one of what the command wrote
 */
export function openAside(
  root: number,
  upper: number,
  { view, newFiles }: { readonly view: string; readonly newFiles: NewFiles },
): AsideDirectory {
  const isElsewhere = mountOf(root) !== mountOf(upper);
  if (!isElsewhere) {
    const path = join(view, "side");
    const descriptor = openSync(path, OPEN);
    return {
      descriptor,
      path,
      isElsewhere,
      hold: () => undefined,
      release: async () => undefined,
      dispose: async () => closeSync(descriptor),
    };
  }
  const name = newFiles.nameIn(root);
  const at = pathIn(root, name);
  mkdirSync(at, 0o700);
  if (process.geteuid?.() === 0) {
    const { uid, gid } = fstatSync(root);
    lchownSync(at, uid, gid);
  }
  chmodSync(at, 0o700); // also where a directory's group is everything's
  const descriptor = openSync(at, OPEN);
  const path = ownPath(descriptor) ?? at;
  return {
    descriptor,
    path,
    isElsewhere,
    hold: () => writeFileSync(pathIn(descriptor, HELD_DIRECTORY), ""),
    async release() {
      rmSync(pathIn(descriptor, HELD_DIRECTORY));
      await syncDirectory(descriptor);
    },
    async dispose(isKept) {
      closeSync(descriptor);
      if (!isKept) await removeTree(at);
    },
  };
}

const OPEN = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** The machine's number of the mount that an open directory was found on. */
function mountOf(descriptor: number): string | undefined {
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
}
