/**
 * Names of files in the making. They stand beside the file that they will replace, cannot be guessed, are left out of
 * listings, searches and git, and cannot be named by a call.
 *
 * A name says which kernel instance gave it, and ends with a code that only kernels of the same state directory can
 * make, so that what a killed kernel left can be removed, and nothing that anybody else made.
 */
import { blake3Keyed } from "../../../base/hash.ts";
import type { RandomBytes } from "../../../base/ids.ts";

const PREFIX = ".handrail-new-";
const INSTANCE_PREFIX = "ins_";
const NONCE_BYTES = 8;
/** Characters of the code: 66 bits, and whoever guesses is told nothing. */
const CODE_CHARACTERS = 11;
const GIVEN = /^\.handrail-new-([A-Za-z0-9_-]{22})-([A-Za-z0-9_-]{11})([A-Za-z0-9_-]{11})$/;
/** Earlier versions gave names of 22 characters, which say nothing of their kernel. */
const PATTERN = /^\.handrail-new-(?:[A-Za-z0-9_-]{22}|[A-Za-z0-9_-]{45})$/;

/** Who gives names: a kernel instance, and the key of its state directory (32 bytes). */
export interface NameGiver {
  readonly instanceId: string;
  readonly key: Uint8Array;
}

/** A new name with 64 random bits. */
export function temporaryName({ instanceId, key }: NameGiver, random: RandomBytes): string {
  const instance = instanceId.slice(INSTANCE_PREFIX.length);
  const nonce = Buffer.from(random(NONCE_BYTES)).toString("base64url");
  return `${PREFIX}${instance}-${nonce}${codeOf(key, instance, nonce)}`;
}

/** The instance that gave `name`; `undefined` when no kernel that has `key` did. */
export function instanceOfName(name: string, key: Uint8Array): string | undefined {
  const [, instance = "", nonce = "", code] = GIVEN.exec(name) ?? [];
  return code !== undefined && code === codeOf(key, instance, nonce) ? INSTANCE_PREFIX + instance : undefined;
}

function codeOf(key: Uint8Array, instance: string, nonce: string): string {
  return Buffer.from(blake3Keyed(key, `file in the making\0${instance}\0${nonce}`))
    .toString("base64url")
    .slice(0, CODE_CHARACTERS);
}

/** Whether a component of `path` is the name of a file in the making. */
export function hasTemporaryName(path: string): boolean {
  return path.includes(PREFIX) && path.split("/").some(isTemporaryName);
}

/** Whether `name` is that of a file in the making. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith(PREFIX) && PATTERN.test(name);
}
