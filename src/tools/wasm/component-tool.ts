/**
 * Makes a tool of a WebAssembly component.
 *
 * The component says what it is called and what it takes; what it may do, the operator says. Files are read here, by
 * the call's own handle, before the component runs: it gets the bytes of those that the call names.
 */
import type { ZodType } from "zod";
import type { JsonObject } from "../../base/json.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { ToolCapability } from "../../model/tool/capability.ts";
import type { Tool, ToolContext } from "../../model/tool/tool.ts";
import { objectOf, text } from "../kit/result-schema.ts";

/** Bytes of one file that a component may read: Brio's limit. */
const FILE_BYTES_MAX = 10_485_760;

const CAPABILITY: ToolCapability = {
  effect: "read",
  risk: "low",
  approval: { level: "auto" },
  labels: { outputTrust: "user", outputDataClass: "internal" },
};

/** A component that runs. */
export interface RunningComponent {
  execute(args: string, files: ReadonlyMap<string, Uint8Array | string>, signal: AbortSignal): Promise<string>;
}

/** What a tool is made of. */
export interface ComponentParts {
  readonly name: string;
  readonly description: string;
  readonly parameters: ZodType<JsonObject>;
  /** Arguments that are paths. */
  readonly pathArguments: readonly string[];
  readonly component: RunningComponent;
  /** What its versions share. */
  readonly lineage: object;
}

/** The tool of a component. */
export function componentTool(parts: ComponentParts): Tool {
  const { name, description, parameters, pathArguments, component, lineage } = parts;
  const pathsOf = (args: JsonObject) =>
    [...new Set(pathArguments.map((argument) => args[argument]))].filter((path) => typeof path === "string");
  const tool: Tool<JsonObject> = {
    name,
    title: name.replaceAll("_", " "),
    description,
    parameters,
    outputSchema: objectOf({ text: text("What the component answers.") }),
    capability: CAPABILITY,
    lineage,
    analyse: (args) => [
      { resource: { kind: "tool", name }, effect: "read" },
      ...pathsOf(args).map((path) => ({ resource: { kind: "file", path }, effect: "read" }) as const),
    ],
    async execute(args, context) {
      const files = new Map<string, Uint8Array | string>();
      for (const path of pathsOf(args)) files.set(path, await readFor(path, context));
      return { kind: "data", data: { text: await component.execute(JSON.stringify(args), files, context.signal) } };
    },
    toText: (data) => String(data["text"]),
  };
  return tool as Tool;
}

/** The bytes, or what the component is told of a file that cannot be read. A refusal refuses the call. */
async function readFor(path: string, { files }: ToolContext): Promise<Uint8Array | string> {
  try {
    return (await files.read(path, { bytesMax: FILE_BYTES_MAX })).bytes;
  } catch (error) {
    if (error instanceof ToolFailure && !(error instanceof Refusal)) return error.message;
    throw error;
  }
}
