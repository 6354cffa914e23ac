/**
 * A kernel as the composition makes it, but with a ledger that answers at once: what remains is the pipeline's own
 * work. The real session store, lock store, workspace and policies are there.
 */
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/ids.ts";
import { Budgets } from "../../src/budget/budget.ts";
import { Rates } from "../../src/budget/rates.ts";
import { defaultSettings } from "../../src/config/config.ts";
import { Dedupe } from "../../src/dedupe/dedupe.ts";
import {
  createKernelDoor,
  type KernelDoor,
  type KernelParts,
  KillSwitch,
  SecretGuesses,
  SessionSecrets,
  ToolRegistry,
} from "../../src/kernel/index.ts";
import type { EventSink } from "../../src/model/outcome/event.ts";
import { NO_GATES } from "../../src/model/people/gates.ts";
import { NO_LIMITS } from "../../src/model/spending/spending-limits.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { NO_GIT_REMOTES } from "../../src/model/work/git-remote.ts";
import { createPolicyEngine, type PolicyEngine } from "../../src/policy/policy.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { newFiles } from "../../src/sandbox/files/new-files.ts";
import { openModels, openSecrets, openWeb } from "../../src/server/open-web.ts";
import { BUILT_IN_TOOLS } from "../../src/server/operator/built-in-tools.ts";
import { openMachine } from "../../src/server/operator/open-machine.ts";
import { openSandbox } from "../../src/server/operator/open-sandbox.ts";
import type { OperatorDirectory } from "../../src/server/operator/operator-directory.ts";
import { Administration } from "../../src/server/people/administration.ts";
import { openApprovals } from "../../src/server/people/open-approvals.ts";
import { policyActions, policySources } from "../../src/server/policy/policies.ts";
import { createWorkspaceCatalog } from "../../src/server/workspace/workspace-catalog.ts";
import { openBell } from "../../src/stores/embedded/approvals/bell.ts";
import { openBudgetStores } from "../../src/stores/embedded/budgets/budget-stores.ts";
import { openContentStore } from "../../src/stores/embedded/content/content-store.ts";
import { openDedupeStore } from "../../src/stores/embedded/dedupe-store.ts";
import { openLockStore } from "../../src/stores/embedded/lock-store.ts";
import { openNewFileStore } from "../../src/stores/embedded/new-file-store.ts";
import { openStateStores } from "../../src/stores/embedded/sessions/state-stores.ts";
import { openViolationStore } from "../../src/stores/embedded/sessions/violation-store.ts";
import { prepareStateDirectory } from "../../src/stores/embedded/state/state-directory.ts";

/** An open kernel with one session. */
export interface BareKernel extends AsyncDisposable {
  readonly parts: KernelParts;
  readonly door: KernelDoor;
  readonly policy: PolicyEngine;
  readonly token: string;
}

/** Answers at once, and lets the event loop turn as little as a real answer would. */
function immediateSink(): EventSink {
  let sequence = 0;
  return { record: () => Promise.resolve(++sequence) };
}

/**
 * Opens the kernel on `workspace`.
 * @param policyText policies of the operator besides the preset `dev`
 */
export async function openBareKernel(
  stateDirectory: string,
  workspace: string,
  tools: readonly Tool[] = [],
  policyText = "",
): Promise<BareKernel> {
  await prepareStateDirectory(stateDirectory);
  const settings = defaultSettings();
  const registry = new ToolRegistry();
  for (const tool of [...BUILT_IN_TOOLS, ...tools]) registry.register(tool);
  const { sessions, marks, armings, freezes } = await openStateStores(stateDirectory);
  const violations = openViolationStore(stateDirectory);
  const bell = await openBell(stateDirectory, console.error);
  const locks = await openLockStore(stateDirectory);
  const kept = openDedupeStore(stateDirectory);
  const spending = openBudgetStores(stateDirectory);
  const content = openContentStore({
    stateDirectory,
    instanceId: "ins_bench",
    isInstanceAlive: async () => false,
    nowMs: systemClock.nowMs,
    random: systemRandom,
    onCorrupt: (hash) => console.error(`content ${hash} was altered`),
  });
  const ledger = immediateSink();
  const policies = policyText === "" ? [] : [{ name: "bench.cedar", text: policyText }];
  const operator: OperatorDirectory = { path: stateDirectory, exists: true, settings, policies };
  const policy = await createPolicyEngine({
    actions: policyActions(registry.getAll(), registry.getAll()),
    sources: policySources("dev", operator),
    roles: settings.roles,
  });
  const workspaces = createWorkspaceCatalog(() => ({ settings }), [stateDirectory]);
  const redactor = createRedactor();
  const asking = openApprovals({
    stateDirectory,
    settings: () => settings.approvals,
    bell,
    ledger,
    clock: systemClock,
    random: systemRandom,
    sessionOf: async () => undefined, // nothing asks here
    onInternalError: console.error,
  });
  const parts: KernelParts = {
    web: openWeb({ operator: { settings } }).web,
    models: openModels({ operator: { settings } }).models,
    secrets: openSecrets({ operator: { settings } }),
    clock: systemClock,
    random: systemRandom,
    instanceId: "ins_bench",
    newFiles: newFiles(
      await openNewFileStore(stateDirectory, "ins_bench"),
      { instanceId: "ins_bench", key: systemRandom(32) },
      systemRandom,
    ),
    settings: {
      toolsEnabled: true,
      documents: "off",
      disabledTools: new Set(),
      violationsPerMinute: settings.alert.violations_per_minute,
      operationsAtOnce: 8,
      limits: NO_LIMITS,
      freezeOnAlert: true,
      armed: false,
      gates: NO_GATES,
    },
    registry,
    policy: () => Promise.resolve(policy),
    freshRules: async () => undefined,
    redactor: () => redactor,
    guesses: new SecretGuesses(),
    sessionSecrets: new SessionSecrets(),
    gitRemotes: () => NO_GIT_REMOTES,
    sessions,
    marks,
    armings,
    violations,
    killSwitch: new KillSwitch({ sessions, freezes, bell, clock: systemClock, onInternalError: console.error }),
    locks,
    content,
    budgets: new Budgets({
      store: spending.budgets,
      instanceId: "ins_bench",
      clock: systemClock,
      random: systemRandom,
      onInternalError: console.error,
    }),
    approvals: asking.approvals,
    rates: new Rates({
      store: spending.rates,
      instanceId: "ins_bench",
      clock: systemClock,
      onInternalError: console.error,
    }),
    dedupe: new Dedupe({
      store: kept,
      evidence: { executedAt: async () => undefined },
      instanceId: "ins_bench",
      isAlive: async () => false,
      clock: systemClock,
      onInternalError: console.error,
    }),
    workspaces,
    sandbox: openSandbox({ operator }, "ins_bench").sandbox,
    machine: openMachine({ operator }).machine,
    ledger,
    argumentsKey: systemRandom(32),
    onInternalError: (error) => console.error(error),
  };
  const administration = new Administration({
    settings,
    offer: () => ({ registry: registry.hash(), tools: registry.getAll().map(({ name }) => name), gates: NO_GATES }),
    sessions,
    bell,
    ledger,
    clock: systemClock,
    random: systemRandom,
    requireUsual: () => undefined,
    branchFor: () => Promise.reject(new Error("no session of this bench works on a branch")),
    warn: () => undefined,
  });
  const { token } = await administration.createSession({
    workspace,
    userId: "bench",
    agentId: "bench",
    preset: "dev",
  });
  return {
    parts,
    door: createKernelDoor(parts),
    policy,
    token,
    [Symbol.asyncDispose]: async () => {
      workspaces.close();
      policy.dispose();
      await sessions.close();
      await violations.close();
      await asking.close();
      await bell.close();
      await locks.close();
      await kept.close();
      await spending.budgets.close();
      await content.close();
    },
  };
}
