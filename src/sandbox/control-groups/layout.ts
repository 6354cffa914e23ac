/**
 * Reads this process' place in the machine's control groups from the texts of `/proc`.
 *
 * It is pure. Version 1 has a tree for each kind of resource, version 2 has one for all, and a machine may have both.
 */

import { type Mount, parseMounts } from "../../base/mount-info.ts";

/** Kinds of resources that a run is bounded in. */
export const CONTROLLERS = ["pids", "memory", "cpu", "cpuacct"] as const;
/** One of them. */
export type Controller = (typeof CONTROLLERS)[number];

/** The directories of this process' own groups. */
export interface ControlGroupLayout {
  /** By controller, trees of version 1. */
  readonly version1: Readonly<Partial<Record<Controller, string>>>;
  /** The group in the one tree of version 2. */
  readonly version2?: string;
}

/**
 * Reads the layout.
 * @param mountInfo `/proc/self/mountinfo`
 * @param membership `/proc/self/cgroup`
 */
export function readLayout(mountInfo: string, membership: string): ControlGroupLayout {
  const paths = membershipOf(membership);
  const version1: Partial<Record<Controller, string>> = {};
  let version2: string | undefined;
  for (const mount of parseMounts(mountInfo)) {
    if (mount.type === "cgroup2") version2 = groupAt(mount, paths.get(""));
    if (mount.type !== "cgroup") continue;
    for (const name of mount.options.split(",")) {
      const controller = CONTROLLERS.find((each) => each === name);
      const directory = groupAt(mount, paths.get(name));
      if (controller !== undefined && directory !== undefined) version1[controller] = directory;
    }
  }
  return { version1, ...(version2 !== undefined && { version2 }) };
}

/** Own group by controller; version 2 under the empty name. */
function membershipOf(text: string): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, controllers, ...path] = line.split(":");
    for (const name of controllers?.split(",") ?? []) paths.set(name, path.join(":"));
  }
  return paths;
}

/** A mount shows its tree from `root` on; a group outside of that cannot be reached. */
function groupAt({ target, root }: Mount, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const base = root === "/" ? "" : root;
  if (path !== base && !path.startsWith(`${base}/`)) return path === "/" ? target : undefined;
  const below = path.slice(base.length).replace(/\/$/, "");
  return target + below;
}
