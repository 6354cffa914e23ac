/**
 * The key of argument digests: 32 random bytes in the state directory, made once. It lets equal arguments be recognised
 * in evidence without letting anybody guess short ones.
 *
 * INVARIANT: a key that is gone is not made anew in silence: digests before and after could not be compared, and nobody
 * would know why.
 */

import { existsSync } from "node:fs";
import { link, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, type KernelError, storeCorrupt, storeUnavailable } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import { holdsSessions } from "../../stores/embedded/sessions/state-stores.ts";
import { writeNewFile } from "../../stores/embedded/state/own-file.ts";

const FILE = "evidence.key";
const KEY_BYTES = 32;

/** Whether the key was there and is gone: whoever makes sessions has made it before. */
export function isEvidenceKeyLost(stateDirectory: string): boolean {
  // The sessions are asked for first: a kernel that starts beside this one makes its key before them.
  return holdsSessions(stateDirectory) && !existsSync(join(stateDirectory, FILE));
}

/**
 * Reads the key of a prepared state directory, or makes it; several kernels may start at once.
 * @param acceptsLoss makes it anew where it is gone; otherwise that is refused with STORE_CORRUPT
 */
export async function evidenceKey(
  stateDirectory: string,
  random: RandomBytes,
  acceptsLoss = false,
): Promise<Uint8Array> {
  const path = join(stateDirectory, FILE);
  const known = await readKey(path);
  if (known) return known;
  if (!acceptsLoss && isEvidenceKeyLost(stateDirectory)) throw lost();
  const unnamed = join(stateDirectory, `${newId("cal", random)}.new`);
  await writeNewFile(unnamed, random(KEY_BYTES));
  try {
    await link(unnamed, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    await unlink(unnamed);
  }
  const made = await readKey(path);
  if (made) return made;
  throw storeUnavailable(`the evidence key \`${path}\` cannot be made`);
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw storeUnavailable(`the evidence key \`${path}\` cannot be read`, error);
  }
  if (bytes.byteLength !== KEY_BYTES)
    throw storeCorrupt(
      `the evidence key \`${path}\` does not have ${KEY_BYTES} bytes; restore it from a backup, or remove it and accept that`,
    );
  return bytes;
}

function lost(): KernelError {
  const what =
    "`evidence.key` was removed from the state directory: what was recorded of arguments cannot be compared any more";
  const advice = "restore it from a backup, or accept the loss with `handrail ledger accept --reason <why>`";
  return storeCorrupt(`${what}; ${advice}`);
}
