/**
 * Bytes to messages and back. Encoding is deterministic (CTR-0001): fields in the order of their tags, unknown fields
 * after them in the order they came; decode∘encode is the identity, unknown fields included (CTR-0002).
 *
 * Decoded byte fields are views of the input, which its owner must not change afterwards.
 */
import { type DescMessage, fromBinary, type MessageShape as Shaped, toBinary } from "@bufbuild/protobuf";
import { KernelError } from "../base/errors.ts";
import { FRAME_BYTES_MAX } from "../base/limits.ts";
import {
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  ToolResponseSchema,
} from "../gen/handrail/tool/v1/tool_pb.ts";
import { scan } from "./scan.ts";
import { type MessageShape, REQUEST_SHAPE, RESPONSE_SHAPE } from "./shape.ts";
import { WireError } from "./wire-error.ts";

/** The request of `bytes`. @throws WireError (WIRE_INVALID) saying what is wrong and at which byte */
export function decodeRequest(bytes: Uint8Array): ToolRequest {
  return decode(ToolRequestSchema, REQUEST_SHAPE, bytes);
}

/** The bytes of a request. @throws KernelError USAGE for a field that has no encoding, such as a negative `limit` */
export function encodeRequest(request: ToolRequest): Uint8Array {
  return encode(ToolRequestSchema, request);
}

/** The response of `bytes`. @throws WireError (WIRE_INVALID) saying what is wrong and at which byte */
export function decodeResponse(bytes: Uint8Array): ToolResponse {
  return decode(ToolResponseSchema, RESPONSE_SHAPE, bytes);
}

/** The bytes of a response. @throws KernelError USAGE for a field that has no encoding */
export function encodeResponse(response: ToolResponse): Uint8Array {
  return encode(ToolResponseSchema, response);
}

function decode<Schema extends DescMessage>(schema: Schema, shape: MessageShape, bytes: Uint8Array): Shaped<Schema> {
  if (bytes.byteLength > FRAME_BYTES_MAX) {
    throw new WireError(`the message has ${bytes.byteLength} bytes; at most ${FRAME_BYTES_MAX} are taken`);
  }
  scan(bytes, shape);
  return fromBinary(schema, bytes);
}

function encode<Schema extends DescMessage>(schema: Schema, message: Shaped<Schema>): Uint8Array {
  if (!isUnicode(message))
    throw new KernelError("USAGE", `the \`${schema.name}\` holds half of a surrogate pair; send whole characters`);
  try {
    return toBinary(schema, message);
  } catch (cause) {
    throw new KernelError(
      "USAGE",
      `a field of the \`${schema.name}\` has no encoding; check the types and ranges of its fields`,
      cause,
    );
  }
}

/**
 * Whether all text of a message is Unicode: half of a surrogate pair would be replaced silently, and so not come back.
 */
function isUnicode(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return true;
  if (Array.isArray(value)) return value.every(isUnicode);
  for (const [name, member] of Object.entries(value)) {
    if (name !== "$unknown" && !isUnicode(member)) return false;
  }
  return true;
}
