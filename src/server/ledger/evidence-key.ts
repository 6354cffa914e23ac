/**
 * The key of argument digests: 32 random bytes in the state directory, made once. It lets equal arguments be recognised
 * in evidence without letting anybody guess short ones.
 */
import { constants } from "node:fs";
import { link, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";

const KEY_BYTES = 32;

/** Reads the key of a prepared state directory, or makes it; several kernels may start at once. */
export async function evidenceKey(stateDirectory: string, random: RandomBytes): Promise<Uint8Array> {
  const path = join(stateDirectory, "evidence.key");
  const known = await readKey(path);
  if (known) return known;
  const unnamed = join(stateDirectory, `${newId("cal", random)}.new`);
  const file = await open(unnamed, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  try {
    await file.writeFile(random(KEY_BYTES));
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(unnamed, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await unlink(unnamed);
  }
  const made = await readKey(path);
  if (made) return made;
  throw new KernelError("STORE_UNAVAILABLE", `the evidence key \`${path}\` cannot be made`);
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new KernelError("STORE_UNAVAILABLE", `the evidence key \`${path}\` cannot be read`, error);
  }
  if (bytes.byteLength !== KEY_BYTES)
    throw new KernelError(
      "STORE_CORRUPT",
      `the evidence key \`${path}\` does not have ${KEY_BYTES} bytes; restore it from a backup or remove it`,
    );
  return bytes;
}
