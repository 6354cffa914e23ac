/**
 * Wires an open kernel together: its parts (`open-parts.ts`), its door, and the operator's desks.
 *
 * Opening claims an instance, so that intents of a killed kernel can be told from those of a living one, takes over
 * what dead ones had spooled and closes their orphans. Closing gives everything back; nothing that was acknowledged is
 * lost either way.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/ids.ts";
import { createKernelDoor, type KernelDoor, namedTool, type ToolRegistry, type TurnCounts } from "../kernel/index.ts";
import type { Denial } from "../model/outcome/decision.ts";
import type { OperatorGates } from "../model/people/gates.ts";
import { DEFAULT_PRESET } from "../model/people/preset.ts";
import type { Authenticated } from "../session/session.ts";
import type { ProviderOutputs } from "./artifacts/provider-outputs.ts";
import { BranchDesk } from "./branches/branch-desk.ts";
import { closeBranchActs } from "./branches/interrupted-acts.ts";
import { LandingDesk } from "./branches/landing-desk.ts";
import { announce, recordStall, recordStop, sweepDeadInstances, takeBackLandings } from "./kernel-life.ts";
import type { KnowledgeDesk } from "./knowledge/knowledge-desk.ts";
import type { LedgerHealth } from "./ledger/ledger-messages.ts";
import { type KernelOptions, type OpenedParts, openParts, viewsIn } from "./open-parts.ts";
import type { OperatorDirectory } from "./operator/operator-directory.ts";
import { registryHash } from "./operator/operator-gates.ts";
import { Administration, type Offer } from "./people/administration.ts";
import type { ApprovalActs } from "./people/approval-acts.ts";
import { ArmingAdministration } from "./people/arming-administration.ts";
import type { BudgetAdministration } from "./people/budget-administration.ts";
import { ContentAdministration } from "./people/content-administration.ts";
import { FreezeAdministration } from "./people/freeze-administration.ts";
import { MarkAdministration } from "./people/mark-administration.ts";
import { UndoAdministration } from "./people/undo-administration.ts";
import type { AdvisedExplanation, ExplainedCall } from "./policy/advice.ts";
import { AlwaysAllow, type PolicyParts } from "./policy/always-allow.ts";
import type { SecretDesk } from "./secrets/secret-desk.ts";
import type { Observer } from "./telemetry/observers.ts";
import type { TelemetryState } from "./telemetry/telemetry.ts";
import type { UpstreamDesk } from "./upstream/upstream-desk.ts";
import { type Stalls, stallFacts, stallLine, Watchdog, watchedDoor } from "./watchdog.ts";
import { hiddenDirectories } from "./workspace/own-directories.ts";
import { RoleDesk } from "./workspace/role-grants.ts";
import { TrustDesk } from "./workspace/trust.ts";
import { requireUsualWorkspace } from "./workspace/unusual-workspace.ts";

export { CALL_TOOL } from "../kernel/index.ts";
export type { MintedSession } from "../session/session.ts";
export type { KernelOptions } from "./open-parts.ts";

/** How an open kernel is. */
export interface KernelHealth extends LedgerHealth {
  /** How often its thread stood. */
  readonly stalls: Stalls;
  /** Calls and events that were not exported, and lines of the log that were lost. */
  readonly telemetryDropped: number;
}

/** What a kernel that somebody observes can say of itself. */
export interface KernelObservation {
  /** Lets an observer hear of calls, events and failures. @returns what ends that */
  readonly observe: (observer: Observer) => () => void;
  /** How logs and exports are; absent where there are none. */
  readonly telemetry: () => TelemetryState | undefined;
  /** Operations that run, and that wait for their turn. */
  readonly turns: () => TurnCounts;
  readonly callsUnderWay: () => number;
  readonly spoolBytes: () => number;
  /** How often an observer threw. */
  readonly observerFailures: () => number;
}

/** An open kernel. */
export interface OpenKernel {
  readonly door: KernelDoor;
  readonly administration: Administration;
  readonly marks: MarkAdministration;
  /** What is armed, for all kernels of the state directory. */
  readonly arming: ArmingAdministration;
  /** Requests for approval, for the people who decide them. */
  readonly approvals: ApprovalActs;
  /** Permits with which a call that asked would not ask again. */
  readonly alwaysAllow: AlwaysAllow;
  /** What proposals for the operator's policies rest on. */
  readonly policyParts: PolicyParts;
  /** Who is frozen, in all kernels of the state directory. */
  readonly freezes: FreezeAdministration;
  /** What is limited, spent, reserved and left. */
  readonly budgets: BudgetAdministration;
  /** Copies of workspaces that stay. */
  readonly branches: BranchDesk;
  /** What commands changed and kernels could not finish landing. */
  readonly landings: LandingDesk;
  /** Indexes of workspaces. */
  readonly knowledge: () => Promise<KnowledgeDesk>;
  /** Stored content. */
  readonly content: ContentAdministration;
  /** Tool calls that providers of models answered with. */
  readonly providerOutputs: () => Promise<ProviderOutputs>;
  /** What calls changed in files, and bringing it back. */
  readonly undo: UndoAdministration;
  /** Which roles clients of a workspace may ask for. */
  readonly roles: RoleDesk;
  /** Trust in the configuration that workspaces bring. */
  readonly trust: TrustDesk;
  /** Secrets that agents use and never see. */
  readonly secrets: () => Promise<SecretDesk>;
  /** Other people's MCP servers. */
  readonly upstream: () => Promise<UpstreamDesk>;
  readonly operator: OperatorDirectory;
  readonly stateDirectory: string;
  readonly instanceId: string;
  /** Why a call would be decided as it would, and the narrowest change that would let it run. Nothing runs. */
  readonly explain: (who: Authenticated, call: ExplainedCall) => Promise<AdvisedExplanation>;
  /** Resolves once the ledger is open. @throws KernelError STORE_CORRUPT or LEDGER_UNAVAILABLE, saying what to do */
  readonly ready: () => Promise<void>;
  readonly health: () => KernelHealth;
  readonly observation: KernelObservation;
  /** Reports what went wrong at a front door; `text` is how people are told. */
  readonly reportDoorError: (error: unknown, text?: string) => void;
  /** Loads and validates the policies of a preset (the operator's when absent) now rather than with the first call. */
  readonly loadPolicy: (preset?: string) => Promise<void>;
  /** Gives up what a kernel without work can do without; whatever comes next brings it back. */
  readonly rest: () => Promise<void>;
  /** Asked again, it waits for the same end. */
  readonly close: () => Promise<void>;
}

/** Opens a kernel on a state directory; several may share one. */
export async function openKernel(options: KernelOptions): Promise<OpenKernel> {
  const opened = await openParts(options);
  const {
    parts,
    live,
    settings,
    stateDirectory,
    instance,
    instances,
    ledger,
    configuration,
    redactor,
    spending,
    onInternalError,
  } = opened;
  const watchdog = new Watchdog((stall) => {
    opened.tell(stallLine(stall));
    recordStall(ledger, instance.id, stallFacts(stall)).catch(onInternalError);
  });
  const door = watchedDoor(createKernelDoor(parts), watchdog);
  const views = { directory: viewsIn(stateDirectory), names: opened.viewNames };
  const started = announce(
    ledger,
    { instanceId: instance.id, instances, registry: parts.registry, settings },
    onInternalError,
  )
    .then(spending.settleOrphans)
    .then(() => takeBackLandings(ledger, views, { redactor, tell: opened.tell, report: onInternalError }))
    // afterwards: whoever merges again would take what is taken back for landed
    .then(() => opened.branches.settle())
    .then((unknown) => unknown.map(unknownBranchLine).forEach(opened.tell))
    .then(() => closeBranchActs(ledger, { instances, branches: opened.branches, nowMs: systemClock.nowMs() }))
    .then(() =>
      sweepDeadInstances(
        opened.left,
        { key: parts.argumentsKey, isAlive: instances.isAlive },
        { redactor, report: onInternalError },
      ),
    )
    .then(() => opened.history.sweep(false))
    .then(() => (existsSync(views.directory) ? opened.scratch.sweep() : undefined))
    .catch(onInternalError);
  let closed: Promise<void> | undefined;
  return {
    door,
    ...administrationsOf(opened, door, started),
    get operator() {
      return live.operator;
    },
    stateDirectory,
    instanceId: instance.id,
    explain: (who, call) => explained(opened, door, { who, call }),
    ready: () => ledger.ready(),
    health: () => ({
      ...ledger.health(),
      stalls: watchdog.stalls,
      telemetryDropped: droppedOf(opened.telemetry?.state()),
    }),
    observation: observationOf(opened, door, watchdog),
    reportDoorError: opened.reporter.doorError,
    loadPolicy: async (preset = live.operator.settings.preset ?? DEFAULT_PRESET) =>
      void (await Promise.all([configuration.policy.engine(preset), redactor()])),
    rest: () => ledger.rest(),
    close: () => (closed ??= closeKernel(opened, door, started).finally(() => watchdog.close())),
  };
}

/** Explains a call, or the one that it names. */
async function explained(
  { live, settings, parts, stateDirectory, environment }: OpenedParts,
  door: KernelDoor,
  { who, call }: { readonly who: Authenticated; readonly call: ExplainedCall },
): Promise<AdvisedExplanation> {
  const named = namedTool(call);
  if (!named.ok) return notNamed(call.tool, named.denial);
  const { adviseCall } = await import("./policy/policy-advice.ts");
  const hidden = hiddenDirectories([live.operator.path, stateDirectory], environment);
  const advised = { door, operator: live.operator, settings, tools: parts.registry.getAll(), hidden };
  return adviseCall(advised, who, named.value);
}

/** A call that names no tool, for which nothing can be advised but what its refusal says. */
function notNamed(tool: string, denial: Denial): AdvisedExplanation {
  return { tool, denial, accesses: [], armed: false, runs: false, advice: [], stuck: denial.message, notes: [] };
}

/** What the kernel says of itself to those who observe it. */
function observationOf({ observers, telemetry, ledger }: OpenedParts, door: KernelDoor, watchdog: Watchdog) {
  return {
    observe: (observer: Observer) => observers.add(observer),
    telemetry: () => telemetry?.state(),
    turns: () => door.turns(),
    callsUnderWay: () => watchdog.callsUnderWay,
    spoolBytes: () => ledger.spoolBytes(),
    observerFailures: () => observers.broken,
  } satisfies KernelObservation;
}

function droppedOf(state: TelemetryState | undefined): number {
  if (state === undefined) return 0;
  return state.logLinesDropped + (state.traces?.dropped ?? 0) + (state.logs?.dropped ?? 0);
}

function unknownBranchLine(path: string): string {
  return `\`${path}\` holds a branch of which \`state.db\` knows nothing, as when an older one was put back: take over what is needed of \`${join(path, "tree")}\`, then remove it`;
}

/** What the operator does and sees, each desk for itself. */
function administrationsOf(opened: OpenedParts, door: KernelDoor, started: Promise<unknown>) {
  const { parts, live, stores, asking, spending, content, ledger, stateDirectory } = opened;
  const { sessions, marks, armings, freezes, violations, bell } = stores;
  const clock = systemClock;
  const operatorPath = live.operator.path;
  const { branches, history } = opened;
  const { workspaces, newFiles } = parts;
  const shared = { workspaces, sessions, newFiles, history, ledger, clock, random: systemRandom };
  const ready = () => started;
  const policyParts: PolicyParts = {
    operator: () => live.operator,
    tools: () => parts.registry.getAll(),
    findSession: (id) => sessions.findSession(id),
    stateDirectory,
    ledger,
    clock,
  };
  const desk = new BranchDesk({ branches, sandbox: parts.sandbox, ready, ...shared });
  return {
    administration: administrationOf(opened, desk),
    branches: desk,
    landings: new LandingDesk({ directory: viewsIn(stateDirectory), ready, ledger, clock }),
    marks: new MarkAdministration({ marks, ledger, clock }),
    arming: new ArmingAdministration({ armings, sessions, ledger, clock }),
    budgets: spending.administration,
    approvals: asking.acts(door, content),
    alwaysAllow: new AlwaysAllow(policyParts),
    policyParts,
    freezes: new FreezeAdministration({ freezes, violations, sessions, bell, ledger, clock }),
    roles: new RoleDesk({ operatorPath, ledger, clock }),
    secrets: async () => {
      const { SecretDesk: Desk } = await import("./secrets/secret-desk.ts");
      return new Desk({ operatorPath, environment: opened.environment, ledger, clock });
    },
    knowledge: async () => {
      const { KnowledgeDesk: Desk } = await import("./knowledge/knowledge-desk.ts");
      return new Desk({ workspaces, knowledge: opened.knowledge, redactor: opened.redactor, ledger, clock });
    },
    upstream: async () => {
      const { UpstreamDesk: Desk } = await import("./upstream/upstream-desk.ts");
      const upstreams = await opened.upstreams.opened();
      const ground = async () => ({ settings: live.operator.settings, redactor: await opened.redactor() });
      return new Desk({ operatorPath, upstreams, ledger, clock, random: systemRandom, ground });
    },
    trust: new TrustDesk({ operatorPath, ledger, clock, random: systemRandom }),
    providerOutputs: async () => {
      const { ProviderOutputs: Outputs } = await import("./artifacts/provider-outputs.ts");
      const { redactor, settings } = opened;
      return new Outputs({ door, redactor, content, ledger, clock, random: systemRandom, settings });
    },
    content: new ContentAdministration({ content, ledger, clock, stateDirectory }),
    undo: new UndoAdministration({
      history: opened.history,
      redactor: opened.redactor,
      ready,
      ledger,
      clock,
      random: systemRandom,
      instanceId: parts.instanceId,
      locks: parts.locks,
      newFiles: parts.newFiles,
      viewsDirectory: viewsIn(stateDirectory),
      viewNames: opened.viewNames,
      rules: () => live.operator,
      hidden: hiddenDirectories([operatorPath, stateDirectory], opened.environment),
    }),
  };
}

async function closeKernel(opened: OpenedParts, door: KernelDoor, started: Promise<unknown>): Promise<void> {
  const {
    configuration,
    ledger,
    instance,
    asking,
    commands,
    machine,
    web,
    models,
    knowledge,
    plugged,
    spending,
    stores,
    kept,
    content,
    history,
    left,
    onInternalError,
  } = opened;
  const { bell, sessions, violations, locks } = stores;
  asking.approvals.shutDown();
  // nobody would be left to bound them
  await opened.upstreams.close();
  await Promise.all([commands.endRuns(), machine.endRuns(), web.close(), models.close(), knowledge.close()]);
  for (const each of plugged) each.close();
  await configuration.reload.close();
  await started.catch(onInternalError);
  await door.flush().catch(onInternalError);
  await recordStop(ledger, instance.id).catch(onInternalError);
  await configuration.workspaces.close();
  // What the ledger could not take stands in the spool, which the next kernel may recover once the claim is released.
  const closeLedger = () => ledger.close().finally(() => instance.release());
  const open = [asking, commands, bell, sessions, violations, locks, kept, content, history, spending, left];
  const failures: unknown[] = [];
  // one that cannot be closed, such as a ledger whose file is gone, must not keep the others, and so the process, open
  const closeTelemetry = async () => opened.telemetry?.close();
  for (const close of [closeLedger, closeTelemetry, ...open.map((store) => () => store.close())])
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  if (failures.length > 0) throw failures[0];
}

/** Settings are looked up for each act: they may have been reloaded. */
function administrationOf(
  { live, parts, settings, stores, ledger, tell, environment, allowsUnusual }: OpenedParts,
  desk: BranchDesk,
): Administration {
  const { sessions, bell } = stores;
  return new Administration({
    get settings() {
      return live.operator.settings;
    },
    offer: () => offerOf(parts.registry, settings.gates),
    sessions,
    bell,
    ledger,
    clock: systemClock,
    random: systemRandom,
    requireUsual: (directory, isProjectRoot) =>
      allowsUnusual || requireUsualWorkspace(directory, environment, isProjectRoot),
    branchFor: (wanted) => desk.branchFor(wanted),
    warn: tell,
  });
}

function offerOf(registry: ToolRegistry, gates: OperatorGates): Offer {
  return { registry: registryHash(registry, gates), tools: registry.getAll().map(({ name }) => name), gates };
}
