/**
 * Resolves the real path of a directory, even of one that is yet to be made.
 *
 * Links on the way are followed, even those that lead nowhere so far. Two paths can be compared only in this form.
 */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { configInvalid, errorCode, type KernelError } from "../../base/errors.ts";
import { LINK_STEPS_MAX } from "../../base/limits.ts";

/**
 * The real path of `path`; of what is missing, the path it would have.
 * @throws KernelError CONFIG_INVALID when links lead in a circle or a directory on the way is closed
 */
export function realPath(path: string): string {
  let current = resolve(path);
  const missing: string[] = [];
  for (let step = 0; step < LINK_STEPS_MAX; step += 1) {
    try {
      return join(realpathSync.native(current), ...missing);
    } catch (error) {
      if (!isMissing(error)) throw unusable(path, error);
    }
    const target = linkTarget(current);
    if (target === undefined) missing.unshift(basename(current));
    current = target === undefined ? dirname(current) : resolve(realPathOfParent(current), target);
  }
  throw unusable(path);
}

/** Whether `path` is `base` or lies below it; both are real paths. */
export function isWithin(base: string, path: string): boolean {
  const way = relative(base, path);
  return way === "" || (way !== ".." && !way.startsWith("../"));
}

/** A link can be read only where its directory exists, so that its real path exists too. */
function realPathOfParent(path: string): string {
  return realpathSync.native(dirname(path));
}

function linkTarget(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
}

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errorCode(error));
}

function unusable(path: string, cause?: unknown): KernelError {
  return configInvalid(`it cannot be told where \`${path}\` lies; name a directory that can be reached`, cause);
}
