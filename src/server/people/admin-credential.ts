/**
 * Makes and checks the admin credential of a state directory.
 *
 * It is 256 random bits, shown once when they are made, and only their hash is kept. The hash stands in the state
 * directory, which belongs to the operator alone. A new credential replaces the one before in every running kernel,
 * from the next request on. Without one, nobody is an administrator.
 */

import { rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { equalInConstantTime } from "../../base/bytes.ts";
import { storeCorrupt, storeUnavailable } from "../../base/errors.ts";
import { blake3Digest, blake3Hex } from "../../base/hash.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import { TOKEN_BYTES } from "../../base/limits.ts";
import { readOwnFile, writeNewFile } from "../../stores/embedded/state/own-file.ts";

const FILE_NAME = "admin.hash";
const HASH_LINE = /^[0-9a-f]{64}\n$/;
const NO_HASH = "0".repeat(64);

/** Makes a new credential in place of any before it. The state directory has been prepared. */
export async function makeAdminCredential(stateDirectory: string, random: RandomBytes): Promise<string> {
  const token = `adm_${Buffer.from(random(TOKEN_BYTES)).toString("base64url")}`;
  const unnamed = join(stateDirectory, `${newId("cal", random)}.new`);
  try {
    await writeNewFile(unnamed, `${blake3Hex(token)}\n`);
    await rename(unnamed, join(stateDirectory, FILE_NAME));
  } catch (cause) {
    await unlink(unnamed).catch(() => undefined); // it was never made, or has its name already
    throw storeUnavailable(`the admin credential cannot be stored in \`${stateDirectory}\``, cause);
  }
  return token;
}

/** Whether there is a credential. */
export async function hasAdminCredential(stateDirectory: string): Promise<boolean> {
  return (await readHash(stateDirectory)) !== undefined;
}

/**
 * Whether `token` is the credential; costs the same whether there is one or not.
 * @throws KernelError STORE_CORRUPT or STORE_UNAVAILABLE when the hash cannot be used
 */
export async function isAdminCredential(stateDirectory: string, token: string): Promise<boolean> {
  const hash = await readHash(stateDirectory);
  const matches = equalInConstantTime(blake3Digest(token), Buffer.from(hash ?? NO_HASH, "hex"));
  return matches && hash !== undefined;
}

async function readHash(stateDirectory: string): Promise<string | undefined> {
  const path = join(stateDirectory, FILE_NAME);
  const mend = "make a new credential with `handrail admin token`";
  const text = await readOwnFile(path, { what: "the admin credential", mend });
  if (text === undefined || HASH_LINE.test(text)) return text?.trim();
  throw storeCorrupt(`\`${path}\` holds no hash; ${mend}`);
}
