/** Shows an excerpt of a result once its secrets are known: as text, as lines with numbers, or as base64. */
import type { Excerpt } from "../../model/tool/tool.ts";
import type { TextPart } from "../../redact/redact.ts";
import { numberedLines } from "../../text/numbered-lines.ts";

/** The part that is redacted. Where lines are numbered, a secret of several lines leaves their number as it was. */
export function partOf(excerpt: Excerpt): TextPart {
  const { start, end } = excerpt;
  return { start, end, keepsLines: excerpt.kind === "text" && excerpt.firstLine !== undefined };
}

/** The redacted part as it stands in the result. */
export function excerptText(shown: string, excerpt: Excerpt): string {
  if (excerpt.kind === "base64") return Buffer.from(shown, "latin1").toString("base64");
  return excerpt.firstLine === undefined ? shown : numberedLines(shown, excerpt.firstLine);
}
