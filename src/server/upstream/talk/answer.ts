/** Reads what an upstream server's tool answers: its texts, its data, and the names of everything else. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { UpstreamAnswer } from "../../../tools/upstream/upstream-tool.ts";

/** Parts of one answer. */
const PARTS_MAX = 1000;

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
  const text = content.map(textOfPart).join("\n");
  return { text, ...(isJsonObject(structuredContent) && { structured: structuredContent }), isError: isError === true };
}

function textOfPart(part: JsonValue): string {
  if (!isJsonObject(part)) return "";
  const { type, text, mimeType = "unknown type", data, resource, uri } = part;
  if (type === "text") return String(text);
  if (type === "resource" && isJsonObject(resource) && typeof resource["text"] === "string") return resource["text"];
  if (type === "resource_link") return `[link: ${String(uri)}]`;
  return `[${String(type)}: ${String(mimeType)}, ${typeof data === "string" ? data.length : 0} characters, left out]`;
}
