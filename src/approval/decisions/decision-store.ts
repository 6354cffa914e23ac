/**
 * Port: requests that lie beside each other as files, and the decisions that a person puts next to them.
 *
 * A decision counts for nothing by lying there: it has to fit its request (`decision-file.ts`). INVARIANT: what others
 * than the operator could have written, or what is no plain file, is `unusable`, and its content is never looked at.
 */
import type { StopListening } from "../../model/outcome/bell.ts";

/** What lies where a decision would. */
export type FoundDecision =
  | { readonly kind: "none" }
  /** `settled`: nobody has written to it for a moment. */
  | { readonly kind: "found"; readonly text: string; readonly settled: boolean }
  | { readonly kind: "unusable"; readonly problem: string };

/**
 * Requests and decisions as files. `hash`: the 64 hexadecimal digits of a request. Failures are `KernelError`s with
 * `STORE_UNAVAILABLE`.
 */
export interface DecisionStore {
  /** Puts a request where people look for it. */
  readonly announce: (hash: string, text: string) => Promise<void>;
  /** Takes the request away, and a decision with it. */
  readonly withdraw: (hash: string) => Promise<void>;
  readonly look: (hash: string) => Promise<FoundDecision>;
  /** Moves a decision that does not count out of the way, so that it is not found again. */
  readonly setAside: (hash: string) => Promise<void>;
  /** `listener` is called with the hash of each decision that is put down, from now on; it must not throw. */
  readonly watch: (listener: (hash: string) => void) => Promise<StopListening>;
  readonly close: () => Promise<void>;
}
