/**
 * `put_content`: stores bytes under their BLAKE3-256, as they are or not at all.
 *
 * The bytes come in the call, or beside it as an upload that the kernel received already (`PutContent`). INVARIANT: the
 * answer says nothing of whether somebody else had stored the same bytes.
 */
import { z } from "zod";
import { blake3Hex } from "../../base/hash.ts";
import { CONTENT_BYTES_MAX, MAX_WRITE_SIZE } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { contentResourceId } from "../../model/work/content.ts";
import { contentMismatch } from "../../model/work/content-failures.ts";
import { hashArgument, numberArgument, textArgument } from "../kit/argument.ts";
import { WRITES } from "../kit/capabilities.ts";
import { integer, objectOf, text } from "../kit/result-schema.ts";

const parameters = z.strictObject({
  content: textArgument("The content. Absent when it is uploaded beside the call.", MAX_WRITE_SIZE).optional(),
  encoding: z
    .enum(["utf-8", "base64"])
    .optional()
    .meta({ description: "How `content` is written: `utf-8` (default) as text, `base64` as bytes." }),
  content_hash: hashArgument("BLAKE3-256 that the content must have; checked when given.").optional(),
  size_bytes: numberArgument("Bytes that the content must have; checked when given.", 0, CONTENT_BYTES_MAX),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `put_content`. */
export const putContent: Tool<Arguments> = {
  name: "put_content",
  title: "Store content",
  description:
    "Stores content under its BLAKE3-256 hash, to be published with `artifact_publish`, fetched with `artifact_fetch` or used as a " +
    "prompt. Content that nothing refers to is removed after a day.",
  parameters,
  outputSchema: objectOf({
    content_hash: text("BLAKE3-256 of the content, hexadecimal."),
    size_bytes: integer(),
  }),
  capability: {
    ...WRITES,
    risk: "low",
    labels: { outputTrust: "user", outputDataClass: "internal" },
    audit: { logOutput: false },
  },
  analyse: (args) => {
    const hash = args.content === undefined ? args.content_hash : blake3Hex(bytesOf(args.content, args.encoding));
    return hash === undefined
      ? []
      : [{ resource: { kind: "artifact", id: contentResourceId({ kind: "content", hash }) }, effect: "write" }];
  },
  async execute(args, context) {
    const stored =
      args.content === undefined
        ? await context.content.commitUpload()
        : await context.content.put(checked(args, args.content));
    if (stored === undefined) {
      throw new ToolFailure(
        "NOT_SUPPORTED",
        "no content came with the call",
        "send it as `content`, or upload it with PutContent",
      );
    }
    return { kind: "data", data: { content_hash: stored.hash, size_bytes: stored.sizeBytes } };
  },
};

function checked(args: Arguments, content: string): Uint8Array {
  const bytes = bytesOf(content, args.encoding);
  if (args.encoding === "base64" && withoutPadding(bytes.toString("base64")) !== withoutPadding(content)) {
    throw contentMismatch("the content is not base64");
  }
  if (args.size_bytes !== undefined && args.size_bytes !== bytes.byteLength) {
    throw contentMismatch(`${args.size_bytes} bytes were announced and ${bytes.byteLength} came`);
  }
  const hash = blake3Hex(bytes);
  if (args.content_hash === undefined || args.content_hash === hash) return bytes;
  throw contentMismatch(
    `the hash \`${args.content_hash}\` was announced, and the bytes that came have the hash \`${hash}\``,
  );
}

/**
 * `text` without the padding at its end. A loop: a regular expression takes time in the square of the padding's length.
 */
function withoutPadding(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "=") end -= 1;
  return text.slice(0, end);
}

function bytesOf(content: string, encoding: Arguments["encoding"]): Buffer {
  return Buffer.from(content, encoding === "base64" ? "base64" : "utf8");
}
