/**
 * Port: wakes whoever waits for something that another process of the same state directory may change.
 *
 * A ring says only that something changed; what changed stands in the stores. INVARIANT: a listener hears every ring
 * that comes after `listen` has resolved, from any process; several rings may be heard as one.
 */

/** What changes: decisions about approvals, and freezes of principals. */
export const BELL_TOPICS = ["approvals", "freezes"] as const;
/** One of them. */
export type BellTopic = (typeof BELL_TOPICS)[number];

/** Stops listening. */
export type StopListening = () => void;

/** The bell of a state directory. Failures are `KernelError`s with the code `STORE_UNAVAILABLE`. */
export interface Bell {
  /** Wakes every listener to `topic`, in every process. */
  readonly ring: (topic: BellTopic) => Promise<void>;
  /** `listener` is called after each ring; it must not throw. Costs nothing while nobody rings. */
  readonly listen: (topic: BellTopic, listener: () => void) => Promise<StopListening>;
  readonly close: () => Promise<void>;
}
