/**
 * Keeps the output of a call before its outcome is recorded, and records both.
 *
 * INVARIANT: a success whose output cannot be kept, where it is to be, is not answered as done. A failure is answered
 * in any case: its record says what came of the call.
 */
import { KernelError } from "../../../base/errors.ts";
import { storeFailure, ToolFailure } from "../../../model/outcome/failure.ts";
import type { Outcome } from "../../../model/tool/call.ts";
import type { KernelParts } from "../../call/parts.ts";
import type { Known, Running } from "../../call/stages.ts";
import type { Answered } from "./call-documents.ts";
import type { DocumentWriter, Kept } from "./document-writer.ts";
import type { WrittenEvidence } from "./written-evidence.ts";

/** What keeping outputs uses of the kernel. */
export interface OutputKeeper {
  readonly parts: Pick<KernelParts, "onInternalError">;
  readonly evidence: WrittenEvidence;
  readonly documents: DocumentWriter;
}

/** Keeps the output of a call that succeeded; the failure says that it could not be. */
export async function keepOutput(
  keeper: OutputKeeper,
  running: Running,
  outcome: Answered,
): Promise<Kept | ToolFailure | undefined> {
  if (running.documents === undefined && !isKeptWhole(keeper, running)) return undefined;
  try {
    return await keep(keeper, running, outcome);
  } catch (error) {
    const failure = error instanceof KernelError ? storeFailure(error) : undefined;
    if (failure === undefined) throw error;
    keeper.parts.onInternalError(error);
    return running.intent === undefined ? failure : NOT_KEPT;
  }
}

/** Keeps what a call that ran failed with, as far as that can be. */
export async function keepFailure(
  keeper: OutputKeeper,
  known: Known,
  outcome: Extract<Outcome, { kind: "error" }>,
): Promise<Kept | undefined> {
  if (known.run?.hasBegun !== true) return undefined;
  const running = known as Running; // it has run
  if (running.documents === undefined && !isKeptWhole(keeper, running)) return undefined;
  try {
    return await keep(keeper, running, outcome);
  } catch (error) {
    keeper.parts.onInternalError(error);
    return undefined;
  }
}

/** Records the outcome of a call, and what was kept of it. @returns the sequence of the outcome, if it has one */
export async function recordWith(
  { evidence }: OutputKeeper,
  { known, kept }: { readonly known: Known; readonly kept: Kept | undefined },
  record: () => Promise<number | undefined>,
): Promise<number | undefined> {
  if (kept === undefined) return record();
  // Asked for in one turn, they are written in this order, and together.
  const call = kept.hashes.input === undefined ? undefined : evidence.written("tool_call_written", known, kept);
  const outcome = record();
  const [sequence] = await Promise.all([outcome, call, evidence.written("tool_output_written", known, kept)]);
  return sequence;
}

/** Whether the call only read, and its documents are kept together. */
function isKeptWhole({ documents }: OutputKeeper, running: Running): boolean {
  return running.intent === undefined && documents.wants(running);
}

function keep({ documents, evidence }: OutputKeeper, running: Running, outcome: Answered): Promise<Kept> {
  return running.documents === undefined
    ? documents.whole(running, evidence.factsOf(running), outcome)
    : documents.output(running, running.documents, outcome);
}

const NOT_KEPT = new ToolFailure(
  "OUTCOME_UNKNOWN",
  "the call took effect, but what came of it could not be kept as evidence",
  "check the state of the workspace; the kernel refuses further effects until its content store is writable",
);
