/**
 * Content by hash over RPC: an upload in pieces, a download in pieces.
 *
 * Whether either is allowed is the kernel's to say, in a `ToolResponse`; here only the order of the parts is checked.
 * Pieces are passed on one at a time, so that neither side holds more than the other has asked for.
 */
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { RPC_CHUNK_BYTES } from "../../base/limits.ts";
import type {
  ContentHeader,
  GetContentRequest,
  GetContentResponseSchema,
  PutContentRequestSchema,
  PutContentResponseSchema,
} from "../../gen/handrail/tool/v1/kernel_pb.ts";
import type { KernelDoor } from "../../kernel/index.ts";
import type { CallResponse } from "../../model/call.ts";
import { toWireResponse } from "../../wire/protobuf.ts";
import { bearerToken } from "./bearer.ts";
import { faultOf } from "./faults.ts";
import { checkedId } from "./request-id.ts";

type PutPart = MessageShape<typeof PutContentRequestSchema>;
type PutAnswer = MessageInitShape<typeof PutContentResponseSchema>;
type GetPart = MessageInitShape<typeof GetContentResponseSchema>;

/** What content needs of its surroundings. */
export interface ContentHost {
  readonly door: Pick<KernelDoor, "putContent" | "getContent">;
  readonly newRequestId: () => string;
  readonly onError: (error: unknown) => void;
}

/** Takes an upload. */
export async function putContent(host: ContentHost, parts: AsyncIterable<PutPart>, context: HandlerContext): Promise<PutAnswer> {
  const sessionToken = bearerToken(context.requestHeader);
  const incoming = parts[Symbol.asyncIterator]();
  const header = headerOf(await incoming.next());
  const who = { requestId: checkedId(header.requestId) || host.newRequestId(), sessionToken };
  const announced = {
    ...(header.contentHash.byteLength > 0 && { hash: header.contentHash }),
    ...(header.size !== undefined && { size: safeNumber(header.size, "size") }),
  };
  const response = await host.door.putContent(who, announced, chunksOf(incoming), context.signal);
  return { ...storedIn(response), response: toWireResponse(response) };
}

/** Gives content, or says why not. */
export async function* getContent(host: ContentHost, wanted: GetContentRequest, context: HandlerContext): AsyncGenerator<GetPart> {
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
    throw faultOf(error, host.onError);
  }
}

function headerOf(first: IteratorResult<PutPart>): ContentHeader {
  if (first.done !== true && first.value.part.case === "header") return first.value.part.value;
  throw new ConnectError("the first message of an upload is its `header`", Code.InvalidArgument);
}

async function* chunksOf(incoming: AsyncIterator<PutPart>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const next = await incoming.next();
    if (next.done === true) return;
    const { part } = next.value;
    if (part.case !== "chunk") throw new ConnectError("every message after the first brings a `chunk`", Code.InvalidArgument);
    yield part.value;
  }
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
  throw new ConnectError(`\`${field}\` is larger than any content`, Code.InvalidArgument);
}
