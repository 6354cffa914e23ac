/**
 * The thread that keeps the index of one workspace: cuts files into chunks, writes and asks the index.
 *
 * It gets text without secrets and opens no file of the workspace. INVARIANT: requests are answered in order, each
 * once.
 */
import { rm } from "node:fs/promises";
import { parentPort, workerData } from "node:worker_threads";
import { assert, KernelError } from "../../base/errors.ts";
import { indexChunks } from "../../knowledge/index-chunks.ts";
import type { KnowledgeStore } from "../../knowledge/knowledge-store.ts";
import { openKnowledgeStore } from "../../stores/embedded/knowledge/knowledge-store.ts";
import type {
  KnowledgeAnswers,
  KnowledgeRequest,
  KnowledgeWorkerData,
  NumberedAnswer,
  NumberedRequest,
  TextOfFile,
} from "./knowledge-messages.ts";

const port = parentPort;
assert(port, "the knowledge thread runs as a worker");
const { directory } = workerData as KnowledgeWorkerData;

let isRebuilt = false;
const opening = open();
opening.catch(() => undefined); // said to whoever asks

// One after the other: each may change what the next one finds.
let last: Promise<unknown> = Promise.resolve();

port.on("message", ({ id, request }: NumberedRequest) => {
  last = last
    .then(async (): Promise<NumberedAnswer> => ({ id, answer: await answerTo(request) }))
    .catch(
      (error: unknown): NumberedAnswer => ({ id, problem: error instanceof Error ? error.message : String(error) }),
    )
    .then((answer) => port.postMessage(answer));
});

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

async function answerTo(request: KnowledgeRequest): Promise<KnowledgeAnswers[KnowledgeRequest["kind"]]> {
  const store = await opening;
  switch (request.kind) {
    case "files":
      return { files: store.files(), rebuilt: isRebuilt };
    case "put":
      store.put(request.files.map(withChunks));
      return store.counts();
    case "remove":
      store.remove(request.paths);
      return store.counts();
    case "find":
      return store.find(request.terms, request.count);
    case "close":
      await store.close();
      return undefined;
  }
}

function withChunks({ text, ...file }: TextOfFile) {
  return { ...file, chunks: indexChunks(file.path, text, undefined) };
}
