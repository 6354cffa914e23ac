/**
 * The stored content that a call would send, for people who are asked about it.
 *
 * INVARIANT: secrets are found in as much of it as is read, which is more than is shown.
 */
import { textOf } from "../../../base/bytes.ts";
import type { ApprovalDetails } from "../../../model/approval/approval.ts";
import type { KernelParts } from "../../call/parts.ts";
import type { Decided } from "../../call/stages.ts";
import { foundContent } from "../../judge/content/sent-content.ts";
import { PROMPT_FILE_BYTES_MAX } from "./preview.ts";

/** Characters of each that are shown. */
const SENT_CHARACTERS_MAX = 8_000;

/** What is shown of it. */
export interface SentTexts {
  readonly shown: NonNullable<ApprovalDetails["sends"]>;
  readonly isCut: boolean;
}

/** What the call would send. */
export async function sentTexts(
  { content }: Pick<KernelParts, "content">,
  decided: Decided & { readonly nowMs: number },
): Promise<SentTexts> {
  const found = decided.review === undefined ? await foundContent(content, decided) : [];
  const shown: { readonly name: string; readonly text: string }[] = [];
  let isCut = false;
  for (const { id, content: one } of found) {
    const pieces: Uint8Array[] = [];
    const length = Math.min(one?.sizeBytes ?? 0, PROMPT_FILE_BYTES_MAX);
    if (one !== undefined) for await (const piece of content.read(one.hash, { offset: 0, length })) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    await decided.redaction.hiddenAhead(bytes);
    const text = decided.redaction.words(textOf(bytes) ?? bytes.toString("latin1"));
    shown.push({ name: id, text: text.slice(0, SENT_CHARACTERS_MAX).toWellFormed() });
    isCut ||= one === undefined || one.sizeBytes > length || text.length > SENT_CHARACTERS_MAX;
  }
  return { shown, isCut };
}
