/** `handrail knowledge`: the indexes by which agents search workspaces. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { KnowledgeDesk } from "../../server/knowledge/knowledge-desk.ts";
import type { IndexStatus } from "../../server/knowledge/workspace-knowledge.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { print, printJson, say, visible } from "../terminal/output.ts";

interface KnowledgeFlags extends KernelFlags {
  readonly workspace: string;
  readonly json?: boolean;
}

/** Adds `handrail knowledge`. */
export function addKnowledgeCommand(program: Command): void {
  const knowledge = program
    .command("knowledge")
    .description("show, rebuild, export and import the indexes by which agents search workspaces")
    .addHelpText(
      "after",
      "\nExit codes: 0 success, 1 the index cannot be used, 64 wrong usage or a file that is no index." +
        "\nExample: handrail knowledge export shop.index --workspace .",
    );
  withOptions(knowledge.command("status").description("show how far the index of a workspace is")).action(
    (flags: KnowledgeFlags) => withDesk(flags, (desk) => desk.status(flags.workspace)),
  );
  withOptions(knowledge.command("rebuild").description("index every file of a workspace again")).action(
    (flags: KnowledgeFlags) => withDesk(flags, (desk) => desk.rebuild(flags.workspace, sayProgress)),
  );
  withOptions(
    knowledge.command("export <file>").description("bring the index up to date and write it into a new file"),
  ).action((file: string, flags: KnowledgeFlags) =>
    withDesk(flags, (desk) => desk.exportTo(flags.workspace, resolve(file))),
  );
  withOptions(
    knowledge
      .command("import <file>")
      .description("put an exported index in place; only files that differ from it are indexed again")
      .addHelpText(
        "after",
        "\nSecrets were taken out by the rules of whoever exported it: import files of people whom you trust.",
      ),
  ).action((file: string, flags: KnowledgeFlags) =>
    withDesk(flags, (desk) => desk.importFrom(flags.workspace, resolve(file), sayProgress)),
  );
}

function withOptions(command: Command): Command {
  return withKernelOptions(command)
    .option("--workspace <directory>", "workspace root", ".")
    .option("--json", "print JSON");
}

type Shown = IndexStatus & { readonly file?: string; readonly sizeBytes?: number };

/** Opens the kernel and prints what `work` found; what an index fails with is told in one line. */
function withDesk(flags: KnowledgeFlags, work: (desk: KnowledgeDesk) => Promise<Shown>): Promise<void> {
  return withKernel(flags, async (kernel) => {
    const status = await work(await kernel.knowledge()).catch((error: unknown) => {
      if (error instanceof ToolFailure) throw usageError(`${error.message}; ${error.suggestion}`, error);
      throw error;
    });
    const { state, files, chunks, filesLeft, vectors, file, sizeBytes } = status;
    if (flags.json)
      return printJson({
        state,
        files,
        chunks,
        files_left: filesLeft,
        ...(vectors !== undefined && { vectors }),
        ...(file !== undefined && { file, size_bytes: sizeBytes }),
      });
    if (file !== undefined) return print(`${visible(file)}: ${files} files, ${chunks} parts, ${sizeBytes} bytes`);
    print(`${state}: ${files} files, ${chunks} parts${state === "building" ? "; the first question goes on" : ""}`);
  });
}

function sayProgress({ files, filesLeft }: IndexStatus): void {
  say(`${files} files indexed, ${filesLeft} left`);
}
