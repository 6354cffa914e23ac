/**
 * Remembers damage to a ledger, found by this kernel or an earlier one.
 *
 * INVARIANT: once damage was found, the ledger is not opened for writing before all of it was verified anew. That is
 * done when a kernel starts, and when somebody has changed a file of the ledger since.
 */
import { errorCode, KernelError, storeCorrupt } from "../../../base/errors.ts";

/** Milliseconds between two verifications. */
const PAUSE_MS = 1_000;

const ADVICE =
  "stop every kernel, keep a copy of the state directory, then restore a backup; `handrail ledger verify` says what is lost";

/** What verification of the whole ledger found; sequence 0 is the ledger itself. */
export interface Verified {
  readonly ok: boolean;
  readonly problems: readonly { readonly sequence: number; readonly problem: string }[];
}

/** What outlives a kernel that found damage. */
export interface DamageNote {
  readonly stands: () => boolean;
  readonly write: (reason: string) => void;
  readonly remove: () => void;
  /** Differs once anybody has changed, replaced or removed a file of the ledger. */
  readonly stamp: () => string;
}

/** What a ledger's damage is known by, and what is done when it is found. */
export interface DamageParts {
  readonly note: DamageNote;
  readonly verify: () => Promise<Verified>;
  readonly onFound: () => void;
}

/** Looks after one ledger. */
export class LedgerDamage {
  readonly #parts: DamageParts;
  #known: KernelError | undefined;
  /** The files when the damage was found, or verified last. */
  #stamp: string | undefined;
  /** On the monotonic clock. */
  #verifyAtMs = 0;

  constructor(parts: DamageParts) {
    this.#parts = parts;
    if (parts.note.stands()) this.#known = damaged("a kernel before this one found that");
  }

  /** What is refused with; absent while no damage is known. */
  get known(): KernelError | undefined {
    return this.#known;
  }

  /** Lets a ledger pass of which no damage is known, or not any more. @throws KernelError STORE_CORRUPT */
  async require(): Promise<void> {
    if (this.#known === undefined) return;
    const stamp = this.#parts.note.stamp();
    if (stamp === this.#stamp || performance.now() < this.#verifyAtMs) throw this.#known;
    const problem = await this.#problem();
    this.#stamp = stamp;
    this.#verifyAtMs = performance.now() + PAUSE_MS;
    this.#known = problem === undefined ? undefined : damaged(problem);
    if (this.#known !== undefined) throw this.#known;
    this.#parts.note.remove();
  }

  /** Runs what meets the ledger's own bytes, and remembers damage that it meets, also for the next kernel. */
  async noticing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof KernelError && error.code === "STORE_CORRUPT") throw this.#found(error);
      throw error;
    }
  }

  #found({ message }: KernelError): KernelError {
    const { note, onFound } = this.#parts;
    const known = damaged(reasonOf(message));
    this.#known = known;
    this.#stamp = note.stamp();
    try {
      note.write(known.message);
    } catch (error) {
      const why = `this could not be noted for the next kernel (${errorCode(error)})`;
      this.#known = storeCorrupt(`${known.message}; ${why}`, error);
    }
    onFound();
    return this.#known;
  }

  async #problem(): Promise<string | undefined> {
    try {
      const { ok, problems } = await this.#parts.verify();
      const [first] = problems;
      if (ok || first === undefined) return undefined;
      return first.sequence === 0 ? first.problem : `entry ${first.sequence}: ${first.problem}`;
    } catch (error) {
      if (error instanceof KernelError) return reasonOf(error.message);
      throw error;
    }
  }
}

/** What a store says, without what the refusal says, too. */
function reasonOf(message: string): string {
  const said = message.replace(/; nothing was deleted.*$/s, "");
  return /^`ledger\.db` in the state directory is damaged \((.*)\)$/s.exec(said)?.[1] ?? said;
}

function damaged(problem: string): KernelError {
  return storeCorrupt(`\`ledger.db\` in the state directory is damaged (${problem}); nothing was deleted: ${ADVICE}`);
}
