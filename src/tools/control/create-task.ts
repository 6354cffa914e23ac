/** `create_task`: a foreman leaves a task for other agents, as a file where the operator wants tasks. */
import { z } from "zod";
import { KIB, utf8 } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { textArgument } from "../kit/argument.ts";
import { IN_KERNEL } from "../kit/capabilities.ts";
import { objectOf, text } from "../kit/result-schema.ts";

/** Bytes of a title and of a description. */
const TITLE_BYTES_MAX = 200;
const DESCRIPTION_BYTES_MAX = 64 * KIB;
/** Characters of the title that the file is named after. */
const SLUG_CHARACTERS_MAX = 40;
const DIGEST_CHARACTERS = 8;

const parameters = z.strictObject({
  title: textArgument("What is to be done, in one line.", TITLE_BYTES_MAX).refine(
    (title) => /\S/.test(title) && !/[\p{Cc}\u2028\u2029]/u.test(title),
    { params: { rule: "format" }, message: "must be one line of text" },
  ),
  description: textArgument("What whoever does it has to know.", DESCRIPTION_BYTES_MAX).optional(),
});

type Arguments = z.infer<typeof parameters>;

/** The tool `create_task`, which writes to `directory`, a path in the workspace. */
export function createTask(directory: string): Tool<Arguments> {
  const pathOf = (args: Arguments) => `${directory.replace(/\/+$/, "")}/${nameOf(args)}.md`;
  return {
    name: "create_task",
    title: "Create a task",
    description: `Writes a task for other agents as a file in \`${directory}\`. The same task is created once.`,
    parameters,
    outputSchema: objectOf({ task: text(), path: text() }),
    capability: { effect: "control", risk: "low", ...IN_KERNEL, requiredMode: "foreman" },
    analyse: (args) => [{ resource: { kind: "file", path: pathOf(args) }, effect: "write" }],
    async execute(args, { files }) {
      const path = pathOf(args);
      const { title, description = "" } = args;
      const body = description === "" ? "" : `\n${description.replace(/\n*$/, "\n")}`;
      await files.write(path, utf8(`# ${title}\n${body}`), { mode: "create_only" });
      return { kind: "data", data: { task: nameOf(args), path } };
    },
    toText: ({ path }) => `[task created: ${String(path)}]`,
  };
}

/** The file's name: what of the title a name can hold, and a digest of the whole task. */
function nameOf({ title, description = "" }: Arguments): string {
  const slug = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_CHARACTERS_MAX)
    .replace(/^-+|-+$/g, "");
  const digest = blake3Hex(JSON.stringify([title, description])).slice(0, DIGEST_CHARACTERS);
  return slug === "" ? digest : `${slug}-${digest}`;
}
