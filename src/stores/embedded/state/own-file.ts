/** Writes and reads files that belong to the user alone. */
import { constants } from "node:fs";
import { lstat, open, readFile } from "node:fs/promises";
import { errorCode, KernelError, storeCorrupt, storeUnavailable } from "../../../base/errors.ts";

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** Makes the file, which must not be there, and writes all of it durably. */
export async function writeNewFile(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(
    path,
    constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
    OWNER_ONLY,
  );
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * The text of the file, `undefined` when there is none.
 * @param said how refusals name what it holds, and say what to do about a file that others could write or read
 * @throws KernelError STORE_CORRUPT when it is no file of this user alone, STORE_UNAVAILABLE when it cannot be read
 */
export async function readOwnFile(
  path: string,
  said: { readonly what: string; readonly mend: string },
): Promise<string | undefined> {
  try {
    const found = await lstat(path);
    if (!found.isFile() || found.uid !== process.geteuid?.() || (found.mode & OTHERS) !== 0)
      throw storeCorrupt(`\`${path}\` is not a file of this user alone; ${said.mend}`);
    return await readFile(path, "latin1");
  } catch (cause) {
    if (cause instanceof KernelError) throw cause;
    if (errorCode(cause) === "ENOENT") return undefined;
    throw storeUnavailable(`${said.what} cannot be read`, cause);
  }
}
