/** Reads what an upstream server's tool answers: its texts, its data, and the bytes of everything else. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { UpstreamAnswer, UpstreamPart } from "../../../tools/upstream/upstream-tool.ts";

/** Parts of one answer, and those of them that are no text and are kept. */
const PARTS_MAX = 1000;
const BINARY_PARTS_MAX = 32;
/** A media type that is written as such, without parameters. */
const MEDIA_TYPE = /^[a-z]{1,20}\/[a-z0-9][a-z0-9.+-]{0,99}$/i;

/** @throws ToolFailure NOT_SUPPORTED where it is no answer, or wants something of the client first */
export function readAnswer(server: string, answer: JsonObject): UpstreamAnswer {
  const { content = [], structuredContent, isError } = answer;
  const wantsMore = "resultType" in answer && answer["resultType"] !== "complete";
  if (!Array.isArray(content) || content.length > PARTS_MAX || wantsMore)
    throw new FailureWithoutEffect(
      "NOT_SUPPORTED",
      `the server \`${server}\` answered with what is no result of a tool`,
      "do without it",
    );
  const parts: UpstreamPart[] = [];
  const text = content.map((part) => textOfPart(part, parts)).join("\n");
  return {
    text,
    parts,
    ...(isJsonObject(structuredContent) && { structured: structuredContent }),
    isError: isError === true,
  };
}

/** What stands for a part in the text; one that is no text comes to `parts`. */
function textOfPart(part: JsonValue, parts: UpstreamPart[]): string {
  if (!isJsonObject(part)) return "";
  const { type, text, mimeType, data, resource, uri } = part;
  if (type === "text") return String(text);
  if (type === "resource_link") return `[link: ${String(uri)}]`;
  if (type !== "resource" || !isJsonObject(resource)) return namedPart(type, mimeType, { data, parts });
  if (typeof resource["text"] === "string") return resource["text"];
  return namedPart(type, resource["mimeType"], { data: resource["blob"], parts });
}

function namedPart(
  type: unknown,
  mimeType: unknown,
  { data, parts }: { readonly data: unknown; readonly parts: UpstreamPart[] },
): string {
  const media = typeof mimeType === "string" && MEDIA_TYPE.test(mimeType) ? mimeType : "application/octet-stream";
  if (typeof data !== "string" || parts.length >= BINARY_PARTS_MAX) return `[${String(type)}: ${media}, left out]`;
  const bytes = Buffer.from(data, "base64");
  parts.push({ type: String(type), mimeType: media, bytes });
  return `[${String(type)}: ${media}, ${bytes.length} bytes, part ${parts.length}]`;
}
