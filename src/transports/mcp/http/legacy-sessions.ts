/**
 * Keeps the legacy sessions of the HTTP door.
 *
 * INVARIANTS: an id opens a session only together with the token that began it. Their number is bounded, for each token
 * and in all; one that nobody uses ends.
 */
import { randomBytes } from "node:crypto";
import { LegacySession } from "./legacy-session.ts";
import type { Principal } from "./principals.ts";

/** Legacy sessions of all tokens together. */
export const LEGACY_SESSIONS_MAX = 1024;
/** Legacy sessions of one token. */
export const TOKEN_SESSIONS_MAX = 64;
/** Milliseconds after which a legacy session that nobody uses ends. */
const IDLE_MS = 30 * 60_000;
/** Milliseconds between two looks for them. */
const SWEEP_MS = 60_000;
/** Bytes of a session's id: nobody guesses it. */
const ID_BYTES = 16;

/** The sessions by their ids. */
export class LegacySessions {
  readonly #sessions = new Map<string, LegacySession>();
  readonly #nowMs: () => number;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Begins a session; `undefined` when there are too many that are in use. */
  begin(principal: Principal): LegacySession | undefined {
    const own = [...this.#sessions.values()].filter((session) => isOf(session, principal));
    if (own.length >= TOKEN_SESSIONS_MAX && !this.#endIdlest(own)) return undefined;
    if (this.#sessions.size >= LEGACY_SESSIONS_MAX && !this.#endIdlest([...this.#sessions.values()])) return undefined;
    const session = new LegacySession(randomBytes(ID_BYTES).toString("hex"), principal, this.#nowMs());
    this.#sessions.set(session.id, session);
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    return session;
  }

  /** The session of that id which `principal` began. */
  find(id: string, principal: Principal): LegacySession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || !isOf(session, principal)) return undefined;
    session.lastUsedMs = this.#nowMs();
    return session;
  }

  /** Ends a session. */
  end(session: LegacySession): void {
    this.#sessions.delete(session.id);
    session.close();
  }

  /** The tokens that have sessions. */
  get tokens(): readonly string[] {
    return [...this.#sessions.values()].map(({ principal }) => principal.options.sessionToken);
  }

  /** Ends the sessions of a token that is none any more. */
  endAllOf(token: string): void {
    for (const session of [...this.#sessions.values()])
      if (session.principal.options.sessionToken === token) this.end(session);
  }

  /** Ends all of them. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const session of [...this.#sessions.values()]) this.end(session);
  }

  #endIdlest(sessions: readonly LegacySession[]): boolean {
    const idle = sessions.filter(({ isBusy }) => !isBusy);
    const [idlest] = idle.sort((one, other) => one.lastUsedMs - other.lastUsedMs);
    if (idlest !== undefined) this.end(idlest);
    return idlest !== undefined;
  }

  #sweep(): void {
    const nowMs = this.#nowMs();
    for (const session of [...this.#sessions.values()])
      if (!session.isBusy && nowMs - session.lastUsedMs > IDLE_MS) this.end(session);
  }
}

function isOf(session: LegacySession, { options }: Principal): boolean {
  return session.principal.options.sessionToken === options.sessionToken;
}
