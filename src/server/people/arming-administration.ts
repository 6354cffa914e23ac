/**
 * Performs the operator's acts on arming: arms, disarms and lists what is armed.
 *
 * INVARIANT: an arming is recorded before it takes effect, with who, until when and how far it reaches. It always ends.
 */

import type { Clock } from "../../base/clock.ts";
import { usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { ARMING_MAX_MS } from "../../base/limits.ts";
import { byPerson } from "../../ledger/actors.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { Arming, ArmingStore } from "../../session/arming-store.ts";
import type { SessionStore } from "../../session/session-store.ts";

/** What the administration of arming works on. */
export interface ArmingAdministrationParts {
  readonly armings: ArmingStore;
  readonly sessions: Pick<SessionStore, "findSession">;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** The operator's acts on the armings of one state directory. */
export class ArmingAdministration {
  readonly #parts: ArmingAdministrationParts;

  constructor(parts: ArmingAdministrationParts) {
    this.#parts = parts;
  }

  /**
   * Arms one session, or all of them, for a time; it takes the place of what was armed with the same reach before.
   * @param by who arms, for the record
   * @throws KernelError USAGE for a time that is too long or none, and for a session that is not there
   */
  async arm(sessionId: string | undefined, forMs: number, by: string): Promise<Arming> {
    const { armings, clock } = this.#parts;
    if (!(forMs > 0 && forMs <= ARMING_MAX_MS))
      throw usageError("an arming lasts between one millisecond and a day; choose a time in that range, such as 15m");
    await this.#requireSession(sessionId);
    const armedAtMs = clock.nowMs();
    const arming: Arming = {
      ...(sessionId !== undefined && { sessionId }),
      armedAtMs,
      untilMs: armedAtMs + forMs,
      armedBy: by,
    };
    await this.#record("armed", { sessionId, by }, { until: new Date(arming.untilMs).toISOString() });
    await armings.putArming(arming);
    return arming;
  }

  /** Disarms one session, or everything. Resolves with what is still armed of it by an arming of all sessions. */
  async disarm(sessionId: string | undefined, by: string): Promise<readonly Arming[]> {
    await this.#requireSession(sessionId);
    const removed = await this.#parts.armings.removeArmings(sessionId);
    await this.#record("disarmed", { sessionId, by }, { armings: removed.length });
    return this.list();
  }

  /** What is armed now, armings of all sessions first. */
  async list(): Promise<readonly Arming[]> {
    const nowMs = this.#parts.clock.nowMs();
    return (await this.#parts.armings.listArmings()).filter(({ untilMs }) => nowMs < untilMs);
  }

  async #requireSession(id: string | undefined): Promise<void> {
    if (id === undefined || (await this.#parts.sessions.findSession(id)) !== undefined) return;
    throw usageError(`there is no session \`${id}\`; \`handrail sessions list\` shows them`);
  }

  async #record(
    type: "armed" | "disarmed",
    { sessionId, by }: { readonly sessionId: string | undefined; readonly by: string },
    facts: JsonObject,
  ): Promise<void> {
    const payload = { ...facts, reach: sessionId === undefined ? "all" : "session", severity: "warning" };
    const event = { type, ...byPerson(by), sessionId: sessionId ?? "", timeMs: this.#parts.clock.nowMs(), payload };
    await this.#parts.ledger.record(event, "durable");
  }
}
