/**
 * Opens the root directories of a workspace as handles.
 *
 * Every file of a call is found from one of them, never from `/`. A handle keeps naming the directory that it was
 * opened on. When that directory is moved or replaced, its path no longer matches, and every use is refused until the
 * workspace is opened anew.
 */
import { closeSync, constants, openSync, readlinkSync } from "node:fs";
import { KernelError } from "../../../base/errors.ts";
import { currentTurn } from "../../../base/turn.ts";
import type { WorkspacePath, WorkspaceRoot } from "../../../model/place/access.ts";
import { SCRATCH_ALIAS, type Workspace } from "../../../model/place/workspace.ts";
import { O_PATH, ownPath } from "../../native/syscalls.ts";
import { refusal } from "./failures.ts";

/** One open root. `path` is its real path without a slash at the end; `/` is the empty text. */
export interface RootHandle {
  readonly descriptor: number;
  readonly path: string;
  /** The turn in which it was last seen in its place. */
  seenInTurn: number;
}

const NEVER = -1;

/** A directory of one session's own, which is made when it is first used. */
export interface ScratchRoot {
  /** @throws ToolFailure where there is no room for it */
  readonly open: () => RootHandle;
  /** The handle, if it was used. */
  readonly opened: () => RootHandle | undefined;
}

/** The open roots of a workspace. `close` may be called once nobody uses them. */
export interface WorkspaceRoots {
  readonly service: RootHandle;
  readonly project: RootHandle;
  readonly sharedPaths: readonly string[];
  /** The scratch directory of the session that the roots were opened for; absent where there is none. */
  readonly scratch?: ScratchRoot;
  readonly close: () => void;
}

/**
 * Opens both roots of `workspace`.
 * @throws KernelError CONFIG_INVALID when a root is missing, no directory, or not a real path
 */
export function openWorkspaceRoots(workspace: Workspace): WorkspaceRoots {
  const project = openRoot(workspace.projectRoot);
  let service = project;
  try {
    if (workspace.serviceRoot !== workspace.projectRoot) service = openRoot(workspace.serviceRoot);
  } catch (error) {
    closeSync(project.descriptor);
    throw error;
  }
  let open = true;
  return {
    service,
    project,
    sharedPaths: workspace.sharedPaths.map((path) => path.replace(/^\/+|\/+$/g, "")).filter((path) => path !== ""),
    close() {
      if (!open) return;
      open = false;
      closeSync(service.descriptor);
      if (project !== service) closeSync(project.descriptor);
    },
  };
}

/** Opens one root. @throws KernelError CONFIG_INVALID as above */
export function openRoot(path: string): RootHandle {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    throw new KernelError(
      "CONFIG_INVALID",
      `the workspace root \`${path}\` is not a directory that can be opened`,
      error,
    );
  }
  const real = realPathOf(descriptor);
  if (real !== path.replace(/(?<=.)\/+$/, "")) {
    closeSync(descriptor);
    throw new KernelError(
      "CONFIG_INVALID",
      `the workspace root \`${path}\` is not a real path; name \`${real}\` instead`,
    );
  }
  return { descriptor, path: real === "/" ? "" : real, seenInTurn: NEVER };
}

/** The absolute path under which the system knows `descriptor` now; ends in ` (deleted)` when it has none left. */
export function realPathOf(descriptor: number): string {
  return ownPath(descriptor) ?? readlinkSync(`/proc/self/fd/${descriptor}`); // which says why there is none
}

/** The handle that `root` stands for. */
export function handleOf(roots: WorkspaceRoots, root: WorkspaceRoot): RootHandle {
  if (root !== "scratch") return root === "service" ? roots.service : roots.project;
  if (roots.scratch !== undefined) return roots.scratch.open();
  throw refusal({
    reason: "workspace_path_escape",
    ruleId: "WORKSPACE:scratch",
    message: `there is no \`${SCRATCH_ALIAS}\` here; work in the workspace`,
    fix: "use a path in the workspace",
  });
}

/** A place as calls can name it. */
export function namedPath(roots: WorkspaceRoots, { root, path }: WorkspacePath): string {
  if (root === "service") return path;
  if (root === "project") return `${roots.project.path}/${path}`;
  return path === "." ? SCRATCH_ALIAS : `${SCRATCH_ALIAS}/${path}`;
}

/** The place that an absolute real path is in the scope of the workspace, or `undefined` when it is outside. */
export function placeOf(roots: WorkspaceRoots, real: string): WorkspacePath | undefined {
  const scratch = roots.scratch?.opened();
  const inScratch = scratch && below(scratch.path, real);
  if (inScratch !== undefined) return { root: "scratch", path: inScratch };
  const inService = below(roots.service.path, real);
  if (inService !== undefined) return { root: "service", path: inService };
  const inProject = below(roots.project.path, real);
  if (inProject === undefined) return undefined;
  const shared = roots.sharedPaths.some((path) => inProject === path || inProject.startsWith(`${path}/`));
  return shared ? { root: "project", path: inProject } : undefined;
}

function below(base: string, real: string): string | undefined {
  if (real === base || (base === "" && real === "/")) return ".";
  return real.startsWith(base) && real[base.length] === "/" ? real.slice(base.length + 1) : undefined;
}

/** The path of an open root as programs take it. */
export function rootPath({ path }: RootHandle): string {
  return path === "" ? "/" : path;
}

/** Whether a root is still where it was opened. */
export function isInPlace(handle: RootHandle): boolean {
  return realPathOf(handle.descriptor) === rootPath(handle);
}

/** Whether a root was still where it was opened when it was last asked for in this turn of the event loop. */
export function isInPlaceThisTurn(handle: RootHandle): boolean {
  const turn = currentTurn();
  if (handle.seenInTurn === turn) return true;
  if (!isInPlace(handle)) return false;
  handle.seenInTurn = turn;
  return true;
}

/** Refuses when a root is no longer where it was opened. */
export function requireRootsInPlace(roots: WorkspaceRoots): void {
  for (const handle of [roots.service, roots.project]) {
    if (isInPlace(handle)) continue;
    throw refusal({
      reason: "workspace_path_escape",
      ruleId: "WORKSPACE:root",
      message: "the workspace directory was moved or replaced while the session was open; start a new session",
      fix: "start a new session in the directory's new place",
    });
  }
}
