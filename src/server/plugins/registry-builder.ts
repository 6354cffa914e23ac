/** Builds a registry of some of the kernel's tools, each with limits of the embedding program's own (Brio). */
import { INLINE_RESULT_BYTES_MAX } from "../../base/limits.ts";
import { type CommandResource, wordsOfCommand } from "../../model/place/command.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { done } from "../../tools/control/done.ts";
import { listFiles } from "../../tools/file/list-files.ts";
import { readFile } from "../../tools/file/read-file.ts";
import { writeFile } from "../../tools/file/write-file.ts";
import { shell } from "../../tools/shell/shell.ts";
import { variantOf } from "../operator/built-in-tools.ts";
import { ToolRegistry } from "./tool-registry.ts";

/** Bytes of a file that is read, and levels that are listed, where nothing is said (Brio: 10 MB). */
const FILE_BYTES = INLINE_RESULT_BYTES_MAX;
const DEPTH = 16;

/** Builds a registry. */
export class ToolRegistryBuilder {
  readonly #tools: Tool[] = [];

  /** `done`. */
  withDoneTool(): this {
    return this.#with(done);
  }

  /** `read_file` for files of at most `maxFileSize` bytes. */
  withReadTool(maxFileSize: number = FILE_BYTES): this {
    const most = Math.max(1, Math.min(maxFileSize, INLINE_RESULT_BYTES_MAX));
    return this.#with(
      variantOf(readFile, {
        parameters: readFile.parameters.transform((args) => ({
          ...args,
          max_bytes: Math.min(args.max_bytes ?? most, most),
        })),
      }),
    );
  }

  /** `list_files`, at most `maxDepth` levels deep. */
  withListTool(maxDepth: number = DEPTH): this {
    return this.#with(
      variantOf(listFiles, {
        parameters: listFiles.parameters.transform((args) => ({
          ...args,
          max_depth: Math.min(args.max_depth ?? maxDepth, maxDepth),
        })),
      }),
    );
  }

  /** `write_file`. */
  withWriteTool(): this {
    return this.#with(writeFile);
  }

  /** `shell` for the programs of `allowlist` alone; an entry may name arguments, as `npm ci`. */
  withShellTool(allowlist: readonly string[]): this {
    const allowed = allowlist.map((entry) => entry.trim().split(/\s+/));
    const isListed = (command: CommandResource) => {
      const words = wordsOfCommand(command);
      return (
        command.via.length === 0 &&
        command.dangers.length === 0 &&
        allowed.some((entry) => entry.every((word, index) => words[index] === word))
      );
    };
    const parameters = shell.parameters.refine(
      (args) => shell.analyse(args).every(({ resource }) => resource.kind !== "command" || isListed(resource)),
      {
        path: ["command"],
        params: { rule: "allowlist" },
        message: `may only run ${allowlist.length === 0 ? "nothing" : allowlist.join(", ")}`,
      },
    );
    return this.#with(variantOf(shell, { parameters }));
  }

  /** The registry. */
  build(): ToolRegistry {
    const registry = new ToolRegistry();
    for (const tool of this.#tools) registry.register(tool);
    return registry;
  }

  #with(tool: Tool): this {
    this.#tools.push(tool);
    return this;
  }
}
