/**
 * Port: freezes as stored. A freeze holds a principal, whatever session it acts through, until a person lifts it.
 *
 * INVARIANT: a freeze made by any process is seen by the next look of every process. INVARIANT: only lifting ends one;
 * no second freeze of the same target replaces the first, which says why.
 */
import type { MarkOwner } from "./mark-store.ts";

/** Whom a freeze holds: everybody, a principal wherever it works, or a principal in one workspace. */
export type FreezeTarget =
  | { readonly scope: "all" }
  | ({ readonly scope: "principal" } & Pick<MarkOwner, "userId" | "agentId">)
  | ({ readonly scope: "workspace" } & MarkOwner);

/** A freeze: whom it holds, what caused it, and why. */
export interface Freeze {
  readonly target: FreezeTarget;
  /** `alert`: too many violations; `operator`: somebody's act. */
  readonly cause: "alert" | "operator";
  readonly reason: string;
  /** Who froze; the kernel itself for an alert. */
  readonly by: string;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** A store of freezes. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface FreezeStore {
  /** The widest freeze that holds the principal in the workspace. On the path of every call. */
  readonly findFreeze: (owner: MarkOwner) => Promise<Freeze | undefined>;
  /** False when the target is frozen already. Durable once resolved. */
  readonly insertFreeze: (freeze: Freeze) => Promise<boolean>;
  /** Lifts the freeze of exactly this target, and no wider or narrower one; resolves with it. Durable once resolved. */
  readonly removeFreeze: (target: FreezeTarget) => Promise<Freeze | undefined>;
  /** Widest first, then the latest first; bounded. */
  readonly listFreezes: () => Promise<readonly Freeze[]>;
}
