/**
 * Passes on what happens in a kernel to those who observe it: metrics, traces and logs.
 *
 * Nothing is loaded or counted while nobody observes. INVARIANT: an observer that throws is counted and changes
 * nothing; the others hear all the same.
 */
import type { Settings } from "../../config/config.ts";
import type { LedgerEvent } from "../../model/outcome/event.ts";
import type { CallObserver, ObservedCall } from "../../model/outcome/observed-call.ts";
import type { Environment } from "../operator/operator-directory.ts";

/** The variable that says which lines of the structured log are wanted; with it there is one. */
export const LOG_VARIABLE = "HANDRAIL_LOG";

/** Whether anything is to be loaded that logs or exports. */
export function wantsTelemetry({ log, telemetry }: Pick<Settings, "log" | "telemetry">, environment: Environment) {
  const said = environment[LOG_VARIABLE] ?? "";
  return said !== "" || log !== undefined || telemetry.otlp !== undefined;
}

/** An event that was handed to the ledger. */
export interface RecordedEvent {
  readonly event: LedgerEvent;
  /** Absent where it has no place in the chain yet, or could not be recorded. */
  readonly sequence?: number | undefined;
  readonly durability: "durable" | "buffered";
  readonly tookMs: number;
  readonly isRecorded: boolean;
}

/** One who observes a kernel; it hears what it has a member for. */
export interface Observer {
  readonly call?: CallObserver;
  readonly recorded?: (recorded: RecordedEvent) => void;
  /** A bug or a background failure; it may hold secrets. */
  readonly failed?: (error: unknown) => void;
  /** What the operator should know. */
  readonly warned?: (message: string) => void;
  /** What went wrong at a front door. */
  readonly refused?: (error: unknown) => void;
}

/** All who observe one kernel. */
export class Observers {
  readonly #observers = new Set<Observer>();
  #calls: CallObserver | undefined;
  #hearsEvents = false;
  #broken = 0;

  /** What the kernel tells of each call; `undefined` while nobody hears of calls. */
  get calls(): CallObserver | undefined {
    return this.#calls;
  }

  /** Whether anybody hears of recorded events. */
  get hearsEvents(): boolean {
    return this.#hearsEvents;
  }

  /** How often an observer threw. */
  get broken(): number {
    return this.#broken;
  }

  /** Lets `observer` hear. @returns what ends that */
  add(observer: Observer): () => void {
    this.#observers.add(observer);
    this.#choose();
    return () => {
      this.#observers.delete(observer);
      this.#choose();
    };
  }

  /** An event was handed to the ledger. */
  recorded(recorded: RecordedEvent): void {
    this.#tell(({ recorded: hear }) => hear?.(recorded));
  }

  /** Something failed that no caller is told of. */
  failed(error: unknown): void {
    this.#tell(({ failed: hear }) => hear?.(error));
  }

  /** The operator is to know something. */
  warned(message: string): void {
    this.#tell(({ warned: hear }) => hear?.(message));
  }

  /** A front door met an error. */
  refused(error: unknown): void {
    this.#tell(({ refused: hear }) => hear?.(error));
  }

  #choose(): void {
    const all = [...this.#observers];
    this.#hearsEvents = all.some(({ recorded }) => recorded !== undefined);
    const hears = all.some(({ call }) => call !== undefined);
    this.#calls = hears ? (call: ObservedCall) => this.#tell(({ call: hear }) => hear?.(call)) : undefined;
  }

  #tell(tell: (observer: Observer) => void): void {
    for (const observer of this.#observers) {
      try {
        tell(observer);
      } catch {
        this.#broken += 1; // shown as `handrail_observer_failures_total`; reporting it could fail the same way
      }
    }
  }
}
