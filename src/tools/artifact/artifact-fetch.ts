/**
 * `artifact_fetch`: stored content, whole or in ranges, by an artifact's name or by its hash.
 *
 * INVARIANT: no character is ever split or altered; content that is not UTF-8 is refused as text and never repaired.
 */
import { z } from "zod";
import { textOf } from "../../base/bytes.ts";
import type { JsonObject } from "../../base/json.ts";
import { INLINE_RESULT_BYTES_MAX, MAX_READ_LIMIT, SHOWN_BYTES_MAX } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Tool, ToolContext, ToolOutput } from "../../model/tool/tool.ts";
import { type ContentName, contentResourceId, type FoundContent } from "../../model/work/content.ts";
import { CHARACTER_BYTES_MAX, characterBoundary } from "../../text/characters.ts";
import { hashArgument, numberArgument } from "../kit/argument.ts";
import { READS } from "../kit/capabilities.ts";
import { countText, nameText } from "../kit/plain-text.ts";
import { integer, listOf, objectOf, text } from "../kit/result-schema.ts";
import { artifactIdArgument } from "./arguments.ts";

const parameters = z
  .strictObject({
    artifact_id: artifactIdArgument("Name of an artifact of this workspace.").optional(),
    content_hash: hashArgument(
      "BLAKE3-256 of content: of a result that was too large, or of what you stored.",
    ).optional(),
    offset: numberArgument("First byte. Default 0. A character belongs to the range in which it begins.", 0),
    limit: numberArgument(
      `Bytes to return; 0 or absent means ${SHOWN_BYTES_MAX}, and what makes the answer longer than ${INLINE_RESULT_BYTES_MAX} is cut off.`,
      0,
      MAX_READ_LIMIT,
    ),
    encoding: z
      .enum(["utf-8", "base64"])
      .optional()
      .meta({ description: "`utf-8` (default) returns text and refuses other content; `base64` returns any bytes." }),
  })
  .refine((args) => (args.artifact_id === undefined) !== (args.content_hash === undefined), {
    params: { rule: "mutually_exclusive" },
    message: "give either `artifact_id` or `content_hash`",
  });

type Arguments = z.infer<typeof parameters>;

/** The tool `artifact_fetch`. */
export const artifactFetch: Tool<Arguments> = {
  name: "artifact_fetch",
  title: "Fetch an artifact or stored content",
  description:
    "Returns stored content by an artifact's name or by its hash: an artifact of this workspace, content you stored, or the rest of a " +
    "result that was too large to be shown. `next_offset` in the answer says where the next part begins.",
  parameters,
  outputSchema: objectOf(
    {
      artifact_id: text(),
      category: text(),
      metadata: listOf(text()),
      content_hash: text(),
      size_bytes: integer("Size of the whole content."),
      encoding: { enum: ["utf-8", "base64"] },
      content: text(),
      offset: integer("First byte that was returned; moved to the next character when it fell inside one."),
      bytes: integer("Bytes that were returned."),
      next_offset: integer("Where the next range begins; absent at the end."),
    },
    ["artifact_id", "category", "metadata", "encoding", "content", "bytes", "next_offset"],
  ),
  capability: { ...READS, sizesResult: true },
  analyse: (args) => [{ resource: { kind: "artifact", id: contentResourceId(nameOf(args)) }, effect: "read" }],
  async execute(args, context) {
    const found = await context.content.find(nameOf(args));
    return context.reply === "stream" ? stream(args, found, context) : part(args, found, context);
  },
  toText: (data) => [String(data["content"] ?? ""), factsText(data)],
};

function factsText({
  artifact_id: id,
  category,
  metadata,
  content_hash: hash,
  offset,
  bytes,
  size_bytes: size,
  next_offset: next,
}: JsonObject): string {
  const named = id === undefined ? "" : `artifact ${nameText(id)}, ${nameText(category)}`;
  const facts = Array.isArray(metadata) && metadata.length > 0 ? ` (${metadata.map(nameText).join(", ")})` : "";
  const what = named === "" ? `content ${String(hash)}` : `${named}${facts}`;
  const more = next === undefined ? "" : `; next_offset ${String(next)}`;
  return `[${what}: ${countText(bytes, "byte")} from ${String(offset)} on, of ${String(size)}${more}]`;
}

function nameOf({ artifact_id: id, content_hash: hash }: Arguments): ContentName {
  return id === undefined ? { kind: "content", hash: hash ?? "" } : { kind: "artifact", id };
}

/** The bytes go beside the answer, to a caller that takes them as they come. */
async function stream(args: Arguments, found: FoundContent, context: ToolContext): Promise<ToolOutput> {
  const offset = args.offset ?? 0;
  const length = args.limit === undefined || args.limit === 0 ? found.sizeBytes : args.limit;
  await context.content.stream(found, { offset, length });
  return { kind: "data", data: { ...described(found), offset }, label: found.label };
}

async function part(args: Arguments, found: FoundContent, context: ToolContext): Promise<ToolOutput> {
  const encoding = args.encoding ?? "utf-8";
  const offset = Math.min(args.offset ?? 0, found.sizeBytes);
  const room = roomFor(found);
  const length = Math.min(args.limit || SHOWN_BYTES_MAX, encoding === "base64" ? Math.floor(room / 4) * 3 : room);
  const margin = encoding === "base64" ? 0 : CHARACTER_BYTES_MAX - 1;
  const from = Math.max(0, offset - margin);
  const bytes = await context.content.read(found, { offset: from, length: offset - from + length + margin });
  const wanted = Math.min(offset - from + length, bytes.byteLength);
  const start = encoding === "base64" ? offset - from : characterBoundary(bytes, offset - from);
  const end =
    encoding === "base64"
      ? wanted
      : characterBoundary(bytes, start + printedLength(bytes.subarray(start, wanted), room));
  const shown = bytes.subarray(start, end);
  const next = from + end;
  const data = {
    ...described(found),
    encoding,
    content: encoding === "base64" ? Buffer.from(shown).toString("base64") : textOrFail(shown),
    offset: from + start,
    bytes: shown.byteLength,
    ...(next < found.sizeBytes && { next_offset: next }),
  };
  return { kind: "data", data, label: found.label };
}

/** Bytes of JSON around a part of `found`, besides what describes it: names, numbers, and what redaction may add. */
const ENVELOPE_BYTES = 4096;

/** Bytes of JSON that a part of `found` may take, so that the whole answer is one that is shown. */
function roomFor(found: FoundContent): number {
  return INLINE_RESULT_BYTES_MAX - ENVELOPE_BYTES - Buffer.byteLength(JSON.stringify(described(found)));
}

/**
 * How many of `bytes`, which are text, take at most `room` bytes of JSON: quotes and control characters are written
 * longer.
 */
function printedLength(bytes: Uint8Array, room: number): number {
  let left = room;
  let length = 0;
  for (const byte of bytes) {
    left -= printedBytes(byte);
    if (left < 0) break;
    length += 1;
  }
  return length;
}

const SHORT_ESCAPES = new Set(Buffer.from('"\\\b\t\n\f\r'));

function printedBytes(byte: number): number {
  if (SHORT_ESCAPES.has(byte)) return 2;
  return byte < 0x20 ? 6 : 1;
}

function described(found: FoundContent) {
  const { artifact, hash, sizeBytes } = found;
  const facts = artifact && { artifact_id: artifact.id, category: artifact.category, metadata: artifact.metadata };
  return { ...facts, content_hash: hash, size_bytes: sizeBytes };
}

function textOrFail(bytes: Uint8Array): string {
  const text = textOf(bytes);
  if (text !== undefined && !bytes.includes(0)) return text;
  throw new ToolFailure("BINARY_FILE", "the content is not text", 'fetch it with `encoding: "base64"`');
}
