/** Reads the place in a trace that a caller sends, by W3C Trace Context, level 1. */

/** A place in a trace. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span that the call belongs below. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Characters of a `traceparent`: later versions may add members. */
const TRACEPARENT_CHARACTERS_MAX = 512;
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The place that `text` names; `undefined` where it names none, and then a new trace is begun. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== "string" || text.length > TRACEPARENT_CHARACTERS_MAX) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = TRACEPARENT.exec(text) ?? [];
  // `ff` is forbidden, and the first version has no further members
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
