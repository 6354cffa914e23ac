/**
 * Content that streams in or out. The call that it belongs to takes the one way of every call, through the pipeline;
 * here is only what streams beside it: an upload is received before the call, content is read after it was answered.
 *
 * INVARIANT: no byte is received for a caller who could not store it. INVARIANT: whatever comes of the call, an upload
 * that it did not store is removed.
 */
import { hex } from "../base/bytes.ts";
import { KernelError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { boundedChunks, unread } from "../cas/bounded-chunks.ts";
import type { AnnouncedContent } from "../cas/content-store.ts";
import { judgeFlow } from "../flow/flow.ts";
import type { Denial } from "../model/outcome/decision.ts";
import { Refusal, ToolFailure } from "../model/outcome/failure.ts";
import type { CallResponse, ToolCall } from "../model/tool/call.ts";
import type { KernelParts } from "./call/parts.ts";
import type { Submission, Waiter } from "./call/submission.ts";
import type { ReceivedUpload, Transfer, UploadFailure } from "./call/transfer.ts";
import { WorkspaceLook } from "./call/workspace-look.ts";
import { receiveContent } from "./handles/content-access.ts";
import { analyse, findTool } from "./judge/analyse.ts";
import { mayAct } from "./judge/authenticate.ts";
import { callerOf } from "./judge/caller.ts";
import { evaluateAccesses } from "./judge/decide.ts";
import { checkMasterGate, withGateDemands } from "./judge/gates.ts";
import { checkScope } from "./judge/scope.ts";
import { wholeCall } from "./judge/whole-call.ts";
import { CallRedaction } from "./redaction/redaction.ts";

/** Who uploads or fetches. */
interface TransferCaller {
  readonly requestId: string;
  readonly sessionToken: string;
}

/** What a sender says of its upload beforehand. */
export interface UploadAnnouncement {
  /** BLAKE3-256. */
  readonly hash?: Uint8Array;
  readonly size?: number;
}

/** What to fetch: `limit` absent or 0 reads to the end. */
export interface FetchRequest extends TransferCaller {
  readonly hash: Uint8Array;
  readonly offset?: number;
  readonly limit?: number;
}

/** What came of fetching: verified bytes, or the response of a call that was refused or failed. */
export type Fetched =
  | {
      readonly kind: "content";
      /** Bytes of the whole content, whatever part of it streams. */
      readonly size: number;
      /** Throws `ToolFailure` CONTENT_CORRUPT instead of ending when the stored bytes were altered. */
      readonly chunks: AsyncIterable<Uint8Array>;
    }
  | { readonly kind: "refused"; readonly response: CallResponse };

/** A kernel, as far as content streams beside its calls. */
export interface ContentKernel {
  readonly parts: KernelParts;
  readonly submit: (submission: Submission, waiter: Waiter) => Promise<CallResponse>;
}

/** An upload as it comes. */
export interface Upload {
  readonly who: TransferCaller;
  readonly announced: UploadAnnouncement;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Stores an upload: the call `put_content` with bytes that come beside it. Never rejects. */
export async function putContent(
  { parts, submit }: ContentKernel,
  { who, announced, chunks }: Upload,
  signal: AbortSignal,
): Promise<CallResponse> {
  const said: JsonObject = {
    ...(announced.hash !== undefined && { content_hash: hex(announced.hash) }),
    ...(announced.size !== undefined && { size_bytes: announced.size }),
  };
  const call = (args: JsonObject, transfer: Transfer) =>
    submit({ kind: "call", ...who, tool: "put_content", arguments: args }, { signal, transfer });
  const sender = await senderOf(parts, who, said);
  if (sender === undefined) {
    unread(chunks);
    return call(said, {});
  }
  const upload = { who, announced: { ...announcedContent(announced), sender }, chunks: boundedChunks(chunks, signal) };
  const received = await receive(parts, upload, signal);
  if (received instanceof Error) return call(said, { upload: received });
  try {
    return await call(
      { content_hash: received.staged.hash, size_bytes: received.staged.sizeBytes },
      { upload: received },
    );
  } finally {
    await received.staged.discard().catch(parts.onInternalError);
  }
}

/** Fetches content: the call `artifact_fetch` whose bytes stream after it was answered. Never rejects. */
export async function getContent(
  { parts, submit }: ContentKernel,
  request: FetchRequest,
  signal: AbortSignal,
): Promise<Fetched> {
  const { requestId, sessionToken, hash, offset, limit } = request;
  const args = {
    content_hash: hex(hash),
    ...(offset !== undefined && { offset }),
    ...(limit !== undefined && { limit }),
  };
  const transfer: Transfer = {};
  const submission = {
    kind: "call",
    requestId,
    sessionToken,
    tool: "artifact_fetch",
    arguments: args,
    reply: "stream",
  } as const;
  const response = await submit(submission, { signal, transfer });
  if (response.outcome.kind !== "success" || transfer.opened === undefined) return { kind: "refused", response };
  return {
    kind: "content",
    size: transfer.opened.sizeBytes,
    chunks: whileAllowed(parts, sessionToken, transfer.opened.chunks),
  };
}

/** What streams after its call was answered ends, like a running call, when its session must not act any more. */
async function* whileAllowed(
  parts: KernelParts,
  token: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    const still = await mayAct(parts, token, parts.clock.nowMs());
    if (!still.ok) throw new ToolFailure("CANCELLED", still.denial.message, "ask the operator; the rest was not sent");
    yield chunk;
  }
}

/**
 * The principal that sends, if it could store something by the same checks that the call meets later. Nothing is
 * recorded here: who may not is refused, and recorded, by the pipeline.
 */
async function senderOf(parts: KernelParts, who: TransferCaller, args: JsonObject): Promise<string | undefined> {
  try {
    const call: ToolCall = {
      ...who,
      dedupeKey: "",
      tool: "put_content",
      arguments: args,
      variant: "call",
      reply: "result",
    };
    const nowMs = parts.clock.nowMs();
    if (!checkMasterGate(parts.settings, call.tool).ok) return undefined;
    const authenticated = await mayAct(parts, who.sessionToken, nowMs);
    if (!authenticated.ok) return undefined;
    const { session } = authenticated.value;
    const caller = await callerOf(parts, authenticated.value);
    const found = findTool(parts.registry, caller.gates, call.tool);
    if (!found.ok) return undefined;
    const tool = found.value;
    const analysed = analyse(tool, call, new WorkspaceLook(caller.place));
    if (!analysed.ok) return undefined;
    const scoped = checkScope({ caller, tool, nowMs }, analysed.value);
    if (!scoped.ok || !judgeFlow(caller.mark, tool.capability, scoped.value).ok) return undefined;
    const demands = withGateDemands(caller, tool.name, analysed.value.demands);
    const policy = await parts.policy(session.preset);
    const question = { policy, caller, tool, nowMs, demands, call: wholeCall(tool, scoped.value, args) };
    const decided = evaluateAccesses(question, scoped.value);
    if (!decided.ok || decided.value.obligations.length > 0) return undefined;
    return JSON.stringify([session.userId, session.agentId]);
  } catch (error) {
    // The pipeline meets it too, answers and reports it.
    if (error instanceof KernelError) return undefined;
    parts.onInternalError(error);
    return undefined;
  }
}

async function receive(
  parts: KernelParts,
  { who, ...incoming }: Pick<Upload, "who" | "chunks"> & { readonly announced: AnnouncedContent },
  signal: AbortSignal,
): Promise<ReceivedUpload | UploadFailure> {
  try {
    const redaction = new CallRedaction(await parts.redactor(), parts.sessionSecrets.of(who.sessionToken));
    return await receiveContent(parts.content, { ...incoming, redaction }, signal);
  } catch (error) {
    if (error instanceof ToolFailure || error instanceof Refusal || error instanceof KernelError) return error;
    // The sender's stream broke: it was cut, or its transport failed.
    parts.onInternalError(error);
    return new Refusal(UNREADABLE_UPLOAD);
  }
}

const UNREADABLE_UPLOAD: Denial = {
  layer: "call",
  reason: "tool_input_read_failed",
  ruleId: "INPUT:upload",
  message: "the upload broke off and could not be read to its end, so nothing was stored; send it again",
};

function announcedContent({ hash, size }: UploadAnnouncement): AnnouncedContent {
  return { ...(hash !== undefined && { hash: hex(hash) }), ...(size !== undefined && { sizeBytes: size }) };
}
