/**
 * The finding of `handrail doctor` about what in a workspace keeps commands from running there.
 *
 * Looks at it as each command does, by its zones and the operator's; nothing is run and nothing changed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../model/place/zone.ts";
import { WORKSPACE_ARGUMENTS_MAX, workspaceArguments } from "../../sandbox/bwrap/bwrap-arguments.ts";
import { type WorkspaceTree, workspaceTree } from "../../sandbox/host/workspace-tree.ts";
import { zoneJudge } from "../../sandbox/host/zone-judge.ts";
import { INSIDE_WORKSPACE, type SandboxMount } from "../../sandbox/plan/plan.ts";
import { atOnce, type ScopeJudge, WorkspaceLook } from "../../sandbox/plan/workspace-mounts.ts";
import { requireNoMounts } from "../../sandbox/run/mount-check.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { planWorkspace, workspaceDirectory } from "../workspace/workspace-catalog.ts";
import { attempt, type Finding } from "./finding.ts";

const CHECK = "commands in the workspace";
const SPLIT = "work in a part of it as a workspace of its own, or keep secret files in one directory";
const GIVE = "chown it, or leave it to people";

/** Mounts from which on each command takes seconds to start. */
const MANY_MOUNTS = 1000;
/** The directories of which installations leave empty ones. */
const MODULES = "node_modules";
/** Each is read-only, and so is a mount; the directory above it is one then, too. */
const MOUNTS_OF_MODULES = 2;
/** Directories that are named as those with most mounts. */
const NAMED_MAX = 3;

/** Looks through the workspace at `path`; does not throw. */
export async function commandsFinding(read: () => Promise<OperatorDirectory>, path: string): Promise<Finding> {
  const operator = await read().catch(() => undefined); // said by the check of the directory
  return attempt(CHECK, "work in a part of it as a workspace of its own", async () => {
    const root = workspaceDirectory(path);
    requireNoMounts(root, readFileSync("/proc/self/mountinfo", "utf8"));
    const rules =
      operator && (await planWorkspace(() => operator, { serviceRoot: root, projectRoot: root }, NOTHING_HIDDEN));
    const judge = zoneJudge(root, compileZones(rules?.rules ?? BUILT_IN_ZONE_RULES, ""));
    const tree = workspaceTree(root);
    const backend = operator?.settings.sandbox.backend ?? "bwrap";
    const judges = [judge, { ...judge, hidesRepository: () => true }];
    const shown = counted(root, tree, () => largest(judges.map((one) => mountsOf(root, tree, one))));
    if ("fix" in shown) return shown;
    const room = roomIn(backend, shown);
    const empty = shown.length > MANY_MOUNTS ? emptyModules(root, tree) : 0;
    const detail = `\`${root}\` ${room.isEnough ? "can" : "cannot"} be shown to commands, in ${shown.length} mounts${room.said}`;
    const others = othersDirectory(tree);
    const said = [
      detail,
      ...(shown.length > MANY_MOUNTS ? [adviceOn(shown)] : []),
      ...(empty > 0 ? [emptyOnes(empty)] : []),
      ...(others === undefined ? [] : [others]),
    ];
    // what is left without them is no longer the cause
    const isCause = empty * MOUNTS_OF_MODULES >= shown.length - MANY_MOUNTS;
    const fix = empty > 0 && isCause ? removalOf(root) : SPLIT;
    if (!room.isEnough) return { status: "failed", detail: said.join("; "), fix };
    if (said.length === 1) return detail;
    return { status: "advisory", detail: said.join("; "), fix: others === undefined || empty > 0 ? fix : GIVE };
  });
}

const NOTHING_HIDDEN = { hidden: [] } as const;

function mountsOf(root: string, tree: WorkspaceTree, judge: ScopeJudge): readonly SandboxMount[] {
  const look = new WorkspaceLook(root, tree, judge);
  atOnce(look.steps());
  return atOnce(look.result());
}

/** More mounts than can be counted. */
interface Unmountable {
  readonly status: "failed";
  readonly detail: string;
  readonly fix: string;
}

/** Where more mounts than can be counted come from directories that hold nothing, what removes those mends it. */
function counted<Mounts>(root: string, tree: WorkspaceTree, count: () => Mounts): Mounts | Unmountable {
  try {
    return count();
  } catch (error) {
    const empty = error instanceof ToolFailure ? emptyModules(root, tree) : 0;
    if (!(error instanceof ToolFailure) || empty * MOUNTS_OF_MODULES < MANY_MOUNTS) throw error;
    return {
      status: "failed",
      detail: `${error.message}; ${emptyOnes(empty)}`,
      fix: `${removalOf(root)}; look again then`,
    };
  }
}

/** How many of the directories that were looked at are for installed packages and hold none. */
function emptyModules(root: string, tree: WorkspaceTree): number {
  let empty = 0;
  for (const [directory] of tree.allSeen())
    if (basename(directory) === MODULES && readdirSync(join(root, directory)).length === 0) empty += 1;
  return empty;
}

function emptyOnes(count: number): string {
  return `${count} directories are empty \`${MODULES}\`, which take two mounts each and hold nothing`;
}

/** Removes directories that are empty alone; the path is one word for a shell. */
function removalOf(root: string): string {
  const word = `'${root.replaceAll("'", "'\\''")}'`;
  return `\`find ${word} -type d -name ${MODULES} -empty -delete\` removes those that are empty`;
}

/** Repositories under names of their own may be hidden or shown: what takes more is what commands may meet. */
function largest(plans: readonly (readonly SandboxMount[])[]): readonly SandboxMount[] {
  return plans.reduce((most, plan) => (workspaceArguments(plan) > workspaceArguments(most) ? plan : most));
}

/** `bwrap` takes so many arguments alone, and a mount is up to seven of them. */
function roomIn(
  backend: string,
  mounts: readonly SandboxMount[],
): { readonly isEnough: boolean; readonly said: string } {
  if (backend !== "bwrap") return { isEnough: true, said: "" };
  const needed = workspaceArguments(mounts);
  if (needed <= WORKSPACE_ARGUMENTS_MAX) return { isEnough: true, said: "" };
  return {
    isEnough: false,
    said: `: bwrap would be given ${needed} arguments for them, and takes ${WORKSPACE_ARGUMENTS_MAX}`,
  };
}

/** Where the most mounts are, and what to do about them. */
function adviceOn(mounts: readonly SandboxMount[]): string {
  const counts = new Map<string, number>();
  for (const { target } of mounts) {
    const [top = ""] = target.slice(INSIDE_WORKSPACE.length + 1).split("/", 1);
    if (top !== "") counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, NAMED_MAX);
  const named = most.map(([name, count]) => `\`${name}\` (${count})`).join(", ");
  return `each directory with a secret file or installed packages takes some, most of them in ${named}, and each command takes seconds to start`;
}

/** What of another user or group is in a view keeps its looks, but can be neither changed nor moved there. */
function othersDirectory(tree: WorkspaceTree): string | undefined {
  const own = tree.seen(".");
  const isRoot = process.geteuid?.() === 0;
  const [userId, groupId] = isRoot ? [own?.userId, own?.groupId] : [process.geteuid?.(), process.getegid?.()];
  for (const [directory, seen] of tree.allSeen()) {
    if (seen.userId === userId && seen.groupId === groupId) continue;
    return `\`${directory}\` belongs to another user or group, so that commands cannot change what lies there (EOVERFLOW)`;
  }
  return undefined;
}
