/**
 * Exports traces of calls and the security audit to the operator's collector, by OTLP over HTTP.
 *
 * A kernel exports what happens in it; several kernels of a state directory export each their own. INVARIANT: no call
 * waits for it, and none fails by it: what the collector does not take is dropped and counted.
 */
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { OtlpSettings } from "../../config/sections/observability.ts";
import { ocsfOf } from "../../ledger/audit/ocsf.ts";
import { type SecurityEvent, securityEventOfRecorded } from "../../ledger/audit/security-event.ts";
import type { ObservedCall } from "../../model/outcome/observed-call.ts";
import { parseTraceparent } from "../../model/outcome/trace-context.ts";
import type { Redactor } from "../../redact/redact.ts";
import { spanPrinter, type TracedCall } from "./call-spans.ts";
import { ExportQueue, type ExportState } from "./export-queue.ts";
import type { Observer, RecordedEvent } from "./observers.ts";
import { OtlpPost, type OtlpTarget } from "./otlp-post.ts";
import { redactedText, redactedValue } from "./redacted-value.ts";
import { logPrinter } from "./security-logs.ts";

/** Milliseconds that closing waits for the collector. */
const CLOSE_MS = 2000;

/** What is exported, and who by. */
export interface OtlpParts {
  readonly settings: OtlpSettings;
  readonly target: Pick<OtlpTarget, "headers" | "connections">;
  readonly version: string;
  readonly instanceId: string;
  readonly redactor: () => Redactor | Promise<Redactor>;
  /** Told when exporting begins to fail, and when it works again. */
  readonly tell: (message: string) => void;
  /** A number from 0 up to 1, which chooses what is sampled. */
  readonly chance?: () => number;
  readonly flushMs?: number;
  readonly retryMs?: number;
}

/** How exporting is; a signal that is not exported is absent. */
export interface OtlpState {
  readonly traces?: ExportState;
  readonly logs?: ExportState;
  /** Calls whose `traceparent` could not be read. */
  readonly invalidTraceparents: number;
}

/** The exporter of one kernel. */
export class OtlpExporter implements Observer {
  readonly call?: (call: ObservedCall) => void;
  readonly recorded?: (recorded: RecordedEvent) => void;
  readonly #parts: OtlpParts;
  readonly #post: OtlpPost;
  readonly #traces: ExportQueue<TracedCall> | undefined;
  readonly #logs: ExportQueue<SecurityEvent> | undefined;
  #invalid = 0;

  constructor(parts: OtlpParts) {
    const { settings, target } = parts;
    this.#parts = parts;
    const { endpoint, timeout_seconds: seconds, signals } = settings;
    this.#post = new OtlpPost({ endpoint, timeoutMs: seconds * 1000, ...target });
    if (signals.includes("traces")) {
      this.#traces = this.#tracesQueue();
      this.call = (call) => this.#take(call);
    }
    if (signals.includes("logs")) {
      const logs = this.#logsQueue();
      this.#logs = logs;
      this.recorded = ({ event, sequence = 0 }) => {
        const shaped = securityEventOfRecorded(event, sequence);
        if (shaped !== undefined) logs.add(shaped);
      };
    }
  }

  /** How exporting is. */
  get state(): OtlpState {
    return {
      ...(this.#traces && { traces: this.#traces.state }),
      ...(this.#logs && { logs: this.#logs.state }),
      invalidTraceparents: this.#invalid,
    };
  }

  /** Sends what waits, for a moment, and ends. */
  async close(): Promise<void> {
    await Promise.all([this.#traces?.close(CLOSE_MS), this.#logs?.close(CLOSE_MS)]);
    await this.#post.close();
  }

  #take(call: ObservedCall): void {
    const { settings, chance = Math.random } = this.#parts;
    const parent = call.traceparent === undefined ? undefined : parseTraceparent(call.traceparent);
    if (call.traceparent !== undefined && parent === undefined) this.#invalid += 1;
    const isWanted = parent === undefined ? chance() < settings.sample : parent.isSampled;
    if (isWanted) this.#traces?.add({ call, ...(parent && { parent }) });
  }

  #tracesQueue(): ExportQueue<TracedCall> {
    const print = spanPrinter(this.#resource(), this.#parts.version);
    return new ExportQueue({
      ...this.#queueParts("traces"),
      send: async (calls, signal) => {
        const redactor = await this.#redactor();
        if (redactor === undefined) return NO_REDACTOR;
        const bytes = print(calls.map((traced) => withoutSecrets(traced, redactor)));
        return bytes === undefined ? NOTHING_SENT : await this.#post.post("/v1/traces", bytes, signal);
      },
    });
  }

  #logsQueue(): ExportQueue<SecurityEvent> {
    const { version, instanceId } = this.#parts;
    const print = logPrinter(this.#resource(), version);
    return new ExportQueue({
      ...this.#queueParts("logs"),
      send: async (events, signal) => {
        const redactor = await this.#redactor();
        if (redactor === undefined) return NO_REDACTOR;
        const shaped = events.map((event) => ({ event, ocsf: ocsfOf(event, { version, instanceId }) }));
        const clean = shaped.map(({ event, ocsf }) => ({
          event: { ...event, request_id: redactedText(redactor, "request_id", event.request_id) },
          ocsf: redactedValue(redactor, ocsf),
        }));
        const bytes = print(clean);
        return bytes === undefined ? NOTHING_SENT : await this.#post.post("/v1/logs", bytes, signal);
      },
    });
  }

  /** `undefined` while it cannot be made: then nothing leaves. */
  async #redactor(): Promise<Redactor | undefined> {
    try {
      return await this.#parts.redactor();
    } catch {
      return undefined; // said as the reason of the failed export
    }
  }

  #queueParts(signal: "traces" | "logs") {
    const { settings, tell, flushMs, retryMs } = this.#parts;
    return {
      itemsMax: settings.queue,
      onChange: (problem: string | undefined) =>
        tell(
          problem === undefined
            ? `${signal} are exported again`
            : `${signal} cannot be exported to \`telemetry.otlp.endpoint\`: ${problem}; calls go on, and what does not fit the queue is dropped`,
        ),
      ...(flushMs !== undefined && { flushMs }),
      ...(retryMs !== undefined && { retryMs }),
    };
  }

  #resource() {
    const { settings, version, instanceId } = this.#parts;
    return resourceFromAttributes({
      "service.name": settings.service_name,
      "service.version": version,
      "service.instance.id": instanceId,
    });
  }
}

const NO_REDACTOR = { kind: "later", why: "what is sent cannot be redacted, see the kernel's log" } as const;
const NOTHING_SENT = { kind: "refused", why: "the batch has no encoding" } as const;

/** Ids that callers choose may hold anything. */
function withoutSecrets({ call, parent }: TracedCall, redactor: Redactor): TracedCall {
  const requestId = redactedText(redactor, "request_id", call.requestId);
  return { call: { ...call, requestId }, ...(parent && { parent }) };
}
