/**
 * Opens workspaces: real paths, zones from built-in rules, the operator's and the workspace's own narrowing ones, and
 * the root handles. One opened workspace serves all sessions with the same roots.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { KernelError } from "../base/errors.ts";
import { CONFIG_FILE_BYTES_MAX } from "../base/limits.ts";
import { type FileRules, type Narrowing, parseNarrowing, type Settings } from "../config/config.ts";
import type { OpenWorkspace, WorkspaceCatalog } from "../kernel/index.ts";
import type { Session } from "../model/session.ts";
import type { Workspace } from "../model/workspace.ts";
import { BUILT_IN_ZONE_RULES, compileZones, type ZoneRules } from "../model/zone.ts";
import { openWorkspaceRoots } from "../sandbox/files/files.ts";

/** A catalog that can be closed with its kernel. */
export interface ClosableCatalog extends WorkspaceCatalog {
  readonly close: () => void;
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
  const opened = new Map<string, OpenWorkspace>();
  return {
    open(session) {
      const key = `${session.serviceRoot}\0${session.projectRoot}`;
      const known = opened.get(key);
      if (known) return known;
      const place = openWorkspace(settings, hidden, session);
      opened.set(key, place);
      return place;
    },
    close() {
      for (const place of opened.values()) place.roots.close();
      opened.clear();
    },
  };
}

function openWorkspace(settings: Settings, hidden: readonly string[], session: Session): OpenWorkspace {
  const { serviceRoot, projectRoot } = session;
  const own = settings.workspaces.find((candidate) => candidate.path === serviceRoot);
  const narrowing = readNarrowing(serviceRoot);
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

/** The workspace's own rules. A file that is not valid closes the workspace: its author wanted protection. */
function readNarrowing(serviceRoot: string): Narrowing {
  const path = join(serviceRoot, "handrail.yaml");
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return parseNarrowing("", path);
  if (!status.isFile() || status.size > CONFIG_FILE_BYTES_MAX)
    throw new KernelError("CONFIG_INVALID", `\`${path}\` must be a regular file of at most 1 MiB`);
  return parseNarrowing(readFileSync(path, "utf8"), path);
}
