/**
 * Opens workspaces: real paths, zones from built-in rules, the operator's and the workspace's own narrowing ones, and
 * the root handles. One opened workspace serves all sessions with the same roots, until its directory is moved or
 * replaced: then it is opened anew.
 *
 * INVARIANTS: Handrail's own directories are hidden by their real paths, whatever links lead there; the handles of a
 * workspace that was let go are closed only once no call can use them any more, because a number that is closed too
 * early would name another directory.
 */
import { realpathSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { configInvalid, KernelError, usageError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { canonicalJson } from "../../base/json.ts";

import type { WorkspaceSettings } from "../../config/config.ts";
import { chosenToolchain } from "../../config/sections/toolchain.ts";
import { privateGitHosts } from "../../config/sections/tools/git.ts";
import { type ChosenGitRules, chosenGitRules } from "../../config/sections/tools/git-rules.ts";
import { openedWebHosts } from "../../config/sections/tools/web.ts";
import { type TrustState, trustStateOf } from "../../config/trust.ts";
import { trustedRulesOf, withFlow, zoneRulesOf } from "../../config/zone-rules.ts";
import type { OpenWorkspace, WorkspaceCatalog, WorkspaceName } from "../../kernel/index.ts";
import type { Workspace } from "../../model/place/workspace.ts";
import { compileZones, type ZoneRules } from "../../model/place/zone.ts";
import type { ChosenToolchain } from "../../model/work/toolchain.ts";
import { isInPlaceThisTurn, openWorkspaceRoots, type WorkspaceRoots } from "../../sandbox/files/files.ts";
import { installFile, projectFiles } from "../../sandbox/files/project-files.ts";
import { lookAtRepository } from "../../sandbox/git/repository.ts";
import { readyGitRules } from "../operator/git-rules.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { isWithin, realPath } from "../operator/real-path.ts";
import { envFileSecrets } from "./env-files.ts";
import { filesThatGitNames } from "./git-named-files.ts";
import { type GitRepositories, gitConfigState, repositoriesOf } from "./git-repositories.ts";
import { grantOf } from "./grants.ts";
import { installationPaths } from "./installation.ts";
import { mainCheckoutOf } from "./main-checkout.ts";
import { pathsWithin } from "./mounted-places.ts";
import {
  flowFacts,
  narrowedBy,
  readWorkspaceConfiguration,
  TOOL_POLICY_FILE,
  type WorkspaceFlow,
  type WorkspaceToolPolicy,
  workspaceFilesState,
} from "./workspace-settings.ts";

/** Workspaces that one kernel keeps open; each holds two descriptors. */
export const WORKSPACES_OPEN_MAX = 64;

/** What the operator says of workspaces; asked again whenever one is opened. */
export type WorkspaceRules = () => Pick<OperatorDirectory, "settings" | "trusted">;

/** A catalog that can be closed with its kernel. */
export interface ClosableCatalog extends WorkspaceCatalog {
  /** Opens every workspace anew with its next call: the operator's rules have changed. */
  readonly forget: () => void;
  /** Forgets the workspaces whose own configuration files have changed. */
  readonly refresh: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The real directory that `path` names. */
export function workspaceDirectory(path: string): string {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    throw usageError(`the workspace \`${path}\` does not exist; create it or name another directory`, error);
  }
  if (!statSync(real).isDirectory()) throw usageError(`the workspace \`${path}\` is not a directory`);
  return real;
}

// A call that was let go may go on for as long as it likes; that nothing refers to the handles any more is the only
// sign that nobody will use them.
const unused = new FinalizationRegistry<() => void>((close) => close());

type Report = (message: string) => void;
/** Texts of a catalog that it remembers having told. */
const TOLD_MAX = 256;

function oncePerText(tell: Report): Report {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message)) return;
    if (told.size >= TOLD_MAX) told.clear();
    told.add(message);
    tell(message);
  };
}

interface Opening {
  readonly key: string;
  readonly serviceRoot: string;
  readonly projectRoot: string;
  readonly branchId: string | undefined;
  /** Those whose configuration says what is protected, as they were found when it was opened. */
  readonly repositories: Promise<GitRepositories>;
  /** State of the files that say what is protected, before they were read. */
  readonly files: Promise<string>;
  readonly place: Promise<OpenWorkspace>;
  /** The same, once it is there. */
  made?: OpenWorkspace;
}

/** What a catalog is given besides. */
interface CatalogParts {
  /** Where the files of a branch lie; none are known when absent. */
  readonly treeOf?: (branchId: string) => string;
  /** Told once what of a workspace's own files has no effect. */
  readonly tell?: (message: string) => void;
}

/** @param hidden directories that no agent may see: the operator's and the state directory */
export function createWorkspaceCatalog(
  rules: WorkspaceRules,
  hidden: readonly string[],
  { treeOf = unknownTree, tell = () => undefined }: CatalogParts = {},
): ClosableCatalog {
  const openings = new Openings();
  const report = oncePerText(tell);
  const openAnew = (key: string, session: WorkspaceName): Promise<OpenWorkspace> => {
    const { serviceRoot, projectRoot, branchId } = session;
    const repositories = repositoriesOf(serviceRoot);
    const files = filesState({ serviceRoot, repositories });
    const place = Promise.all([repositories, files]).then(([found]) =>
      openWorkspace(rules, { hidden, treeOf, report, repositories: found }, session),
    );
    const opening: Opening = { key, serviceRoot, projectRoot, branchId, repositories, files, place };
    openings.keep(opening);
    place.then(
      (made) => {
        opening.made = made;
      },
      // A workspace that could not be opened is tried again with the next call, unless its own file is what is wrong.
      (error: unknown) => !isOwnFault(error) && openings.drop(opening),
    );
    return place;
  };
  const openWaiting = async (key: string, session: WorkspaceName): Promise<OpenWorkspace> => {
    const known = openings.get(key);
    if (known === undefined) return openAnew(key, session);
    const place = await known.place.catch(async (error: unknown) => {
      // Read again only once it has changed: refusing it takes longer than looking at it.
      if (!isOwnFault(error) || (await known.files) === (await filesState(known))) throw error;
      return undefined;
    });
    if (place === undefined) {
      const other = openings.get(key);
      return other === undefined || other === known ? openAnew(key, session) : other.place;
    }
    const current = openings.get(key);
    // Somebody else found it moved meanwhile, or its rules have changed.
    if (current !== known) return current === undefined ? openAnew(key, session) : current.place;
    if (!areInPlace(place.roots)) return openAnew(key, session);
    openings.keep(known);
    return place;
  };
  return {
    open(session) {
      const newest = openings.newestOf(session)?.made;
      if (newest !== undefined && areInPlace(newest.roots)) return newest;
      const key = `${session.serviceRoot}\0${session.projectRoot}\0${session.branchId ?? ""}`;
      const known = openings.get(key);
      if (known?.made === undefined || !areInPlace(known.made.roots)) return openWaiting(key, session);
      openings.keep(known);
      return known.made;
    },
    // Handles of workspaces that were let go are closed when nothing refers to them.
    forget: () => openings.clear(),
    async refresh() {
      for (const opening of openings.all()) {
        const [before, now] = await Promise.all([opening.files, filesState(opening)]);
        if (before !== now) openings.drop(opening);
      }
    },
    async close() {
      for (const result of await Promise.allSettled(openings.all().map(({ place }) => place))) {
        if (result.status === "fulfilled") result.value.roots.close();
      }
      openings.clear();
    },
  };
}

/**
 * The workspaces that are open or being opened, in the order of their last use. Nothing else refers to one for long:
 * that would keep its handles open.
 */
class Openings {
  readonly #byKey = new Map<string, Opening>();
  #newest: Opening | undefined;

  get(key: string): Opening | undefined {
    return this.#byKey.get(key);
  }

  /** The one that was used last, if it is the session's: most calls come for the workspace of the call before them. */
  newestOf({ serviceRoot, projectRoot, branchId }: WorkspaceName): Opening | undefined {
    const newest = this.#newest;
    const isIts =
      newest?.serviceRoot === serviceRoot && newest.projectRoot === projectRoot && newest.branchId === branchId;
    return isIts ? newest : undefined;
  }

  all(): readonly Opening[] {
    return [...this.#byKey.values()];
  }

  keep(opening: Opening): void {
    this.#newest = opening;
    this.#byKey.delete(opening.key);
    this.#byKey.set(opening.key, opening);
    for (const oldest of this.#byKey.keys()) {
      if (this.#byKey.size <= WORKSPACES_OPEN_MAX) return;
      this.#byKey.delete(oldest);
    }
  }

  /** Lets it go, unless another has taken its place. */
  drop(opening: Opening): void {
    if (this.#byKey.get(opening.key) === opening) this.#byKey.delete(opening.key);
    if (this.#newest === opening) this.#newest = undefined;
  }

  clear(): void {
    this.#byKey.clear();
    this.#newest = undefined;
  }
}

/** Another text, another configuration of the workspace or of its repositories. */
async function filesState({
  serviceRoot,
  repositories,
}: Pick<Opening, "serviceRoot" | "repositories">): Promise<string> {
  return `${await workspaceFilesState(serviceRoot)}\n${gitConfigState(await repositories)}`;
}

/** Whether the workspace's own configuration file is what keeps it closed. */
function isOwnFault(error: unknown): boolean {
  return error instanceof KernelError && error.code === "WORKSPACE_INVALID";
}

function areInPlace({ service, project }: WorkspaceRoots): boolean {
  return isInPlaceThisTurn(service) && (project === service || isInPlaceThisTurn(project));
}

async function openWorkspace(
  rulesOf: WorkspaceRules,
  { treeOf, report, ...planning }: Planning & Required<Pick<CatalogParts, "treeOf">> & { readonly report: Report },
  session: WorkspaceName,
): Promise<OpenWorkspace> {
  const plan = await planWorkspace(rulesOf, session, planning);
  const { rules, disabledTools, toolPolicy, chosen, git, opened } = plan;
  const notes = plan.flow?.unhonoured ?? [];
  if (notes.length > 0) report(`\`${session.serviceRoot}/.flow/config.json\`: ${notes.join("; ")}`);
  const gitRules = await readyGitRules(git);
  const { secretsOfEnvFile } = await import("../../redact/environment.ts");
  const ground = workspaceBy(rules, session);
  const planned = session.branchId === undefined ? ground : onBranch(ground, treeOf(session.branchId));
  const roots = openWorkspaceRoots(planned);
  unused.register(roots, roots.close);
  const mainCheckout = mainCheckoutOf(roots);
  const workspace = mainCheckout === undefined ? planned : { ...planned, mainCheckout };
  return {
    workspace,
    roots,
    disabledTools: new Set(disabledTools),
    ...(toolPolicy && { toolPolicy: toolPolicy.policy }),
    ...narrowedBy(plan.flow),
    rules: blake3Hex(
      canonicalJson({
        ...rules,
        disabledTools,
        toolchain: { ...chosen },
        git: { ...git },
        ...opened,
        ...(toolPolicy && { toolPolicy: toolPolicy.digest }),
        ...(plan.flow && { flow: flowFacts(plan.flow) }),
      }),
    ),
    toolchain: () => ({ files: projectFiles(workspace, roots), chosen }),
    installFile: (path) => installFile(workspace, roots, path),
    repository: (directory) => lookAtRepository({ workspace, roots }, directory, gitRules),
    privateGitHosts: new Set(opened.privateGitHosts),
    openedWebHosts: new Set(opened.openedWebHosts),
    envSecrets: envFileSecrets([session.serviceRoot, session.projectRoot], (text) =>
      secretsOfEnvFile(text, rulesOf().settings.redaction.environment),
    ),
    volumeId: String(statSync(workspace.serviceRoot).dev),
  };
}

/** The same workspace as it is on a branch. What the project shares is none of it. */
function onBranch(workspace: Workspace, tree: string): Workspace {
  return {
    ...workspace,
    serviceRoot: tree,
    projectRoot: tree,
    knownRoot: workspace.serviceRoot,
    sharedPaths: [],
  };
}

function unknownTree(): never {
  throw configInvalid("this kernel has no branches");
}

/** The rules of a workspace, before anything of it is opened. */
export interface WorkspacePlan {
  readonly rules: ZoneRules;
  readonly disabledTools: readonly string[];
  readonly chosen: ChosenToolchain;
  /** What is asked of branches and messages. */
  readonly git: ChosenGitRules;
  /** Servers that git and fetching may reach outside of the public internet, as `host:port`. */
  readonly opened: { readonly privateGitHosts: readonly string[]; readonly openedWebHosts: readonly string[] };
  /** What the workspace says of itself, and whether the operator trusts it. */
  readonly own: WorkspaceSettings;
  readonly trust: TrustState;
  readonly toolPolicy?: WorkspaceToolPolicy;
  readonly flow?: WorkspaceFlow;
}

/** How the rules of a workspace are read. */
interface Planning {
  readonly hidden: readonly string[];
  /** As if the workspace's own configuration were trusted. */
  readonly assumeTrust?: boolean;
  /** Those of the workspace, where they are known. */
  readonly repositories?: GitRepositories;
}

/** Reads and combines the rules of the workspace of `session`. */
export async function planWorkspace(
  rulesOf: WorkspaceRules,
  session: WorkspaceName,
  { hidden, assumeTrust = false, repositories }: Planning,
): Promise<WorkspacePlan> {
  const { serviceRoot, projectRoot } = session;
  if (!isWithin(projectRoot, serviceRoot))
    throw configInvalid(`the workspace \`${serviceRoot}\` does not lie in its project \`${projectRoot}\``);
  const { settings: own, digests, toolPolicy, flow } = await readWorkspaceConfiguration(serviceRoot);
  const { settings, trusted = [] } = rulesOf();
  const trust = trustStateOf(trusted, serviceRoot, digests);
  const { files: granted, toolchain, git: grantedGit } = grantOf(settings, serviceRoot) ?? {};
  const isTrusted = trust === "trusted" || assumeTrust;
  const ground = isTrusted ? trustedRulesOf(settings, granted, own) : zoneRulesOf(settings, granted, own);
  const zoneRules = flow === undefined ? ground : withFlow(ground, flow.config, isTrusted);
  const chosen = chosenToolchain(toolchain, isTrusted ? own.toolchain : undefined);
  // An agent that could change the policy could take back what it narrows.
  const kept = toolPolicy === undefined ? zoneRules.settings : [...zoneRules.settings, `/${TOOL_POLICY_FILE}`];
  const rules = {
    ...zoneRules,
    settings: kept,
    protectedPaths: await filesThatGitNames(serviceRoot, repositories),
    hidden: hiddenPaths([...hidden, ...(repositories?.own ?? [])], session),
    installation: installedPaths(session),
  };
  const disabledTools = [...settings.tools.disabled, ...own.tools.disabled];
  const git = chosenGitRules(settings.git, grantedGit, own.git);
  // The operator's word alone, the same for every workspace.
  const opened = { privateGitHosts: privateGitHosts(settings.git), openedWebHosts: openedWebHosts(settings.web) };
  const more = { ...(toolPolicy && { toolPolicy }), ...(flow && { flow }) };
  return { rules, disabledTools, chosen, git, opened, own, trust, ...more };
}

/** The workspace that `rules` make of the directories of `session`. */
export function workspaceBy(rules: ZoneRules, { serviceRoot, projectRoot }: WorkspaceName): Workspace {
  return {
    serviceRoot,
    projectRoot,
    sharedPaths: rules.reachable ?? rules.shared,
    zones: compileZones(rules, relative(projectRoot, serviceRoot)),
  };
}

/** The project's paths of the directories `hidden`, as they are named, as they really lie, and as they are mounted. */
function hiddenPaths(hidden: readonly string[], { serviceRoot, projectRoot }: WorkspaceName): readonly string[] {
  const places = [...new Set(hidden.flatMap((directory) => [resolve(directory), realPath(directory)]))];
  if (pathsWithin(serviceRoot, places).includes("")) {
    throw configInvalid(
      `the workspace \`${serviceRoot}\` lies in Handrail's own directory; keep state and configuration elsewhere`,
    );
  }
  return pathsWithin(projectRoot, places);
}

/** The project's paths of the installation that is running; `""` where the project lies in it. */
function installedPaths({ projectRoot }: WorkspaceName): readonly string[] {
  return pathsWithin(projectRoot, installationPaths());
}
