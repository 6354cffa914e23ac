/**
 * Opens what the rest of a kernel rests on: the operator's directory, tools, this kernel's claim, the ledger, stores.
 *
 * INVARIANT: what is opened is noted at once, so that a later failure gives it back.
 */
import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/ids.ts";
import { KillSwitch, ToolRegistry } from "../kernel/index.ts";
import { BY_KERNEL } from "../ledger/actors.ts";
import type { Tool } from "../model/tool/tool.ts";
import { openBell } from "../stores/embedded/approvals/bell.ts";
import { openInstanceStore } from "../stores/embedded/ledger/instance-store.ts";
import { openLockStore } from "../stores/embedded/lock-store.ts";
import { holdsSessions, openStateStores } from "../stores/embedded/sessions/state-stores.ts";
import { openViolationStore } from "../stores/embedded/sessions/violation-store.ts";
import { prepareStateDirectory } from "../stores/embedded/state/state-directory.ts";
import { Components } from "./components/components.ts";
import { brokerBy, currentRedactor, kernelSettings } from "./configuration.ts";
import type { KernelOptions } from "./kernel-options.ts";
import { evidenceKey } from "./ledger/evidence-key.ts";
import type { LedgerThread } from "./ledger/ledger-messages.ts";
import { ledgerOf } from "./ledger/ledger-messages.ts";
import { startLedgerThread } from "./ledger/ledger-thread.ts";
import type { Opening } from "./opening.ts";
import { BUILT_IN_TOOLS, ownTools } from "./operator/built-in-tools.ts";
import {
  defaultStatePath,
  type Environment,
  type OperatorDirectory,
  operatorPath,
  readOperatorDirectory,
} from "./operator/operator-directory.ts";
import { ToolsInForce } from "./operator/tools-in-force.ts";
import { plugIn } from "./plugins/plug-in.ts";
import type { LoadedModule } from "./plugins/plugged-tools.ts";
import { Reporter } from "./report.ts";
import { webAuthorities } from "./secrets/web-authorities.ts";
import { observedLedger } from "./telemetry/observed-ledger.ts";
import { Observers, wantsTelemetry } from "./telemetry/observers.ts";
import { openUpstreams } from "./upstream/open-upstreams.ts";
import type { UpstreamMeans } from "./upstream/reach/means.ts";
import type { UpstreamPlaces } from "./upstream/upstreams.ts";
import { hiddenDirectories } from "./workspace/own-directories.ts";

/** The parts at the bottom of a kernel. */
export type Base = Awaited<ReturnType<typeof openBase>>;

/** Opens them. @param opening where each is noted */
export async function openBase(options: KernelOptions, opening: Opening) {
  const { environment } = options;
  const operator = await readOperatorDirectory(options.configDirectory ?? operatorPath(environment));
  const stateDirectory = options.stateDirectory ?? defaultStatePath(environment);
  await prepareStateDirectory(stateDirectory);
  const live = { operator };
  const redactor = currentRedactor(live, environment, options.network);
  const loaded = wantsTelemetry(operator.settings, environment) && (await import("./telemetry/telemetry.ts"));
  const levels = loaded ? await loaded.logLevelsWanted(operator.settings, environment) : undefined;
  const observers = new Observers();
  const reporter = new Reporter(options, redactor, observers);
  const { internalError: onInternalError, warning: tell } = reporter;
  const plugged = opening.keep(await plugIn(operator, options.plugins));
  const means: UpstreamMeans = {
    operator: () => live.operator,
    broker: async () => brokerBy(await redactor()),
    ...(options.network && { network: options.network }),
    record: (server, attempt) =>
      void import("./upstream/reach/attempt-record.ts")
        .then(({ recordUpstreamAttempt: record }) => record(ledger, server, attempt))
        .catch(onInternalError),
  };
  const upstreams = opening.keep(
    await openUpstreams({ ...upstreamPlaces(operator, stateDirectory, environment), means }),
  );
  const others = declaredTools(options, plugged.tools);
  const otherNames = new Set(others.map(({ name }) => name));
  const ownNames = new Set(ownTools(operator.settings).map(({ name }) => name));
  const isOthers = (name: string) => otherNames.has(name) || upstreams.tools.some((tool) => tool.name === name);
  const components = opening.keep(await Components.open(operator, (name) => isOthers(name) || ownNames.has(name)));
  const declaredWith = (added: readonly Tool[]) => registryOf([...others, ...upstreams.tools, ...added]);
  const declaredWithUpstreams = (now: readonly Tool[]) => registryOf([...others, ...now, ...components.tools]);
  const tools = new ToolsInForce(declaredWith(components.tools));
  const settings = kernelSettings(environment, live);
  const instances = await openInstanceStore(stateDirectory, systemRandom);
  const instance = await instances.claim();
  opening.add(() => instance.release());
  const written = opening.keep(
    startLedgerThread(ledgerOf(stateDirectory, instance, holdsSessions(stateDirectory)), {
      spool: options.awaitSequences !== true,
    }),
  );
  const ledger = observedLedger(written, observers);
  const who = { settings: operator.settings, levels, instanceId: instance.id, observers, reporter };
  const reach = { environment, redactor, brokerBy, authorities: () => webAuthorities(live.operator.settings) };
  const { network } = options;
  const telemetry = loaded
    ? opening.keep(await loaded.openTelemetry({ ...who, ...reach, ...(network && { network }) }))
    : undefined;
  const stores = await openStores(stateDirectory, onInternalError, opening);
  await recordModules(ledger, [...plugged.modules, ...upstreams.modules]);
  await components.recordStart({ ledger, nowMs: systemClock.nowMs }, tell);
  const given = {
    plugged: [plugged, components],
    components,
    declaredWith,
    declaredWithUpstreams,
    isOthers,
    tools,
    upstreams,
  };
  const reporting = { reporter, observers, telemetry, onInternalError, tell };
  const ground = { stateDirectory, live, redactor, settings, instances, instance, ledger, stores };
  return { ...ground, ...given, ...reporting };
}

function upstreamPlaces(
  { path, settings }: OperatorDirectory,
  stateDirectory: string,
  environment: Environment,
): Omit<UpstreamPlaces, "means"> {
  const hidden = hiddenDirectories([path, stateDirectory], environment);
  return { operatorPath: path, stateDirectory, hidden, listMax: settings.upstream.list_max };
}

/** Tools that no component brings. */
function declaredTools(
  { tools = [], registry: own }: Pick<KernelOptions, "tools" | "registry">,
  plugged: readonly Tool[],
): readonly Tool[] {
  return [...(own?.tools() ?? BUILT_IN_TOOLS), ...tools, ...plugged];
}

function registryOf(tools: readonly Tool[]): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

async function recordModules(ledger: LedgerThread, modules: readonly LoadedModule[]): Promise<void> {
  for (const { tools, ...module } of modules) {
    const payload = { ...module, tools: [...tools] };
    await ledger.record({ type: "plugin_loaded", ...BY_KERNEL, timeMs: systemClock.nowMs(), payload }, "durable");
  }
}

async function openStores(stateDirectory: string, onInternalError: (error: unknown) => void, opening: Opening) {
  const state = await openStateStores(stateDirectory);
  opening.keep(state.sessions);
  const locks = opening.keep(await openLockStore(stateDirectory));
  const violations = opening.keep(openViolationStore(stateDirectory));
  const bell = opening.keep(
    await openBell(stateDirectory, (error) => {
      void killSwitch.lost();
      onInternalError(error);
    }),
  );
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
