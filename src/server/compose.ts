/**
 * The only place where parts are wired together: stores, ledger, policy, tools, workspaces, kernel.
 *
 * Opening claims an instance, so that intents of a killed kernel can be told from those of a living one, takes over what
 * dead ones had spooled and closes their orphans. Closing gives everything back; nothing that was acknowledged is lost either way.
 */
import type { ApprovalManager } from "../approval/handler.ts";
import { systemClock } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import { systemRandom } from "../base/ids.ts";
import { Dedupe } from "../dedupe/dedupe.ts";
import {
  createKernelDoor,
  type KernelDoor,
  type KernelParts,
  type KernelSettings,
  KillSwitch,
  SecretGuesses,
  ToolRegistry,
} from "../kernel/index.ts";
import { closeOrphans } from "../ledger/orphans.ts";
import { recoverSpools, spoolDamage } from "../ledger/spool-recovery.ts";
import type { Bell } from "../model/bell.ts";
import type { OperatorGates } from "../model/gates.ts";
import type { Tool } from "../model/tool.ts";
import type { Authenticated } from "../session/session.ts";
import type { SessionStore } from "../session/session-store.ts";
import { openBell } from "../stores/embedded/bell.ts";
import { openContentStore } from "../stores/embedded/content-store.ts";
import { openDedupeStore } from "../stores/embedded/dedupe-store.ts";
import { openInstanceStore } from "../stores/embedded/instance-store.ts";
import { openLockStore } from "../stores/embedded/lock-store.ts";
import { prepareStateDirectory } from "../stores/embedded/state-directory.ts";
import { openStateStores } from "../stores/embedded/state-stores.ts";
import { openViolationStore } from "../stores/embedded/violation-store.ts";
import { Administration, type Offer } from "./administration.ts";
import type { AdvisedExplanation, ExplainedCall } from "./advice.ts";
import { AlwaysAllow } from "./always-allow.ts";
import type { ApprovalAdministration } from "./approval-administration.ts";
import { openApprovals } from "./approvals.ts";
import { ArmingAdministration } from "./arming-administration.ts";
import type { BudgetAdministration } from "./budget-administration.ts";
import { BUILT_IN_TOOLS } from "./built-in-tools.ts";
import {
  type Configuration,
  type CurrentRedactor,
  currentRedactor,
  kernelSettings,
  type LiveOperator,
  openConfiguration,
} from "./configuration.ts";
import { ContentAdministration } from "./content-administration.ts";
import { evidenceKey } from "./evidence-key.ts";
import { FreezeAdministration } from "./freeze-administration.ts";
import { type LedgerHealth, type LedgerThread, startLedgerThread } from "./ledger-thread.ts";
import { MarkAdministration } from "./mark-administration.ts";
import { defaultStatePath, type Environment, type OperatorDirectory, operatorPath, readOperatorDirectory } from "./operator-directory.ts";
import { registryHash } from "./operator-gates.ts";
import { RoleDesk } from "./role-grants.ts";
import { openSpending } from "./spending.ts";
import { recordOverrides, ToolsInForce } from "./tools-in-force.ts";
import { TrustDesk } from "./trust.ts";

export type { MintedSession } from "../session/session.ts";

/** Where a kernel keeps its state and finds its configuration; what is absent comes from the environment. */
export interface KernelOptions {
  readonly stateDirectory?: string;
  readonly configDirectory?: string;
  readonly environment: Environment;
  /** Tools besides the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Where the embedding program answers requests for approval, once it has set a handler. */
  readonly approvals?: ApprovalManager;
  /**
   * Whether reads wait for their place in the ledger, so that each answer carries its sequence. Without it they wait only
   * until they would survive a killed process, and the answer names no sequence.
   */
  readonly awaitSequences?: boolean;
  /**
   * Told about bugs and background failures; by default they are written to standard error, redacted. It gets the error itself, with its
   * stack and cause and whatever secrets their words hold: a program that writes them anywhere redacts them first.
   */
  readonly onInternalError?: (error: unknown) => void;
  /** Told what the operator should know; standard error by default. */
  readonly onWarning?: (message: string) => void;
}

/** An open kernel. */
export interface OpenKernel {
  readonly door: KernelDoor;
  readonly administration: Administration;
  readonly marks: MarkAdministration;
  /** What is armed, for all kernels of the state directory. */
  readonly arming: ArmingAdministration;
  /** Requests for approval, for the people who decide them. */
  readonly approvals: ApprovalAdministration;
  /** Permits with which a call that asked would not ask again. */
  readonly alwaysAllow: AlwaysAllow;
  /** Who is frozen, in all kernels of the state directory. */
  readonly freezes: FreezeAdministration;
  /** What is limited, spent, reserved and left. */
  readonly budgets: BudgetAdministration;
  /** Stored content. */
  readonly content: ContentAdministration;
  /** Which roles clients of a workspace may ask for. */
  readonly roles: RoleDesk;
  /** Trust in the configuration that workspaces bring. */
  readonly trust: TrustDesk;
  readonly operator: OperatorDirectory;
  readonly stateDirectory: string;
  readonly instanceId: string;
  /** Why a call would be decided as it would, and the narrowest change that would let it run. Nothing runs. */
  readonly explain: (who: Authenticated, call: ExplainedCall) => Promise<AdvisedExplanation>;
  readonly health: () => LedgerHealth;
  /** Loads and validates the policies of a preset now rather than with the first call. */
  readonly loadPolicy: (preset: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens a kernel on a state directory; several may share one. */
export async function openKernel(options: KernelOptions): Promise<OpenKernel> {
  const { environment } = options;
  const operator = await readOperatorDirectory(options.configDirectory ?? operatorPath(environment));
  const stateDirectory = options.stateDirectory ?? defaultStatePath(environment);
  await prepareStateDirectory(stateDirectory);
  const tools = new ToolsInForce(registryOf(options.tools));
  const live = { operator };
  const redactor = currentRedactor(live, environment);
  const onInternalError = options.onInternalError ?? ((error) => void reportInternalError(redactor, error));
  const settings = kernelSettings(environment, live);

  const instances = await openInstanceStore(stateDirectory, systemRandom);
  const instance = await instances.claim();
  const ledger = startLedgerThread({ stateDirectory, instanceId: instance.id }, { spool: options.awaitSequences !== true });
  const { sessions, marks, armings, freezes, violations, locks, argumentsKey, bell, killSwitch } = await openStores(
    stateDirectory,
    onInternalError,
  ).catch(async (error: unknown) => {
    // A kernel that cannot open must not go on counting as one that lives.
    await ledger.close().catch(onInternalError);
    await instance.release();
    throw error;
  });
  const kept = openDedupeStore(stateDirectory);
  const content = openContent(stateDirectory, instance.id, instances.isAlive, ledger, onInternalError);
  const tell = options.onWarning ?? reportWarning;
  const configuration = openConfiguration({ live, stateDirectory, tools, ledger, nowMs: systemClock.nowMs, tell, onInternalError });
  const spending = openSpending({
    stateDirectory,
    instanceId: instance.id,
    isAlive: instances.isAlive,
    limits: () => settings.limits,
    sessions,
    ledger,
    clock: systemClock,
    random: systemRandom,
    onInternalError,
  });
  const asking = openApprovals({
    stateDirectory,
    manager: options.approvals,
    settings: () => live.operator.settings.approvals,
    bell,
    ledger,
    clock: systemClock,
    random: systemRandom,
    onInternalError,
  });
  const parts: KernelParts = {
    clock: systemClock,
    random: systemRandom,
    instanceId: instance.id,
    settings,
    get registry() {
      return tools.under(live.operator.settings).registry;
    },
    policy: configuration.policy.engine,
    redactor,
    guesses: new SecretGuesses(),
    sessions,
    marks,
    armings,
    violations,
    killSwitch,
    locks,
    content,
    budgets: spending.budgets,
    rates: spending.rates,
    approvals: asking.approvals,
    dedupe: new Dedupe({ store: kept, instanceId: instance.id, isAlive: instances.isAlive, clock: systemClock, onInternalError }),
    workspaces: configuration.workspaces,
    ledger,
    argumentsKey,
    onInternalError,
  };
  await tools.ready();
  await recordOverrides(ledger, systemClock.nowMs(), tools.under(operator.settings).overridden);
  const door = createKernelDoor(parts);
  const started = announce(ledger, instances, parts.registry, instance.id, settings, onInternalError)
    .then(spending.settleOrphans)
    .catch(onInternalError);
  return {
    door,
    marks: new MarkAdministration({ marks, ledger, clock: systemClock }),
    arming: new ArmingAdministration({ armings, sessions, ledger, clock: systemClock }),
    budgets: spending.administration,
    approvals: asking.administration(door),
    alwaysAllow: new AlwaysAllow({
      operator: () => live.operator,
      tools: () => parts.registry.getAll(),
      findSession: (id) => sessions.findSession(id),
      stateDirectory,
      ledger,
      clock: systemClock,
    }),
    freezes: new FreezeAdministration({ freezes, violations, sessions, bell, ledger, clock: systemClock }),
    administration: administrationOf(live, () => offerOf(parts.registry, settings.gates), sessions, bell, ledger, tell),
    roles: new RoleDesk({ operatorPath: operator.path, ledger, clock: systemClock }),
    trust: new TrustDesk({ operatorPath: operator.path, ledger, clock: systemClock, random: systemRandom }),
    get operator() {
      return live.operator;
    },
    content: new ContentAdministration({ content, ledger, clock: systemClock, stateDirectory }),
    stateDirectory,
    instanceId: instance.id,
    async explain(who, call) {
      const { adviseCall } = await import("./policy-advice.ts");
      return adviseCall(
        { door, operator: live.operator, settings, tools: parts.registry.getAll(), hidden: [operator.path, stateDirectory] },
        who,
        call,
      );
    },
    health: () => ledger.health(),
    loadPolicy: async (preset) => void (await Promise.all([configuration.policy.engine(preset), redactor()])),
    close: () => {
      asking.approvals.shutDown();
      return closeKernel({
        configuration,
        started,
        door,
        ledger,
        instance,
        closing: [asking, bell, sessions, violations, locks, kept, content, spending],
        onInternalError,
      });
    },
  };
}

function registryOf(tools: readonly Tool[] = []): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of [...BUILT_IN_TOOLS, ...tools]) registry.register(tool);
  return registry;
}

interface ClosingParts {
  readonly configuration: Configuration;
  readonly started: Promise<unknown>;
  readonly door: KernelDoor;
  readonly ledger: LedgerThread;
  readonly instance: { readonly id: string; readonly release: () => Promise<void> };
  /** Stores, in the order in which they are closed. */
  readonly closing: readonly { readonly close: () => Promise<void> }[];
  readonly onInternalError: (error: unknown) => void;
}

async function closeKernel({ configuration, started, door, ledger, instance, closing, onInternalError }: ClosingParts): Promise<void> {
  await configuration.reload.close();
  await started.catch(onInternalError);
  await door.flush().catch(onInternalError);
  await recordStop(ledger, instance.id).catch(onInternalError);
  await configuration.workspaces.close();
  // What the ledger could not take stands in the spool, which the next kernel may recover once the claim is released.
  await ledger.close().finally(() => instance.release());
  for (const store of closing) await store.close();
}

/** Settings are looked up for each act: they may have been reloaded. */
function administrationOf(
  live: LiveOperator,
  offer: () => Offer,
  sessions: SessionStore,
  bell: Bell,
  ledger: LedgerThread,
  warn: (message: string) => void,
): Administration {
  return new Administration({
    get settings() {
      return live.operator.settings;
    },
    offer,
    sessions,
    bell,
    ledger,
    clock: systemClock,
    random: systemRandom,
    warn,
  });
}

function offerOf(registry: ToolRegistry, gates: OperatorGates): Offer {
  return { registry: registryHash(registry, gates), tools: registry.getAll().map(({ name }) => name), gates };
}

function openContent(
  stateDirectory: string,
  instanceId: string,
  isInstanceAlive: (id: string) => Promise<boolean>,
  ledger: LedgerThread,
  report: (error: unknown) => void,
) {
  const onCorrupt = (hash: string): void => void recordCorrupt(ledger, hash).catch(report);
  const { nowMs } = systemClock;
  return openContentStore({ stateDirectory, instanceId, isInstanceAlive, nowMs, random: systemRandom, onCorrupt });
}

/** Says in the evidence that stored bytes were altered or lost, and put aside. */
async function recordCorrupt(ledger: LedgerThread, hash: string): Promise<void> {
  const payload = { contentHash: hash, severity: "critical" };
  const event = {
    type: "content_quarantined",
    sessionId: "",
    actor: "kernel",
    requestId: "",
    timeMs: systemClock.nowMs(),
    payload,
  } as const;
  await ledger.record(event, "durable");
}

async function openStores(stateDirectory: string, onInternalError: (error: unknown) => void) {
  const state = await openStateStores(stateDirectory);
  const locks = await openLockStore(stateDirectory);
  const violations = openViolationStore(stateDirectory);
  const bell = await openBell(stateDirectory, (error) => {
    killSwitch.lost();
    onInternalError(error);
  });
  const killSwitch = new KillSwitch({ ...state, bell, clock: systemClock, onInternalError });
  return { ...state, locks, violations, bell, killSwitch, argumentsKey: await evidenceKey(stateDirectory, systemRandom) };
}

async function recordStop(ledger: LedgerThread, instanceId: string): Promise<void> {
  const stopped = { type: "kernel_stopped", sessionId: "", actor: "kernel", requestId: "", payload: { instanceId } } as const;
  await ledger.record({ ...stopped, timeMs: systemClock.nowMs() }, "durable");
}

/** Records the start, takes over what dead instances had spooled, and closes the intents that they left open. */
async function announce(
  ledger: LedgerThread,
  instances: Parameters<typeof closeOrphans>[1],
  registry: ToolRegistry,
  instanceId: string,
  { armed, gates }: Pick<KernelSettings, "armed" | "gates">,
  report: (error: unknown) => void,
): Promise<void> {
  const timeMs = systemClock.nowMs();
  const payload = { instanceId, registry: registryHash(registry, gates), tools: registry.getAll().map((tool) => tool.name) };
  await ledger.record({ type: "kernel_started", sessionId: "", actor: "kernel", requestId: "", timeMs, payload }, "buffered");
  if (armed) {
    const reach = { reach: "kernel", instanceId, severity: "warning" };
    await ledger.record({ type: "armed", sessionId: "", actor: "operator:TOOLS_ARM", requestId: "", timeMs, payload: reach }, "durable");
  }
  for (const recovery of await recoverSpools(ledger, instances, timeMs)) {
    const damage = spoolDamage(recovery);
    if (damage !== undefined) report(damage);
  }
  await closeOrphans(ledger, instances, ledger, timeMs);
}

/** Writes an error to the log, without secrets; what cannot be redacted is not written. */
async function reportInternalError(redactor: CurrentRedactor, error: unknown): Promise<void> {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  let shown: string;
  try {
    const made = redactor();
    shown = (made instanceof Promise ? await made : made).redact(text).text;
  } catch (problem) {
    // What makes the redactor impossible is the operator's own text, and has to be said.
    const reason = problem instanceof KernelError ? problem.message : "the redactor cannot be made";
    shown = `an error cannot be shown, because it cannot be redacted: ${reason}`;
  }
  process.stderr.write(`handrail: ${shown}\n`);
}

function reportWarning(message: string): void {
  process.stderr.write(`handrail: ${message}\n`);
}
