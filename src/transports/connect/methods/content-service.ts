/**
 * Content by hash over RPC: an upload in pieces, a download in pieces.
 *
 * Whether either is allowed is the kernel's to say, in a `ToolResponse`; here only the order of the parts is checked.
 * Pieces are passed on one at a time, so that neither side holds more than the other has asked for.
 */
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { MIB } from "../../../base/bytes.ts";
import type {
  ContentHeader,
  GetContentRequest,
  GetContentResponseSchema,
  PutContentRequestSchema,
  PutContentResponseSchema,
} from "../../../gen/handrail/tool/v1/kernel_pb.ts";
import type { KernelDoor } from "../../../kernel/index.ts";
import { Refusal } from "../../../model/outcome/failure.ts";
import type { CallResponse } from "../../../model/tool/call.ts";
import { toWireResponse } from "../../../wire/protobuf.ts";
import { faultOf } from "../wire/faults.ts";
import { malformed, record } from "../wire/refusal.ts";
import { bearerToken } from "./bearer.ts";
import { checkedId } from "./request-id.ts";
import type { UploadShares } from "./upload-shares.ts";

/** Bytes of one chunk of a download: within the message limit that clients have by default. */
const RPC_CHUNK_BYTES = MIB;

type PutPart = MessageShape<typeof PutContentRequestSchema>;
type PutAnswer = MessageInitShape<typeof PutContentResponseSchema>;
type GetPart = MessageInitShape<typeof GetContentResponseSchema>;

/** What content needs of its surroundings. */
export interface ContentHost {
  readonly door: Pick<KernelDoor, "putContent" | "getContent" | "recordRefusal">;
  readonly newRequestId: () => string;
  readonly onError: (error: unknown) => void;
}

/** Takes an upload. */
export async function putContent(
  { host, shares }: { readonly host: ContentHost; readonly shares: UploadShares },
  parts: AsyncIterable<PutPart>,
  context: HandlerContext,
): Promise<PutAnswer> {
  const sessionToken = bearerToken(context.requestHeader);
  const release = shares.take(sessionToken);
  try {
    const incoming = parts[Symbol.asyncIterator]();
    const header = headerOf(await incoming.next());
    const who = { requestId: checkedId(header.requestId) || host.newRequestId(), sessionToken };
    const announced = {
      ...(header.contentHash.byteLength > 0 && { hash: header.contentHash }),
      ...(header.size !== undefined && { size: safeNumber(header.size, "size") }),
    };
    const response = await host.door.putContent({ who, announced, chunks: chunksOf(host, incoming) }, context.signal);
    return { ...storedIn(response), response: toWireResponse(response) };
  } finally {
    release();
  }
}

/** Gives content, or says why not. */
export async function* getContent(
  host: ContentHost,
  wanted: GetContentRequest,
  context: HandlerContext,
): AsyncGenerator<GetPart> {
  try {
    const { contentHash: hash, offset, limit } = wanted;
    const found = await host.door.getContent(
      {
        requestId: checkedId(wanted.requestId) || host.newRequestId(),
        sessionToken: bearerToken(context.requestHeader),
        hash,
        ...(offset > 0n && { offset: safeNumber(offset, "offset") }),
        ...(limit > 0n && { limit: safeNumber(limit, "limit") }),
      },
      context.signal,
    );
    if (found.kind === "refused") {
      yield { part: { case: "refused", value: toWireResponse(found.response) } };
      return;
    }
    yield { part: { case: "size", value: BigInt(found.size) } };
    for await (const chunk of found.chunks) {
      for (let start = 0; start < chunk.byteLength; start += RPC_CHUNK_BYTES) {
        yield { part: { case: "chunk", value: chunk.subarray(start, start + RPC_CHUNK_BYTES) } };
      }
    }
  } catch (error) {
    await record(host.door, error);
    throw faultOf(error, host.onError);
  }
}

function headerOf(first: IteratorResult<PutPart>): ContentHeader {
  if (first.done !== true && first.value.part.case === "header") return first.value.part.value;
  throw malformed("the first message of an upload is its `header`");
}

/** The chunks; whatever is wrong with the stream breaks the upload off. */
async function* chunksOf({ door }: ContentHost, incoming: AsyncIterator<PutPart>): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const next = await incoming.next();
      if (next.done === true) return;
      yield chunkOf(next.value);
    }
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    await record(door, error);
    throw new Refusal({
      layer: "call",
      reason: "tool_input_read_failed",
      ruleId: "INPUT:upload",
      message: `the upload broke off, and nothing was stored: ${error.rawMessage}; send it again`,
    });
  }
}

function chunkOf({ part }: PutPart): Uint8Array {
  if (part.case !== "chunk") throw malformed("every message after the first brings a `chunk`");
  // One could send them for ever without sending anything.
  if (part.value.byteLength === 0) throw malformed("a `chunk` brings at least one byte; send none for empty content");
  return part.value;
}

/** What the kernel says it stored. */
function storedIn({ outcome }: CallResponse): Pick<PutAnswer, "contentHash" | "size"> {
  if (outcome.kind !== "success") return {};
  const { content_hash: hash, size_bytes: size } = outcome.data;
  return {
    ...(typeof hash === "string" && { contentHash: Buffer.from(hash, "hex") }),
    ...(typeof size === "number" && { size: BigInt(size) }),
  };
}

function safeNumber(value: bigint, field: string): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw malformed(`\`${field}\` is larger than any content`);
}
