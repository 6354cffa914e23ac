/**
 * Redacts a part of a text within its surroundings.
 *
 * A secret that begins before the part or ends after it is hidden too.
 */
import { REDACTION_MARGIN_CHARACTERS } from "../base/limits.ts";
import { type Finding, markerFor } from "./search/finding.ts";
import type { StreamWindow } from "./text-stream.ts";

/** What must be read of a text of `total` characters (or bytes) to redact the part from `start` up to `end` rightly. */
export function surroundingsOf(
  start: number,
  end: number,
  total: number,
): { readonly from: number; readonly to: number } {
  return {
    from: Math.max(0, start - REDACTION_MARGIN_CHARACTERS),
    to: Math.min(total, end + REDACTION_MARGIN_CHARACTERS),
  };
}

/** A redacted part. */
export interface Window {
  readonly text: string;
  /** What was found in it, cut to the part; offsets count in the whole text. */
  readonly findings: readonly Finding[];
}

/** A part of a text. */
export interface TextPart extends StreamWindow {
  /** Markers keep the line feeds of what they stand for, so that every line keeps its number. */
  readonly keepsLines?: boolean;
}

/** `text` from `start` up to `end`, with the `findings` of all of `text` replaced. */
export function redactWindow(text: string, { start, end, keepsLines }: TextPart, findings: readonly Finding[]): Window {
  const inside = findings.filter((finding) => finding.start < end && finding.end > start);
  let result = "";
  let at = start;
  for (const finding of inside) {
    const from = Math.max(at, finding.start);
    const to = Math.min(end, finding.end);
    result += text.slice(at, from) + markerFor(text, finding);
    if (keepsLines === true) result += text.slice(from, to).replace(/[^\n]+/g, "");
    at = to;
  }
  const cut = inside.map((finding) => ({
    ...finding,
    start: Math.max(start, finding.start),
    end: Math.min(end, finding.end),
  }));
  return { text: result + text.slice(at, end), findings: cut };
}
