/** Tells whether a symbolic link leads out of the directory tree that it lies in. */
import { posix } from "node:path";

/** Where the machine keeps programs and libraries, which are the same for everybody. */
const SYSTEM = /^(?:\/(?:usr|bin|sbin|lib|lib32|lib64|opt|nix\/store|gnu\/store)(?:\/|$)|\/dev\/null$)/;

/**
 * Whether a link at `path` (relative to the top of the tree) that leads to `target` leaves the tree for a place that
 * somebody may keep files in. A target that goes up again after it went down may pass other links: nobody knows where
 * it leads, so that it does.
 */
export function leadsOutside(path: string, target: string): boolean {
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  const ups = names.findIndex((name) => name !== "..");
  const goesUpAgain = ups !== -1 && names.slice(ups).includes("..");
  if (goesUpAgain) return true;
  if (posix.isAbsolute(target)) return !SYSTEM.test(`/${names.join("/")}`);
  const place = posix.join(posix.dirname(path), ...names);
  return place === ".." || place.startsWith("../");
}
