/**
 * Keeps the index of one workspace up to date and asks it.
 *
 * Files are read, and secrets taken out of them, in short steps of the kernel's thread; another thread cuts and indexes
 * them. INVARIANTS: only what changed is read again; what is gone is taken out; no text reaches the index before its
 * secrets are out of it; a process that ends at any moment leaves an index that the next one goes on with.
 */
import { createHash, createHmac } from "node:crypto";
import { rm } from "node:fs/promises";
import { join, posix } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { KIB, MIB } from "../../base/bytes.ts";
import type { OpenWorkspace } from "../../kernel/index.ts";
import type { FoundChunk, IndexCounts, IndexedFile } from "../../knowledge/knowledge-store.ts";
import { indexingRank } from "../../knowledge/priors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { KnowledgeState } from "../../model/place/knowledge.ts";
import type { Finding, Redactor } from "../../redact/redact.ts";
import { readPlace, type VisitedFile, visitFiles } from "../../sandbox/search/indexed-files.ts";
import { Embedding, type VectorMaker } from "./embedding.ts";
import { FileWatch } from "./file-watch.ts";
import type { TextOfFile } from "./knowledge-messages.ts";
import { KnowledgeThread } from "./knowledge-thread.ts";
import { MANIFEST, readManifest, writeManifest } from "./manifest.ts";

/** Bytes of a file that is indexed: larger ones are data, or made by a program. */
const FILE_BYTES_MAX = MIB;
/** Files and bytes that travel to the thread at once. */
const BATCH_FILES = 64;
const BATCH_BYTES = 512 * KIB;
/** Milliseconds of reading after which other calls have their turn. */
const STEP_MS = 4;
/** Milliseconds that a question waits for an index that is being built, and for one that is brought up to date. */
const BUILD_WAIT_MS = 1500;
const FRESH_WAIT_MS = 150;

/** What the knowledge of a workspace is made of. */
export interface WorkspaceKnowledgeParts {
  /** Where its index lies. */
  readonly directory: string;
  readonly redactor: () => Redactor | Promise<Redactor>;
  /** Keys the digest of the redactor's rules; 32 bytes. */
  readonly key: Uint8Array;
  /** Embeds, where the operator names a model. @param index names the index, which may be known elsewhere by it */
  readonly embedder?: (index: string) => VectorMaker | undefined;
  /** Says to the operator what is worth knowing. */
  readonly tell: (line: string) => void;
  readonly onInternalError: (error: unknown) => void;
  /** Milliseconds that a question waits for an index that is being built. */
  readonly buildWaitMs?: number;
}

/** How far an index is, and how much is in it. */
export interface IndexStatus extends KnowledgeState, IndexCounts {
  /** Why there are no vectors now. */
  readonly problem?: string;
}

/** The knowledge of one workspace. */
export class WorkspaceKnowledge {
  readonly #parts: WorkspaceKnowledgeParts;
  readonly #thread: KnowledgeThread;
  readonly #watch: FileWatch;
  readonly #embedding: Embedding;
  readonly #end = new AbortController();
  #place: OpenWorkspace;
  readonly #known = new Map<string, IndexedFile>();
  #isOpen = false;
  #isComplete = false;
  #left = 0;
  #version = 0;
  #refreshing: Promise<void> | undefined;

  constructor(parts: WorkspaceKnowledgeParts, place: OpenWorkspace) {
    this.#parts = parts;
    this.#place = place;
    this.#thread = new KnowledgeThread(parts.directory, () => {
      this.#isOpen = false;
      this.#isComplete = false;
      this.#known.clear();
      this.#watch.touch();
    });
    this.#watch = new FileWatch(place.workspace.serviceRoot);
    const { embedder, tell, onInternalError } = parts;
    const index = hmacHex(parts.key, place.workspace.serviceRoot);
    this.#embedding = new Embedding({
      thread: this.#thread,
      embedder: () => embedder?.(index),
      textsOf: (paths) => this.#textsOf(paths),
      withoutSecrets: async (text) => {
        const bytes = Buffer.from(text);
        const { findings } = (await parts.redactor()).redactBytes(bytes, this.#place.envSecrets?.());
        return withoutSecrets(bytes, findings);
      },
      tell,
      onInternalError,
      signal: this.#end.signal,
    });
  }

  /** The same workspace as it is open now: other rules may hide other files. */
  use(place: OpenWorkspace): void {
    if (place === this.#place) return;
    this.#place = place;
    this.#watch.touch();
  }

  /** How far the index is. */
  get state(): KnowledgeState {
    return {
      state: this.#isComplete ? "ready" : "building",
      filesIndexed: this.#known.size,
      filesLeft: this.#left,
      ...(this.#embedding.state !== undefined && { vectors: this.#embedding.state }),
    };
  }

  /**
   * The best chunks with any of `terms`, or close to what `question` means, of an index that is as new as a short wait
   * makes it.
   */
  async find(terms: readonly string[], count: number, question?: string): Promise<readonly FoundChunk[]> {
    const embedded = question === undefined ? undefined : this.#embedding.ofQuestion(question, count);
    if (this.#watch.isChanged || this.#refreshing !== undefined) {
      const refreshing = this.refresh();
      const { buildWaitMs = BUILD_WAIT_MS } = this.#parts;
      await Promise.race([refreshing, delay(this.#isComplete ? FRESH_WAIT_MS : buildWaitMs)]);
    }
    const meaning = await embedded;
    if (meaning !== undefined) void this.#embedding.run(); // goes on after a failure
    const { chunks, gone } = await this.#thread
      .ask({ kind: "find", terms, count, ...meaning })
      .catch((error: unknown) => {
        if (this.#isOpen) throw error;
        void this.refresh(); // it was damaged, and is being made anew: the answer says so
        return { chunks: [], gone: [] };
      });
    this.#embedding.takeOut(gone);
    return chunks;
  }

  /** Brings the index up to date; at once with one that is at it. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh()
      .catch((error: unknown) => {
        if (this.#end.signal.aborted) return;
        this.#watch.touch(); // the next question tries again
        if (error instanceof ToolFailure) this.#parts.tell(`the workspace's index is not up to date: ${error.message}`);
        else this.#parts.onInternalError(error);
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  /** How far the index is, and how much is in it; brings nothing up to date. */
  async status(): Promise<IndexStatus> {
    if (!this.#isOpen) await this.#open(await this.#rules());
    const { problem } = this.#embedding;
    return {
      ...this.state,
      ...(await this.#thread.ask({ kind: "counts" })),
      ...(problem !== undefined && { problem }),
    };
  }

  /** Indexes every file again. */
  async rebuild(): Promise<void> {
    await this.#anew(() => this.#thread.ask({ kind: "clear" }));
  }

  /** Brings the index up to date, and its vectors, and waits for both. @throws ToolFailure where that fails */
  async update(): Promise<void> {
    await this.#refreshing;
    await this.#refresh();
    await this.#embedding.run();
  }

  /** Writes the index into a new file, once it is up to date. */
  async exportTo(file: string): Promise<void> {
    await this.update();
    await this.#thread.ask({ kind: "export", file });
  }

  /** Puts an exported index in place of this one, then indexes the files that differ from it. */
  async importFrom(file: string): Promise<void> {
    await this.#anew(() => this.#thread.ask({ kind: "import", file }));
  }

  async #anew(change: () => Promise<unknown>): Promise<void> {
    await this.#refreshing;
    if (!this.#isOpen) await this.#open(await this.#rules());
    // Without a manifest the index is being built, should this process end.
    await rm(join(this.#parts.directory, MANIFEST), { force: true });
    this.#isComplete = false;
    await change();
    await this.#load();
    await this.#refresh();
  }

  async #rules(): Promise<string> {
    return (await this.#parts.redactor()).digest(this.#parts.key);
  }

  async #load(): Promise<boolean> {
    const { files, rebuilt } = await this.#thread.ask({ kind: "files" });
    this.#version = await this.#thread.ask({ kind: "version" });
    this.#known.clear();
    for (const file of files) this.#known.set(file.path, file);
    return rebuilt;
  }

  /** Ends what runs, and closes the index. */
  async close(): Promise<void> {
    this.#end.abort();
    this.#watch.close();
    await this.#refreshing;
    await this.#embedding.ended;
    await this.#thread.close();
  }

  async #refresh(): Promise<void> {
    const place = this.#place;
    const { key } = this.#parts;
    const redactor = await this.#parts.redactor();
    const rules = redactor.digest(key);
    if (!this.#isOpen) await this.#open(rules);
    else if ((await this.#thread.ask({ kind: "version" })) !== this.#version) await this.#load(); // another kernel wrote
    this.#watch.begin();
    const files = await visitFiles({ ...place, signal: this.#end.signal });
    // A name that holds a secret would tell it in the manifest.
    const isPlain = (path: string) => redactor.shownPath(path) === path;
    const usable = files.filter(
      ({ place: { path }, sizeBytes }) => sizeBytes > 0 && sizeBytes <= FILE_BYTES_MAX && isPlain(path),
    );
    this.#watch.follow(new Set(["", ...files.flatMap(({ place: { path } }) => directoriesOf(path))]));
    await this.#removeGone(new Set(usable.map(({ place: { path } }) => path)));
    const changed = usable.filter((file) => this.#isChanged(file));
    this.#left = changed.length;
    changed.sort((left, right) => indexingRank(left.place.path) - indexingRank(right.place.path));
    await this.#indexAll(changed, redactor);
    if (!this.#isComplete || changed.length > 0)
      await writeManifest(this.#parts.directory, rules, this.#known.values());
    this.#isComplete = true;
    void this.#embedding.run();
  }

  async #open(rules: string): Promise<void> {
    const { directory, tell } = this.#parts;
    const manifest = await readManifest(directory, rules);
    if (manifest === "unusable") {
      tell("the workspace's index is made anew: its manifest is damaged or was made under other rules");
      await rm(directory, { recursive: true, force: true });
    }
    const rebuilt = await this.#load();
    if (rebuilt) tell("the workspace's index was damaged and is made anew");
    this.#isComplete = manifest === "complete" && !rebuilt;
    this.#isOpen = true;
  }

  #isChanged({ place, sizeBytes, changedMs }: VisitedFile): boolean {
    const known = this.#known.get(place.path);
    return known === undefined || known.sizeBytes !== sizeBytes || known.changedMs !== Math.trunc(changedMs);
  }

  async #removeGone(present: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#known.keys()].filter((path) => !present.has(path));
    if (gone.length === 0) return;
    await this.#thread.ask({ kind: "remove", paths: gone });
    for (const path of gone) this.#forget(path);
  }

  #forget(path: string): void {
    const known = this.#known.get(path);
    if (known === undefined) return;
    this.#known.delete(path);
    this.#embedding.forget([known]);
  }

  async #indexAll(files: readonly VisitedFile[], redactor: Redactor): Promise<void> {
    let batch: TextOfFile[] = [];
    let bytes = 0;
    let sent: Promise<unknown> = Promise.resolve();
    const send = async () => {
      const full = batch;
      batch = [];
      bytes = 0;
      await sent; // one batch is being indexed while the next one is read
      sent = this.#thread.ask({ kind: "put", files: full }).then(() => {
        for (const { text: _, ...file } of full) {
          this.#forget(file.path);
          this.#known.set(file.path, file);
        }
      });
      sent.catch(() => undefined); // thrown where it is awaited
    };
    let turnMs = performance.now();
    for (const file of files) {
      const read = this.#read(file, redactor);
      this.#left -= 1;
      if (read !== undefined) {
        batch.push(read);
        bytes += read.text.length;
      }
      if (batch.length >= BATCH_FILES || bytes >= BATCH_BYTES) await send();
      if (performance.now() - turnMs < STEP_MS) continue;
      await nextTurn();
      this.#end.signal.throwIfAborted();
      turnMs = performance.now();
    }
    if (batch.length > 0) await send();
    await sent;
  }

  /** The texts of files that are indexed as they are now, without their secrets. */
  async #textsOf(paths: readonly string[]): Promise<readonly TextOfFile[]> {
    const redactor = await this.#parts.redactor();
    return paths.flatMap((path) => {
      const known = this.#known.get(path);
      const bytes = readPlace(this.#place.roots, { root: "service", path });
      if (known === undefined || typeof bytes === "string" || sha256Hex(bytes) !== known.sha256) return [];
      const { findings } = redactor.redactBytes(bytes, this.#place.envSecrets?.());
      return [{ ...known, text: withoutSecrets(bytes, findings) }];
    });
  }

  /** The text of a file without its secrets; `undefined` where there is nothing new to index. */
  #read({ place, sizeBytes, changedMs }: VisitedFile, redactor: Redactor): TextOfFile | undefined {
    const bytes = readPlace(this.#place.roots, place);
    if (typeof bytes === "string") return undefined;
    const file = { path: place.path, sizeBytes, changedMs: Math.trunc(changedMs), sha256: sha256Hex(bytes) };
    if (this.#known.get(place.path)?.sha256 === file.sha256) {
      this.#known.set(place.path, file);
      return undefined;
    }
    const { findings } = redactor.redactBytes(bytes, this.#place.envSecrets?.());
    return { ...file, text: withoutSecrets(bytes, findings) };
  }
}

/** The text with nothing of a secret but the line ends in it: what follows stays in its line. */
function withoutSecrets(bytes: Buffer, findings: readonly Finding[]): string {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end } of findings) {
    const lines = bytes.subarray(start, end).filter((byte) => byte === LINE_END);
    pieces.push(bytes.subarray(at, start), Buffer.from(lines));
    at = end;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]).toString("utf8");
}

const LINE_END = 0x0a;

function hmacHex(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** All directories in which the file at `path` lies, but for the root. */
function directoriesOf(path: string): readonly string[] {
  const directories: string[] = [];
  for (let each = posix.dirname(path); each !== "."; each = posix.dirname(each)) directories.push(each);
  return directories;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
