/** The authorities of a kernel's sessions, each made with the first command that needs it, and kept in memory alone. */
import { newAuthority, type SessionAuthority } from "./authority.ts";

/** Sessions whose authority is kept; one that comes again gets a new one. */
const SESSION_AUTHORITIES_MAX = 64;

/** The authorities of one kernel. */
export class SessionAuthorities {
  readonly #made = new Map<string, Promise<SessionAuthority>>();

  /** The one of the session; the same again while it is kept. */
  of(sessionId: string): Promise<SessionAuthority> {
    const known = this.#made.get(sessionId);
    this.#made.delete(sessionId); // the last one that was asked for stays longest
    const authority = known ?? newAuthority();
    this.#made.set(sessionId, authority);
    authority.catch(() => this.#made.delete(sessionId)); // the next command tries again
    const [oldest] = this.#made.keys();
    if (this.#made.size > SESSION_AUTHORITIES_MAX && oldest !== undefined) this.#made.delete(oldest);
    return authority;
  }
}
