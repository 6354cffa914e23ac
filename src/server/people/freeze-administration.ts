/**
 * Performs the operator's acts on freezes: stops everybody or one agent, and lifts that after review.
 *
 * INVARIANT: stopping takes effect before it is recorded, because it must work although nothing can be recorded.
 * Lifting names its reason and is recorded before it takes effect, so that none goes unseen.
 */

import type { Clock } from "../../base/clock.ts";
import { KernelError, usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Freeze, FreezeStore, FreezeTarget } from "../../flow/freeze-store.ts";
import type { ViolationStore } from "../../flow/violation-store.ts";
import { byPerson } from "../../ledger/actors.ts";
import type { Bell } from "../../model/outcome/bell.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import type { Session } from "../../model/people/session.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { FREEZE_REASON_CHARACTERS_MAX } from "../ledger/limits.ts";

/** What the administration of freezes works on. */
export interface FreezeAdministrationParts {
  readonly freezes: FreezeStore;
  readonly violations: ViolationStore;
  readonly sessions: Pick<SessionStore, "findSession" | "updateSession">;
  readonly bell: Bell;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** Who acts, and why, for the record. */
export interface FreezeAct {
  /** Name of the person. */
  readonly by: string;
  readonly reason: string;
}

/** What a resumption came to: the session, what was lifted, and the wider freeze that still holds it. */
export interface Resumed {
  readonly session: Session;
  readonly lifted: readonly Freeze[];
  readonly remaining?: Freeze;
}

/** What is recorded of a freeze, or of its end. */
interface FreezeEvent {
  readonly type: EventType;
  /** Empty when no session was named. */
  readonly sessionId: string;
  readonly facts: JsonObject;
}

/** The operator's acts on the freezes of one state directory. */
export class FreezeAdministration {
  readonly #parts: FreezeAdministrationParts;

  constructor(parts: FreezeAdministrationParts) {
    this.#parts = parts;
  }

  /** Freezes, widest first, then the latest first. */
  listFreezes(): Promise<readonly Freeze[]> {
    return this.#parts.freezes.listFreezes();
  }

  /** The widest freeze that holds the session's principal in its workspace. */
  findFreeze(session: Session): Promise<Freeze | undefined> {
    return this.#parts.freezes.findFreeze(session);
  }

  /**
   * Freezes everybody, a principal, or a principal in one workspace, and ends what they run, in every kernel. A target
   * that is frozen already stays as it is.
   * @throws KernelError LEDGER_UNAVAILABLE when the freeze holds and could not be recorded
   */
  async kill(target: FreezeTarget, act: FreezeAct): Promise<Freeze> {
    const { freezes, clock } = this.#parts;
    const freeze: Freeze = {
      target,
      cause: "operator",
      reason: checkedReason(act.reason),
      by: `operator:${act.by}`,
      atMs: clock.nowMs(),
    };
    const isNew = await freezes.insertFreeze(freeze);
    await this.#tell({ type: "killed", sessionId: "", facts: { ...target, isNew } }, act);
    return freeze;
  }

  /** The principal of a session in its workspace, as what is frozen. */
  async targetOf(sessionId: string): Promise<FreezeTarget> {
    const { userId, agentId, serviceRoot } = await this.sessionOf(sessionId);
    return { scope: "workspace", userId, agentId, serviceRoot };
  }

  /** The session itself. @throws KernelError USAGE when there is none */
  async sessionOf(id: string): Promise<Session> {
    const session = await this.#parts.sessions.findSession(id);
    if (session === undefined) throw unknownSession(id);
    return session;
  }

  /** Freezes one session alone, and ends what it runs; its principal may act through another one. */
  async freezeSession(id: string, act: FreezeAct): Promise<Session> {
    const { sessions, clock } = this.#parts;
    checkedReason(act.reason);
    const session = await sessions.updateSession(id, { frozenAtMs: clock.nowMs() });
    if (session === undefined) throw unknownSession(id);
    await this.#tell({ type: "frozen", sessionId: id, facts: { scope: "session", cause: "operator" } }, act);
    return session;
  }

  /**
   * Lifts what was frozen of a session: itself, and its principal in its workspace, whose violations are counted anew.
   */
  async resumeSession(id: string, act: FreezeAct): Promise<Resumed> {
    const { sessions, freezes, violations } = this.#parts;
    const session = await this.sessionOf(id);
    const { userId, agentId, serviceRoot, frozenAtMs } = session;
    const target: FreezeTarget = { scope: "workspace", userId, agentId, serviceRoot };
    await this.#recordResumed(id, { ...target, ...(frozenAtMs !== undefined && { sessionFrozen: true }) }, act);
    await violations.forget(session);
    const lifted = await freezes.removeFreeze(target);
    const thawed =
      frozenAtMs === undefined ? session : ((await sessions.updateSession(id, { frozenAtMs: null })) ?? session);
    const remaining = await freezes.findFreeze(session);
    return { session: thawed, lifted: lifted === undefined ? [] : [lifted], ...(remaining && { remaining }) };
  }

  /** Lifts the freeze of exactly this target; narrower ones stay until they are reviewed. */
  async resume(target: FreezeTarget, act: FreezeAct): Promise<Freeze> {
    const { freezes, violations } = this.#parts;
    const known = (await freezes.listFreezes()).some((freeze) => sameTarget(freeze.target, target));
    if (!known) throw usageError("nothing is frozen there; `handrail sessions review` shows what is");
    await this.#recordResumed("", { ...target }, act);
    if (target.scope === "workspace") await violations.forget(target);
    const lifted = await freezes.removeFreeze(target);
    if (lifted === undefined) throw usageError("somebody else lifted the freeze meanwhile; nothing is left to do");
    return lifted;
  }

  /** Ends what runs, and records the freeze also where that cannot be told. */
  async #tell(event: FreezeEvent, act: FreezeAct): Promise<void> {
    try {
      await this.#ring();
    } finally {
      await this.#recordFrozen(event, act);
    }
  }

  async #ring(): Promise<void> {
    try {
      await this.#parts.bell.ring("freezes");
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      const message = `the freeze holds for every new call, but running calls could not be told: ${error.message}`;
      throw new KernelError(error.code, message, error);
    }
  }

  async #recordFrozen(event: FreezeEvent, act: FreezeAct): Promise<void> {
    try {
      await this.#record({ ...event, facts: { ...event.facts, reason: act.reason, severity: "critical" } }, act.by);
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      throw new KernelError(error.code, `the freeze holds, but it could not be recorded: ${error.message}`, error);
    }
  }

  async #recordResumed(sessionId: string, facts: JsonObject, act: FreezeAct): Promise<void> {
    const reason = checkedReason(act.reason);
    await this.#record({ type: "resumed", sessionId, facts: { ...facts, reason, severity: "warning" } }, act.by);
  }

  async #record({ type, sessionId, facts: payload }: FreezeEvent, by: string): Promise<void> {
    const { ledger, clock } = this.#parts;
    await ledger.record({ type, ...byPerson(by), sessionId, timeMs: clock.nowMs(), payload }, "durable");
  }
}

function unknownSession(id: string): KernelError {
  return usageError(`there is no session \`${id}\`; \`handrail sessions list\` shows them`);
}

function checkedReason(reason: string): string {
  if (reason.length <= FREEZE_REASON_CHARACTERS_MAX) return reason.toWellFormed();
  throw usageError(`a reason has at most ${FREEZE_REASON_CHARACTERS_MAX} characters; shorten it`);
}

function sameTarget(left: FreezeTarget, right: FreezeTarget): boolean {
  const [a, b] = [left as Partial<Session> & FreezeTarget, right as Partial<Session> & FreezeTarget];
  return a.scope === b.scope && a.userId === b.userId && a.agentId === b.agentId && a.serviceRoot === b.serviceRoot;
}
