/**
 * Makes and checks the admin credential of a state directory.
 *
 * It is 256 random bits, shown once when they are made, and only their hash is kept. The hash stands in the state
 * directory, which belongs to the operator alone. A new credential replaces the one before in every running kernel,
 * from the next request on. Without one, nobody is an administrator.
 */
import { constants } from "node:fs";
import { lstat, open, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { equalInConstantTime } from "../../base/bytes.ts";
import { KernelError } from "../../base/errors.ts";
import { blake3Digest, blake3Hex } from "../../base/hash.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import { TOKEN_BYTES } from "../../base/limits.ts";

const FILE_NAME = "admin.hash";
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
const HASH_LINE = /^[0-9a-f]{64}\n$/;
const NO_HASH = "0".repeat(64);

/** Makes a new credential in place of any before it. The state directory has been prepared. */
export async function makeAdminCredential(stateDirectory: string, random: RandomBytes): Promise<string> {
  const token = `adm_${Buffer.from(random(TOKEN_BYTES)).toString("base64url")}`;
  const unnamed = join(stateDirectory, `${newId("cal", random)}.new`);
  try {
    const file = await open(unnamed, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, OWNER_ONLY);
    try {
      await file.writeFile(`${blake3Hex(token)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unnamed, join(stateDirectory, FILE_NAME));
  } catch (cause) {
    await unlink(unnamed).catch(() => undefined); // it was never made, or has its name already
    throw new KernelError("STORE_UNAVAILABLE", `the admin credential cannot be stored in \`${stateDirectory}\``, cause);
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
  let text: string;
  try {
    const found = await lstat(path);
    if (!found.isFile() || found.uid !== process.geteuid?.() || (found.mode & OTHERS) !== 0) {
      throw new KernelError(
        "STORE_CORRUPT",
        `\`${path}\` is not a file of this user alone; make a new credential with \`handrail admin token\``,
      );
    }
    text = await readFile(path, "latin1");
  } catch (cause) {
    if (cause instanceof KernelError) throw cause;
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw new KernelError("STORE_UNAVAILABLE", "the admin credential cannot be read", cause);
  }
  if (HASH_LINE.test(text)) return text.trim();
  throw new KernelError(
    "STORE_CORRUPT",
    `\`${path}\` holds no hash; make a new credential with \`handrail admin token\``,
  );
}
