/**
 * Exports the documents that the ledger names into a directory of their own, beside running kernels.
 *
 * The same ledger gives the same bytes. A document comes with those that it names, also where these are older than what
 * was asked for. INVARIANT: the directory appears with all of them, or not at all; nothing that stands there is
 * replaced, and no link is followed.
 */
import { randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode, KernelError, storeCorrupt, usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ContentInventory } from "../../cas/content-store.ts";
import { openContentInventory } from "../../stores/embedded/content/content-inventory.ts";
import { entriesThatName } from "../ledger/content-verification.ts";
import { withLedgerReader } from "../ledger/ledger-reader.ts";
import {
  ARTIFACT_BYTES_MAX,
  ARTIFACT_KINDS,
  ARTIFACTS_MAX,
  type ArtifactKind,
  FOLDER_OF,
  type LaidOut,
  laidOut,
  MANIFEST,
  manifestOf,
  NAMES,
  type Naming,
  pathOf,
  readDocument,
  referenceOf,
  schemaOf,
} from "./artifact-layout.ts";
import { TOOLS_FOLDER, toolDocuments } from "./tool-documents.ts";

/** Which documents are wanted, and where. */
export interface ExportWish {
  readonly stateDirectory: string;
  readonly directory: string;
  readonly naming: Naming;
  /** Of this session alone. */
  readonly sessionId?: string;
  /** The operator's directory, whose tool specs and policy are wanted as well. */
  readonly toolsOf?: string;
  /** Recorded since then, in milliseconds since the Unix epoch. */
  readonly sinceMs?: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (documents: number) => void;
}

/** What was exported. */
export interface ExportReport {
  readonly directory: string;
  readonly naming: Naming;
  readonly documents: Readonly<Record<ArtifactKind, number>>;
  readonly bytes: number;
  /** Of all paths and hashes. */
  readonly digest: string;
}

/**
 * Exports documents.
 * @throws KernelError USAGE for a directory that cannot be used, STORE_CORRUPT for a document that is lost or altered
 */
export async function exportArtifacts(wish: ExportWish): Promise<ExportReport> {
  const directory = resolve(wish.directory);
  await requireFree(directory);
  const unfinished = `${directory}.${randomBytes(6).toString("hex")}.part`;
  await madeAt(unfinished);
  try {
    const report = await fill(wish, unfinished);
    await appear(unfinished, directory);
    return { ...report, directory };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** What entries of the ledger name, by kind, in their order. */
type Wanted = Readonly<Record<ArtifactKind, Map<string, NamedBy>>>;

/** Which entry names a document, and whether it must be there. */
interface NamedBy {
  readonly sequence: number;
  /** Names a document that need not have been kept. */
  readonly isOptional?: true;
}

async function fill(wish: ExportWish, root: string): Promise<Omit<ExportReport, "directory">> {
  const { stateDirectory, naming } = wish;
  const wanted = await namedDocuments(wish);
  const inventory = await openContentInventory(stateDirectory);
  try {
    const exporting = new Exporting(wish, { root, inventory });
    await exporting.complete(wanted);
    for (const folder of Object.values(FOLDER_OF)) await mkdir(join(root, folder), { recursive: true, mode: 0o700 });
    for (const kind of ARTIFACT_KINDS) await exporting.write(kind, wanted[kind]);
    await exporting.writeTools();
    const manifest = manifestOf(naming, exporting.files, exporting.counts);
    await writeNew(join(root, MANIFEST), laidOut(manifest).text);
    const { counts: documents, bytes } = exporting;
    return { naming, documents, bytes, digest: String(manifest["digest"]) };
  } finally {
    await inventory?.close();
  }
}

/** The kinds of the documents that an event names, by member. */
const NAMED: Readonly<Record<string, Readonly<Record<string, ArtifactKind>>>> = {
  tool_call_written: { input: "tool_inputs", call: "tool_calls" },
  tool_output_written: { call: "tool_calls", output: "tool_outputs" },
  approval_requested: { document: "approvals" },
  tool_approval_decided: { document: "decisions" },
  provider_output_read: { document: "outputs" },
};

function namedDocuments({ stateDirectory, sessionId, sinceMs, signal }: ExportWish): Promise<Wanted> {
  return withLedgerReader(stateDirectory, async (ledger) => {
    const wanted = nothing<Map<string, NamedBy>>(() => new Map());
    for await (const { record, payload } of entriesThatName(ledger)) {
      signal.throwIfAborted();
      const { eventType, sequence, sessionId: by, timeMicros } = record.entry;
      if (sessionId !== undefined && by !== sessionId) continue;
      if (sinceMs !== undefined && timeMicros < sinceMs * 1000) continue;
      for (const [member, kind] of Object.entries(NAMED[eventType] ?? {})) {
        const hash = referenceOf(payload[member])?.hash;
        if (hash !== undefined) want(wanted[kind], hash, { sequence });
        requireFew(wanted);
      }
    }
    return wanted;
  });
}

function want(documents: Map<string, NamedBy>, hash: string, by: NamedBy): void {
  const known = documents.get(hash);
  if (known === undefined || (known.isOptional === true && by.isOptional !== true)) documents.set(hash, by);
}

function requireFew(wanted: Wanted): void {
  let count = 0;
  for (const of of ARTIFACT_KINDS) count += wanted[of].size;
  if (count <= ARTIFACTS_MAX) return;
  throw usageError(`more than ${ARTIFACTS_MAX} documents are wanted; name fewer, with --session or --since`);
}

/** Writes the documents of one export, and knows which became which. */
class Exporting {
  readonly #wish: ExportWish;
  readonly #root: string;
  readonly #inventory: ContentInventory | undefined;
  /** Hashes as they are exported, by those under which they are stored. */
  readonly #became = new Map<string, string>();
  /** The hash of each file, by its path. */
  readonly files = new Map<string, string>();
  readonly counts = nothing<number>(() => 0);
  bytes = 0;

  constructor(
    wish: ExportWish,
    { root, inventory }: { readonly root: string; readonly inventory: ContentInventory | undefined },
  ) {
    this.#wish = wish;
    this.#root = root;
    this.#inventory = inventory;
  }

  /** Adds the documents that others name, last kinds first: what names comes after what it names. */
  async complete(wanted: Wanted): Promise<void> {
    for (const kind of [...ARTIFACT_KINDS].reverse()) {
      const names = Object.entries(NAMES[kind] ?? {});
      if (names.length === 0) continue;
      for (const [hash, by] of wanted[kind]) {
        const value = await this.#read(hash, by);
        for (const [member, named] of names) {
          const reference = referenceOf(value?.[member])?.hash;
          const isOptional = kind === "tool_calls" && member !== "tool_input";
          if (reference !== undefined)
            want(wanted[named], reference, { sequence: by.sequence, ...(isOptional && { isOptional: true }) });
        }
        requireFew(wanted);
      }
    }
  }

  /** Writes all documents of a kind. */
  async write(kind: ArtifactKind, documents: ReadonlyMap<string, NamedBy>): Promise<void> {
    for (const [hash, by] of documents) {
      const value = await this.#read(hash, by);
      if (value === undefined) continue;
      const document = this.#translated(kind, value);
      this.#became.set(hash, document.hash);
      const path = pathOf(kind, document);
      if (!this.files.has(path)) {
        this.counts[kind] += 1;
        this.bytes += Buffer.byteLength(document.text);
        await writeNew(join(this.#root, path), document.text);
      } else if (kind === "decisions") {
        await rm(join(this.#root, path)); // the last one is the one that stands
        await writeNew(join(this.#root, path), document.text);
      }
      this.files.set(path, document.hash);
      this.#wish.onProgress?.(this.files.size);
    }
  }

  /** Writes the operator's tool specs and policy, where they are wanted. */
  async writeTools(): Promise<void> {
    const { toolsOf, naming } = this.#wish;
    if (toolsOf === undefined) return;
    await mkdir(join(this.#root, TOOLS_FOLDER), { mode: 0o700 });
    for (const { name, value } of await toolDocuments(toolsOf, naming)) {
      const { text, hash } = laidOut(value);
      await writeNew(join(this.#root, TOOLS_FOLDER, name), text);
      this.files.set(`${TOOLS_FOLDER}/${name}`, hash);
    }
  }

  /** The document with the identifiers that are wanted, naming others as they are exported. */
  #translated(kind: ArtifactKind, value: JsonObject): LaidOut {
    const changed: Record<string, JsonObject[string]> = { ...value, schema: schemaOf(kind, this.#wish.naming) };
    for (const member of Object.keys(NAMES[kind] ?? {})) {
      const reference = referenceOf(value[member]);
      const now = reference && this.#became.get(reference.hash);
      if (reference !== undefined && now !== undefined) changed[member] = `${reference.prefix}${now}`;
    }
    return laidOut(changed);
  }

  async #read(hash: string, { sequence, isOptional }: NamedBy): Promise<JsonObject | undefined> {
    this.#wish.signal.throwIfAborted();
    const bytes = await this.#inventory?.bytesOf(hash, ARTIFACT_BYTES_MAX);
    if (bytes === undefined) {
      if (isOptional) return undefined;
      throw lost(hash, sequence);
    }
    const value = readDocument(Buffer.from(bytes).toString("utf8"));
    if (typeof value === "string") throw lost(hash, sequence);
    return value;
  }
}

function lost(hash: string, sequence: number): KernelError {
  return storeCorrupt(
    `the document \`${hash}\`, which entry ${sequence} of the ledger names, is lost or altered, and nothing was exported; \`handrail cas verify\` says what is damaged`,
  );
}

function nothing<T>(of: () => T): Record<ArtifactKind, T> {
  return { outputs: of(), tool_inputs: of(), tool_calls: of(), tool_outputs: of(), approvals: of(), decisions: of() };
}

async function requireFree(directory: string): Promise<void> {
  const about = await lstat(directory).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw unusable(directory, error);
  });
  if (about === undefined) return;
  if (!about.isDirectory()) throw unusable(directory);
  const entries = await readdir(directory).catch((error: unknown) => Promise.reject(unusable(directory, error)));
  if (entries.length > 0) throw unusable(directory);
}

async function madeAt(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    throw usageError(
      `\`${dirname(path)}\` is no directory that can be written (${errorCode(error)}); name a directory in one that is there`,
      error,
    );
  });
}

/** Gives the finished directory its name; a file, a link or a directory with something in it stays what it is. */
async function appear(unfinished: string, directory: string): Promise<void> {
  await rename(unfinished, directory).catch((error: unknown) => {
    throw unusable(directory, error);
  });
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === "unknown") throw error;
    throw new KernelError(
      "STORE_UNAVAILABLE",
      `\`${basename(path)}\` cannot be written (${errorCode(error)}), and nothing was exported; check the disk`,
      error,
    );
  }
}

function unusable(directory: string, cause?: unknown): KernelError {
  return usageError(
    `\`${basename(directory)}\` is there and is no empty directory; name a directory that is not there yet`,
    cause,
  );
}
