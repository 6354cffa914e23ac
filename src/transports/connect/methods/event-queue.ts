/**
 * Reports of a running call that wait for a client to read them.
 *
 * INVARIANT: what waits is bounded in count and bytes, whatever the tool reports and however slowly the client reads.
 * Of steps only the latest waits; output beyond the bound is dropped.
 */
import { MIB } from "../../../base/bytes.ts";
import type { ProgressReport } from "../../../model/outcome/progress.ts";

/** Reports and bytes of output that wait for a client which reads a running call slowly; more are dropped. */
const RPC_REPORTS_MAX = 64;
/** Bytes of a running tool's output that wait for a client which reads slowly. */
const RPC_REPORT_BYTES_MAX = MIB;

/** The reports of one call, in order. */
export class EventQueue {
  #waiting: ProgressReport[] = [];
  #bytes = 0;
  #wake = Promise.withResolvers<void>();

  /** Takes a report, or drops it. */
  readonly push = (report: ProgressReport): void => {
    if (report.kind === "progress" && this.#waiting.at(-1)?.kind === "progress") this.#waiting.pop();
    const bytes = report.kind === "output" ? report.bytes.byteLength : 0;
    if (this.#waiting.length >= RPC_REPORTS_MAX || this.#bytes + bytes > RPC_REPORT_BYTES_MAX) return;
    this.#bytes += bytes;
    this.#waiting.push(report);
    this.#wake.resolve();
  };

  /** Yields reports as they come until `ended` has settled and none waits any more. */
  async *until(ended: Promise<unknown>): AsyncGenerator<ProgressReport> {
    let over = false;
    const end = () => {
      over = true;
      this.#wake.resolve();
    };
    ended.then(end, end);
    for (;;) {
      yield* this.#take();
      if (over && this.#waiting.length === 0) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }

  /** Bytes stop counting when they are taken: the transport's own back-pressure bounds them from there on. */
  *#take(): Generator<ProgressReport> {
    for (let report = this.#waiting.shift(); report !== undefined; report = this.#waiting.shift()) {
      if (report.kind === "output") this.#bytes -= report.bytes.byteLength;
      yield report;
    }
  }
}
