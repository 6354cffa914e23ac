/**
 * Implements `write_file`, which writes the whole content of one file in one step.
 *
 * It can also append to the end, or write only if there is no file yet.
 *
 * INVARIANT: text is stored as the UTF-8 of exactly what was sent. No byte order mark or line end is added or changed.
 */
import { z } from "zod";
import { utf8 } from "../../base/bytes.ts";
import { MAX_WRITE_SIZE } from "../../base/limits.ts";
import { hasMoreBytes } from "../../model/outcome/constraints.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { pathArgument } from "../kit/argument.ts";
import { WRITES } from "../kit/capabilities.ts";
import { countText, nameText } from "../kit/plain-text.ts";
import { flag, integer, objectOf, text } from "../kit/result-schema.ts";

const content = z
  .custom<string | Uint8Array>((value) => typeof value === "string" || value instanceof Uint8Array, {
    params: { rule: "type" },
    message: "must be text",
  })
  .refine((value) => typeof value !== "string" || value.isWellFormed(), {
    params: { rule: "format" },
    message: "holds half of a surrogate pair; send whole characters",
  })
  .refine(
    (value) => (typeof value === "string" ? !hasMoreBytes(value, MAX_WRITE_SIZE) : value.byteLength <= MAX_WRITE_SIZE),
    {
      params: { rule: "max_size" },
      message: `is longer than ${MAX_WRITE_SIZE} bytes; write it in several parts with \`append\``,
    },
  )
  .meta({ type: "string", description: "The text to write, exactly as it shall stand in the file." });

const parameters = z
  .strictObject({
    path: pathArgument("File to write, relative to the workspace root. Missing directories are made."),
    content,
    create_only: z.boolean().optional().meta({ description: "Fail when the file exists already." }),
    append: z
      .boolean()
      .optional()
      .meta({ description: "Add the text at the end of the file instead of replacing it." }),
  })
  .refine((args) => !(args.create_only && args.append), {
    params: { rule: "mutually_exclusive" },
    message: "`create_only` and `append` exclude each other; set one of them",
  });

type Arguments = z.infer<typeof parameters>;

/** The tool `write_file`. */
export const writeFile: Tool<Arguments> = {
  name: "write_file",
  title: "Write a file",
  description:
    "Creates a file or replaces its whole content in one step. To change a part of an existing file use `edit_file` instead.",
  parameters,
  outputSchema: objectOf({
    path: text(),
    created: flag("Whether the file did not exist before."),
    size_bytes: integer("Size of the whole file afterwards."),
  }),
  capability: { ...WRITES, audit: { logArgs: false, logOutput: false } },
  analyse: (args) => [{ resource: { kind: "file", path: args.path }, effect: "write" }],
  async preview(args, context) {
    const bytes = bytesOf(args);
    const before = await context.readIfAny(args.path);
    if (before === undefined) return [{ path: args.path, after: bytes }];
    if (args.create_only)
      throw new ToolFailure("FILE_EXISTS", "the file exists already, and the call wants a new one", "deny it");
    return [{ path: args.path, before, after: args.append ? Buffer.concat([before, bytes]) : bytes }];
  },
  async execute(args, context) {
    const bytes = bytesOf(args);
    const mode = args.create_only ? "create_only" : args.append ? "append" : "overwrite";
    const receipt = await context.files.write(args.path, bytes, { mode });
    return { kind: "data", data: { path: receipt.path, created: receipt.created, size_bytes: receipt.sizeBytes } };
  },
  toText: ({ path, created, size_bytes: bytes }) =>
    `${created === true ? "created" : "wrote"} ${nameText(path)}, which has ${countText(bytes, "byte")} now`,
};

function bytesOf({ content: given }: Arguments): Uint8Array {
  return typeof given === "string" ? utf8(given) : given;
}
