/**
 * Performs the operator's acts on sessions and leases: makes, narrows, renews and ends them.
 *
 * Every act is recorded.
 */

import type { Clock } from "../../base/clock.ts";
import { usageError } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Settings } from "../../config/config.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { Bell } from "../../model/outcome/bell.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import { dialectOf } from "../../model/people/dialect.ts";
import { DEFAULT_MODE, type OperatorGates } from "../../model/people/gates.ts";
import {
  LEASE_DIMENSIONS,
  type Lease,
  type LeaseBudget,
  type LeaseScope,
  UNRESTRICTED_SCOPE,
} from "../../model/people/lease.ts";
import type { PresetName } from "../../model/people/preset.ts";
import type { Session } from "../../model/people/session.ts";
import { BUDGET_MEMBERS, isAmount, isLimited } from "../../model/spending/budget.ts";
import { deriveLease, unusableDimensions } from "../../policy/lease-scope.ts";
import { PRESETS } from "../../policy/presets.ts";
import { checkedLifetime, clientAgent, requireName } from "../../session/names.ts";
import { appliedProfile, undefinedProfile } from "../../session/profile.ts";
import { type Authenticated, type MintedSession, mintSession, type NewSession } from "../../session/session.ts";
import type { SessionStore } from "../../session/session-store.ts";
import type { WantedBranch } from "../branches/branch-desk.ts";
import { choosePreset, grantOf, ROLES_WITHOUT_GRANT, requireProjectRoot } from "../workspace/grants.ts";
import { installationNotice, installationPaths, placeInInstallation } from "../workspace/installation.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";
import { OperatorProof } from "./operator-proof.ts";

/** What an administration works on. */
export interface AdministrationParts {
  readonly settings: Settings;
  /** What sessions may be made with: tools, modes and skills as they are now. */
  readonly offer: () => Offer;
  readonly sessions: SessionStore;
  /** Rung when a session ends, so that what it runs ends too. */
  readonly bell: Pick<Bell, "ring">;
  readonly ledger: EventSink;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Refuses a directory that is hardly meant as a workspace or a project root. */
  readonly requireUsual: (directory: string, isProjectRoot: boolean) => void;
  /** Finds or makes the branch that a session is made for. @returns its id */
  readonly branchFor: (wanted: WantedBranch) => Promise<string>;
  /** Told what the operator should know about a choice. */
  readonly warn: (message: string) => void;
}

/** The preset whose sessions work on a branch in any case. */
const UNATTENDED: PresetName = "autonomous";

/** What there is to make sessions with. */
export interface Offer {
  /** The registry's canonical hash, specs included. */
  readonly registry: string;
  /** Names of the tools. */
  readonly tools: readonly string[];
  readonly gates: OperatorGates;
}

/** A wish for a lease. */
export interface LeaseWish {
  readonly scope: LeaseScope;
  readonly lifetimeMs: number;
  readonly budget?: LeaseBudget | undefined;
}

/** A wish for a session; what is absent comes from settings. */
export interface SessionWish {
  readonly workspace: string;
  readonly projectRoot?: string;
  readonly role?: string;
  readonly preset?: string;
  /** A mode and a skill only narrow, so that anybody may choose them. */
  readonly mode?: string;
  readonly skill?: string;
  /** The source system whose names, arguments and results the session speaks. */
  readonly dialect?: string;
  /** The branch to work on and to stay on, made where there is none; `autonomous` has one of its own when absent. */
  readonly branch?: string;
  /** Ends making that branch. */
  readonly signal?: AbortSignal;
  readonly userId: string;
  readonly agentId: string;
  /** The process that serves the agent, where its client says later who it is. */
  readonly process?: number;
  /**
   * For one call under a lease of its own, after which it ends: an approval that comes later fits the same call again.
   */
  readonly isOneCall?: boolean;
  readonly lifetimeMs?: number;
  /**
   * An existing lease to act under, narrowed by `scope` if that restricts anything; without it a lease of the session's
   * own is made.
   */
  readonly leaseId?: string;
  readonly scope?: LeaseScope;
  /** What may be spent; with an existing lease that one is narrowed. */
  readonly budget?: LeaseBudget;
  /**
   * That the operator asks; without it a client does, whose role, preset and project root stay within what the operator
   * granted.
   */
  readonly operator?: OperatorProof;
}

/** The operator's acts on one state directory. */
export class Administration {
  readonly #parts: AdministrationParts;

  constructor(parts: AdministrationParts) {
    this.#parts = parts;
  }

  /** Mints a session; its token is in the answer and nowhere else. */
  async createSession(wish: SessionWish): Promise<MintedSession> {
    const { sessions, clock, random } = this.#parts;
    const wanted = this.#resolve(wish, !OperatorProof.isProof(wish.operator));
    const bound = await this.#branchOf(wish, wanted);
    const lease = await this.#leaseFor(wish, wanted.lifetimeMs);
    const made = { ...wanted, ...bound, leaseId: lease.id };
    const minted = await mintSession(sessions, made, { nowMs: clock.nowMs(), random });
    const { id, role, preset, mode, skill, dialect, serviceRoot, expiresAtMs } = minted.session;
    const { registry, tools, gates } = this.#parts.offer();
    const applied = appliedProfile(minted.session, gates, tools);
    const warning = PRESETS[preset as PresetName].warning;
    if (warning !== undefined) this.#parts.warn(`preset ${preset}: ${warning}`);
    const place = placeInInstallation(serviceRoot, installationPaths());
    if (place !== "apart") this.#parts.warn(installationNotice(serviceRoot, place));
    await this.#record("session_created", id, {
      role,
      preset,
      mode,
      ...(skill !== undefined && { skill }),
      ...(dialect !== undefined && { dialect }),
      serviceRoot,
      ...(bound.branchId !== undefined && { branchId: bound.branchId }),
      leaseId: lease.id,
      registry,
      applied: { hash: applied.hash, ...applied.document },
      expiresAt: new Date(expiresAtMs).toISOString(),
    });
    return minted;
  }

  /**
   * A session that exists only in memory, to ask what it would be allowed: anybody may imagine any; nothing is stored
   * and it has no token.
   */
  async imagineSession(wish: SessionWish): Promise<Authenticated> {
    const { lifetimeMs, ...wanted } = this.#resolve(wish, false);
    const lease = this.#newLease(wish.scope ?? UNRESTRICTED_SCOPE, lifetimeMs, wish.budget ?? {});
    const { createdAtMs, expiresAtMs } = lease;
    const session: Session = {
      mode: DEFAULT_MODE,
      ...wanted,
      id: newId("ses", this.#parts.random),
      leaseId: lease.id,
      tokenHash: "",
      ...((wish.branch !== undefined || wanted.preset === UNATTENDED) && { isBranchBound: true }),
      createdAtMs,
      expiresAtMs,
    };
    return { session, lease };
  }

  /**
   * Gives a session the name that its client gives itself, before its first call: freezes, marks and budgets are those
   * of that name from then on.
   */
  async nameSession(session: Session, clientName: string): Promise<void> {
    const agentId = clientAgent(clientName);
    if (agentId === undefined || agentId === session.agentId) return;
    if (!(await this.#parts.sessions.updateSession(session.id, { agentId })))
      throw usageError(`there is no session \`${session.id}\`; start the server again`);
    const facts = { agent_id: agentId, ...(session.process !== undefined && { process: session.process }) };
    await this.#record("session_named", session.id, facts);
  }

  /** Sessions, newest first. */
  listSessions(): Promise<readonly Session[]> {
    return this.#parts.sessions.listSessions();
  }

  /** Ends a session for good, with what it runs, in every kernel. */
  async revokeSession(id: string): Promise<Session> {
    const session = await this.#parts.sessions.updateSession(id, { revokedAtMs: this.#parts.clock.nowMs() });
    if (!session) throw usageError(`there is no session \`${id}\`; \`handrail sessions list\` shows them`);
    await this.#parts.bell
      .ring("freezes")
      .catch((error: Error) => this.#parts.warn(`calls of \`${id}\` that run may go on: ${error.message}`));
    // whoever watches requests sees that those of the session are over
    await this.#parts.bell.ring("approvals").catch((error: Error) => this.#parts.warn(error.message));
    await this.#record("session_revoked", id, {});
    return session;
  }

  /** Ends a session and the lease that was made for it. */
  async endSession(session: Session): Promise<void> {
    await this.revokeSession(session.id);
    await this.releaseLease(session.leaseId);
  }

  /** Leases, newest first. */
  listLeases(): Promise<readonly Lease[]> {
    return this.#parts.sessions.listLeases();
  }

  /** A lease of its own, under which sessions can be made. */
  async createLease(scope: LeaseScope, lifetimeMs: number, budget: LeaseBudget = {}): Promise<Lease> {
    const lease = this.#newLease(scope, lifetimeMs, budget);
    await this.#parts.sessions.insertLease(lease);
    await this.#record("lease_created", "", {
      leaseId: lease.id,
      expiresAt: new Date(lease.expiresAtMs).toISOString(),
      ...budgetFact(lease),
    });
    return lease;
  }

  /** A lease narrowed from `parentId`; it never admits or spends what its parent does not, and never outlives it. */
  async deriveLease(parentId: string, { scope, lifetimeMs, budget = {} }: LeaseWish): Promise<Lease> {
    const parent = await this.#requireLease(parentId);
    requireUsable(scope);
    requireCountable(budget);
    const nowMs = this.#parts.clock.nowMs();
    const lease = deriveLease(parent, {
      id: newId("lea", this.#parts.random),
      scope,
      budget,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + checkedLifetime(lifetimeMs),
    });
    await this.#parts.sessions.insertLease(lease);
    const expiresAt = new Date(lease.expiresAtMs).toISOString();
    await this.#record("lease_derived", "", { leaseId: lease.id, parentId, expiresAt, ...budgetFact(lease) });
    return lease;
  }

  /** Extends a lease that has not been released; a derived one at most to its parent's end. */
  async renewLease(id: string, lifetimeMs: number): Promise<Lease> {
    const lease = await this.#requireLease(id);
    if (lease.releasedAtMs !== undefined) throw usageError(`the lease \`${id}\` was released; make a new one`);
    const parent = lease.parentId === undefined ? undefined : await this.#requireLease(lease.parentId);
    const wanted = this.#parts.clock.nowMs() + checkedLifetime(lifetimeMs);
    const renewed = await this.#parts.sessions.updateLease(id, {
      expiresAtMs: Math.min(wanted, parent?.expiresAtMs ?? wanted),
    });
    if (!renewed) throw usageError(`there is no lease \`${id}\``);
    await this.#record("lease_renewed", "", { leaseId: id, expiresAt: new Date(renewed.expiresAtMs).toISOString() });
    return renewed;
  }

  /** Gives a lease back; sessions under it are refused from their next call on. */
  async releaseLease(id: string): Promise<Lease> {
    const lease = await this.#parts.sessions.updateLease(id, { releasedAtMs: this.#parts.clock.nowMs() });
    if (!lease) throw usageError(`there is no lease \`${id}\`; \`handrail leases list\` shows them`);
    await this.#record("lease_released", "", { leaseId: id });
    return lease;
  }

  /** Records that a new admin credential is about to replace the one before. */
  async recordAdminCredential(): Promise<void> {
    await this.#record("admin_credential_made", "", {});
  }

  /** Records that an approver's decisions count from now on, or do not any more. */
  async recordApprover(change: "approver_added" | "approver_removed", approver: string): Promise<void> {
    await this.#record(change, "", { approver, severity: "warning" });
  }

  /** What a wish comes to under the operator's settings and grants. @param isClient whether it must stay within them */
  #resolve(wish: SessionWish, isClient: boolean): Omit<NewSession, "leaseId"> {
    const { settings } = this.#parts;
    const serviceRoot = workspaceDirectory(wish.workspace);
    const grant = grantOf(settings, serviceRoot);
    const role = wish.role ?? "dev";
    if (!settings.roles.includes(role))
      throw usageError(`the role \`${role}\` is not defined; use one of ${settings.roles.join(", ")}`);
    if (isClient && !(grant?.roles ?? ROLES_WITHOUT_GRANT).includes(role)) {
      throw usageError(
        `the role \`${role}\` is not granted to clients of \`${serviceRoot}\`; the operator grants it under workspaces[].roles in handrail.yaml`,
      );
    }
    requireName(wish.userId, "user");
    requireName(wish.agentId, "agent");
    const profile = this.#profileOf(wish);
    const projectRoot = workspaceDirectory(wish.projectRoot ?? grant?.project_root ?? serviceRoot);
    if (grant?.allow_unusual !== true) {
      this.#parts.requireUsual(serviceRoot, false);
      if (projectRoot !== serviceRoot) this.#parts.requireUsual(projectRoot, true);
    }
    if (isClient) requireProjectRoot(grant, serviceRoot, projectRoot);
    return {
      userId: wish.userId,
      agentId: wish.agentId,
      ...(wish.process !== undefined && { process: wish.process }),
      ...(wish.isOneCall === true && wish.leaseId === undefined && { isOneCall: true }),
      role,
      serviceRoot,
      projectRoot,
      isolationLevel: grant?.isolation ?? "STRICT",
      preset: choosePreset(settings, grant, { wanted: wish.preset, isClient }),
      ...profile,
      ...(wish.dialect !== undefined && { dialect: dialectOf(wish.dialect) }),
      lifetimeMs: wish.lifetimeMs ?? settings.sessions.lifetime_seconds * 1000,
    };
  }

  /** The branch that a session is made for; one of `autonomous` has no other place for what it changes. */
  async #branchOf(
    { branch, signal }: SessionWish,
    { preset, serviceRoot, projectRoot, userId, agentId }: Omit<NewSession, "leaseId">,
  ): Promise<Pick<NewSession, "branchId" | "isBranchBound">> {
    if (branch === undefined && preset !== UNATTENDED) return {};
    const branchId = await this.#parts.branchFor({
      ...(branch !== undefined && { name: branch }),
      serviceRoot,
      projectRoot,
      userId,
      agentId,
      signal,
    });
    return { branchId, isBranchBound: true };
  }

  #profileOf({ mode = DEFAULT_MODE, skill }: SessionWish): Pick<NewSession, "mode" | "skill"> {
    const { modes, skills } = this.#parts.offer().gates;
    if (mode !== DEFAULT_MODE && !modes.has(mode)) throw undefinedProfile("mode", mode);
    if (skill !== undefined && !skills.has(skill)) throw undefinedProfile("skill", skill);
    return { mode, ...(skill !== undefined && { skill }) };
  }

  /** The lease that a new session acts under: a new one, an existing one, or one narrowed from that. */
  async #leaseFor(
    { leaseId, scope = UNRESTRICTED_SCOPE, budget = {} }: SessionWish,
    lifetimeMs: number,
  ): Promise<Lease> {
    if (leaseId !== undefined) {
      const narrows = isLimited(budget) || LEASE_DIMENSIONS.some((dimension) => scope[dimension].length > 0);
      return narrows ? this.deriveLease(leaseId, { scope, lifetimeMs, budget }) : this.#requireLease(leaseId);
    }
    return this.createLease(scope, lifetimeMs, budget);
  }

  #newLease(scope: LeaseScope, lifetimeMs: number, budget: LeaseBudget): Lease {
    requireUsable(scope);
    requireCountable(budget);
    const nowMs = this.#parts.clock.nowMs();
    return {
      id: newId("lea", this.#parts.random),
      scope,
      budget,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + checkedLifetime(lifetimeMs),
    };
  }

  async #requireLease(id: string): Promise<Lease> {
    const lease = await this.#parts.sessions.findLease(id);
    if (!lease) throw usageError(`there is no lease \`${id}\`; \`handrail leases list\` shows them`);
    return lease;
  }

  async #record(type: EventType, sessionId: string, payload: JsonObject): Promise<void> {
    const { ledger, clock } = this.#parts;
    await ledger.record({ type, ...BY_OPERATOR, sessionId, timeMs: clock.nowMs(), payload }, "durable");
  }
}

/** A pattern that admits nothing by mistake is better refused than granted. */
function requireUsable(scope: LeaseScope): void {
  const [bad] = unusableDimensions(scope);
  if (bad !== undefined)
    throw usageError(`a pattern of ${bad} cannot be used; use fewer wildcards and balanced brackets`);
}

/** An amount that cannot be counted limits nothing, or everything. */
function requireCountable(budget: LeaseBudget): void {
  for (const [member, amount] of Object.entries(budget)) {
    if ((BUDGET_MEMBERS as readonly string[]).includes(member) && (amount === undefined || isAmount(amount))) continue;
    throw usageError(
      `the budget of \`${member}\` must be a whole number from 0 of calls, durationMs, bytes, tokens or costMicros`,
    );
  }
}

function budgetFact({ budget }: Lease): JsonObject {
  return isLimited(budget) ? { budget: { ...budget } } : {};
}
