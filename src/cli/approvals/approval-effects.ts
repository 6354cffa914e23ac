/**
 * `handrail approvals show REF --full`: everything that a request asks about, however much it is.
 *
 * It is read and printed piece by piece. INVARIANT: what is printed is what the request names by its hash, verified;
 * what is not kept any more is said, and never left out silently.
 */
import { once } from "node:events";
import { usageError } from "../../base/errors.ts";
import { type ListedEffect, type ListedLines, listedLines, listRecords } from "../../model/approval/effect-list.ts";
import { fact, heading, type PromptLine } from "../../model/approval/prompt-lines.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { letReaderGo } from "../terminal/gone-reader.ts";
import { jsonLine } from "../terminal/output.ts";
import { rowsFor, wantsColours } from "../terminal/screen-colours.ts";
import { type Approval, approvalJson, approvalLines } from "./approval-view.ts";

/** What of a request is shown. */
export interface FullFlags {
  /** One path of the workspace alone, and what lies below it. */
  readonly path?: string;
  readonly json?: boolean;
}

/**
 * Prints a request and all that it asks about.
 * @throws KernelError USAGE for who is no approver, and where the list is kept no longer
 */
export async function showEverything(kernel: OpenKernel, approval: Approval, flags: FullFlags): Promise<void> {
  const { approverToken } = await import("../../server/people/approver-credentials.ts");
  const credential = await approverToken(process.env, kernel.operator.path);
  const found = await kernel.approvals.effects(approval, credential);
  switch (found.kind) {
    case "wrong_credential":
      throw usageError("this is no approver's credential; make one with `handrail approvers add NAME --save`");
    case "unreadable":
      throw usageError("the request cannot be read: deny it, and tell the operator");
    case "gone":
      throw usageError(
        "the list of all that the request asks about is not kept any more; `show` without --full shows a part",
      );
    case "unlisted":
      throw usageError(`no list of all that the request asks about could be kept: ${found.why}`);
    case "whole":
      if (flags.path !== undefined) throw usageError("the request itself shows everything; leave out --path");
      await printed(requestText(approval, flags));
      return;
    case "list":
      await printed(listText(approval, found.chunks, flags));
  }
}

async function* requestText(approval: Approval, { json }: FullFlags): AsyncGenerator<string> {
  yield json ? jsonLine(approvalJson(approval)) : textOf(approvalLines(approval, Date.now()));
}

async function* listText(
  approval: Approval,
  chunks: AsyncIterable<Uint8Array>,
  flags: FullFlags,
): AsyncGenerator<string> {
  const { path, json } = flags;
  if (path === undefined) yield* requestText(approval, flags);
  if (path === undefined && !json) yield textOf([heading("all of it"), fact("the most important first")]);
  let current: ListedEffect | undefined;
  let hasShown = false;
  try {
    for await (const record of listRecords(chunks)) {
      if (!("lines" in record)) current = record;
      if (current === undefined || !isWanted(current, path)) continue;
      hasShown = true;
      yield json ? jsonLine(jsonOf(record, current)) : textOf(listedLines(record));
    }
  } catch (error) {
    if (error instanceof ToolFailure) throw usageError(`${error.message}; what was printed is a part`, error);
    throw error;
  }
  if (!hasShown && path !== undefined) throw usageError("the request asks about nothing at that path");
}

function isWanted({ path }: ListedEffect, wanted: string | undefined): boolean {
  return wanted === undefined || path === wanted || path.startsWith(`${wanted.replace(/\/+$/, "")}/`);
}

function jsonOf(record: ListedEffect | ListedLines, { path }: ListedEffect): object {
  return "lines" in record ? { path, ...record } : record;
}

function textOf(lines: readonly PromptLine[]): string {
  const rows = rowsFor(lines, process.stdout, wantsColours(process.stdout, process.env));
  return rows.map((row) => `${row}\n`).join("");
}

/** Writes as fast as whoever reads takes it; who stops reading, as `head` does, has seen enough. */
async function printed(texts: AsyncIterable<string>): Promise<void> {
  let gone: unknown;
  const onError = (error: unknown) => {
    gone = error;
  };
  process.stdout.on("error", onError);
  try {
    for await (const text of texts) {
      if (gone !== undefined) break;
      if (!process.stdout.write(text) && gone === undefined)
        await Promise.race([once(process.stdout, "drain"), once(process.stdout, "close")]);
    }
  } catch (error) {
    letReaderGo(error);
  } finally {
    process.stdout.off("error", onError);
  }
  if (gone !== undefined) letReaderGo(gone);
}
