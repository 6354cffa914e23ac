/**
 * Reads stored content as resources: large results, artifacts and uploads, whole or in ranges.
 *
 * Each read is the call `artifact_fetch`: who may read it, and what is recorded of that, is the kernel's to say.
 */
import type { JsonObject } from "../../../base/json.ts";
import { SHOWN_BYTES_MAX } from "../../../base/limits.ts";
import { CONTENT_URI } from "../../../model/work/content.ts";
import { ResourceProblem } from "../protocol/features.ts";
import type { McpOptions } from "../protocol/options.ts";

/** The family of addresses that can be read. */
export const CONTENT_TEMPLATES: readonly JsonObject[] = [
  {
    uriTemplate: `${CONTENT_URI}{hash}{?offset,limit,encoding}`,
    name: "stored content",
    description: `Large results, artifacts and what you stored, by BLAKE3-256. A read returns at most ${SHOWN_BYTES_MAX} bytes from \`offset\` on; \`_meta["handrail/next"]\` is where the next part begins. \`encoding=base64\` returns any bytes.`,
  },
];

/** The contents at `uri`; `undefined` where it is no address of stored content. @throws ResourceProblem */
export async function readStored(
  { door, sessionToken, newRequestId }: Pick<McpOptions, "door" | "sessionToken" | "newRequestId">,
  uri: string,
  signal: AbortSignal,
): Promise<readonly JsonObject[] | undefined> {
  const args = argumentsOf(uri);
  if (args === undefined) return undefined;
  const { outcome } = await door.execute(
    { kind: "call", requestId: newRequestId(), sessionToken, tool: "artifact_fetch", arguments: args },
    signal,
  );
  if (outcome.kind === "denied") throw new ResourceProblem(outcome.denial.message);
  if (outcome.kind === "error") throw new ResourceProblem(`${outcome.message}; ${outcome.suggestion}`);
  const { content, encoding, next_offset: next, content_hash: hash } = outcome.data;
  const isText = encoding !== "base64";
  return [
    {
      uri,
      mimeType: isText ? "text/plain" : "application/octet-stream",
      ...(isText ? { text: String(content) } : { blob: String(content) }),
      ...(typeof next === "number" && { _meta: { "handrail/next": nextUri(String(hash), next, isText) } }),
    },
  ];
}

function argumentsOf(uri: string): JsonObject | undefined {
  const match = /^handrail:\/\/content\/([0-9a-fA-F]{64})(?:\?([^#]*))?$/.exec(uri);
  if (match?.[1] === undefined) return undefined;
  const query = new URLSearchParams(match[2] ?? "");
  const args: Record<string, string | number> = { content_hash: match[1], limit: SHOWN_BYTES_MAX };
  for (const [name, value] of query) {
    if (name === "encoding") args[name] = value;
    else if (name === "offset" || name === "limit") args[name] = Number(value);
    else return undefined;
  }
  return args;
}

function nextUri(hash: string, offset: number, isText: boolean): string {
  return `${CONTENT_URI}${hash}?offset=${offset}${isText ? "" : "&encoding=base64"}`;
}
