/**
 * Removes a tree that a command has made, whatever it holds.
 *
 * It copes with directories closed to their owner and with paths that are too long to be named. Every directory is
 * moved up to the top before it is emptied, so that no path ever grows.
 *
 * INVARIANT: no link is followed.
 */
import { randomBytes } from "node:crypto";
import { chmod, lstat, readdir, rename, rmdir, unlink } from "node:fs/promises";

/** Rights that the owner of a directory needs to empty it. */
const OPEN = 0o700;

/** Removes the directory `root` with all that lies in it; of a link, the link. Nobody else may use it any more. */
export async function removeTree(root: string): Promise<void> {
  if (!(await lstat(root)).isDirectory()) return await unlink(root);
  const fresh = randomBytes(8).toString("hex");
  const waiting: Buffer[] = [];
  let moved = 0;
  /** Empties a directory; the directories in it wait at the top for their turn. */
  const empty = async (directory: Buffer, isTop: boolean): Promise<void> => {
    await chmod(directory, OPEN);
    for (const entry of await readdir(directory, { withFileTypes: true, encoding: "buffer" })) {
      const path = Buffer.concat([directory, SLASH, entry.name]);
      if (!entry.isDirectory()) await unlink(path);
      else if (isTop) waiting.push(path);
      else {
        await chmod(path, OPEN); // the name of its parent stands in it
        moved += 1;
        const up = Buffer.from(`${root}/${fresh}-${moved}`);
        await rename(path, up);
        waiting.push(up);
      }
    }
  };
  await empty(Buffer.from(root), true);
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    await empty(directory, false);
    await rmdir(directory);
  }
  await rmdir(root);
}

const SLASH = Buffer.from("/");
