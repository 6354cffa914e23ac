/**
 * The thread that keeps the index of one workspace: cuts files into chunks, writes and asks the index.
 *
 * It gets text without secrets and opens no file of the workspace. INVARIANT: requests are answered in order, each
 * once; but a question need not wait for files that are being cut.
 */
import { rm } from "node:fs/promises";
import { parentPort, workerData } from "node:worker_threads";
import { assert, KernelError } from "../../base/errors.ts";
import { fused } from "../../knowledge/fusion.ts";
import { indexChunks } from "../../knowledge/index-chunks.ts";
import type { IndexCounts, KnowledgeStore } from "../../knowledge/knowledge-store.ts";
import { fileKey } from "../../knowledge/vector-store.ts";
import type { OutlineNode } from "../../sandbox/matching/outline-messages.ts";
import { Outliner } from "../../sandbox/matching/outline-process.ts";
import { openKnowledgeStore } from "../../stores/embedded/knowledge/knowledge-store.ts";
import type {
  KnowledgeAnswers,
  KnowledgeRequest,
  KnowledgeWorkerData,
  NumberedAnswer,
  NumberedRequest,
  Passage,
  TextOfFile,
} from "./knowledge-messages.ts";

const port = parentPort;
assert(port, "the knowledge thread runs as a worker");
const { directory } = workerData as KnowledgeWorkerData;

/** Characters of a chunk that are embedded: models read little more. */
const PASSAGE_CHARACTERS_MAX = 6000;

let isRebuilt = false;
let opening = open();
opening.catch(() => undefined); // said to whoever asks

// One after the other: each may change what the next one finds.
let last: Promise<unknown> = Promise.resolve();

const outliner = new Outliner();
let outlining: Promise<unknown> = Promise.resolve();

port.on("message", ({ id, request }: NumberedRequest) => {
  if (request.kind !== "put") return answer(id, () => answerTo(request));
  // Questions do not wait while another program reads the syntax of files.
  outlining = outlining
    .then(() => outliner.outlines(request.files))
    .catch((): readonly undefined[] => []) // then they are cut without it
    .then((outlines) => answer(id, () => put(request.files, outlines)));
});

async function put(files: readonly TextOfFile[], outlines: readonly (OutlineNode | undefined)[]): Promise<IndexCounts> {
  const store = await opening;
  store.put(files.map(({ text, ...file }, at) => ({ ...file, chunks: indexChunks(file.path, text, outlines[at]) })));
  return store.counts();
}

function answer(id: number, work: () => Promise<KnowledgeAnswers[KnowledgeRequest["kind"]]>): void {
  last = last
    .then(async (): Promise<NumberedAnswer> => ({ id, answer: await work() }))
    .catch(async (error: unknown): Promise<NumberedAnswer> => {
      const isRemade = await remade(error);
      const isUsage = error instanceof KernelError && error.code === "USAGE";
      return { id, problem: error instanceof Error ? error.message : String(error), isUsage, isRemade };
    })
    .then((message) => port?.postMessage(message));
}

function found(
  store: KnowledgeStore,
  { terms, count, vector, close }: Extract<KnowledgeRequest, { readonly kind: "find" }>,
): KnowledgeAnswers["find"] {
  const byWords = store.find(terms, count);
  if (close !== undefined) {
    const located = store.located(close);
    const gone = close.filter((_, index) => located[index] === undefined);
    return {
      chunks: fused(
        byWords,
        located.filter((chunk) => chunk !== undefined),
        count,
      ),
      gone,
    };
  }
  return { chunks: vector === undefined ? byWords : fused(byWords, store.findClose(vector, count), count), gone: [] };
}

/** What is embedded of a file: each chunk below the name of the file and its title. */
function passagesOf(store: KnowledgeStore, file: TextOfFile): readonly Passage[] {
  const lines = file.text.split("\n");
  const key = fileKey(file);
  return store.bareChunks(file).map(({ chunk, firstLine, lastLine, title }) => {
    const text = lines.slice(firstLine - 1, lastLine).join("\n");
    return {
      chunk,
      sha256: file.sha256,
      firstLine,
      file: key,
      text: `${file.path}\n${title}\n${text}`.slice(0, PASSAGE_CHARACTERS_MAX),
    };
  });
}

type Answered = Exclude<KnowledgeRequest, { readonly kind: "put" }>;

/** Opens the index; one that is damaged is made anew, because everything in it can be read again. */
async function open(): Promise<KnowledgeStore> {
  try {
    return await openKnowledgeStore(directory);
  } catch (error) {
    if (!(error instanceof KernelError) || error.code !== "STORE_CORRUPT") throw error;
    isRebuilt = true;
    await rm(directory, { recursive: true, force: true });
    return openKnowledgeStore(directory);
  }
}

/** Makes the index anew where `error` says that it is damaged: some damage shows only where it is read. */
async function remade(error: unknown): Promise<boolean> {
  if (!(error instanceof KernelError) || error.code !== "STORE_CORRUPT") return false;
  const damaged = opening;
  opening = damaged
    .then((store) => store.close())
    .catch(() => undefined) // it is damaged: what matters is that nobody uses it any more
    .then(() => rm(directory, { recursive: true, force: true }))
    .then(open);
  const isOpen = await opening.then(
    () => true,
    () => false, // said to whoever asks next
  );
  isRebuilt ||= isOpen;
  return isOpen;
}

async function answerTo(request: Answered): Promise<KnowledgeAnswers[KnowledgeRequest["kind"]]> {
  const store = await opening;
  switch (request.kind) {
    case "files": {
      const answered = { files: store.files(), rebuilt: isRebuilt };
      isRebuilt = false;
      return answered;
    }
    case "version":
      return store.version();
    case "remove":
      store.remove(request.paths);
      return store.counts();
    case "clear":
      store.clear();
      return store.counts();
    case "find":
      return found(store, request);
    case "unembedded":
      return store.unembedded(request.model);
    case "passages":
      return request.files.flatMap((file) => passagesOf(store, file));
    case "embed":
      store.embed(request.model, request.vectors);
      return undefined;
    case "counts":
      return store.counts();
    case "export":
      await store.exportTo(request.file);
      return store.counts();
    case "import":
      await store.importFrom(request.file);
      return store.counts();
    case "close":
      outliner.close();
      await store.close();
      return undefined;
  }
}
