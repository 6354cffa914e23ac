/** `handrail cas`: stored content as the operator sees it. */

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { type KernelError, usageError } from "../../base/errors.ts";
import { CONTENT_BLOCK_BYTES } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { OpenKernel } from "../../server/compose.ts";
import type { ListedContent } from "../../server/ledger/content-verification.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_FAILURE, EXIT_OK } from "../terminal/exit-codes.ts";
import { letReaderGo } from "../terminal/gone-reader.ts";
import { currentUser, parseDuration } from "../terminal/inputs.ts";
import { print, printJson, say, table, visible } from "../terminal/output.ts";

/**
 * Milliseconds for which unreferenced content stays after it was stored: whoever stored it has that long to publish it.
 */
const CONTENT_GRACE_MS = 24 * 3_600_000;

interface CasFlags extends KernelFlags {
  readonly json?: boolean;
}

interface PutFlags extends CasFlags {
  readonly workspace: string;
  readonly user?: string;
}

interface GetFlags extends CasFlags {
  readonly output?: string;
}

interface GcFlags extends CasFlags {
  readonly dryRun?: boolean;
  readonly grace: string;
}

interface VerifyFlags extends CasFlags {
  readonly repair?: boolean;
}

/** Adds `handrail cas`. */
export function addCasCommand(program: Command): void {
  const cas = program
    .command("cas")
    .description("store, fetch, list, collect and verify content (uploads, artifacts, large results)")
    .addHelpText(
      "after",
      "\nExit codes: 0 success, 1 damaged content, 64 wrong usage or content that is not there.\nExample: handrail cas put report.xml --workspace .",
    );
  withJson(cas.command("put <file>").description("store a file, or standard input (-), and print its hash"))
    .option("--workspace <directory>", "workspace whose sessions may fetch it", ".")
    .option("--user <name>", "user whose sessions may fetch it (default: the one who runs this)")
    .action((file: string, flags: PutFlags) => put(file, flags));
  withJson(
    cas.command("get <hash>").description("write stored content to standard output; every byte is verified first"),
  )
    .option("-o, --output <file>", "write it to this file, which appears only when all of it was verified")
    .action(async (hash: string, flags: GetFlags) => get(hash, flags));
  withJson(cas.command("ls").description("list what is stored, with what refers to it")).action((flags: CasFlags) =>
    list(flags),
  );
  withJson(cas.command("gc").description("remove content that neither an artifact nor the ledger refers to"))
    .option("--grace <duration>", "leave what was stored more recently", "24h")
    .option("--dry-run", "count only")
    .action((flags: GcFlags) => collect(flags));
  withJson(
    cas.command("verify").description("hash everything again and compare it with rows and ledger; exit 1 on damage"),
  )
    .option("--repair", "make the references those that the ledger has")
    .action(async (flags: VerifyFlags) => {
      process.exitCode = await verify(flags);
    });
}

function withJson(command: Command): Command {
  return withKernelOptions(command).option("--json", "print JSON");
}

/** Opens the kernel; what stored content fails with is told in one line. */
function withContent<T>(flags: CasFlags, work: (kernel: OpenKernel) => Promise<T>): Promise<T> {
  return withKernel(flags, async (kernel) => {
    try {
      return await work(kernel);
    } catch (error) {
      if (error instanceof ToolFailure) throw usageError(`${error.message}; ${error.suggestion}`, error);
      throw error;
    }
  });
}

function put(file: string, flags: PutFlags): Promise<void> {
  return withContent(flags, async ({ content }) => {
    const source = file === "-" ? process.stdin : await opened(file);
    const { hash, sizeBytes } = await content.put(
      source,
      { userId: flags.user ?? currentUser(), workspace: flags.workspace },
      new AbortController().signal,
    );
    if (flags.json) printJson({ content_hash: hash, size_bytes: sizeBytes });
    else print(hash);
  });
}

async function opened(file: string): Promise<AsyncIterable<Uint8Array>> {
  try {
    // A FIFO without a writer would keep `open` waiting for ever.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle.createReadStream({ highWaterMark: CONTENT_BLOCK_BYTES });
    await handle.close();
  } catch (error) {
    throw unreadable(file, error);
  }
  throw unreadable(file, undefined);
}

function unreadable(file: string, cause: unknown): KernelError {
  return usageError(`\`${visible(file)}\` is no file that can be read; name a file, or - for standard input`, cause);
}

function get(hash: string, flags: GetFlags): Promise<void> {
  return withContent(flags, async ({ content }) => {
    const { sizeBytes, chunks } = await content.get(hash.toLowerCase(), flags.output === undefined ? "own" : "lent");
    if (flags.output === undefined) await pipeline(chunks, process.stdout, { end: false }).catch(letReaderGo);
    else await writeWhole(resolve(flags.output), chunks);
    if (flags.json && flags.output !== undefined)
      printJson({ content_hash: hash.toLowerCase(), size_bytes: sizeBytes, output: flags.output });
  });
}

/** A file that appears under its name when all of it is there. */
async function writeWhole(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString("hex")}.part`;
  try {
    const file = await open(unfinished, "wx");
    try {
      for await (const chunk of chunks) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    if (error instanceof Error && "syscall" in error)
      throw usageError(`\`${visible(path)}\` cannot be written; choose another --output`, error);
    throw error;
  }
}

async function list(flags: CasFlags): Promise<void> {
  const { listContent } = await import("../../server/ledger/content-verification.ts");
  const rows = [["hash", "bytes", "stored", "state", "owners", "artifacts", "ledger"]];
  for await (const content of listContent(stateDirectoryOf(flags))) {
    if (flags.json) printJson(plain(content));
    else rows.push(rowOf(content));
  }
  if (!flags.json) print(table(rows));
}

function plain(content: ListedContent): object {
  const { hash, sizeBytes, createdAtMs, state, owners, artifacts, references } = content;
  const stored_at = new Date(createdAtMs).toISOString();
  return {
    content_hash: hash,
    size_bytes: sizeBytes,
    stored_at,
    state,
    owners,
    artifacts,
    ledger_references: references,
  };
}

function rowOf({ hash, sizeBytes, createdAtMs, state, owners, artifacts, references }: ListedContent): string[] {
  const counts = [owners, artifacts, references].map(String);
  return [hash, String(sizeBytes), new Date(createdAtMs).toISOString(), state, ...counts];
}

function collect(flags: GcFlags): Promise<void> {
  const graceMs = parseDuration(flags.grace);
  return withContent(flags, async ({ content, undo }) => {
    const report = await content.collect(graceMs, flags.dryRun === true);
    if (flags.dryRun !== true) await undo.sweep(); // what can no longer be brought back
    if (flags.json) return printJson({ ...report, dryRun: flags.dryRun === true });
    const { objects, bytes, strayFiles, temporaryFiles } = report;
    const verb = flags.dryRun ? "would remove" : "removed";
    print(
      `${verb} ${objects} objects (${bytes} bytes), ${strayFiles} stray files, ${temporaryFiles} unfinished uploads`,
    );
  });
}

async function verify(flags: VerifyFlags): Promise<number> {
  if (flags.repair) {
    const rebuilt = await withContent(flags, ({ content }) => content.rebuildReferences(CONTENT_GRACE_MS));
    if (!flags.json) print(`references: ${rebuilt.added} added, ${rebuilt.removed} removed`);
  }
  const { verifyContent } = await import("../../server/ledger/content-verification.ts");
  const quiet = flags.json === true || !process.stderr.isTTY;
  const report = await verifyContent(
    stateDirectoryOf(flags),
    quiet
      ? undefined
      : ({ objects, bytes }) => void process.stderr.write(`\rverified ${objects} objects, ${bytes} bytes`),
  );
  if (!quiet) say("");
  const problems = report.problems.length + report.problemsOmitted;
  const damage = report.ok ? undefined : `the content is damaged: ${problems} problems in ${report.objects} objects`;
  if (flags.json) printJson(report, damage === undefined ? undefined : { code: "CHECK_FAILED", message: damage });
  else {
    for (const { hash, problem } of report.problems) print(`${hash}: ${visible(problem)}`);
    if (report.problemsOmitted > 0) print(`and ${report.problemsOmitted} more`);
    print(
      damage ??
        `the content is intact: ${report.objects} objects, ${report.bytes} bytes, ${report.ledgerResults} results of the ledger`,
    );
  }
  return report.ok ? EXIT_OK : EXIT_FAILURE;
}
