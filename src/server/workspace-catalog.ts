/**
 * Opens workspaces: real paths, zones from built-in rules, the operator's and the workspace's own narrowing ones, and
 * the root handles. One opened workspace serves all sessions with the same roots.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { KernelError } from "../base/errors.ts";
import { CONFIG_FILE_BYTES_MAX } from "../base/limits.ts";
import { type FileRules, type Narrowing, noNarrowing, parseNarrowing, type Settings } from "../config/config.ts";
import type { OpenWorkspace, WorkspaceCatalog } from "../kernel/index.ts";
import type { Session } from "../model/session.ts";
import type { Workspace } from "../model/workspace.ts";
import { BUILT_IN_ZONE_RULES, compileZones, type ZoneRules } from "../model/zone.ts";
import { openWorkspaceRoots } from "../sandbox/files/files.ts";

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

/** @param hidden absolute directories that no agent may see: the operator's and the state directory */
export function createWorkspaceCatalog(settings: Settings, hidden: readonly string[]): ClosableCatalog {
  const opened = new Map<string, Promise<OpenWorkspace>>();
  return {
    open(session) {
      const key = `${session.serviceRoot}\0${session.projectRoot}`;
      const known = opened.get(key);
      if (known) return known;
      const opening = openWorkspace(settings, hidden, session);
      opened.set(key, opening);
      // A workspace that could not be opened is tried again with the next call: its rules may have been mended.
      opening.catch(() => opened.delete(key));
      return opening;
    },
    async close() {
      for (const result of await Promise.allSettled(opened.values())) {
        if (result.status === "fulfilled") result.value.roots.close();
      }
      opened.clear();
    },
  };
}

async function openWorkspace(settings: Settings, hidden: readonly string[], session: Session): Promise<OpenWorkspace> {
  const { serviceRoot, projectRoot } = session;
  const own = settings.workspaces.find((candidate) => candidate.path === serviceRoot);
  const narrowing = await readNarrowing(serviceRoot);
  const rules = combineRules([settings.files, ...(own?.files ? [own.files] : [])], narrowing, hidden, serviceRoot);
  const servicePrefix = relative(projectRoot, serviceRoot);
  if (servicePrefix.startsWith(".."))
    throw new KernelError("CONFIG_INVALID", `the workspace \`${serviceRoot}\` does not lie in its project \`${projectRoot}\``);
  const workspace: Workspace = { serviceRoot, projectRoot, sharedPaths: rules.shared, zones: compileZones(rules, servicePrefix) };
  return {
    workspace,
    roots: openWorkspaceRoots(workspace),
    disabledTools: new Set([...settings.tools.disabled, ...narrowing.tools.disabled]),
    volumeId: String(statSync(serviceRoot).dev),
  };
}

function combineRules(files: readonly FileRules[], narrowing: Narrowing, hidden: readonly string[], serviceRoot: string): ZoneRules {
  const inside = hidden.map((directory) => relative(serviceRoot, directory)).filter((path) => path !== "" && !path.startsWith(".."));
  return {
    secret: [
      ...BUILT_IN_ZONE_RULES.secret,
      ...files.flatMap((file) => file.secret),
      ...narrowing.files.secret,
      ...inside.map((path) => `/${path.replace(/[\\*?[\]{}()!+@]/g, "\\$&")}`),
    ],
    secretTemplates: BUILT_IN_ZONE_RULES.secretTemplates,
    managed: BUILT_IN_ZONE_RULES.managed,
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
    throw new KernelError("CONFIG_INVALID", `\`${path}\` cannot be read; it must be a regular file and no link`, error);
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > CONFIG_FILE_BYTES_MAX) {
      throw new KernelError("CONFIG_INVALID", `\`${path}\` must be a regular file of at most 1 MiB`);
    }
    return await parseNarrowing(readFileSync(descriptor, "utf8"), path);
  } finally {
    closeSync(descriptor);
  }
}
