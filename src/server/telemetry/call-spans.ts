/**
 * Turns observed calls into spans: one for the call, and one below it for each stage.
 *
 * Attributes are names, sizes, outcome and rule ids, never content. Loads the SDK of OpenTelemetry.
 */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { Resource } from "@opentelemetry/resources";
import { AlwaysOnSampler, type ReadableSpan, TracerProvider } from "@opentelemetry/sdk-trace";
import type { ObservedCall } from "../../model/outcome/observed-call.ts";
import type { TraceContext } from "../../model/outcome/trace-context.ts";

/** Characters of an attribute. */
const ATTRIBUTE_CHARACTERS_MAX = 256;
/** Rules that a span names. */
const RULES_MAX = 16;

/** A call with its place in the caller's trace, where it has one. */
export interface TracedCall {
  readonly call: ObservedCall;
  readonly parent?: TraceContext;
}

/** Makes the bytes of an OTLP request for traces; `undefined` where there is nothing to send. */
export type SpanPrinter = (calls: readonly TracedCall[]) => Uint8Array | undefined;

/** Opens a printer for spans of `resource`. */
export function spanPrinter(resource: Resource, version: string): SpanPrinter {
  let ended: ReadableSpan[] = [];
  const provider = new TracerProvider({
    resource,
    sampler: new AlwaysOnSampler(), // sampled before it was queued
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_CHARACTERS_MAX, attributeCountLimit: 64 },
    spanProcessors: [
      {
        onStart: () => undefined,
        onEnd: (span) => void ended.push(span),
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve(),
      },
    ],
  });
  const tracer = provider.getTracer("handrail", version);
  const add = ({ call, parent }: TracedCall): void => {
    const span = tracer.startSpan(
      `tool ${call.tool ?? "unknown"}`,
      { kind: SpanKind.SERVER, startTime: call.receivedAtMs, attributes: attributesOf(call) },
      parent === undefined ? ROOT_CONTEXT : below(parent),
    );
    const inside = trace.setSpan(ROOT_CONTEXT, span);
    for (const { stage, startMs, durationMs } of call.stages) {
      const startTime = call.receivedAtMs + startMs;
      tracer.startSpan(stage, { startTime }, inside).end(startTime + durationMs);
    }
    if (call.outcome === "error") span.setStatus({ code: SpanStatusCode.ERROR, message: call.errorCode ?? "" });
    span.end(call.receivedAtMs + call.durationMs);
  };
  return (calls) => {
    ended = [];
    for (const call of calls) add(call);
    return JsonTraceSerializer.serializeRequest(ended);
  };
}

function below({ traceId, spanId, isSampled }: TraceContext): Context {
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function attributesOf(call: ObservedCall): Attributes {
  const { denial, errorCode, rules, effect, sessionId, role, preset, outputBytes, ledgerSequence } = call;
  return {
    "handrail.tool": call.tool ?? "unknown",
    "handrail.request_id": call.requestId,
    "handrail.outcome": call.outcome,
    "handrail.secrets_found": call.secretsFound,
    "handrail.truncated": call.truncated,
    ...(effect && { "handrail.effect": effect }),
    ...(sessionId !== undefined && { "handrail.session": sessionId }),
    ...(role !== undefined && { "handrail.role": role }),
    ...(preset !== undefined && { "handrail.preset": preset }),
    ...(rules.length > 0 && { "handrail.rules": rules.slice(0, RULES_MAX) }),
    ...(denial && { "handrail.denial.layer": denial.layer, "handrail.denial.reason": denial.reason }),
    ...(errorCode && { "error.type": errorCode }),
    ...(outputBytes !== undefined && { "handrail.output_bytes": outputBytes }),
    ...(ledgerSequence !== undefined && { "handrail.ledger_sequence": ledgerSequence }),
    ...(call.commands.length > 0 && { "handrail.commands": call.commands.length }),
  };
}
