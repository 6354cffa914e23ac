/**
 * Reads this process' place in the machine's control groups from the texts of `/proc`.
 *
 * It is pure. Version 1 has a tree for each kind of resource, version 2 has one for all, and a machine may have both.
 */

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
  for (const line of mountInfo.split("\n")) {
    const [before = "", after = ""] = line.split(" - ", 2);
    const [, , , root = "", mountPoint = ""] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    if (type === "cgroup2") version2 = groupAt(mountPoint, root, paths.get(""));
    if (type !== "cgroup") continue;
    for (const name of options.split(",")) {
      const controller = CONTROLLERS.find((each) => each === name);
      const directory = groupAt(mountPoint, root, paths.get(name));
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
function groupAt(mountPoint: string, root: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const base = root === "/" ? "" : root;
  if (path !== base && !path.startsWith(`${base}/`)) return path === "/" ? unescaped(mountPoint) : undefined;
  const below = path.slice(base.length).replace(/\/$/, "");
  return unescaped(mountPoint) + below;
}

/** `mountinfo` writes blanks and backslashes as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
