/**
 * Opens the parts of a kernel, from the stores of its state to what the pipeline consults.
 *
 * These are the operator's directory, instance, ledger, stores and configuration.
 *
 * INVARIANT: a kernel that cannot open gives its claim back, so that it does not go on counting as one that lives.
 */

import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/ids.ts";
import { undoLimits } from "../config/sections/undo.ts";
import { Dedupe } from "../dedupe/dedupe.ts";
import { FileHistory, type KernelParts, SecretGuesses, SessionSecrets } from "../kernel/index.ts";
import { BY_KERNEL } from "../ledger/actors.ts";
import { Branches } from "../sandbox/branches/branches.ts";
import { newFiles } from "../sandbox/files/new-files.ts";
import { instanceOfName, temporaryName } from "../sandbox/files/places/temporary.ts";
import { ViewDirectories, type ViewNames } from "../sandbox/layers/view-directories.ts";
import { ScratchDirectories } from "../sandbox/scratch/scratch.ts";
import { openContentStore } from "../stores/embedded/content/content-store.ts";
import { openHistoryStore } from "../stores/embedded/content/history-store.ts";
import { openDedupeStore } from "../stores/embedded/dedupe-store.ts";
import { openNewFileStore } from "../stores/embedded/new-file-store.ts";
import { brokerBy, gitRemotesBy, openConfiguration, redactorWith } from "./configuration.ts";
import type { KernelOptions } from "./kernel-options.ts";
import { openKnowledge } from "./knowledge/open-knowledge.ts";
import { executionEvidence } from "./ledger/execution-evidence.ts";
import type { LedgerThread } from "./ledger/ledger-messages.ts";
import { type Base, openBase } from "./open-base.ts";
import { openModels, openSecrets, openWeb } from "./open-web.ts";
import { Opening } from "./opening.ts";
import { openMachine } from "./operator/open-machine.ts";
import { openSandbox } from "./operator/open-sandbox.ts";
import { recordOverrides } from "./operator/tools-in-force.ts";
import { openApprovals } from "./people/open-approvals.ts";
import { openSpending } from "./people/spending.ts";
import { reportWarning } from "./report.ts";
import { sessionScratch } from "./workspace/session-scratch.ts";

export type { KernelOptions } from "./kernel-options.ts";

/** What was opened; whoever opened it closes it. */
export type OpenedParts = Awaited<ReturnType<typeof openParts>>;

/**
 * Opens everything that a kernel is made of.
 * @throws KernelError CONFIG_INVALID, STORE_UNAVAILABLE or STORE_CORRUPT, saying what to do
 */
export async function openParts(options: KernelOptions) {
  const opening = new Opening();
  try {
    return await openAll(options, opening);
  } catch (error) {
    const report = options.onInternalError ?? ((failure: unknown) => reportWarning(String(failure)));
    for (const failure of await opening.giveBack()) report(failure);
    throw error;
  }
}

async function openAll(options: KernelOptions, opening: Opening) {
  const base = await openBase(options, opening);
  const { live, tools, ledger, components, declaredWith, isOthers } = base;
  const services = await openServices(base, options, opening);
  const parts = kernelParts(base, services);
  base.upstreams.runIn(services.commands.sandbox);
  await tools.ready();
  const { nowMs } = systemClock;
  await recordOverrides(ledger, nowMs(), { now: tools.under(live.operator.settings).overridden });
  const { reload, policiesFor } = services.configuration;
  const alone = (work: () => Promise<void>) => reload.alone(work);
  const { onInternalError, tell } = base;
  const reloading = { live, tools, policiesFor, ledger, nowMs, alone, tell, onInternalError };
  components.watch({ ...reloading, declaredWith, isOthers });
  base.upstreams.watch({ ...reloading, declaredWithUpstreams: base.declaredWithUpstreams });
  const { environment, allowUnusualWorkspace: allowsUnusual = false } = options;
  return { ...base, ...services, environment, allowsUnusual, parts };
}

/** Opens what the kernel's stages use, each on top of `base`. */
async function openServices(base: Base, options: KernelOptions, opening: Opening) {
  const { live, settings, tools, instance, instances, ledger, stores, stateDirectory, onInternalError, tell } = base;
  const shared = { stateDirectory, ledger, clock: systemClock, random: systemRandom, onInternalError };
  const who = { instanceId: instance.id, isAlive: instances.isAlive };
  const { sessions, bell } = stores;
  const giver = { instanceId: instance.id, key: stores.argumentsKey };
  const viewNames: ViewNames = {
    next: () => temporaryName(giver, systemRandom),
    instanceOf: (name) => instanceOfName(name, giver.key),
    isAlive: instances.isAlive,
  };
  const history = opening.keep(openHistory(base));
  const content = opening.keep(openContent({ ...shared, ...who }));
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
  const models = opening.keep(openModels(live, options.network));
  const { environment } = options;
  const kept = { live, stateDirectory, environment };
  const configured = { ...kept, treeOf, tools, ledger, nowMs: systemClock.nowMs, tell, onInternalError };
  return {
    viewNames,
    scratch,
    branches,
    kept: opening.keep(openDedupeStore(stateDirectory)),
    content,
    history,
    configuration: opening.keep(openConfiguration(configured)),
    spending: opening.keep(openSpending({ ...shared, ...who, sessions, limits: () => settings.limits })),
    asking: opening.keep(
      openApprovals({
        ...shared,
        bell,
        manager: options.approvals,
        sessionOf: (id) => sessions.findSession(id),
        settings: () => live.operator.settings.approvals,
        documents: { content, areWanted: () => settings.documents !== "off", redactor: base.redactor },
      }),
    ),
    commands: opening.keep(openCommands(base, options, viewNames)),
    machine: openMachine(live),
    web: opening.keep(openWeb(live, options.network)),
    models,
    knowledge: opening.keep(
      openKnowledge({ ...base, ...configured, key: stores.argumentsKey, models: models.models, brokerBy }),
    ),
    left: opening.keep(await openNewFileStore(stateDirectory, instance.id)),
  };
}

function openCommands({ live, instance, tell, stateDirectory }: Base, options: KernelOptions, viewNames: ViewNames) {
  return openSandbox(live, instance.id, {
    ownsProcess: options.ownsProcess === true,
    allowsUnsandboxed: options.allowUnsandboxedCommands === true,
    tell,
    viewsDirectory: viewsIn(stateDirectory),
    viewNames,
    ...(options.network && { network: options.network }),
  });
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
    redactorWith,
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
    knowledge: knowledge.knowledge,
    gitRemotes: gitRemotesBy,
    secrets: openSecrets(live),
    ledger,
    get observer() {
      return base.observers.calls;
    },
    onInternalError,
  };
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

/** Where views of workspaces lie. */
export function viewsIn(stateDirectory: string): string {
  return join(stateDirectory, "views");
}
