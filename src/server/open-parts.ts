/**
 * Opens the parts of a kernel, from the stores of its state to what the pipeline consults.
 *
 * These are the operator's directory, instance, ledger, stores and configuration.
 *
 * INVARIANT: a kernel that cannot open gives its claim back, so that it does not go on counting as one that lives.
 */

import { join } from "node:path";
import type { ApprovalManager } from "../approval/handler.ts";
import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/ids.ts";
import { undoLimits } from "../config/sections/undo.ts";
import { Dedupe } from "../dedupe/dedupe.ts";
import {
  FileHistory,
  type KernelParts,
  KillSwitch,
  SecretGuesses,
  SessionSecrets,
  ToolRegistry,
} from "../kernel/index.ts";
import { BY_KERNEL } from "../ledger/actors.ts";
import type { CallObserver } from "../model/tool/observation.ts";
import type { Tool } from "../model/tool/tool.ts";
import { Branches } from "../sandbox/branches/branches.ts";
import { newFiles } from "../sandbox/files/new-files.ts";
import { instanceOfName, temporaryName } from "../sandbox/files/places/temporary.ts";
import { ViewDirectories, type ViewNames } from "../sandbox/layers/view-directories.ts";
import type { EgressNetwork } from "../sandbox/sandbox.ts";
import { ScratchDirectories } from "../sandbox/scratch/scratch.ts";
import { openBell } from "../stores/embedded/approvals/bell.ts";
import { openContentStore } from "../stores/embedded/content/content-store.ts";
import { openHistoryStore } from "../stores/embedded/content/history-store.ts";
import { openDedupeStore } from "../stores/embedded/dedupe-store.ts";
import { openInstanceStore } from "../stores/embedded/ledger/instance-store.ts";
import { openLockStore } from "../stores/embedded/lock-store.ts";
import { openNewFileStore } from "../stores/embedded/new-file-store.ts";
import { holdsSessions, openStateStores } from "../stores/embedded/sessions/state-stores.ts";
import { openViolationStore } from "../stores/embedded/sessions/violation-store.ts";
import { prepareStateDirectory } from "../stores/embedded/state/state-directory.ts";
import { componentTools } from "./components/component-tools.ts";
import { currentRedactor, gitRemotesBy, kernelSettings, openConfiguration } from "./configuration.ts";
import { openKnowledge } from "./knowledge/open-knowledge.ts";
import { evidenceKey } from "./ledger/evidence-key.ts";
import { executionEvidence } from "./ledger/execution-evidence.ts";
import type { LedgerThread } from "./ledger/ledger-messages.ts";
import { ledgerOf } from "./ledger/ledger-messages.ts";
import { startLedgerThread } from "./ledger/ledger-thread.ts";
import { embedderBy, openModels, openSecrets, openWeb } from "./open-web.ts";
import { BUILT_IN_TOOLS } from "./operator/built-in-tools.ts";
import { openMachine } from "./operator/open-machine.ts";
import { openSandbox } from "./operator/open-sandbox.ts";
import {
  defaultStatePath,
  type Environment,
  operatorPath,
  readOperatorDirectory,
} from "./operator/operator-directory.ts";
import { recordOverrides, ToolsInForce } from "./operator/tools-in-force.ts";
import { openApprovals } from "./people/open-approvals.ts";
import { openSpending } from "./people/spending.ts";
import type { PluginSource } from "./plugins/load-plugins.ts";
import { plugIn } from "./plugins/plug-in.ts";
import { reportInternalError, reportWarning } from "./report.ts";
import { sessionScratch } from "./workspace/session-scratch.ts";

/** Where a kernel keeps its state and finds its configuration; what is absent comes from the environment. */
export interface KernelOptions {
  readonly stateDirectory?: string;
  readonly configDirectory?: string;
  readonly environment: Environment;
  /** Tools besides the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Tools in place of the built-in ones. */
  readonly registry?: { readonly tools: () => readonly Tool[] };
  /** Plugins besides: those of the embedding program, and modules that run in threads of their own. */
  readonly plugins?: readonly PluginSource[];
  /** Where the embedding program answers requests for approval, once it has set a handler. */
  readonly approvals?: ApprovalManager;
  /**
   * What commands reach as the internet, in place of the machine's own. Code alone can give it, no configuration can;
   * every check of names and addresses stays as it is.
   */
  readonly network?: EgressNetwork;
  /**
   * Whether reads wait for their place in the ledger, so that each answer carries its sequence. Without it they wait
   * only until they would survive a killed process, and the answer names no sequence.
   */
  readonly awaitSequences?: boolean;
  /**
   * Whether commands may run without a sandbox where the operator's configuration says `sandbox.backend: none`, too.
   * Alone it changes nothing.
   */
  readonly allowUnsandboxedCommands?: boolean;
  /** Whether sessions may be made for `/`, home directories and directories of the system. */
  readonly allowUnusualWorkspace?: boolean;
  /**
   * Told about bugs and background failures; by default they are written to standard error, redacted. It gets the error
   * itself, with its stack and cause and whatever secrets their words hold: a program that writes them anywhere redacts
   * them first.
   */
  readonly onInternalError?: (error: unknown) => void;
  /**
   * Whether this process does nothing else, so that it may collect what commands leave behind; a program that embeds a
   * kernel has children of its own.
   */
  readonly ownsProcess?: boolean;
  /** Told what the operator should know; standard error by default. */
  readonly onWarning?: (message: string) => void;
}

/** What was opened; whoever opened it closes it. */
export type OpenedParts = Awaited<ReturnType<typeof openParts>>;

/**
 * Opens everything that a kernel is made of.
 * @throws KernelError CONFIG_INVALID, STORE_UNAVAILABLE or STORE_CORRUPT, saying what to do
 */
export async function openParts(options: KernelOptions) {
  const base = await openBase(options);
  const { live, tools, ledger } = base;
  const services = await openServices(base, options);
  const parts = kernelParts(base, services);
  await tools.ready();
  await recordOverrides(ledger, systemClock.nowMs(), { now: tools.under(live.operator.settings).overridden });
  const { environment, allowUnusualWorkspace: allowsUnusual = false } = options;
  return { ...base, ...services, environment, allowsUnusual, parts };
}

type Base = Awaited<ReturnType<typeof openBase>>;

/** Opens what the kernel's stages use, each on top of `base`. */
async function openServices(base: Base, options: KernelOptions) {
  const { live, settings, tools, instance, instances, ledger, stores, stateDirectory, onInternalError } = base;
  const tell = options.onWarning ?? reportWarning;
  const shared = { stateDirectory, ledger, clock: systemClock, random: systemRandom, onInternalError };
  const who = { instanceId: instance.id, isAlive: instances.isAlive };
  const { sessions, bell } = stores;
  const giver = { instanceId: instance.id, key: stores.argumentsKey };
  const viewNames: ViewNames = {
    next: () => temporaryName(giver, systemRandom),
    instanceOf: (name) => instanceOfName(name, giver.key),
    isAlive: instances.isAlive,
  };
  const history = openHistory(base);
  const branches: Branches = new Branches({
    directory: join(stateDirectory, "branches"),
    store: stores.branches,
    views: async () => {
      return new ViewDirectories(viewsIn(stateDirectory), viewNames);
    },
    baseOf: async (branch, path) => {
      const { keptBase } = await import("./branches/kept-base.ts");
      return await keptBase(history.store, { root: treeOf(branch.id), path, sinceMs: branch.createdAtMs });
    },
    instanceId: instance.id,
    isAlive: instances.isAlive,
    clock: systemClock,
    random: systemRandom,
  });
  const treeOf = (id: string): string => branches.treeOf(id);
  const scratch = scratchOf(base, viewNames);
  const { environment } = options;
  const kept = { live, stateDirectory, environment };
  const opening = { ...kept, treeOf, tools, ledger, nowMs: systemClock.nowMs, tell, onInternalError };
  const models = openModels(live, options.network);
  return {
    tell,
    viewNames,
    scratch,
    branches,
    kept: openDedupeStore(stateDirectory),
    content: openContent({ ...shared, ...who }),
    history,
    configuration: openConfiguration(opening),
    spending: openSpending({ ...shared, ...who, sessions, limits: () => settings.limits }),
    asking: openApprovals({
      ...shared,
      bell,
      manager: options.approvals,
      sessionOf: (id) => sessions.findSession(id),
      settings: () => live.operator.settings.approvals,
    }),
    commands: openSandbox(live, instance.id, {
      ownsProcess: options.ownsProcess === true,
      allowsUnsandboxed: options.allowUnsandboxedCommands === true,
      tell,
      viewsDirectory: viewsIn(stateDirectory),
      viewNames,
      ...(options.network && { network: options.network }),
    }),
    machine: openMachine(live),
    web: openWeb(live, options.network),
    models,
    knowledge: openKnowledge({ ...base, key: stores.argumentsKey, tell, embedder: embedderBy(base, models.models) }),
    left: await openNewFileStore(stateDirectory, instance.id),
  };
}

/** The parts of the kernel. */
function kernelParts(base: Base, services: Awaited<ReturnType<typeof openServices>>): KernelParts {
  const { live, settings, tools, redactor, instance, instances, ledger, stores, stateDirectory, onInternalError } =
    base;
  const {
    kept,
    content,
    history,
    configuration,
    spending,
    asking,
    commands,
    machine,
    web,
    models,
    knowledge,
    left,
    branches,
  } = services;
  const { sessions, bell: _shared, freezes: _administered, branches: _kept, ...consulted } = stores;
  return {
    clock: systemClock,
    random: systemRandom,
    instanceId: instance.id,
    newFiles: newFiles(left, { instanceId: instance.id, key: stores.argumentsKey }, systemRandom),
    settings,
    get registry() {
      return tools.under(live.operator.settings).registry;
    },
    policy: configuration.policy.engine,
    presetCloses: configuration.policy.closes,
    redactor,
    guesses: new SecretGuesses(),
    sessionSecrets: new SessionSecrets(),
    sessions,
    ...consulted,
    content,
    history,
    budgets: spending.budgets,
    rates: spending.rates,
    approvals: asking.approvals,
    freshRules: () => configuration.reload.lookNow(),
    dedupe: new Dedupe({
      instanceId: instance.id,
      isAlive: instances.isAlive,
      store: kept,
      evidence: executionEvidence(stateDirectory),
      clock: systemClock,
      onInternalError,
    }),
    workspaces: configuration.workspaces,
    branches,
    scratch: sessionScratch(services.scratch),
    sandbox: commands.sandbox,
    machine: machine.machine,
    web: web.web,
    models: models.models,
    observers: base.observers,
    knowledge: knowledge.knowledge,
    gitRemotes: gitRemotesBy,
    secrets: openSecrets(live),
    ledger,
    onInternalError,
  };
}

/** What everything else rests on: the operator's directory, this kernel's claim, the ledger and the stores. */
async function openBase(options: KernelOptions) {
  const { environment } = options;
  const operator = await readOperatorDirectory(options.configDirectory ?? operatorPath(environment));
  const stateDirectory = options.stateDirectory ?? defaultStatePath(environment);
  await prepareStateDirectory(stateDirectory);
  const plugged = await plugIn(operator, options.plugins);
  const components = await componentTools(operator, options.onWarning ?? reportWarning);
  const tools = new ToolsInForce(registryOf(options, [...plugged.tools, ...components.tools]));
  const live = { operator };
  const redactor = currentRedactor(live, environment, options.network);
  const onInternalError = options.onInternalError ?? ((error: unknown) => void reportInternalError(redactor, error));
  const settings = kernelSettings(environment, live);
  const instances = await openInstanceStore(stateDirectory, systemRandom);
  const instance = await instances.claim();
  const ledger = startLedgerThread(ledgerOf(stateDirectory, instance, holdsSessions(stateDirectory)), {
    spool: options.awaitSequences !== true,
  });
  const stores = await openStores(stateDirectory, onInternalError).catch(async (error: unknown) => {
    await ledger.close().catch(onInternalError);
    await instance.release();
    throw error;
  });
  for (const { tools: names, ...module } of [...plugged.modules, ...components.modules])
    await ledger.record(
      { type: "plugin_loaded", ...BY_KERNEL, timeMs: systemClock.nowMs(), payload: { ...module, tools: [...names] } },
      "durable",
    );
  return {
    stateDirectory,
    plugged: [plugged, components],
    observers: new Set<CallObserver>(),
    tools,
    live,
    redactor,
    onInternalError,
    settings,
    instances,
    instance,
    ledger,
    stores,
  };
}

function registryOf(
  { tools = [], registry: own }: Pick<KernelOptions, "tools" | "registry">,
  plugged: readonly Tool[],
): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of [...(own?.tools() ?? BUILT_IN_TOOLS), ...tools, ...plugged]) registry.register(tool);
  return registry;
}

/** The scratch directories of sessions. Touches nothing until one is used. */
function scratchOf(
  { stateDirectory, stores: { sessions }, onInternalError }: Base,
  names: ViewNames,
): ScratchDirectories {
  const views = new ViewDirectories(viewsIn(stateDirectory), names);
  return new ScratchDirectories({
    base: () => views.base(),
    owner: stateDirectory,
    async isOver(sessionId) {
      const session = await sessions.findSession(sessionId);
      return session === undefined || session.revokedAtMs !== undefined || session.expiresAtMs <= systemClock.nowMs();
    },
    onInternalError,
  });
}

function openHistory({ stateDirectory, instance, live, onInternalError }: Base): FileHistory {
  return new FileHistory({
    store: openHistoryStore({ stateDirectory, instanceId: instance.id, random: systemRandom }),
    limits: () => undoLimits(live.operator.settings.undo),
    nowMs: systemClock.nowMs,
    onInternalError,
  });
}

/** What the store of content is opened with. */
interface ContentParts {
  readonly stateDirectory: string;
  readonly instanceId: string;
  /** Whether the kernel with that id still runs. */
  readonly isAlive: (id: string) => Promise<boolean>;
  readonly ledger: LedgerThread;
  readonly onInternalError: (error: unknown) => void;
}

function openContent({ stateDirectory, instanceId, isAlive, ledger, onInternalError }: ContentParts) {
  const onCorrupt = (hash: string): void => void recordCorrupt(ledger, hash).catch(onInternalError);
  const { nowMs } = systemClock;
  return openContentStore({
    stateDirectory,
    instanceId,
    isInstanceAlive: isAlive,
    nowMs,
    random: systemRandom,
    onCorrupt,
  });
}

/** Says in the evidence that stored bytes were altered or lost, and put aside. */
async function recordCorrupt(ledger: LedgerThread, hash: string): Promise<void> {
  const payload = { contentHash: hash, severity: "critical" };
  const event = { type: "content_quarantined", ...BY_KERNEL, timeMs: systemClock.nowMs(), payload } as const;
  await ledger.record(event, "durable");
}

async function openStores(stateDirectory: string, onInternalError: (error: unknown) => void) {
  const state = await openStateStores(stateDirectory);
  const locks = await openLockStore(stateDirectory);
  const violations = openViolationStore(stateDirectory);
  const bell = await openBell(stateDirectory, (error) => {
    void killSwitch.lost();
    onInternalError(error);
  });
  const killSwitch = new KillSwitch({ ...state, bell, clock: systemClock, onInternalError });
  return {
    ...state,
    locks,
    violations,
    bell,
    killSwitch,
    argumentsKey: await evidenceKey(stateDirectory, systemRandom),
  };
}

/** Where views of workspaces lie. */
export function viewsIn(stateDirectory: string): string {
  return join(stateDirectory, "views");
}
