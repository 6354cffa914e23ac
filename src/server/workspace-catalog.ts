/**
 * Opens workspaces: real paths, zones from built-in rules, the operator's and the workspace's own narrowing ones, and
 * the root handles. One opened workspace serves all sessions with the same roots, until its directory is moved or
 * replaced: then it is opened anew.
 *
 * INVARIANTS: Handrail's own directories are hidden by their real paths, whatever links lead there; the handles of a
 * workspace that was let go are closed only once no call can use them any more, because a number that is closed too
 * early would name another directory.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { KernelError } from "../base/errors.ts";
import { CONFIG_FILE_BYTES_MAX, WORKSPACES_OPEN_MAX } from "../base/limits.ts";
import { type FileRules, type Narrowing, noNarrowing, parseNarrowing, type Settings } from "../config/config.ts";
import type { OpenWorkspace, WorkspaceCatalog } from "../kernel/index.ts";
import type { Session } from "../model/session.ts";
import type { Workspace } from "../model/workspace.ts";
import { BUILT_IN_ZONE_RULES, compileZones, type ZoneRules } from "../model/zone.ts";
import { isInPlaceThisTurn, openWorkspaceRoots, type WorkspaceRoots } from "../sandbox/files/files.ts";
import { grantOf } from "./grants.ts";
import { isWithin, realPath } from "./real-path.ts";

/** A catalog that can be closed with its kernel. */
export interface ClosableCatalog extends WorkspaceCatalog {
  readonly close: () => Promise<void>;
}

/** The real directory that `path` names. */
export function workspaceDirectory(path: string): string {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    throw new KernelError("USAGE", `the workspace \`${path}\` does not exist; create it or name another directory`, error);
  }
  if (!statSync(real).isDirectory()) throw new KernelError("USAGE", `the workspace \`${path}\` is not a directory`);
  return real;
}

// A call that was let go may go on for as long as it likes; that nothing refers to the handles any more is the only sign
// that nobody will use them.
const unused = new FinalizationRegistry<() => void>((close) => close());

/** @param hidden directories that no agent may see: the operator's and the state directory */
export function createWorkspaceCatalog(settings: Settings, hidden: readonly string[]): ClosableCatalog {
  // In the order of their last use.
  const opened = new Map<string, Promise<OpenWorkspace>>();
  const keep = (key: string, opening: Promise<OpenWorkspace>) => {
    opened.delete(key);
    opened.set(key, opening);
    for (const oldest of opened.keys()) {
      if (opened.size <= WORKSPACES_OPEN_MAX) return;
      opened.delete(oldest);
    }
  };
  const openAnew = (key: string, session: Session): Promise<OpenWorkspace> => {
    const opening = openWorkspace(settings, hidden, session);
    keep(key, opening);
    // A workspace that could not be opened is tried again with the next call: its rules may have been mended.
    opening.catch(() => opened.get(key) === opening && opened.delete(key));
    return opening;
  };
  return {
    async open(session) {
      const key = `${session.serviceRoot}\0${session.projectRoot}`;
      const known = opened.get(key);
      if (known === undefined) return openAnew(key, session);
      const place = await known;
      const current = opened.get(key);
      if (current !== undefined && current !== known) return current; // somebody else found it moved meanwhile
      if (!areInPlace(place.roots)) return openAnew(key, session);
      keep(key, known);
      return place;
    },
    async close() {
      for (const result of await Promise.allSettled(opened.values())) {
        if (result.status === "fulfilled") result.value.roots.close();
      }
      opened.clear();
    },
  };
}

function areInPlace({ service, project }: WorkspaceRoots): boolean {
  return isInPlaceThisTurn(service) && (project === service || isInPlaceThisTurn(project));
}

async function openWorkspace(settings: Settings, hidden: readonly string[], session: Session): Promise<OpenWorkspace> {
  const { serviceRoot, projectRoot } = session;
  if (!isWithin(projectRoot, serviceRoot))
    throw new KernelError("CONFIG_INVALID", `the workspace \`${serviceRoot}\` does not lie in its project \`${projectRoot}\``);
  const own = grantOf(settings, serviceRoot);
  const narrowing = await readNarrowing(serviceRoot);
  const files = [settings.files, ...(own?.files ? [own.files] : [])];
  const rules = { ...combineRules(files, narrowing), hidden: hiddenPaths(hidden, session) };
  const servicePrefix = relative(projectRoot, serviceRoot);
  const workspace: Workspace = { serviceRoot, projectRoot, sharedPaths: rules.shared, zones: compileZones(rules, servicePrefix) };
  const roots = openWorkspaceRoots(workspace);
  unused.register(roots, roots.close);
  return {
    workspace,
    roots,
    disabledTools: new Set([...settings.tools.disabled, ...narrowing.tools.disabled]),
    volumeId: String(statSync(serviceRoot).dev),
  };
}

/** The project's paths of the directories `hidden`, as they are named and as they really lie. */
function hiddenPaths(hidden: readonly string[], { serviceRoot, projectRoot }: Session): readonly string[] {
  const places = hidden.flatMap((directory) => [resolve(directory), realPath(directory)]);
  if (places.some((directory) => isWithin(directory, serviceRoot))) {
    throw new KernelError(
      "CONFIG_INVALID",
      `the workspace \`${serviceRoot}\` lies in Handrail's own directory; keep state and configuration elsewhere`,
    );
  }
  return places.filter((directory) => isWithin(projectRoot, directory)).map((directory) => relative(projectRoot, directory));
}

function combineRules(files: readonly FileRules[], narrowing: Narrowing): ZoneRules {
  return {
    ...BUILT_IN_ZONE_RULES,
    ownSecret: [...files.flatMap((file) => file.secret), ...narrowing.files.secret],
    shared: [...BUILT_IN_ZONE_RULES.shared, ...files.flatMap((file) => file.shared)],
    protected: [...BUILT_IN_ZONE_RULES.protected, ...files.flatMap((file) => file.protected), ...narrowing.files.protected],
    readOnly: [...files.flatMap((file) => file.read_only), ...narrowing.files.read_only],
  };
}

/**
 * The workspace's own rules. A file that is not valid closes the workspace: its author wanted protection. Links are not
 * followed, because what stands in the file may be quoted to agents.
 */
async function readNarrowing(serviceRoot: string): Promise<Narrowing> {
  const path = join(serviceRoot, "handrail.yaml");
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return noNarrowing();
    throw new KernelError("WORKSPACE_INVALID", `\`${path}\` cannot be read; it must be a regular file and no link`, error);
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > CONFIG_FILE_BYTES_MAX) {
      throw new KernelError("WORKSPACE_INVALID", `\`${path}\` must be a regular file of at most 1 MiB`);
    }
    return await parseNarrowing(readFileSync(descriptor, "utf8"), path);
  } catch (error) {
    const isOwn = error instanceof KernelError && error.code === "CONFIG_INVALID";
    throw isOwn ? new KernelError("WORKSPACE_INVALID", error.message, error) : error;
  } finally {
    closeSync(descriptor);
  }
}
