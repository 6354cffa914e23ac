/**
 * Passes changes on to one view in a thread of its own, which begins with the first of them.
 *
 * A command decides how long its view keeps that thread waiting. INVARIANTS: neither the kernel's own thread nor
 * another view waits for it; where the thread was lost, what was passed on is not known, and nothing of the command
 * lands.
 */
import { closeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { KernelError } from "../../base/errors.ts";
import { ownProgram } from "../../names/own-program.ts";
import type { MirrorReply, MirrorRequest } from "./messages.ts";
import type { Note } from "./note.ts";
import type { MirrorPlace } from "./view-mirror.ts";

type Asked = { readonly kind: "show"; readonly path: string } | { readonly kind: "end" };

/** The mirror of one view, as the kernel's thread knows it. */
export class MirrorThread {
  readonly #place: MirrorPlace;
  readonly #waiting = new Map<number, PromiseWithResolvers<MirrorReply>>();
  #worker: Worker | undefined;
  #isLost = false;
  #nextId = 1;

  /** @param place its descriptors are closed with the mirror */
  constructor(place: MirrorPlace) {
    this.#place = place;
  }

  /** Resolves when the path was shown, however long that takes. @throws KernelError INTERNAL */
  async show(path: string): Promise<void> {
    this.#worker ??= this.#start();
    await this.#ask(this.#worker, { kind: "show", path });
  }

  /** Ends it after all that was asked before; once. @returns what was passed on @throws KernelError INTERNAL */
  async end(): Promise<ReadonlyMap<string, Note>> {
    const worker = this.#worker;
    try {
      const { notes = NOTHING } = worker === undefined ? {} : await this.#ask(worker, { kind: "end" });
      return notes;
    } finally {
      await worker?.terminate(); // then it uses no descriptor any more
      const { root, merged, upper } = this.#place;
      for (const descriptor of [root, merged, upper]) closeSync(descriptor);
    }
  }

  async #ask(worker: Worker, asked: Asked): Promise<MirrorReply> {
    if (this.#isLost) throw lost();
    const id = this.#nextId++;
    const answer = Promise.withResolvers<MirrorReply>();
    this.#waiting.set(id, answer);
    worker.ref();
    worker.postMessage({ ...asked, id } satisfies MirrorRequest);
    const reply = await answer.promise;
    if (reply.problem !== undefined) throw new KernelError("INTERNAL", reply.problem);
    return reply;
  }

  #start(): Worker {
    const worker = new Worker(ownProgram(import.meta.url, "./mirror-worker.ts"), {
      workerData: this.#place,
      trackUnmanagedFds: false,
    });
    worker.unref();
    worker.on("message", (reply: MirrorReply) => {
      const answer = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if (this.#waiting.size === 0) worker.unref();
      answer?.resolve(reply);
    });
    const onLost = () => {
      this.#isLost = true;
      for (const answer of this.#waiting.values()) answer.reject(lost());
      this.#waiting.clear();
    };
    worker.on("error", onLost); // `exit` follows
    worker.on("exit", onLost);
    return worker;
  }
}

const NOTHING: ReadonlyMap<string, Note> = new Map();

function lost(): KernelError {
  return new KernelError("INTERNAL", "the thread that passes changes on to a command was lost");
}
