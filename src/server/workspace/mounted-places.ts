/**
 * Finds what lies in a directory by its place on disk, under whatever name it is mounted there.
 *
 * A bind mount gives files a second path, which real paths do not tell. INVARIANT: too much may be found, where one
 * mount lies over another, and never too little.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Mount, parseMounts } from "../../base/mount-info.ts";
import { isWithin } from "../operator/real-path.ts";

/** The mounts of this process. */
export function ownMounts(): readonly Mount[] {
  return parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
}

/** Where a path lies on its file system, whatever name that is mounted under: the same for all names of one place. */
export function placeOnDisk(path: string, mounts: readonly Mount[]): string {
  const above = mounts.filter(({ target }) => isWithin(target, path));
  // of two at one place the later one lies on top
  const nearest = above.reduce<Mount | undefined>(
    (best, mount) => (best === undefined || mount.target.length >= best.target.length ? mount : best),
    undefined,
  );
  return nearest === undefined ? join("/", path) : join(rootOnDisk(nearest), relative(nearest.target, path));
}

/**
 * The paths in `directory` under which something of `places` lies, relative to it; `""` where all of it does. All are
 * real paths.
 */
export function pathsWithin(
  directory: string,
  places: readonly string[],
  mounts: readonly Mount[] = ownMounts(),
): readonly string[] {
  const wanted = places.flatMap((place) => partsOnDisk(place, mounts));
  const named = places.flatMap((place) => common(directory, place));
  const seen = partsOf(directory, mounts).flatMap(({ path, onDisk }) =>
    wanted.flatMap((place) => common(onDisk, place).map((way) => join(relative(directory, path), way))),
  );
  const found = [...new Set([...named, ...seen].map((path) => (path === "." ? "" : path)))];
  return found.includes("") ? [""] : found.filter((path) => !found.some((one) => one !== path && isWithin(one, path)));
}

/** Where `place` lies below `directory`: `""` where that lies in it, nothing where they are apart. */
function common(directory: string, place: string): readonly string[] {
  if (isWithin(place, directory)) return [""];
  return isWithin(directory, place) ? [relative(directory, place)] : [];
}

/** `path` and the mounts below it, and where each lies on disk. */
function partsOf(
  path: string,
  mounts: readonly Mount[],
): readonly { readonly path: string; readonly onDisk: string }[] {
  const below = mounts.filter(({ target }) => target !== path && isWithin(path, target));
  return [
    { path, onDisk: placeOnDisk(path, mounts) },
    ...below.map((mount) => ({ path: mount.target, onDisk: rootOnDisk(mount) })),
  ];
}

function partsOnDisk(path: string, mounts: readonly Mount[]): readonly string[] {
  return partsOf(path, mounts).map(({ onDisk }) => onDisk);
}

function rootOnDisk({ device, root }: Mount): string {
  return join("/", device, root);
}
