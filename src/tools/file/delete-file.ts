/**
 * `delete_file`: one regular file, for good. Directories and links are refused; nothing is ever deleted recursively.
 */
import { z } from "zod";
import type { Tool } from "../../model/tool/tool.ts";
import { pathArgument } from "../kit/argument.ts";
import { WRITES } from "../kit/capabilities.ts";
import { countText, nameText } from "../kit/plain-text.ts";
import { integer, objectOf, text } from "../kit/result-schema.ts";

const parameters = z.strictObject({ path: pathArgument("File to delete, relative to the workspace root.") });

type Arguments = z.infer<typeof parameters>;

/** The tool `delete_file`. */
export const deleteFile: Tool<Arguments> = {
  name: "delete_file",
  title: "Delete a file",
  description:
    "Deletes one regular file of the workspace. A file that git does not hold as it is, and that this session has not made, needs approval. " +
    "Directories and symbolic links are refused.",
  parameters,
  outputSchema: objectOf({
    path: text(),
    size_bytes: integer("Size that the file had."),
  }),
  capability: { ...WRITES, deletes: true },
  analyse: (args) => [{ resource: { kind: "file", path: args.path }, effect: "write" }],
  async preview(args, context) {
    return [{ path: args.path, before: await context.read(args.path) }];
  },
  async execute(args, context) {
    const receipt = await context.files.remove(args.path);
    return { kind: "data", data: { path: receipt.path, size_bytes: receipt.sizeBytes } };
  },
  toText: (data) => `deleted ${nameText(data["path"])} (${countText(data["size_bytes"], "byte")})`,
};
