/**
 * Names of files in the making. They stand beside the file that they will replace, cannot be guessed, are left out of
 * listings, and cannot be named by a call.
 */
import type { RandomBytes } from "../../base/ids.ts";

const PREFIX = ".handrail-new-";
const RANDOM_BYTES = 16;
const PATTERN = /^\.handrail-new-[A-Za-z0-9_-]{22}$/;

/** A new name with 128 random bits. */
export function temporaryName(random: RandomBytes): string {
  return PREFIX + Buffer.from(random(RANDOM_BYTES)).toString("base64url");
}

/** Whether a component of `path` is the name of a file in the making. */
export function hasTemporaryName(path: string): boolean {
  return path.includes(PREFIX) && path.split("/").some(isTemporaryName);
}

/** Whether `name` is that of a file in the making. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith(PREFIX) && PATTERN.test(name);
}
