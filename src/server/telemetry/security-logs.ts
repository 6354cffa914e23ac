/** Turns security events into OTLP log records, each with an OCSF event as its body. */
import { type AnyValue, type LogRecord, SeverityNumber } from "@opentelemetry/api";
import { JsonLogsSerializer } from "@opentelemetry/otlp-transformer";
import type { Resource } from "@opentelemetry/resources";
import { LoggerProvider, type ReadableLogRecord } from "@opentelemetry/sdk-logs";
import type { JsonObject } from "../../base/json.ts";
import type { SecurityEvent, Severity } from "../../ledger/audit/security-event.ts";

const SEVERITY_NUMBERS: Readonly<Record<Severity, SeverityNumber>> = {
  info: SeverityNumber.INFO,
  warning: SeverityNumber.WARN,
  critical: SeverityNumber.ERROR,
};

/** An event, as the audit has it and as OCSF has it. */
export interface ShapedEvent {
  readonly event: SecurityEvent;
  readonly ocsf: JsonObject;
}

/** Makes the bytes of an OTLP request for logs; `undefined` where there is nothing to send. */
export type LogPrinter = (events: readonly ShapedEvent[]) => Uint8Array | undefined;

/** Opens a printer for logs of `resource`. */
export function logPrinter(resource: Resource, version: string): LogPrinter {
  let emitted: ReadableLogRecord[] = [];
  const provider = new LoggerProvider({
    resource,
    processors: [
      {
        onEmit: (record) => void emitted.push(record),
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve(),
      },
    ],
  });
  const logger = provider.getLogger("handrail", version);
  return (events) => {
    emitted = [];
    for (const { event, ocsf } of events) logger.emit(recordOf(event, ocsf));
    return JsonLogsSerializer.serializeRequest(emitted);
  };
}

function recordOf(event: SecurityEvent, ocsf: JsonObject): LogRecord {
  return {
    timestamp: Date.parse(event.timestamp),
    severityNumber: SEVERITY_NUMBERS[event.severity],
    severityText: event.severity,
    eventName: `handrail.${event.event}`,
    body: ocsf as AnyValue,
    attributes: { "handrail.event": event.event, "handrail.request_id": event.request_id },
  };
}
