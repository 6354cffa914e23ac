/**
 * Manages the named credentials of the people who approve.
 *
 * Each is 256 random bits, shown once. Only their hashes are kept, in the state directory, which belongs to the
 * operator alone. A credential looks like `apr_NAME.SECRET`: the part before the dot names the file, so that no secret
 * is ever used in a lookup.
 *
 * INVARIANT: a session token is never such a credential, and neither is the admin credential. One that was removed
 * approves nothing from the next decision on, in every kernel.
 */

import { mkdir, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { equalInConstantTime } from "../../base/bytes.ts";
import {
  configInvalid,
  errorCode,
  type KernelError,
  storeCorrupt,
  storeUnavailable,
  usageError,
} from "../../base/errors.ts";
import { blake3Digest, blake3Hex } from "../../base/hash.ts";
import type { RandomBytes } from "../../base/ids.ts";
import { TOKEN_BYTES } from "../../base/limits.ts";
import { readOwnFile, writeNewFile } from "../../stores/embedded/state/own-file.ts";
import type { Environment } from "../operator/operator-directory.ts";

/** Approver credentials of one state directory. */
const APPROVERS_MAX = 256;

const DIRECTORY = "approvers";
const SUFFIX = ".hash";
const SAVED_TOKEN = "approver.token";
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const HASH_LINE = /^[0-9a-f]{64}\n$/;
const TOKEN = /^apr_([a-z0-9][a-z0-9_-]{0,63})\.[A-Za-z0-9_-]{43}$/;
const NO_HASH = "0".repeat(64);

/** An approver, without the credential. */
export interface Approver {
  readonly name: string;
  /** Milliseconds since the Unix epoch. */
  readonly addedAtMs: number;
}

/**
 * Makes the credential of a new approver. The state directory has been prepared.
 * @throws KernelError USAGE for a name that cannot be, or is taken
 */
export async function addApprover(stateDirectory: string, name: string, random: RandomBytes): Promise<string> {
  await requireFreeName(stateDirectory, name);
  const directory = join(stateDirectory, DIRECTORY);
  const token = `apr_${name}.${Buffer.from(random(TOKEN_BYTES)).toString("base64url")}`;
  try {
    await mkdir(directory, { mode: 0o700, recursive: true });
    await writeNewFile(join(directory, name + SUFFIX), `${blake3Hex(token)}\n`);
  } catch (cause) {
    if (errorCode(cause) === "EEXIST") throw taken(name);
    throw storeUnavailable(`the approver's credential cannot be stored in \`${directory}\``, cause);
  }
  return token;
}

/** The approvers, by name. @throws KernelError STORE_UNAVAILABLE */
export async function listApprovers(stateDirectory: string): Promise<readonly Approver[]> {
  const names = await namesIn(join(stateDirectory, DIRECTORY));
  return Promise.all(
    names.map(async (name) => {
      // removed meanwhile
      const found = await stat(join(stateDirectory, DIRECTORY, name + SUFFIX)).catch(() => undefined);
      return { name, addedAtMs: Math.floor(found?.mtimeMs ?? 0) };
    }),
  );
}

/** Whether there is anybody who can approve. */
export async function hasApprovers(stateDirectory: string): Promise<boolean> {
  return (await namesIn(join(stateDirectory, DIRECTORY))).length > 0;
}

/** Takes an approver's credential back. @throws KernelError USAGE when there is none of that name */
export async function removeApprover(stateDirectory: string, name: string): Promise<void> {
  requireApproverName(name);
  try {
    await unlink(join(stateDirectory, DIRECTORY, name + SUFFIX));
  } catch (cause) {
    if (errorCode(cause) === "ENOENT")
      throw usageError(`there is no approver \`${name}\`; \`handrail approvers list\` shows them`);
    throw storeUnavailable("the approver's credential cannot be removed", cause);
  }
}

/**
 * Whose credential `token` is; `undefined` when it is nobody's.
 * @throws KernelError STORE_CORRUPT or STORE_UNAVAILABLE when the hash cannot be used
 */
export async function approverOf(stateDirectory: string, token: string): Promise<string | undefined> {
  const name = TOKEN.exec(token)?.[1];
  const hash = name === undefined ? undefined : await readHash(join(stateDirectory, DIRECTORY, name + SUFFIX));
  // Somebody unknown costs the same comparison as a wrong secret.
  const matches = equalInConstantTime(blake3Digest(token), Buffer.from(hash ?? NO_HASH, "hex"));
  return matches && hash !== undefined ? name : undefined;
}

/**
 * Keeps a credential in the operator's directory, where the command line finds it. @throws KernelError USAGE or
 * CONFIG_INVALID
 */
export async function saveApproverToken(operatorPath: string, token: string): Promise<string> {
  const path = join(operatorPath, SAVED_TOKEN);
  try {
    await mkdir(operatorPath, { mode: 0o700, recursive: true });
    await writeNewFile(path, `${token}\n`);
  } catch (cause) {
    if (errorCode(cause) === "EEXIST")
      throw usageError(`\`${path}\` holds a credential already; remove the file first`);
    throw configInvalid(`the credential cannot be saved as \`${path}\``, cause);
  }
  return path;
}

/**
 * The credential with which the command line approves: `HANDRAIL_APPROVER_TOKEN`, else the one saved in the operator's
 * directory.
 * @throws KernelError USAGE when there is none; CONFIG_INVALID when others can open the file
 */
export async function approverToken(environment: Environment, operatorPath: string): Promise<string> {
  const given = environment["HANDRAIL_APPROVER_TOKEN"];
  if (given) return given;
  const path = join(operatorPath, SAVED_TOKEN);
  const text = await readOwn(path);
  if (text !== undefined) return text.trim();
  throw usageError(
    "approving needs an approver's credential; make one with `handrail approvers add NAME --save`, or set HANDRAIL_APPROVER_TOKEN",
  );
}

/** @throws KernelError USAGE for a name that no approver can have */
export function requireApproverName(name: string): void {
  if (!NAME.test(name))
    throw usageError(
      `\`${name}\` cannot be an approver's name; use lower-case letters, digits, \`_\` and \`-\`, at most 64`,
    );
}

/** @throws KernelError USAGE for a name that cannot be, or is taken, or when there are too many approvers */
export async function requireFreeName(stateDirectory: string, name: string): Promise<void> {
  requireApproverName(name);
  const names = await namesIn(join(stateDirectory, DIRECTORY));
  if (names.includes(name)) throw taken(name);
  if (names.length >= APPROVERS_MAX)
    throw usageError(`there are ${APPROVERS_MAX} approvers already; remove one with \`handrail approvers remove\``);
}

function taken(name: string): KernelError {
  return usageError(`there is an approver \`${name}\` already; choose another name, or remove that one first`);
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter((name) => NAME.test(name))
      .sort();
  } catch (cause) {
    if (errorCode(cause) === "ENOENT") return [];
    throw storeUnavailable(`\`${directory}\` cannot be read`, cause);
  }
}

async function readHash(path: string): Promise<string | undefined> {
  const text = await readOwn(path);
  if (text === undefined || HASH_LINE.test(text)) return text?.trim();
  throw storeCorrupt(`\`${path}\` holds no hash; remove the approver and add them anew`);
}

/** A file of this user alone; `undefined` when there is none. */
function readOwn(path: string): Promise<string | undefined> {
  return readOwnFile(path, { what: `\`${path}\``, mend: "run `chmod 600` on it, or remove it" });
}
