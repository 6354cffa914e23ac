/**
 * Makes a tool of what another program's MCP server offers.
 *
 * What it is called and takes was approved by a person; what it does nobody knows. So every call is a call of the tool
 * itself, asks where nothing else is said, and its answer is a stranger's text.
 */
import type { ZodType } from "zod";
import type { JsonObject } from "../../base/json.ts";
import type { EffectClass } from "../../model/outcome/effect.ts";
import type { TrustLevel } from "../../model/outcome/label.ts";
import type { Tool, ToolContext } from "../../model/tool/tool.ts";
import { flag, objectOf, text } from "../kit/result-schema.ts";

/** What a server answers, as far as it is passed on. */
export interface UpstreamAnswer {
  readonly text: string;
  readonly structured?: JsonObject;
  readonly isError: boolean;
}

/** Who asks a server: until when, and who hears how far it is. */
export type UpstreamAsking = Pick<ToolContext, "signal" | "progress">;

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
      },
      ["structured"],
    ),
    capability: {
      effect,
      risk: "medium",
      approval: { level: "ask" },
      labels: { outputTrust: trust, outputDataClass: "internal" },
    },
    analyse: () => [{ resource: { kind: "tool", name }, effect }],
    async execute(args, { signal, progress }) {
      const answer = await call(toolName, args, { signal, progress });
      const { structured, isError } = answer;
      return { kind: "data", data: { text: answer.text, ...(structured && { structured }), is_error: isError } };
    },
    toText: ({ text: said, is_error: isError }) => `${isError === true ? "The server reports an error: " : ""}${said}`,
  };
  return tool as Tool;
}
