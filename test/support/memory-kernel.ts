/**
 * The pipeline over parts made by hand: sessions and ledger in memory, real files in a temporary directory, the real
 * policy engine with the shipped policies. What a test wants to break, it can reach.
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { z } from "zod";
import type { ApprovalDocuments } from "../../src/approval/approval-documents.ts";
import { Approvals } from "../../src/approval/approvals.ts";
import type { ApprovalSettings } from "../../src/approval/approvals-parts.ts";
import type { DecisionStore } from "../../src/approval/decisions/decision-store.ts";
import type { ApprovalManager } from "../../src/approval/handler.ts";
import type { InBandAsker } from "../../src/approval/in-band.ts";
import type { ApprovalStore, AskingLimits } from "../../src/approval/requests/approval-store.ts";
import type { Clock } from "../../src/base/clock.ts";
import { KernelError } from "../../src/base/errors.ts";
import { systemRandom } from "../../src/base/ids.ts";
import { canonicalJson, type JsonObject } from "../../src/base/json.ts";
import { Budgets } from "../../src/budget/budget.ts";
import type { BudgetStore } from "../../src/budget/budget-store.ts";
import type { RateStore } from "../../src/budget/rate-store.ts";
import { Rates } from "../../src/budget/rates.ts";
import type { MaintainedContentStore } from "../../src/cas/content-store.ts";
import { defaultSettings } from "../../src/config/config.ts";
import type { SandboxSettings } from "../../src/config/sections/sandbox.ts";
import type { ModelSettings } from "../../src/config/sections/tools/models.ts";
import { Dedupe } from "../../src/dedupe/dedupe.ts";
import type { DedupeStore } from "../../src/dedupe/dedupe-store.ts";
import { INITIAL_MARK } from "../../src/flow/flow.ts";
import type { FreezeStore } from "../../src/flow/freeze-store.ts";
import type { MarkStore } from "../../src/flow/mark-store.ts";
import type { ViolationStore } from "../../src/flow/violation-store.ts";
import {
  createKernelDoor,
  type KernelDoor,
  type KernelParts,
  type KernelSettings,
  KillSwitch,
  type OpenWorkspace,
  patternsReady,
  SecretGuesses,
  SessionSecrets,
  ToolRegistry,
} from "../../src/kernel/index.ts";
import type { Bell } from "../../src/model/outcome/bell.ts";
import type { Durability, EventSink, LedgerEvent } from "../../src/model/outcome/event.ts";
import type { CallObserver } from "../../src/model/outcome/observed-call.ts";
import { NO_GATES, type ToolPolicy } from "../../src/model/people/gates.ts";
import { type Lease, type LeaseBudget, type LeaseScope, UNRESTRICTED_SCOPE } from "../../src/model/people/lease.ts";
import type { Session } from "../../src/model/people/session.ts";
import { BUILT_IN_ZONE_RULES, compileZones, type ZoneRules } from "../../src/model/place/zone.ts";
import { NO_LIMITS } from "../../src/model/spending/spending-limits.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { DEFAULT_GIT_RULES, type GitRules } from "../../src/model/work/git.ts";
import { type GitRemotes, NO_GIT_REMOTES } from "../../src/model/work/git-remote.ts";
import type { SystemSettings } from "../../src/model/work/system.ts";
import type { ChosenToolchain } from "../../src/model/work/toolchain.ts";
import { createPolicyEngine, type PolicyEngine } from "../../src/policy/policy.ts";
import { secretsOfEnvFile } from "../../src/redact/environment.ts";
import { createRedactor, type Redactor } from "../../src/redact/redact.ts";
import { openWorkspaceRoots } from "../../src/sandbox/files/files.ts";
import { installFile, projectFiles } from "../../src/sandbox/files/project-files.ts";
import { lookAtRepository } from "../../src/sandbox/git/repository.ts";
import { HostMachine } from "../../src/sandbox/host-commands/host-machine.ts";
import { newAuthority, type SessionAuthority } from "../../src/sandbox/net/broker/authority.ts";
import type { SecretBroker } from "../../src/sandbox/net/broker/broker.ts";
import type { LockStore } from "../../src/sandbox/ports/lock-store.ts";
import type { EgressNetwork } from "../../src/sandbox/sandbox.ts";
import { openModels, openWeb } from "../../src/server/open-web.ts";
import { openSandbox } from "../../src/server/operator/open-sandbox.ts";
import { policyActions, policySources } from "../../src/server/policy/policies.ts";
import { envFileSecrets } from "../../src/server/workspace/env-files.ts";
import type { ArmingStore } from "../../src/session/arming-store.ts";
import { mintSession } from "../../src/session/session.ts";
import type { SessionStore } from "../../src/session/session-store.ts";
import { openApprovalStore } from "../../src/stores/embedded/approvals/approval-store.ts";
import { openBell } from "../../src/stores/embedded/approvals/bell.ts";
import { openDecisionFiles } from "../../src/stores/embedded/approvals/decision-files.ts";
import { openBudgetStores } from "../../src/stores/embedded/budgets/budget-stores.ts";
import { openContentStore } from "../../src/stores/embedded/content/content-store.ts";
import { openDedupeStore } from "../../src/stores/embedded/dedupe-store.ts";
import { openStateStores } from "../../src/stores/embedded/sessions/state-stores.ts";
import { openViolationStore } from "../../src/stores/embedded/sessions/violation-store.ts";
import { artifactTools } from "../../src/tools/artifact/artifact-tools.ts";
import { editTools } from "../../src/tools/edit/edit-tools.ts";
import { fileTools } from "../../src/tools/file/file-tools.ts";
import { searchTools } from "../../src/tools/search/search-tools.ts";
import { memoryLocks, unnotedNames } from "./files-fixture.ts";
import { testedViews } from "./sandbox-place.ts";

/** A recorded event with what the sink gave and promised for it. */
export interface Recorded extends LedgerEvent {
  readonly sequence: number;
  readonly durability: Durability;
}

/** A ledger in memory. `before` runs before an event is taken and may wait or throw. */
export class MemoryLedger implements EventSink {
  readonly events: Recorded[] = [];
  before: (event: LedgerEvent, durability: Durability) => void | Promise<void> = () => undefined;

  readonly record = async (event: LedgerEvent, durability: Durability): Promise<number> => {
    await this.before(event, durability);
    canonicalJson(event.payload); // as the real ledger does, which takes no other payloads
    const sequence = this.events.length + 1;
    this.events.push({ ...event, sequence, durability });
    return sequence;
  };

  /** Fails like a full disk for the events that `affected` names. */
  breakFor(affected: (event: LedgerEvent) => boolean): void {
    this.before = (event) => {
      if (affected(event)) throw new KernelError("LEDGER_UNAVAILABLE", "the disk is full");
    };
  }

  /** Names of the recorded events, in order. */
  types(): readonly string[] {
    return this.events.map(({ type }) => type);
  }

  /** The recorded events of a type. */
  of(type: LedgerEvent["type"]): readonly Recorded[] {
    return this.events.filter((event) => event.type === type);
  }
}

/** Sessions and leases in memory. */
export function memorySessions(): SessionStore {
  const sessions = new Map<string, Session>();
  const leases = new Map<string, Lease>();
  return {
    insertSession: async (session) => void sessions.set(session.id, session),
    findSession: async (id) => sessions.get(id),
    listSessions: async () => [...sessions.values()],
    async updateSession(id, { revokedAtMs, frozenAtMs, expiresAtMs }) {
      const session = sessions.get(id);
      if (!session) return undefined;
      const { frozenAtMs: frozenBefore, ...rest } = session;
      const frozen = frozenAtMs === undefined ? frozenBefore : (frozenAtMs ?? undefined);
      const changed: Session = {
        ...rest,
        ...(revokedAtMs !== undefined && { revokedAtMs }),
        ...(expiresAtMs !== undefined && { expiresAtMs }),
        ...(frozen !== undefined && { frozenAtMs: frozen }),
      };
      sessions.set(id, changed);
      return changed;
    },
    insertLease: async (lease) => void leases.set(lease.id, lease),
    findLease: async (id) => leases.get(id),
    listLeases: async () => [...leases.values()],
    async updateLease(id, patch) {
      const lease = leases.get(id);
      if (!lease) return undefined;
      leases.set(id, { ...lease, ...patch });
      return leases.get(id);
    },
    close: async () => undefined,
  };
}

/** What is different from a developer's session with the shipped policies. */
export interface MemoryKernelOptions {
  /**
   * The principal has seen nothing yet; otherwise it has read a file before, so that reading another raises no mark.
   */
  readonly unmarked?: boolean;
  readonly tools?: readonly Tool[];
  readonly settings?: Partial<KernelSettings>;
  readonly session?: Partial<Session>;
  readonly scope?: Partial<LeaseScope>;
  readonly budget?: LeaseBudget;
  readonly preset?: string;
  /** The operator's own policies. */
  readonly policies?: string;
  readonly workspaceDisabled?: readonly string[];
  /** What the workspace's own `policy.json` leaves. */
  readonly toolPolicy?: ToolPolicy;
  /** Whether anybody holds an approver's credential: then calls that ask wait. */
  readonly approvers?: boolean;
  readonly approvalManager?: ApprovalManager;
  readonly approvalSettings?: Partial<ApprovalSettings>;
  readonly askingLimits?: AskingLimits;
  /** Where what is asked and decided is kept as documents; nowhere when absent. */
  readonly approvalDocuments?: (content: MaintainedContentStore) => ApprovalDocuments;
  /** Called before people are asked. */
  readonly freshRules?: () => void;
  /** What the operator chose to test and lint the workspace with. */
  readonly toolchain?: ChosenToolchain;
  /** What contains commands; looked up each time, as after a reload. */
  readonly backend?: () => SandboxSettings["backend"];
  /** What the operator says of the sandbox besides. */
  readonly sandbox?: Partial<SandboxSettings>;
  /** What the operator knows of git's remotes. */
  readonly gitRemotes?: GitRemotes;
  /** What commands reach as the internet. */
  readonly network?: EgressNetwork;
  /** What system tools may use of the machine. */
  readonly system?: SystemSettings;
  /** The same as it is now, as after a reload. */
  readonly settingsOfSystem?: () => SystemSettings | undefined;
  /** What the operator asks of branches and messages. */
  readonly gitRules?: GitRules;
  /** As `host:port`. */
  readonly privateGitHosts?: readonly string[];
  /** Servers that the operator opened to fetching. */
  readonly openedWebHosts?: readonly { readonly host: string; readonly port: number }[];
  /** Secrets that requests are made with. */
  readonly broker?: SecretBroker;
  /** The section `models` of the operator's settings. */
  readonly models?: ModelSettings;
  /** A file with authorities that are believed of web servers. */
  readonly webAuthorities?: string;
  /** Another one than that of the built-in rules. */
  readonly redactor?: Redactor;
  /** Hears of each answered call. */
  readonly observer?: CallObserver;
  /** What the kernel gets when it asks for the redactor. */
  readonly brokenRedactor?: () => Promise<Redactor>;
}

/** A kernel with everything that a test may want to reach. */
export interface MemoryKernel {
  readonly door: KernelDoor;
  readonly ledger: MemoryLedger;
  readonly sessions: SessionStore;
  readonly session: Session;
  readonly lease: Lease;
  readonly token: string;
  readonly root: string;
  /** Claims and kept answers, in a database that is made when a call has a dedupe key; replace a method to break it. */
  readonly kept: { -readonly [Name in keyof DedupeStore]: DedupeStore[Name] };
  /** What is spent and reserved, in a database that is made when something is limited; replace a method to break it. */
  readonly spent: { -readonly [Name in keyof BudgetStore]: BudgetStore[Name] };
  /** Token buckets, in the same database. */
  readonly paced: { -readonly [Name in keyof RateStore]: RateStore[Name] };
  readonly approvals: Approvals;
  /** Requests for approval, in a database that is made when a call asks; replace a method to break it. */
  readonly asked: { -readonly [Name in keyof ApprovalStore]: ApprovalStore[Name] };
  readonly decisions: DecisionStore;
  /** Whether anybody holds an approver's credential; without one, and without a handler, no call waits. */
  readonly people: { approvers: boolean };
  /** Stored content, in files and a database that are made with the first use. */
  readonly content: MaintainedContentStore;
  /** Hashes of content that was found altered. */
  readonly corrupt: readonly string[];
  readonly marks: MarkStore;
  /** Freezes and violations; replace a method to break it. */
  readonly freezes: { -readonly [Name in keyof FreezeStore]: FreezeStore[Name] };
  readonly violations: { -readonly [Name in keyof ViolationStore]: ViolationStore[Name] };
  readonly killSwitch: KillSwitch;
  /** Wakes other kernels, and this one. */
  readonly bell: Bell;
  readonly armings: ArmingStore;
  readonly state: string;
  readonly internalErrors: unknown[];
  readonly time: { nowMs: number };
  /** The tools in force; replace it, as a reload of capabilities does. */
  readonly registry: { current: ToolRegistry };
  /** What the policy catalog answers; replace it to change the policy. */
  readonly policy: { current: () => Promise<PolicyEngine> };
  /** Gives the workspace other zones, as a changed `handrail.yaml` does. */
  readonly rezone: (rules: Partial<ZoneRules>) => Promise<void>;
  /** Makes the workspace impossible to open. */
  readonly breakWorkspace: (error: Error) => void;
  /** Locks of files, shared by all calls; replace a method to break it. */
  readonly locks: { -readonly [Name in keyof LockStore]: LockStore[Name] };
  readonly call: (tool: string, args: JsonObject, options?: CallOptions) => Promise<CallResponse>;
  readonly textOf: (path: string) => string;
}

/** What is different from an ordinary call. */
export interface CallOptions {
  readonly requestId?: string;
  readonly token?: string;
  readonly dedupeKey?: string;
  readonly signal?: AbortSignal;
  /** The client can show requests for approval. */
  readonly inBand?: InBandAsker;
}

/** Removals land although no such kernel keeps what stood there: for tests that are about something else. */
export const NOTHING_IS_LOST = `@id("test.nothing-is-lost")
@message("m")
@waives("COMMIT:unrecoverable")
permit (principal, action == Handrail::Action::"commit", resource is Handrail::File)
when { resource.zone == "own" };
`;

/** 2026-01-01T00:00:00Z, where the kernel's clock starts. */
export const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

/** Opens a kernel for the running test. */
export async function memoryKernel(options: MemoryKernelOptions = {}): Promise<MemoryKernel> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-kernel-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "workspace");
  mkdirSync(root);
  const time = { nowMs: START_MS };
  const clock: Clock = { nowMs: () => time.nowMs, monotonicMs: () => performance.now() };
  const tools = [...fileTools, ...editTools, ...searchTools, ...artifactTools, ...(options.tools ?? [])];
  const preset = options.preset ?? "dev";
  const policy = { current: () => engineOf(preset, options.policies ?? "", tools) };
  const sessions = memorySessions();
  const { session, token, lease } = await openSession(sessions, root, preset, options);
  const ledger = new MemoryLedger();
  const internalErrors: unknown[] = [];
  const fixed = fixedParts(clock, root, tools, options);
  const kept = { ...openDedupeStore(join(base, "state")) };
  onTestFinished(() => kept.close());
  const spending = openBudgetStores(join(base, "state"));
  const spent = { ...spending.budgets };
  const paced = { ...spending.rates };
  onTestFinished(() => spending.budgets.close());
  const content = openContentStore({
    stateDirectory: join(base, "state"),
    instanceId: fixed.instanceId,
    isInstanceAlive: async () => false,
    nowMs: clock.nowMs,
    random: systemRandom,
    onCorrupt: (hash) => void corrupt.push(hash),
  });
  onTestFinished(() => content.close());
  const corrupt: string[] = [];
  const state = await openStateStores(join(base, "marks"));
  onTestFinished(() => state.sessions.close());
  if (options.unmarked !== true)
    await state.marks.raiseMark(
      session,
      { initial: INITIAL_MARK, seen: { trustLevel: "verified", dataClass: "internal" } },
      START_MS,
    );
  const onInternalError = (error: unknown) => void internalErrors.push(error);
  const freezes = withOwnMethods(state.freezes);
  const violations = { ...openViolationStore(join(base, "marks")) };
  onTestFinished(() => violations.close());
  const bell = await openBell(join(base, "marks"), onInternalError);
  onTestFinished(() => bell.close());
  const asked = { ...openApprovalStore(join(base, "state")) };
  onTestFinished(() => asked.close());
  const decisions = openDecisionFiles(join(base, "state"), onInternalError);
  onTestFinished(() => decisions.close());
  const { approvers = false, approvalManager, askingLimits, approvalSettings } = options;
  const people = { approvers };
  const approvals = new Approvals({
    store: asked,
    decisions,
    bell,
    manager: approvalManager,
    hasApprovers: async () => people.approvers,
    sessionOf: (id) => sessions.findSession(id),
    settings: () => ({
      waitMs: undefined,
      lifetimeMs: 15 * 60_000,
      prompts: { perMinuteMax: 1000, perHourMax: 1000 },
      attendedClients: new Set(),
      ...approvalSettings,
    }),
    ledger,
    clock,
    random: systemRandom,
    onInternalError,
    documents: options.approvalDocuments?.(content),
    ...(askingLimits && { limits: askingLimits }),
  });
  onTestFinished(() => approvals.shutDown());
  const killSwitch = new KillSwitch({ sessions, freezes, bell, clock, onInternalError });
  let brokenBy: Error | undefined;
  let rezoned: OpenWorkspace | undefined;
  await patternsReady();
  const registry = { current: fixed.registry };
  const door = createKernelDoor({
    ...fixed,
    workspaces: {
      async open(opened) {
        if (brokenBy) throw brokenBy;
        return rezoned ?? fixed.workspaces.open(opened);
      },
    },
    get registry() {
      return registry.current;
    },
    policy: () => policy.current(),
    freshRules: async () => options.freshRules?.(),
    sessions,
    marks: state.marks,
    violations,
    killSwitch,
    armings: state.armings,
    approvals,
    content,
    budgets: new Budgets({ store: spent, instanceId: fixed.instanceId, clock, random: systemRandom, onInternalError }),
    rates: new Rates({ store: paced, instanceId: fixed.instanceId, clock, onInternalError }),
    dedupe: new Dedupe({
      store: kept,
      evidence: { executedAt: async () => undefined },
      instanceId: fixed.instanceId,
      isAlive: async () => false,
      clock,
      onInternalError,
    }),
    ledger,
    observer: options.observer,
    onInternalError,
  });
  let calls = 0;
  const call: MemoryKernel["call"] = (tool, args, { signal, inBand, ...given } = {}) => {
    calls += 1;
    const { requestId = `req-${calls}`, token: sessionToken = token, dedupeKey } = given;
    const submission = {
      kind: "call",
      requestId,
      sessionToken,
      tool,
      arguments: args,
      ...(dedupeKey !== undefined && { dedupeKey }),
    };
    return door.execute(submission as Parameters<KernelDoor["execute"]>[0], signal ?? new AbortController().signal, {
      inBand,
    });
  };
  const textOf = (path: string) => readFileSync(join(root, path), "utf8");
  const breakWorkspace = (error: Error) => {
    brokenBy = error;
  };
  const rezone = async (rules: Partial<ZoneRules>) => {
    const place = await fixed.workspaces.open(session);
    const zones = compileZones({ ...BUILT_IN_ZONE_RULES, ...rules }, "");
    const workspace = { ...place.workspace, zones };
    const toolchain = () => ({ files: projectFiles(workspace, place.roots), chosen: {} });
    const repository = (directory: string) =>
      lookAtRepository({ workspace, roots: place.roots }, directory, DEFAULT_GIT_RULES);
    const installed = (path: string) => installFile(workspace, place.roots, path);
    rezoned = {
      ...place,
      workspace,
      toolchain,
      installFile: installed,
      repository,
      rules: canonicalJson({ ...rules }),
    };
  };
  return {
    breakWorkspace,
    rezone,
    locks: fixed.locks,
    kept,
    spent,
    paced,
    approvals,
    asked,
    decisions,
    people,
    content,
    corrupt,
    marks: state.marks,
    freezes,
    violations,
    killSwitch,
    bell,
    armings: state.armings,
    state: join(base, "state"),
    door,
    ledger,
    sessions,
    session,
    lease,
    token,
    root,
    internalErrors,
    time,
    registry,
    policy,
    call,
    textOf,
  };
}

/** A store whose methods can be replaced one by one. */
function withOwnMethods(store: FreezeStore): { -readonly [Name in keyof FreezeStore]: FreezeStore[Name] } {
  return {
    findFreeze: (owner) => store.findFreeze(owner),
    insertFreeze: (freeze) => store.insertFreeze(freeze),
    removeFreeze: (target) => store.removeFreeze(target),
    listFreezes: () => store.listFreezes(),
  };
}

type FixedParts = Omit<
  KernelParts,
  | "policy"
  | "sessions"
  | "marks"
  | "violations"
  | "killSwitch"
  | "armings"
  | "approvals"
  | "freshRules"
  | "content"
  | "budgets"
  | "rates"
  | "dedupe"
  | "ledger"
  | "onInternalError"
>;

function fixedParts(clock: Clock, root: string, tools: readonly Tool[], options: MemoryKernelOptions): FixedParts {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  const workspace = {
    serviceRoot: root,
    projectRoot: root,
    sharedPaths: [],
    zones: compileZones(BUILT_IN_ZONE_RULES, ""),
  };
  const roots = openWorkspaceRoots(workspace);
  onTestFinished(() => roots.close());
  const toolchain = () => ({ files: projectFiles(workspace, roots), chosen: options.toolchain ?? {} });
  const network = options.network ? { network: options.network } : {};
  let looks = 0; // each call looks anew
  const place = {
    workspace,
    roots,
    disabledTools: new Set(options.workspaceDisabled),
    volumeId: "1",
    toolchain,
    installFile: (path: string) => installFile(workspace, roots, path),
    repository: (directory: string) =>
      lookAtRepository({ workspace, roots }, directory, options.gitRules ?? DEFAULT_GIT_RULES),
    envSecrets: envFileSecrets(
      [root],
      (text) => secretsOfEnvFile(text),
      () => (looks += 1_000),
    ),
    ...(options.toolPolicy && { toolPolicy: options.toolPolicy }),
    ...(options.openedWebHosts && {
      openedWebHosts: new Set(options.openedWebHosts.map(({ host, port }) => `${host}:${port}`)),
    }),
    ...(options.privateGitHosts && { privateGitHosts: new Set(options.privateGitHosts) }),
  };
  return {
    clock,
    random: systemRandom,
    instanceId: "ins_test",
    settings: {
      toolsEnabled: true,
      disabledTools: new Set(),
      violationsPerMinute: 5,
      operationsAtOnce: 8,
      freezeOnAlert: true,
      documents: "off",
      armed: false,
      ...options.settings,
      /** Looked up for each call, as after a reload. */
      get limits() {
        return options.settings?.limits ?? NO_LIMITS;
      },
      get gates() {
        return options.settings?.gates ?? NO_GATES;
      },
    },
    registry,
    sandbox: openSandbox(
      { operator: { settings: settingsWith(options.backend, options.sandbox) } },
      "ins_test",
      network,
    ).sandbox,
    gitRemotes: () => options.gitRemotes ?? NO_GIT_REMOTES,
    ...reachOf(options),
    secrets: {
      brokerBy: () => options.broker,
      authorityOf: async () => (authority ??= newAuthority()),
      authorities: () => undefined,
    },
    machine: {
      settings: () => (options.settingsOfSystem ? options.settingsOfSystem() : options.system),
      open: async () => new HostMachine(),
    },
    redactor: options.brokenRedactor ?? (() => options.redactor ?? builtInRedactor()),
    guesses: new SecretGuesses(),
    sessionSecrets: new SessionSecrets(),
    locks: memoryLocks(),
    newFiles: unnotedNames,
    workspaces: { open: async () => place },
    argumentsKey: new Uint8Array(32).fill(7),
  };
}

let authority: Promise<SessionAuthority> | undefined;

function reachOf({ network, openedWebHosts = [], webAuthorities: file, models = {} }: MemoryKernelOptions) {
  const settings = { ...defaultSettings(), models };
  const opened = {
    ...settings.web,
    private_hosts: [...openedWebHosts],
    ...(file && { certificate_authorities: file }),
  };
  const live = { operator: { settings: { ...settings, web: opened } } };
  const [web, asked] = [openWeb(live, network), openModels(live, network)];
  onTestFinished(() => Promise.all([web.close(), asked.close()]).then(() => undefined));
  return { web: web.web, models: asked.models };
}

function settingsWith(
  backend: () => SandboxSettings["backend"] = () => "bwrap",
  sandbox: Partial<SandboxSettings> = {},
) {
  const settings = defaultSettings();
  return Object.defineProperty({ ...settings }, "sandbox", {
    get: () => ({ ...settings.sandbox, views: testedViews(), ...sandbox, backend: backend() }),
  });
}

async function openSession(sessions: SessionStore, root: string, preset: string, options: MemoryKernelOptions) {
  const lease: Lease = {
    id: "lea_test",
    scope: { ...UNRESTRICTED_SCOPE, ...options.scope },
    budget: options.budget ?? {},
    createdAtMs: START_MS,
    expiresAtMs: START_MS + 2 * HOUR_MS,
  };
  await sessions.insertLease(lease);
  const wanted = {
    userId: "tester",
    agentId: "agent",
    role: "dev",
    serviceRoot: root,
    projectRoot: root,
    isolationLevel: "STRICT",
    leaseId: lease.id,
    preset,
    lifetimeMs: HOUR_MS,
  } as const;
  const minted = await mintSession(sessions, wanted, { nowMs: START_MS, random: systemRandom });
  const session = { ...minted.session, ...options.session };
  await sessions.insertSession(session);
  return { session, token: minted.token, lease };
}

let redactor: Redactor | undefined;

/** The redactor with the built-in rules; made once. */
export function builtInRedactor(): Redactor {
  redactor ??= createRedactor();
  return redactor;
}

const engines = new Map<string, Promise<PolicyEngine>>();

/** The engine of a preset with the operator's `text`; made once for equal inputs. */
export function engineOf(preset: string, text: string, tools: readonly Tool[]): Promise<PolicyEngine> {
  const key = JSON.stringify([preset, text, tools.map((tool) => [tool.name, tool.capability.effect])]);
  const policies = text === "" ? [] : [{ name: "test.cedar", text }];
  const settings = defaultSettings();
  const known =
    engines.get(key) ??
    createPolicyEngine({
      actions: policyActions(tools, tools),
      sources: policySources(preset, { path: "/nowhere", exists: true, settings, policies }),
      roles: settings.roles,
    });
  engines.set(key, known);
  return known;
}

/** A tool for tests: takes a `path`, writes unless said otherwise, and does what `execute` says. */
export function testTool(
  name: string,
  execute: Tool["execute"],
  more: Partial<Tool["capability"]> = {},
  analyse?: Tool["analyse"],
): Tool {
  const capability: Tool["capability"] = { effect: "write", risk: "low", approval: { level: "auto" }, ...more };
  const parameters = z.strictObject({ path: z.string() });
  const touched: Tool["analyse"] = (args) => [
    {
      resource: { kind: "file", path: parameters.parse(args).path },
      effect: capability.effect === "read" ? "read" : "write",
    },
  ];
  return {
    name,
    title: name,
    description: "a tool of a test",
    parameters,
    capability,
    analyse: analyse ?? touched,
    execute,
  };
}
