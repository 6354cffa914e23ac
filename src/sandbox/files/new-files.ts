/**
 * Names temporary files and notes the directory of each, and directories that were made to be filled.
 *
 * INVARIANT: the directory is noted before the file is there, so that whatever a killed kernel leaves is found again.
 */
import { fstatSync } from "node:fs";
import type { RandomBytes } from "../../base/ids.ts";
import { ownPath } from "../native/syscalls.ts";
import type { NewFileStore } from "../ports/new-file-store.ts";
import { type NameGiver, temporaryName } from "./places/temporary.ts";

/** Gives names to files in the making. */
export interface NewFiles {
  /**
   * A new name for a file in the open directory `directory`. @throws KernelError STORE_UNAVAILABLE when it cannot be
   * noted
   */
  readonly nameIn: (directory: number) => string;
  /**
   * Notes that the open directory was made to be filled. @throws KernelError STORE_UNAVAILABLE when it cannot be noted
   */
  readonly noteMade: (directory: number) => void;
}

/** Names of one kernel, noted in `store`. */
export function newFiles(store: Pick<NewFileStore, "note">, giver: NameGiver, random: RandomBytes): NewFiles {
  return {
    nameIn(directory) {
      const path = ownPath(directory);
      // One without a path is gone, and nothing can be made in it.
      if (path !== undefined) store.note({ path, ...identityOf(directory) });
      return temporaryName(giver, random);
    },
    noteMade(directory) {
      const path = ownPath(directory);
      if (path !== undefined) store.note({ path, ...identityOf(directory), isMade: true });
    },
  };
}

function identityOf(directory: number) {
  const { dev, ino } = fstatSync(directory, { bigint: true });
  return { dev: String(dev), ino: String(ino) };
}
