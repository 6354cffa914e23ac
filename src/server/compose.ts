/**
 * The only place where parts are wired together: stores, ledger, policy, tools, workspaces, kernel.
 *
 * Opening claims an instance, so that intents of a killed kernel can be told from those of a living one, takes over what
 * dead ones had spooled and closes their orphans. Closing gives everything back; nothing that was acknowledged is lost either way.
 */
import { systemClock } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import { systemRandom } from "../base/ids.ts";
import { createKernelDoor, type KernelDoor, type KernelParts, type KernelSettings, ToolRegistry } from "../kernel/index.ts";
import { closeOrphans } from "../ledger/orphans.ts";
import { recoverSpools, spoolDamage } from "../ledger/spool-recovery.ts";
import type { Tool } from "../model/tool.ts";
import { openInstanceStore } from "../stores/embedded/instance-store.ts";
import { openLockStore } from "../stores/embedded/lock-store.ts";
import { openSessionStore } from "../stores/embedded/session-store.ts";
import { prepareStateDirectory } from "../stores/embedded/state-directory.ts";
import { Administration } from "./administration.ts";
import { BUILT_IN_TOOLS } from "./built-in-tools.ts";
import { evidenceKey } from "./evidence-key.ts";
import { type LedgerHealth, type LedgerThread, startLedgerThread } from "./ledger-thread.ts";
import { defaultStatePath, type Environment, type OperatorDirectory, operatorPath, readOperatorDirectory } from "./operator-directory.ts";
import { createPolicyCatalog } from "./policies.ts";
import { validatedPolicies } from "./validated-policies.ts";
import { createWorkspaceCatalog } from "./workspace-catalog.ts";

export type { MintedSession } from "../session/session.ts";

/** Where a kernel keeps its state and finds its configuration; what is absent comes from the environment. */
export interface KernelOptions {
  readonly stateDirectory?: string;
  readonly configDirectory?: string;
  readonly environment: Environment;
  /** Tools besides the built-in ones. */
  readonly tools?: readonly Tool[];
  /**
   * Whether reads wait for their place in the ledger, so that each answer carries its sequence. Without it they wait only
   * until they would survive a killed process, and the answer names no sequence.
   */
  readonly awaitSequences?: boolean;
  /** Told about bugs and background failures. */
  readonly onInternalError?: (error: unknown) => void;
  /** Told what the operator should know; standard error by default. */
  readonly onWarning?: (message: string) => void;
}

/** An open kernel. */
export interface OpenKernel {
  readonly door: KernelDoor;
  readonly administration: Administration;
  readonly operator: OperatorDirectory;
  readonly stateDirectory: string;
  readonly instanceId: string;
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
  const registry = new ToolRegistry();
  for (const tool of [...BUILT_IN_TOOLS, ...(options.tools ?? [])]) registry.register(tool);
  const onInternalError = options.onInternalError ?? reportInternalError;
  const settings = kernelSettings(environment, operator);

  const instances = await openInstanceStore(stateDirectory, systemRandom);
  const instance = await instances.claim();
  const ledger = startLedgerThread({ stateDirectory, instanceId: instance.id }, { spool: options.awaitSequences !== true });
  const { sessions, locks, argumentsKey } = await openStores(stateDirectory).catch(async (error: unknown) => {
    // A kernel that cannot open must not go on counting as one that lives.
    await ledger.close().catch(onInternalError);
    await instance.release();
    throw error;
  });
  const workspaces = createWorkspaceCatalog(operator.settings, [operator.path, stateDirectory]);
  const policy = createPolicyCatalog(
    { tools: registry.getAll(), operator, roles: operator.settings.roles, validated: validatedPolicies(stateDirectory, onInternalError) },
    ledger,
    systemClock.nowMs,
  );
  const parts: KernelParts = {
    clock: systemClock,
    random: systemRandom,
    instanceId: instance.id,
    settings,
    registry,
    policy,
    sessions,
    locks,
    workspaces,
    ledger,
    argumentsKey,
    onInternalError,
  };
  const door = createKernelDoor(parts);
  const started = announce(ledger, instances, registry, instance.id, onInternalError);
  started.catch(onInternalError);
  return {
    door,
    administration: new Administration({
      settings: operator.settings,
      sessions,
      ledger,
      clock: systemClock,
      random: systemRandom,
      warn: options.onWarning ?? reportWarning,
    }),
    operator,
    stateDirectory,
    instanceId: instance.id,
    health: () => ledger.health(),
    loadPolicy: async (preset) => void (await policy(preset)),
    async close() {
      await started.catch(onInternalError);
      await door.flush().catch(onInternalError);
      await recordStop(ledger, instance.id).catch(onInternalError);
      await workspaces.close();
      // What the ledger could not take stands in the spool, which the next kernel may recover once the claim is released.
      await ledger.close().finally(() => instance.release());
      await sessions.close();
      await locks.close();
    },
  };
}

async function openStores(stateDirectory: string) {
  const sessions = await openSessionStore(stateDirectory);
  const locks = await openLockStore(stateDirectory);
  return { sessions, locks, argumentsKey: await evidenceKey(stateDirectory, systemRandom) };
}

async function recordStop(ledger: LedgerThread, instanceId: string): Promise<void> {
  const stopped = { type: "kernel_stopped", sessionId: "", actor: "kernel", requestId: "", payload: { instanceId } } as const;
  await ledger.record({ ...stopped, timeMs: systemClock.nowMs() }, "durable");
}

function kernelSettings(environment: Environment, operator: OperatorDirectory): KernelSettings {
  const { tools, alert } = operator.settings;
  return {
    toolsEnabled: masterGate(environment, operator),
    disabledTools: new Set(tools.disabled),
    violationsPerMinute: alert.violations_per_minute,
  };
}

/** `TOOLS_ENABLE=0` closes the master gate; `TOOLS_ENABLE=1` opens it only where the operator's settings do. */
function masterGate(environment: Environment, operator: OperatorDirectory): boolean {
  const wanted = environment["TOOLS_ENABLE"];
  if (wanted !== undefined && wanted !== "" && wanted !== "0" && wanted !== "1") {
    throw new KernelError("CONFIG_INVALID", `TOOLS_ENABLE is \`${wanted}\`; set it to 0 or 1, or leave it out`);
  }
  return wanted !== "0" && operator.settings.tools.enabled;
}

/** Records the start, takes over what dead instances had spooled, and closes the intents that they left open. */
async function announce(
  ledger: LedgerThread,
  instances: Parameters<typeof closeOrphans>[1],
  registry: ToolRegistry,
  instanceId: string,
  report: (error: unknown) => void,
): Promise<void> {
  const timeMs = systemClock.nowMs();
  const payload = { instanceId, registry: registry.hash(), tools: registry.getAll().map((tool) => tool.name) };
  await ledger.record({ type: "kernel_started", sessionId: "", actor: "kernel", requestId: "", timeMs, payload }, "buffered");
  for (const recovery of await recoverSpools(ledger, instances, timeMs)) {
    const damage = spoolDamage(recovery);
    if (damage !== undefined) report(damage);
  }
  await closeOrphans(ledger, instances, ledger, timeMs);
}

function reportInternalError(error: unknown): void {
  process.stderr.write(`handrail: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}

function reportWarning(message: string): void {
  process.stderr.write(`handrail: ${message}\n`);
}
