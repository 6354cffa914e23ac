/**
 * Ends running calls whose session must not act any more, and looks up freezes of principals.
 *
 * This is the kill switch. It knows every call that runs in this kernel. When the bell of freezes rings, in whatever
 * process, it looks at all of them again and aborts those that a freeze holds or whose session was frozen or revoked.
 *
 * INVARIANT: a call is among the running ones, and the bell is listened to, before anything about its session is read.
 * A freeze is therefore seen by that read or by the look that the bell causes. INVARIANT: a call that cannot be looked
 * at ends. INVARIANT: a freeze that cannot be stored holds in this kernel until it can.
 */
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";

import { endTurn } from "../../base/turn.ts";
import { freezeDenial } from "../../flow/freeze.ts";
import type { Freeze, FreezeStore } from "../../flow/freeze-store.ts";
import type { Bell, StopListening } from "../../model/outcome/bell.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { ownerKey } from "../../model/people/owner-key.ts";
import type { Session } from "../../model/people/session.ts";
import { whyStopped } from "../../session/session.ts";
import type { SessionStore } from "../../session/session-store.ts";

/** Freezes that one kernel keeps in memory because they cannot be stored; with more of them it freezes everybody. */
const FREEZES_HELD_MAX = 1024;

/** What a kill switch works with. */
export interface KillSwitchParts {
  readonly sessions: Pick<SessionStore, "findSession">;
  readonly freezes: FreezeStore;
  readonly bell: Bell;
  readonly clock: Clock;
  readonly onInternalError: (error: unknown) => void;
}

/** A call that runs in this kernel, in the hands of the kill switch. */
export class RunningCall {
  readonly #controller: AbortController;
  #session: Session | undefined;
  #stoppedBy: Denial | undefined;

  constructor(controller: AbortController) {
    this.#controller = controller;
  }

  /** Aborts when nobody waits for the call any more, and when its session must not act any more. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it was ended: its session must not act any more. */
  get stoppedBy(): Denial | undefined {
    return this.#stoppedBy;
  }

  /** Whose it is, as far as that is known. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** From now on the call ends when `session` must not act any more. */
  belongsTo(session: Session): void {
    this.#session = session;
  }

  /** Ends the call; the first reason stays. */
  stop(denial: Denial): void {
    this.#stoppedBy ??= denial;
    this.#controller.abort();
  }
}

/** The kill switch of one kernel. */
export class KillSwitch {
  readonly #parts: KillSwitchParts;
  readonly #running = new Set<RunningCall>();
  readonly #held = new Map<string, Freeze>();
  readonly #freezing = new Map<string, Promise<boolean>>();
  #stopListening: StopListening | undefined;
  #beginning: Promise<void> | undefined;
  #looks = 0;

  constructor(parts: KillSwitchParts) {
    this.#parts = parts;
  }

  /** How often the running calls were looked at: whoever read about a session across a look reads again. */
  get looks(): number {
    return this.#looks;
  }

  /**
   * Runs a call that ends when nobody waits for it any more, and when its session must not act any more. `work` does
   * not throw.
   * @param end the caller's signal, or a controller that it has made for this call alone: that one is aborted here as
   * well
   */
  during<T>(end: AbortSignal | AbortController, work: (call: RunningCall) => Promise<T>): Promise<T> {
    if (end instanceof AbortSignal) return this.#following(end, work);
    const call = new RunningCall(end);
    this.#running.add(call);
    const running = work(call);
    const ended = () => this.#running.delete(call);
    running.then(ended, ended);
    return running;
  }

  async #following<T>(signal: AbortSignal, work: (call: RunningCall) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const cancel = () => controller.abort(signal.reason);
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    try {
      return await this.during(controller, work);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /**
   * Listens to the bell from now on; nothing to wait for when it is listened to already.
   * @throws KernelError STORE_UNAVAILABLE when the machine cannot watch
   */
  listen(): Promise<void> | undefined {
    if (this.#stopListening !== undefined) return undefined;
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = undefined;
    });
    return this.#beginning;
  }

  /** The bell broke: it is listened to anew, or what runs ends, because nobody could end it any more. Never rejects. */
  async lost(): Promise<void> {
    this.#stopListening?.();
    this.#stopListening = undefined;
    try {
      await this.listen();
    } catch (error) {
      this.#parts.onInternalError(error);
      for (const call of this.#running) call.stop(UNKNOWN);
    }
  }

  /** Why the session's principal must not act in its workspace. */
  async frozen(session: Session): Promise<Denial | undefined> {
    if (this.#held.size > 0) await this.#storeHeld();
    const freeze =
      (await this.#parts.freezes.findFreeze(session)) ?? this.#held.get(ownerKey(session)) ?? this.#held.get(EVERYBODY);
    return freeze && freezeDenial(freeze, session.id);
  }

  /**
   * Freezes the session's principal in its workspace, for too many violations; false when it is frozen already, or just
   * now.
   */
  async freeze(session: Session, reason: string): Promise<boolean> {
    const { userId, agentId, serviceRoot } = session;
    const key = ownerKey(session);
    const begun = this.#freezing.get(key);
    if (begun !== undefined) return begun.then(() => false); // of a flood one freezes
    const target = { scope: "workspace", userId, agentId, serviceRoot } as const;
    const freezing = this.#freeze({ target, cause: "alert", reason, by: "kernel", atMs: this.#parts.clock.nowMs() });
    this.#freezing.set(key, freezing);
    return freezing.finally(() => this.#freezing.delete(key));
  }

  /** Looks at every running call, and ends those that must not go on. Never rejects. */
  async look(): Promise<void> {
    this.#looks += 1;
    endTurn(); // what was read before the bell rang says nothing
    const judged = new Map<string, Promise<Denial | undefined>>();
    for (const call of [...this.#running]) {
      const { session, stoppedBy } = call;
      if (session === undefined || stoppedBy !== undefined) continue;
      const judging = judged.get(session.id) ?? this.#judge(session);
      judged.set(session.id, judging);
      const denial = await judging;
      if (denial !== undefined) call.stop(denial);
    }
  }

  async #freeze(freeze: Freeze): Promise<boolean> {
    if (!(await this.#store(freeze))) return false;
    await this.look();
    // Other kernels see the freeze with their next call in any case; what runs there now goes on to its next look.
    await this.#parts.bell.ring("freezes").catch(this.#parts.onInternalError);
    return true;
  }

  async #judge(session: Session): Promise<Denial | undefined> {
    const { sessions, onInternalError } = this.#parts;
    try {
      const now = await sessions.findSession(session.id);
      if (now === undefined) return UNKNOWN;
      return whyStopped(now) ?? (await this.frozen(now));
    } catch (error) {
      onInternalError(error);
      return UNKNOWN;
    }
  }

  async #begin(): Promise<void> {
    this.#stopListening = await this.#parts.bell.listen("freezes", () => void this.look());
    await this.look(); // what rang while nobody listened was not heard
  }

  async #store(freeze: Freeze): Promise<boolean> {
    try {
      return await this.#parts.freezes.insertFreeze(freeze);
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      this.#parts.onInternalError(error);
      const key =
        this.#held.size < FREEZES_HELD_MAX && freeze.target.scope === "workspace" ? ownerKey(freeze.target) : EVERYBODY;
      const isNew = !this.#held.has(key);
      this.#held.set(key, freeze);
      return isNew;
    }
  }

  async #storeHeld(): Promise<void> {
    for (const [key, freeze] of [...this.#held]) {
      try {
        await this.#parts.freezes.insertFreeze(freeze);
        this.#held.delete(key);
      } catch (error) {
        if (error instanceof KernelError) return; // it holds here until the store works again
        throw error;
      }
    }
  }
}

const EVERYBODY = "";

const UNKNOWN: Denial = {
  layer: "authenticate",
  reason: "session_frozen",
  ruleId: "FREEZE:unknown",
  message:
    "the kernel cannot see whether the session may still act, so the call was ended; tell the operator, and send it again later",
};
