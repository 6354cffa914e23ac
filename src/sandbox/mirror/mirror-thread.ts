/**
 * Passes changes on in a thread of its own, one for the process.
 *
 * A command decides how long its view keeps that thread waiting. INVARIANT: the kernel's own thread never waits for it;
 * what was passed on to a view whose thread was lost is not known, so that nothing of its command lands.
 */
import { Worker } from "node:worker_threads";
import { KernelError } from "../../base/errors.ts";
import { ownProgram } from "../../names/own-program.ts";
import type { MirrorReply, MirrorRequest } from "./messages.ts";
import type { Note } from "./note.ts";
import type { MirrorPlace } from "./view-mirror.ts";

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, PromiseWithResolvers<MirrorReply>>;
}

type Asked = { readonly kind: "show"; readonly path: string } | { readonly kind: "close" };

let running: Thread | undefined;
let nextId = 1;

/** The mirror of one view, as the kernel's thread knows it. */
export class MirrorHandle {
  readonly #thread = current();
  readonly #id = nextId++;

  /** @param place its descriptors are the thread's from now on */
  constructor(place: MirrorPlace) {
    this.#thread.worker.postMessage({ kind: "open", mirror: this.#id, place } satisfies MirrorRequest);
  }

  /** Resolves when the path was shown, however long that takes. @throws KernelError INTERNAL */
  async show(path: string): Promise<void> {
    await this.#ask({ kind: "show", path });
  }

  /** Ends it, after all that was asked before. @returns what was passed on @throws KernelError INTERNAL */
  async close(): Promise<ReadonlyMap<string, Note>> {
    const { notes } = await this.#ask({ kind: "close" });
    if (notes === undefined) throw new KernelError("INTERNAL", "a mirror was closed without its notes");
    return notes;
  }

  async #ask(asked: Asked): Promise<MirrorReply> {
    const { worker, waiting } = this.#thread;
    if (running !== this.#thread) throw lost();
    const id = nextId++;
    const answer = Promise.withResolvers<MirrorReply>();
    waiting.set(id, answer);
    worker.ref();
    worker.postMessage({ ...asked, mirror: this.#id, id } satisfies MirrorRequest);
    const reply = await answer.promise;
    if (reply.problem !== undefined) throw new KernelError("INTERNAL", reply.problem);
    return reply;
  }
}

function current(): Thread {
  running ??= start();
  return running;
}

function start(): Thread {
  const worker = new Worker(ownProgram(import.meta.url, "./mirror-worker.ts"), { trackUnmanagedFds: false });
  const thread: Thread = { worker, waiting: new Map() };
  worker.unref();
  worker.on("message", (reply: MirrorReply) => {
    const answer = thread.waiting.get(reply.id);
    thread.waiting.delete(reply.id);
    if (thread.waiting.size === 0) worker.unref();
    answer?.resolve(reply);
  });
  const onLost = () => {
    if (running === thread) running = undefined;
    for (const answer of thread.waiting.values()) answer.reject(lost());
    thread.waiting.clear();
  };
  worker.on("error", onLost); // `exit` follows
  worker.on("exit", onLost);
  return thread;
}

function lost(): KernelError {
  return new KernelError("INTERNAL", "the thread that passes changes on to commands was lost");
}
