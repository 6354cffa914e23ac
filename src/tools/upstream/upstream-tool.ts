/**
 * Makes a tool of what another program's MCP server offers.
 *
 * What it is called and takes was approved by a person; what it does nobody knows. So every call is a call of the tool
 * itself, asks where nothing else is said, and its answer is a stranger's text.
 */
import type { ZodType } from "zod";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { EffectClass } from "../../model/outcome/effect.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { TrustLevel } from "../../model/outcome/label.ts";
import type { Tool, ToolContext } from "../../model/tool/tool.ts";
import { CONTENT_URI, type ContentAccess } from "../../model/work/content.ts";
import { flag, integer, listOf, objectOf, text } from "../kit/result-schema.ts";

/** A part of an answer that is no text. */
export interface UpstreamPart {
  /** `image`, `audio` and such, in the server's own words. */
  readonly type: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** What a server answers, as far as it is passed on. */
export interface UpstreamAnswer {
  /** Names each part at its place. */
  readonly text: string;
  readonly parts: readonly UpstreamPart[];
  readonly structured?: JsonObject;
  readonly isError: boolean;
}

/** Who asks a server: until when, who hears how far it is, and who answers what it asks itself. */
export type UpstreamAsking = Pick<ToolContext, "signal" | "progress" | "askPerson">;

/** What a tool is made of. */
export interface UpstreamParts {
  /** The server's name for it, and the kernel's. */
  readonly toolName: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: ZodType<JsonObject>;
  readonly effect: EffectClass;
  /** Whether lists of tools leave it out. */
  readonly isUnlisted: boolean;
  readonly trust: Exclude<TrustLevel, "system">;
  readonly call: (toolName: string, args: JsonObject, asking: UpstreamAsking) => Promise<UpstreamAnswer>;
}

/** The tool of a server's. */
export function upstreamTool(parts: UpstreamParts): Tool {
  const { toolName, name, title, description, parameters, effect, trust, call, isUnlisted } = parts;
  const tool: Tool<JsonObject> = {
    name,
    isUpstream: true,
    ...(isUnlisted && { isUnlisted }),
    title,
    description,
    parameters,
    outputSchema: objectOf(
      {
        text: text("What the server answers."),
        structured: { type: "object", description: "The same as data, where it gives any." },
        is_error: flag("Whether the server says that it failed."),
        parts: { ...listOf(PART), description: "What is no text: stored, and read with `artifact_fetch`." },
      },
      ["structured", "parts"],
    ),
    capability: {
      effect,
      risk: "medium",
      approval: { level: "ask" },
      labels: { outputTrust: trust, outputDataClass: "internal" },
    },
    analyse: () => [{ resource: { kind: "tool", name }, effect }],
    async execute(args, { signal, progress, askPerson, content }) {
      const answer = await call(toolName, args, { signal, progress, askPerson });
      const { structured, isError } = answer;
      const parts: JsonObject[] = [];
      for (const part of answer.parts) parts.push(await kept(part, content));
      return {
        kind: "data",
        data: {
          text: answer.text,
          ...(structured && { structured }),
          is_error: isError,
          ...(parts.length > 0 && { parts }),
        },
      };
    },
    toText: ({ text: said, is_error: isError, parts = [] }) => [
      `${isError === true ? "The server reports an error: " : ""}${said}`,
      ...(Array.isArray(parts) ? parts.filter(isJsonObject).flatMap(shownPart) : []),
    ],
  };
  return tool as Tool;
}

const PART = objectOf(
  {
    type: text("What the server calls it."),
    mime_type: text("Its media type, by the server's own word."),
    size_bytes: integer(),
    content_hash: text("BLAKE3-256 by which it is stored."),
    left_out: text("Why it is not."),
  },
  ["content_hash", "left_out"],
);

/** Stores a part; what cannot be stored is left out, because the call has been made. */
async function kept({ type, mimeType, bytes }: UpstreamPart, content: ContentAccess): Promise<JsonObject> {
  const named = { type, mime_type: mimeType, size_bytes: bytes.byteLength };
  try {
    return { ...named, content_hash: (await content.keepAnswer(bytes)).hash };
  } catch (error) {
    if (error instanceof ToolFailure) return { ...named, left_out: error.message };
    if (error instanceof Refusal) return { ...named, left_out: error.denial.message };
    throw error;
  }
}

/** A part in words, and as a link for clients that follow links. */
function shownPart(part: JsonObject, index: number): readonly (string | JsonObject)[] {
  const { type, mime_type: mimeType, size_bytes: size, content_hash: hash, left_out: why } = part;
  if (typeof hash !== "string") return [`[part ${index + 1} is left out: ${String(why)}]`];
  const name = `${String(type)} ${index + 1}`;
  return [
    `[part ${index + 1} is stored; read it with artifact_fetch {"content_hash": "${hash}"}]`,
    {
      type: "resource_link",
      uri: `${CONTENT_URI}${hash}?encoding=base64`,
      name,
      mimeType: mimeType ?? null,
      size: size ?? null,
    },
  ];
}
