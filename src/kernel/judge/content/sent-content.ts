/**
 * Judges a call that sends stored content as one whose caller has seen that content.
 *
 * Whoever sends content to others hands on what is in it, seen or not: its labels count for policy, for flow control
 * and for whoever is asked. INVARIANT: content that cannot be read ends the call before anybody is asked about it.
 */
import { allow, type Denial, deny, type Verdict } from "../../../model/outcome/decision.ts";
import { Refusal } from "../../../model/outcome/failure.ts";
import { combineMarks } from "../../../model/outcome/label.ts";
import { CONTENT_ID_PREFIX, type ContentName, type FoundContent } from "../../../model/work/content.ts";
import type { KernelParts } from "../../call/parts.ts";
import type { Analysed, Caller, Decided } from "../../call/stages.ts";
import { judgeArtifactBy } from "../decide.ts";
import { findReadable } from "./readable-content.ts";

/** A call as far as what it sends is looked at. */
type Sending = Pick<Analysed, "caller" | "tool" | "accesses"> & Pick<Decided, "policy"> & { readonly nowMs: number };

/** The caller as the call is judged by; itself at once where nothing of the kind is sent. */
export function withSentContent(
  { content }: Pick<KernelParts, "content">,
  sending: Sending,
): Verdict<Caller> | Promise<Verdict<Caller>> {
  return sentIds(sending).length === 0 ? allow(sending.caller) : marked(content, sending);
}

async function marked(content: KernelParts["content"], sending: Sending): Promise<Verdict<Caller>> {
  const { caller } = sending;
  let { mark } = caller;
  for (const { id, content: found } of await foundContent(content, sending)) {
    if (found === undefined) return deny(unreadable(nameOf(id), "is not there"));
    mark = combineMarks(mark, found.label);
  }
  return allow({ ...caller, mark });
}

/** The content that a call would send, as far as its caller may read it, by the names in its accesses. */
export async function foundContent(
  content: KernelParts["content"],
  sending: Sending,
): Promise<readonly { readonly id: string; readonly content: FoundContent | undefined }[]> {
  const judge = judgeArtifactBy(sending);
  const { session } = sending.caller;
  return await Promise.all(
    sentIds(sending).map(async (id) => ({ id, content: await findReadable(content, nameOf(id), { session, judge }) })),
  );
}

/** What it reads of stored content, where something of it leaves. */
function sentIds({ accesses }: Sending): readonly string[] {
  if (!accesses.some(({ effect }) => effect === "network")) return NONE;
  return accesses.flatMap(({ resource, effect }) =>
    resource.kind === "artifact" && effect === "read" ? [resource.id] : [],
  );
}

const NONE: readonly string[] = [];

function nameOf(id: string): ContentName {
  return id.startsWith(CONTENT_ID_PREFIX)
    ? { kind: "content", hash: id.slice(CONTENT_ID_PREFIX.length) }
    : { kind: "artifact", id };
}

/** The refusal of a call whose content, by its hash, cannot be read. */
export function contentUnreadable(hash: string, why = "is not there"): Refusal {
  return new Refusal(unreadable({ kind: "content", hash }, why));
}

function unreadable(name: ContentName, why: string): Denial {
  const what = name.kind === "content" ? `the content \`${name.hash}\`` : `the artifact \`${name.id}\``;
  return {
    layer: "call",
    reason: "tool_input_read_failed",
    ruleId: "INPUT:content",
    message: `${what} ${why}; store it first, with \`put_content\`, and name it by the hash that you are answered`,
    fix: "the hash of text that this session's user stored in this workspace",
  };
}
