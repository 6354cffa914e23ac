/**
 * Verifies before a run's command begins that its mounts are the planned ones.
 *
 * It is pure. Mounts are made by path, and another call of the same agent may move things about meanwhile: a link in
 * the way would put another place's files inside, or put what hides elsewhere.
 *
 * INVARIANT: every part of the workspace is the same part of the same file system that the workspace itself is, and
 * lies where it was planned. Nothing else lies in it. The same holds for each directory that is seen beside it.
 */
import { type Mount, parseMounts } from "../../base/mount-info.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { INSIDE_COVERED, INSIDE_WORKSPACE, type SandboxMount, type SandboxPlan } from "../plan/plan.ts";

/** Whether what lies there is the kernel's own file of that place in the plan's list. */
export type OwnFileCheck = (found: Mount, index: number) => boolean;

/**
 * What is wrong, or `undefined`.
 * @param mountInfo `/proc/PID/mountinfo` of a process of the run
 */
export function mountProblem(
  { mounts, files = [], beside = [] }: Pick<SandboxPlan, "mounts" | "files" | "beside">,
  mountInfo: string,
  isOwnFile: OwnFileCheck = isMadeByBwrap,
): string | undefined {
  const listed = parseMounts(mountInfo);
  const mounted: ReadonlyMap<string, Mount> = new Map(listed.map((mount) => [mount.target, mount]));
  const isSelection = mounts.some(({ kind }) => kind === "empty_directory");
  // Where it is covered, it is the lower one of two.
  const workspace = listed.find(({ target }) => target === (isSelection ? INSIDE_COVERED : INSIDE_WORKSPACE));
  if (workspace === undefined) return "the workspace is not mounted";
  const own = new Set(files.map(({ target }) => target));
  for (const [index, { target }] of files.entries()) {
    const found = mounted.get(target);
    if (found === undefined || !isOwnFile(found, index)) return `\`${target}\` is not the kernel's own file`;
  }
  const places = [
    { inside: INSIDE_WORKSPACE, whole: workspace, isIn: isInside, name: "the workspace" },
    ...beside.map((inside) => ({ inside, whole: mounted.get(inside), isIn: within(inside), name: inside })),
  ];
  for (const place of places) {
    const problem = problemIn(place, { mounts, mounted, own });
    if (problem !== undefined) return problem;
  }
  for (const mount of mounts) {
    if (!("part" in mount) || mount.part === undefined) continue;
    const found = mounted.get(mount.target);
    if (found === undefined || !isPartOf(workspace, found, `/${mount.part}`))
      return `\`${mount.target}\` is not \`${mount.part}\` of the workspace`;
  }
  return undefined;
}

/** A tree of the machine's that is mounted as a whole, with parts of it over it. */
interface MountedTree {
  readonly inside: string;
  /** Its outermost mount. */
  readonly whole: Mount | undefined;
  readonly isIn: (target: string) => boolean;
  readonly name: string;
}

function problemIn(
  { inside, whole, isIn, name }: MountedTree,
  {
    mounts,
    mounted,
    own,
  }: {
    readonly mounts: readonly SandboxMount[];
    readonly mounted: ReadonlyMap<string, Mount>;
    readonly own: ReadonlySet<string>;
  },
): string | undefined {
  if (whole === undefined) return `\`${inside}\` is not mounted`;
  const planned = new Map(mounts.filter(({ target }) => isIn(target)).map((mount) => [mount.target, mount]));
  for (const target of mounted.keys())
    if (isIn(target) && !planned.has(target) && !own.has(target)) return `\`${target}\` was not planned`;
  for (const [target, { kind }] of planned) {
    const found = mounted.get(target);
    if (found === undefined) return `\`${target}\` is not mounted`;
    if ((kind === "hide_directory" || kind === "empty_directory") && found.type !== "tmpfs")
      return `\`${target}\` is not hidden`;
    if (kind === "hide_file" && found.root !== "/null") return `\`${target}\` is not hidden`;
    const isPart = isPartOf(whole, found, target.slice(inside.length));
    if ((kind === "writable" || kind === "read_only") && !isPart)
      return `\`${target}\` is not what lies there in ${name}`;
  }
  return undefined;
}

function within(inside: string): (target: string) => boolean {
  return (target) => target === inside || target.startsWith(`${inside}/`);
}

/**
 * Refuses a workspace in which something else is mounted: a view of it has what lies under the mount, while the scope
 * is that of what lies on top.
 * @param mountInfo `/proc/self/mountinfo`
 * @throws ToolFailure SANDBOX_UNAVAILABLE naming the first
 */
export function requireNoMounts(root: string, mountInfo: string): void {
  const above = root === "/" ? "/" : `${root}/`;
  const found = parseMounts(mountInfo).find(({ target }) => target.startsWith(above) && target !== root);
  if (found === undefined) return;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `something else is mounted in the workspace (\`${found.target.slice(above.length).slice(0, SHOWN_CHARACTERS)}\`), which a command cannot be shown; the command did not run`,
    "ask the operator to unmount it, or to make it or another directory the workspace",
  );
}

const SHOWN_CHARACTERS = 200;

/** Whether `found` is what lies at `below` in the workspace. */
function isPartOf(workspace: Mount, found: Mount, below: string): boolean {
  return found.device === workspace.device && found.root === join(workspace.root, below);
}

/** A file that bwrap itself made, in its own file system in memory. */
function isMadeByBwrap({ type, root }: Mount): boolean {
  return type === "tmpfs" && OWN_FILE.test(root);
}

/** As bwrap names what it makes, before it takes the name away. */
const OWN_FILE = /^\/bindfile\w+(?:\/\/deleted)?$/;

function isInside(target: string): boolean {
  return target === INSIDE_WORKSPACE || target === INSIDE_COVERED || target.startsWith(`${INSIDE_WORKSPACE}/`);
}

function join(root: string, below: string): string {
  return below === "" ? root : `${root === "/" ? "" : root}${below}`;
}
