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
import { KIB, MIB, textOf } from "../../base/bytes.ts";
import type { ApprovalDetails, ChangeDetail } from "../../model/approval/approval.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { FileAccess } from "../../model/place/files.ts";
import type { FilePreview, PreviewContext } from "../../model/tool/tool.ts";
import { lineChanges } from "../../text/line-changes.ts";
import { unifiedDiff } from "../../text/unified-diff.ts";
import type { Decided } from "../call/stages.ts";
import { unanalysed } from "../judge/scope.ts";
import type { CallRedaction } from "../redaction/redaction.ts";

/** Files whose change a prompt shows; the rest are counted. */
const PROMPT_CHANGES_MAX = 32;
/** Bytes of each version of a file that is compared for a prompt; a larger one is named with its size alone. */
export const PROMPT_FILE_BYTES_MAX = MIB;
/** Bytes, as JSON, that the changes of a prompt take. */
const PROMPT_CHANGES_BYTES_MAX = 224 * KIB;
/** Lines of all diffs of one prompt together; the rest are counted. */
const PROMPT_DIFF_LINES_MAX = 2_000;
/** Bytes of one line of a prompt's diff; the rest is counted. */
const PROMPT_DIFF_LINE_BYTES_MAX = 1_000;

/** What would change, and why that may not be all. */
export type Preview = Pick<ApprovalDetails, "changes" | "unseen">;

/** What a call would change. @throws ToolFailure CANCELLED; besides that only bugs throw */
export async function previewOf(decided: Decided, files: Pick<FileAccess, "read">): Promise<Preview> {
  const { tool, args, redaction, review } = decided;
  if (review === undefined && tool.preview === undefined) return { changes: [] };
  let previews: readonly FilePreview[] = [];
  try {
    previews = review?.previews ?? (await tool.preview?.(args, contextOf(decided, files))) ?? [];
  } catch (error) {
    const problem =
      error instanceof ToolFailure ? error.message : error instanceof Refusal ? error.denial.message : undefined;
    // People are never asked with a part missing because a client went away: an identical call may share the request.
    if (problem === undefined || (error instanceof ToolFailure && error.code === "CANCELLED")) throw error;
    return { changes: [], unseen: redaction.words(problem).toWellFormed() };
  }
  for (const { before, after } of previews.slice(0, PROMPT_CHANGES_MAX))
    for (const bytes of [before, after]) {
      if (bytes !== undefined && bytes.byteLength <= PROMPT_FILE_BYTES_MAX) await redaction.hiddenAhead(bytes);
    }
  return describe(previews, redaction);
}

function contextOf({ tool, accesses, redaction }: Decided, files: Pick<FileAccess, "read">): PreviewContext {
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
  };
}

function describe(previews: readonly FilePreview[], redaction: CallRedaction): Preview {
  const changes: ChangeDetail[] = [];
  const left = { lines: PROMPT_DIFF_LINES_MAX, bytes: PROMPT_CHANGES_BYTES_MAX };
  for (const preview of previews.slice(0, PROMPT_CHANGES_MAX)) {
    const change = fitted(changeOf(preview, redaction, left.lines), left.bytes);
    left.lines -= change.diff?.split("\n").length ?? 0;
    left.bytes -= jsonBytes(change);
    if (left.bytes < 0) break;
    changes.push(change);
  }
  const more = previews.length - changes.length;
  return more === 0 ? { changes } : { changes, unseen: `${more} more files change` };
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

function changeOf(preview: FilePreview, redaction: CallRedaction, linesMax: number): ChangeDetail {
  const { path, before = NOTHING, after = NOTHING, sizes, from } = preview;
  const facts = {
    path: path.toWellFormed(),
    kind: kindOf(preview),
    ...(from !== undefined && { from: from.toWellFormed() }),
    ...(preview.before && { bytesBefore: sizes?.before ?? before.byteLength }),
    ...(preview.after && { bytesAfter: sizes?.after ?? after.byteLength }),
  } as const;
  if (preview.before === undefined && preview.after === undefined) return { ...facts, linesOmitted: 0 };
  const isShown =
    sizes === undefined && [before, after].every((bytes) => bytes.byteLength <= PROMPT_FILE_BYTES_MAX && isText(bytes));
  if (!isShown) return { ...facts, linesOmitted: 0 };
  const hidden = (bytes: Uint8Array) => redaction.hidden(bytes);
  const limits = { linesMax: Math.max(0, linesMax), lineMax: PROMPT_DIFF_LINE_BYTES_MAX };
  const edited = { original: before, changes: lineChanges(before, after), updated: after };
  const { text, linesOmitted } = unifiedDiff(path, edited, { hidden, limits });
  return { ...facts, diff: text, linesOmitted };
}

function kindOf({ before, after, from }: FilePreview): ChangeDetail["kind"] {
  if (from !== undefined) return "rename";
  return before === undefined ? "create" : after === undefined ? "delete" : "modify";
}

/** Text as people mean it: UTF-8 without zero bytes. */
function isText(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && textOf(bytes) !== undefined;
}
