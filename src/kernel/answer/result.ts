/**
 * From what a tool returned to what may leave: redact, then truncate, then label, then store what is too large.
 * Redaction comes first, so that nothing is measured, hashed or cut that still holds a secret.
 *
 * Bytes that a caller takes raw are answered up to 1 MiB. Text that is shown to a model is cut at 100 KB, unless the
 * caller said how much it wants; the whole of it is stored then.
 */
import { INLINE_RESULT_BYTES_MAX, SHOWN_BYTES_MAX } from "../../base/limits.ts";
import { type LabelledResult, labelResult } from "../../flow/labels.ts";
import type { ToolOutput } from "../../model/tool/tool.ts";
import type { Running } from "../call/stages.ts";
import { type CleanResult, type Finished, keepBytes, keepStream, keepText, type ResultKeeper } from "./large-result.ts";

/**
 * Redacts, bounds and labels `output`. What is more than the answer shows is stored (CTR-0024); the failure says why it
 * could not be.
 */
export function finishResult(
  keeper: ResultKeeper,
  output: ToolOutput,
  signal: AbortSignal,
): Finished | Promise<Finished> {
  const ahead = output.kind === "stream" ? undefined : keeper.running.redaction.ahead(lookedThrough(output));
  return ahead ? ahead.then(() => finish(keeper, output, signal)) : finish(keeper, output, signal);
}

/** What redaction looks through as wholes. */
function lookedThrough(output: Exclude<ToolOutput, { kind: "stream" }>): unknown {
  if (output.kind === "bytes") return output.bytes;
  return output.excerpts === undefined ? output.data : [output.data, output.excerpts];
}

function finish(keeper: ResultKeeper, output: ToolOutput, signal: AbortSignal): Finished | Promise<Finished> {
  const { parts, running } = keeper;
  const { tool, redaction } = running;
  const labelled = (): LabelledResult => labelOutput(running, output, parts.clock.nowMs());
  const count = () => redaction.found.definite + redaction.found.probable;
  const finished = (outcome: Omit<CleanResult["outcome"], "label">, outputBytes: number): CleanResult => {
    const { label, seen } = labelled();
    return { outcome: { ...outcome, label }, seen, secretsFound: count(), outputBytes };
  };
  if (output.kind === "stream")
    return keepStream(keeper, output.chunks, { redaction, window: output.window, labelled, signal });
  if (output.kind === "bytes") {
    const bytes = redaction.bytes(output.bytes, output.window);
    remember(keeper);
    if (bytes.byteLength > INLINE_RESULT_BYTES_MAX)
      return keepBytes(keeper, bytes, { ...labelled(), secretsFound: count() });
    return finished({ kind: "success", data: {}, bytes, truncated: false }, bytes.byteLength);
  }
  const measured = { bytes: 0, values: 0 };
  const data = redaction.data(output.data, output.excerpts, measured);
  remember(keeper);
  const shownMax = tool.capability.sizesResult ? INLINE_RESULT_BYTES_MAX : SHOWN_BYTES_MAX;
  // Printing takes time: only what may be too long is printed to be measured.
  const printedMax = measured.bytes * PRINTED_PER_BYTE_MAX + measured.values * PRINTED_PER_VALUE_MAX;
  const text = printedMax > shownMax ? JSON.stringify(data) : undefined;
  if (text !== undefined && Buffer.byteLength(text) > shownMax)
    return keepText(keeper, text, { ...labelled(), secretsFound: count() });
  return finished({ kind: "success", data, truncated: output.truncated ?? false }, measured.bytes);
}

/** What was found for certain stays hidden for the rest of the session. */
function remember({ parts, running }: ResultKeeper): void {
  parts.sessionSecrets.remember(running.call.sessionToken, running.redaction.definiteValues);
}

/** Bytes of JSON that one byte of text takes at most: control characters are written `\\u001f`. */
const PRINTED_PER_BYTE_MAX = 6;
/** Bytes of JSON that one value takes besides its text at most: quotes of it and of its name, a colon, a comma. */
const PRINTED_PER_VALUE_MAX = 6;

/** The label of an output: its tool's, the label of the content that it was made from, and what was found in it. */
function labelOutput({ tool, caller, redaction }: Running, output: ToolOutput, nowMs: number): LabelledResult {
  const sources = output.kind === "data" && output.label ? [output.label] : [];
  return labelResult({ tool, mark: caller.mark, sources, found: redaction.found, nowMs });
}
