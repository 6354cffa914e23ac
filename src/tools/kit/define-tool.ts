/** A tool with the types of its arguments taken from their schema. */
import type { infer as Infer, ZodType } from "zod";
import type { Tool } from "../../model/tool/tool.ts";

/** A tool whose `analyse` and `execute` take what `parameters` describes. */
export interface DefinedTool<Parameters extends ZodType> extends Omit<Tool<Infer<Parameters>>, "parameters"> {
  readonly parameters: Parameters;
}

/**
 * Checks the types of `tool` and hands it back for a registry: arguments are what its schema parses to.
 *
 * @example
 * defineTool({
 *   name: "word_count",
 *   title: "Count words",
 *   description: "Counts the words of a file.",
 *   parameters: z.strictObject({ path: z.string() }),
 *   capability: { effect: "read", risk: "low", approval: { level: "auto" } },
 *   analyse: ({ path }) => [{ resource: { kind: "file", path }, effect: "read" }],
 *   async execute({ path }, { files }) {
 *     const { bytes } = await files.read(path, { bytesMax: 100_000 });
 *     return { kind: "data", data: { words: Buffer.from(bytes).toString().split(/\s+/).length } };
 *   },
 * })
 */
export function defineTool<Parameters extends ZodType>(tool: DefinedTool<Parameters>): Tool {
  return tool as Tool<Infer<Parameters>>;
}
