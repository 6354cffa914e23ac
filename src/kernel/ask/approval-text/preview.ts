/**
 * Previews the changes that a call would make to files, before it runs.
 *
 * The files as they are stand against the files as they would be. A tool's `preview` is trusted as far as its
 * `execute`, because both come from the operator.
 *
 * INVARIANTS: A preview changes nothing. It reads only the files that the call names, and `files` judges them like
 * those that the call will open. Secrets are found in whole versions, so no line of a diff shows a part of one. What
 * could not be looked at is said, never left out silently.
 */
import { KIB, MIB, textOf } from "../../../base/bytes.ts";
import { inSlices } from "../../../base/long-steps.ts";
import type { ApprovalDetails, ChangeDetail } from "../../../model/approval/approval.ts";
import { Refusal, ToolFailure } from "../../../model/outcome/failure.ts";
import type { FileAccess } from "../../../model/place/files.ts";
import type { FilePreview, PreviewContext } from "../../../model/tool/tool.ts";
import { lineChanges } from "../../../text/line-changes.ts";
import { unifiedDiff } from "../../../text/unified-diff.ts";
import type { Decided } from "../../call/stages.ts";
import { unanalysed } from "../../judge/scope.ts";
import { matchFor } from "../../redaction/matching.ts";
import type { CallRedaction } from "../../redaction/redaction.ts";

/** How much of what would change a prompt shows. */
interface PreviewLimits {
  /** Files whose change is shown; the rest are counted. */
  readonly changes: number;
  /** Bytes, as JSON, that the changes take. */
  readonly bytes: number;
  /** Lines of all diffs together, and of one; the rest are counted. */
  readonly lines: number;
  readonly linesOfOne: number;
}

/** Bytes of each version of a file that is compared for a prompt; a larger one is named with its size alone. */
export const PROMPT_FILE_BYTES_MAX = MIB;
const WHOLE: PreviewLimits = { changes: 32, bytes: 224 * KIB, lines: 2_000, linesOfOne: 2_000 };
/** Where all of it is listed elsewhere: what a person takes in, and a client can show. */
const SUMMARY: PreviewLimits = { changes: 20, bytes: 16 * KIB, lines: 200, linesOfOne: 40 };
/** Bytes of one line of a prompt's diff; the rest is counted. */
const PROMPT_DIFF_LINE_BYTES_MAX = 1_000;

/** What would change, and why that may not be all. */
export type Preview = Pick<ApprovalDetails, "changes" | "unseen">;

/** The same, and whether something of it is not shown. */
export interface SeenPreview {
  readonly preview: Preview;
  readonly isPartial: boolean;
}

/** What a command has changed, as much as a summary shows. */
export async function summaryPreview({ review, redaction }: Decided): Promise<Preview> {
  return (await describe(review?.previews ?? [], redaction, SUMMARY)).preview;
}

/** What a call would change. @throws ToolFailure CANCELLED; besides that only bugs throw */
export async function previewOf(decided: Decided, files: Pick<FileAccess, "read">): Promise<SeenPreview> {
  const { tool, args, redaction, review } = decided;
  if (review === undefined && tool.preview === undefined) return { preview: { changes: [] }, isPartial: false };
  let previews: readonly FilePreview[] = [];
  try {
    previews = review?.previews ?? (await tool.preview?.(args, contextOf(decided, files))) ?? [];
  } catch (error) {
    const problem =
      error instanceof ToolFailure ? error.message : error instanceof Refusal ? error.denial.message : undefined;
    // People are never asked with a part missing because a client went away: an identical call may share the request.
    if (problem === undefined || (error instanceof ToolFailure && error.code === "CANCELLED")) throw error;
    return { preview: { changes: [], unseen: redaction.words(problem).toWellFormed() }, isPartial: true };
  }
  for (const { before, after } of previews.slice(0, WHOLE.changes))
    for (const bytes of [before, after]) {
      if (bytes !== undefined && bytes.byteLength <= PROMPT_FILE_BYTES_MAX) await redaction.hiddenAhead(bytes);
    }
  return await describe(previews, redaction, WHOLE);
}

function contextOf({ tool, accesses, redaction, call }: Decided, files: Pick<FileAccess, "read">): PreviewContext {
  const read = async (path: string) => {
    const isNamed = accesses.some(({ resource }) => resource.kind === "file" && resource.path === path);
    if (!isNamed) throw new Refusal(unanalysed(tool.name, "read"));
    const { bytes } = await files.read(path, { bytesMax: PROMPT_FILE_BYTES_MAX });
    await redaction.hiddenAhead(bytes);
    return bytes;
  };
  return {
    read,
    async readIfAny(path) {
      try {
        return await read(path);
      } catch (error) {
        if (error instanceof ToolFailure && error.code === "FILE_NOT_FOUND") return undefined;
        throw error;
      }
    },
    hidden: (bytes) => redaction.hidden(bytes),
    match: matchFor(redaction, NEVER),
    variant: call.variant,
  };
}

/** Matching ends by its own limits; an identical call may wait for the same preview. */
const NEVER = new AbortController().signal;

async function describe(
  previews: readonly FilePreview[],
  redaction: CallRedaction,
  { changes: changesMax, lines, bytes, linesOfOne }: PreviewLimits,
): Promise<SeenPreview> {
  const changes: ChangeDetail[] = [];
  const left = { lines, bytes };
  let isPartial = false;
  for (const preview of previews.slice(0, changesMax)) {
    const made = await changeOf(preview, redaction, Math.min(left.lines, linesOfOne));
    const change = fitted(made.change, left.bytes);
    left.lines -= change.diff?.split("\n").length ?? 0;
    left.bytes -= jsonBytes(change);
    if (left.bytes < 0) break;
    isPartial ||= made.isPartial || change.linesOmitted > 0;
    changes.push(change);
  }
  const more = previews.length - changes.length;
  return more === 0
    ? { preview: { changes }, isPartial }
    : { preview: { changes, unseen: `${more} more files change` }, isPartial: true };
}

/** `change` with as much of its diff as fits. */
function fitted(change: ChangeDetail, bytesMax: number): ChangeDetail {
  if (change.diff === undefined || jsonBytes(change) <= bytesMax) return change;
  const lines = change.diff.replace(/\n$/, "").split("\n");
  let room = bytesMax - jsonBytes({ ...change, diff: "" }) - CUT_MARGIN;
  let fitting = 0;
  while (fitting < lines.length && room >= 0) room -= jsonBytes(lines[fitting++] ?? "");
  const shown = lines.slice(0, Math.max(0, fitting - 1));
  return {
    ...change,
    diff: shown.map((line) => `${line}\n`).join(""),
    linesOmitted: change.linesOmitted + lines.length - shown.length,
  };
}

/** Bytes by which a cut diff may be longer than what was left out says. */
const CUT_MARGIN = 32;

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const NOTHING = new Uint8Array();

async function changeOf(
  preview: FilePreview,
  redaction: CallRedaction,
  linesMax: number,
): Promise<{ readonly change: ChangeDetail; readonly isPartial: boolean }> {
  const { path, before = NOTHING, after = NOTHING, sizes, from } = preview;
  const facts = {
    path: path.toWellFormed(),
    kind: kindOf(preview),
    ...(from !== undefined && { from: from.toWellFormed() }),
    ...(preview.before && { bytesBefore: sizes?.before ?? before.byteLength }),
    ...(preview.after && { bytesAfter: sizes?.after ?? after.byteLength }),
  } as const;
  if (preview.before === undefined && preview.after === undefined)
    return { change: { ...facts, linesOmitted: 0 }, isPartial: false };
  const isShown =
    sizes === undefined && [before, after].every((bytes) => bytes.byteLength <= PROMPT_FILE_BYTES_MAX && isText(bytes));
  if (!isShown) return { change: { ...facts, linesOmitted: 0 }, isPartial: true };
  const hidden = (bytes: Uint8Array) => redaction.hidden(bytes);
  const limits = { linesMax: Math.max(0, linesMax), lineMax: PROMPT_DIFF_LINE_BYTES_MAX };
  const { result: changes } = await inSlices("comparing two versions of a file", lineChanges(before, after));
  const edited = { original: before, changes, updated: after };
  const { text, linesOmitted, linesCut } = unifiedDiff(path, edited, { hidden, limits });
  return { change: { ...facts, diff: text, linesOmitted }, isPartial: linesOmitted + linesCut > 0 };
}

function kindOf({ before, after, from }: FilePreview): ChangeDetail["kind"] {
  if (from !== undefined) return "rename";
  return before === undefined ? "create" : after === undefined ? "delete" : "modify";
}

/** Text as people mean it: UTF-8 without zero bytes. */
function isText(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && textOf(bytes) !== undefined;
}
