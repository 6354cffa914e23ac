/**
 * Keeps the list of all effects that a person is asked about, where a request shows a part.
 *
 * It is stored content that belongs to no session, and the request names it by its hash: whoever agrees agrees to this
 * list. INVARIANTS: nothing secret stands in it, as in every prompt; only pieces of it stand in memory; that it could
 * not be kept is said, and keeps nobody from being asked.
 */
import { KIB, MIB } from "../../../base/bytes.ts";
import { KernelError } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/json.ts";
import { sharedTurns } from "../../../base/long-steps.ts";
import type { ContentOwner, StagedContent } from "../../../cas/content-store.ts";
import type { EffectsDetail } from "../../../model/approval/approval.ts";
import type { ListedEffect } from "../../../model/approval/effect-list.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { EffectSide, ReviewedEffect } from "../../../sandbox/sandbox.ts";
import type { KernelParts } from "../../call/parts.ts";
import type { Decided } from "../../call/stages.ts";
import { type ContentDiff, contentDiff, type DiffMeans } from "./effect-diff.ts";
import type { AskedEffect } from "./importance.ts";

/** Bytes of a list beyond which effects are named without their content. */
const LIST_BYTES_MAX = 256 * MIB;
/** Bytes of the list that are handed on at a time. */
const CHUNK_BYTES = 256 * KIB;
/** No session works in a workspace of that name: whoever is asked about its calls reads no list. */
const OWNER: ContentOwner = { userId: "handrail", workspace: "approvals" };

/** The list as the request names it, or why there is none. */
export type KeptList = Pick<EffectsDetail, "list" | "unlisted">;

/** Lists `effects` and stores the list. @throws ToolFailure CANCELLED */
export async function keepList(
  { content, clock, onInternalError }: Pick<KernelParts, "content" | "clock" | "onInternalError">,
  { effects, caller, means }: ListedReview,
): Promise<KeptList> {
  let staged: StagedContent | undefined;
  try {
    staged = await content.stage(listOf(effects, means), {}, means.signal);
    const { hash, sizeBytes } = staged;
    const nowMs = clock.nowMs();
    const { trustLevel, dataClass } = caller.mark;
    const source = { origin: "kernel:approval", timestamp: new Date(nowMs).toISOString() };
    await staged.commit({ owner: OWNER, label: { trustLevel, dataClass, source }, nowMs });
    return { list: { hash, bytes: sizeBytes } };
  } catch (error) {
    if (error instanceof ToolFailure && error.code !== "CANCELLED") return { unlisted: error.message };
    if (!(error instanceof KernelError)) throw error;
    onInternalError(error);
    return { unlisted: "the store of content failed" };
  } finally {
    await staged?.discard();
  }
}

/** What is listed. */
export interface ListedReview extends Pick<Decided, "caller"> {
  /** The most important first. */
  readonly effects: readonly AskedEffect[];
  readonly means: DiffMeans;
}

async function* listOf(effects: readonly AskedEffect[], means: DiffMeans): AsyncGenerator<Uint8Array> {
  let waiting = "";
  let left = LIST_BYTES_MAX;
  const isFull = () => waiting.length >= CHUNK_BYTES;
  const chunk = () => {
    const bytes = Buffer.from(waiting);
    waiting = "";
    return bytes;
  };
  const turn = sharedTurns(means.signal);
  for (const one of effects) {
    await turn();
    const { content, lines } = await changeIn(one.effect, means, left);
    waiting += `${JSON.stringify(headOf(one, content, means))}\n`;
    if (isFull()) yield chunk();
    for await (const piece of lines) {
      left -= piece.length;
      waiting += `${JSON.stringify({ lines: piece.toWellFormed() })}\n`;
      if (isFull()) yield chunk();
    }
  }
  yield chunk();
}

async function changeIn(effect: ReviewedEffect, means: DiffMeans, left: number): Promise<ContentDiff> {
  const bytes = Math.max(effect.before?.sizeBytes ?? 0, effect.after?.sizeBytes ?? 0);
  return bytes > left ? { content: "too_much", lines: none() } : await contentDiff(effect, means);
}

async function* none(): AsyncGenerator<string> {
  // there is no room for it
}

function headOf({ effect, accesses, rules }: AskedEffect, content: ListedEffect["content"], { redaction }: DiffMeans) {
  const { path, kind, before, after } = effect;
  const is = (after ?? before)?.kind ?? (effect.isDirectory ? "directory" : "file");
  const listed: ListedEffect = {
    path: path.toWellFormed(),
    kind,
    is,
    zone: accesses.find(({ target }) => target !== undefined)?.target?.zone ?? "own",
    rules: [...rules],
    ...sideFacts(before, "before"),
    ...sideFacts(after, "after"),
    content,
  };
  return redaction.facts(listed as unknown as JsonObject);
}

function sideFacts(side: EffectSide | undefined, which: "before" | "after"): JsonObject {
  if (side === undefined) return {};
  return {
    ...(side.kind !== "directory" && { [`bytes_${which}`]: side.sizeBytes }),
    [`rights_${which}`]: side.mode.toString(8).padStart(4, "0"),
  };
}
