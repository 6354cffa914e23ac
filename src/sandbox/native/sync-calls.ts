/** Brings files, or a whole file system, to disk, in a thread of the pool: this one does not wait. */
import { fsync } from "node:fs";
import { promisify } from "node:util";
import type { KoffiFunc } from "koffi";
import { fromLibrary } from "./c-library.ts";
import { errno } from "./syscalls.ts";

type SyncFileSystem = (descriptor: number) => number;

const calls = fromLibrary((libc) => ({
  syncfs: libc.func("int syncfs(int descriptor)") as KoffiFunc<SyncFileSystem>,
}));

/** Brings the open file or directory to disk. @throws the machine's own error */
export const syncFile: (descriptor: number) => Promise<void> = promisify(fsync);

/**
 * Brings everything of the file system that holds the open file or directory to disk, also what others wrote there.
 * Whoever calls keeps the descriptor open until then.
 * @returns 0, or a negative error number
 */
export function syncFileSystem(descriptor: number): Promise<number> {
  return new Promise((resolve, reject) => {
    calls().syncfs.async(descriptor, (error: unknown, result: number) => {
      if (error) reject(error instanceof Error ? error : new Error(String(error)));
      // the number of the error stays in that thread
      else resolve(result < 0 ? -errno.EIO : 0);
    });
  });
}
