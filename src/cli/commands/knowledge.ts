/** `handrail knowledge`: the indexes by which agents search workspaces. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { OpenKernel } from "../../server/compose.ts";
import type { KnowledgeDesk } from "../../server/knowledge/knowledge-desk.ts";
import type { IndexStatus } from "../../server/knowledge/workspace-knowledge.ts";
import {
  type KernelFlags,
  type ServingFlags,
  withKernel,
  withKernelOptions,
  withServingOptions,
} from "../start/kernel-options.ts";
import { wholeNumber } from "../terminal/inputs.ts";
import { print, printJson, say, visible } from "../terminal/output.ts";

interface KnowledgeFlags extends KernelFlags {
  readonly workspace: string;
  readonly json?: boolean;
}

interface SearchFlags extends ServingFlags {
  readonly workspace: string;
  readonly role?: string;
  readonly preset?: string;
  readonly limit?: string;
  readonly path?: string;
  readonly glob?: string;
  readonly json?: true;
}

/** Adds `handrail knowledge`. */
export function addKnowledgeCommand(program: Command): void {
  const knowledge = program
    .command("knowledge")
    .description("ask, show, make and move the indexes by which agents search workspaces")
    .addHelpText(
      "after",
      "\nExit codes: 0 success, 1 the index cannot be used, 64 wrong usage or a file that is no index." +
        "\nExamples:\n  handrail knowledge search 'how are retries bounded'\n  handrail knowledge export shop.index --workspace .",
    );
  withOptions(knowledge.command("status").description("show how far the index of a workspace is")).action(
    (flags: KnowledgeFlags) => withDesk(flags, (desk) => desk.status(flags.workspace)),
  );
  addSearch(knowledge);
  withOptions(
    knowledge
      .command("index")
      .description("bring the index of a workspace up to date, and its vectors where a model is configured"),
  ).action((flags: KnowledgeFlags) => withDesk(flags, (desk) => desk.index(flags.workspace, sayProgress)));
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

function addSearch(knowledge: Command): void {
  const command = knowledge
    .command("search <question>")
    .description("bring the index up to date, then ask it as an agent would: one call of `search_knowledge`")
    .option("--limit <count>", "most parts of the answer")
    .option("--path <directory>", "only below this directory of the workspace")
    .option("--glob <pattern>", "only files that match, such as `*.md`")
    .option("--role <role>", "role to act in (default: dev)")
    .option("--preset <name>", "reader, dev, autonomous, meao, brio or open")
    .option("--workspace <directory>", "workspace root", ".")
    .option("--json", "print the ToolResult as JSON");
  withServingOptions(command)
    .addHelpText(
      "after",
      "\nExit codes: 0 success, 1 configuration or state, 2 denied, 3 tool error, 64 wrong usage." +
        "\nExample: handrail knowledge search 'how are retries bounded' --glob '*.ts'",
    )
    .action(async (query: string, { limit, path, glob, ...flags }: SearchFlags) => {
      const most = limit === undefined ? undefined : wholeNumber(limit, "--limit");
      const given = async (kernel: OpenKernel) => {
        await failing(async () => (await kernel.knowledge()).index(flags.workspace, sayProgress));
        return {
          query,
          ...(most !== undefined && { limit: most }),
          ...(path !== undefined && { path }),
          ...(glob !== undefined && { glob }),
        };
      };
      const { makeCall } = await import("./call.ts");
      process.exitCode = await makeCall("search_knowledge", given, { agent: "cli", ...flags });
    });
}

function withOptions(command: Command): Command {
  return withKernelOptions(command)
    .option("--workspace <directory>", "workspace root", ".")
    .option("--json", "print JSON");
}

type Shown = IndexStatus & { readonly file?: string; readonly sizeBytes?: number };

/** Opens the kernel and prints what `work` found. */
function withDesk(flags: KnowledgeFlags, work: (desk: KnowledgeDesk) => Promise<Shown>): Promise<void> {
  return withKernel(flags, async (kernel) => {
    const status = await failing(async () => work(await kernel.knowledge()));
    const { state, files, chunks, filesLeft, vectors, problem, file, sizeBytes } = status;
    if (flags.json)
      return printJson({
        state,
        files,
        chunks,
        files_left: filesLeft,
        ...(vectors !== undefined && { vectors }),
        ...(problem !== undefined && { problem }),
        ...(file !== undefined && { file, size_bytes: sizeBytes }),
      });
    if (problem !== undefined) say(`no vectors for now: ${visible(problem)}`);
    if (file !== undefined) return print(`${visible(file)}: ${files} files, ${chunks} parts, ${sizeBytes} bytes`);
    print(`${state}: ${files} files, ${chunks} parts${state === "building" ? "; the first question goes on" : ""}`);
  });
}

/** What an index fails with is told in one line. */
async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolFailure) throw usageError(`${error.message}; ${error.suggestion}`, error);
    throw error;
  }
}

function sayProgress({ files, filesLeft }: IndexStatus): void {
  say(`${files} files indexed, ${filesLeft} left`);
}
