/**
 * Keeps the answers and notes to one POST of a legacy session, and sends them over its response.
 *
 * One request is answered by a JSON text when nothing was sent before its answer; otherwise the response becomes a
 * stream of events, each with an id. Whoever loses such a stream takes it up again with a GET that names the last id.
 *
 * INVARIANTS: an answer is sent or kept, never dropped; of notes the oldest give way. What nobody can take up again, or
 * takes up for long, is cancelled.
 */
import type { RequestId } from "@modelcontextprotocol/server";
import { KIB } from "../../../base/bytes.ts";
import type { Outlet } from "./outlet.ts";

/** Milliseconds without an answer after which a response becomes a stream, and between two signs of life on it. */
export const STREAM_KEEP_ALIVE_MS = 10_000;
/** Milliseconds for which a stream that was lost can be taken up again. */
export const RESUME_MS = 60_000;
/** Milliseconds after which a client should take up a stream that it lost. */
const RETRY_MS = 1_000;
/** Bytes of notes that are kept for a stream that was lost. */
const KEPT_NOTE_BYTES_MAX = 256 * KIB;

/** What a stream is bound to. */
export interface StreamHost {
  /** Ends the work on a request whose client is gone. */
  readonly cancel: (id: RequestId) => void;
  /** Nothing is sent or kept here any more. */
  readonly forget: (stream: PostStream) => void;
}

interface Kept {
  readonly sequence: number;
  readonly line: string;
  readonly isNote: boolean;
}

/** The answers to one POST. */
export class PostStream {
  readonly key: string;
  readonly #host: StreamHost;
  readonly #waiting: Set<RequestId>;
  readonly #isBatch: boolean;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #answers: string[] = [];
  #outlet: Outlet | undefined;
  #kept: Kept[] = [];
  #keptNoteBytes = 0;
  #sequence = 0;
  #isPrimed = false;
  #waking: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;

  constructor(
    host: StreamHost,
    {
      key,
      ids,
      isBatch,
      headers,
    }: {
      readonly key: string;
      readonly ids: readonly RequestId[];
      readonly isBatch: boolean;
      readonly headers: Readonly<Record<string, string>>;
    },
    outlet: Outlet,
  ) {
    this.key = key;
    this.#host = host;
    this.#waiting = new Set(ids);
    this.#isBatch = isBatch;
    this.#headers = headers;
    this.#attach(outlet);
    this.#waking = setInterval(() => this.#wake(), STREAM_KEEP_ALIVE_MS);
    this.#waking.unref();
  }

  /** Whether its peer reads more slowly than is written to it. */
  get isBehind(): boolean {
    return this.#outlet?.isBehind === true;
  }

  /** Sends a note or a question. */
  note(line: string): void {
    this.#begin();
    this.#event(line, true);
  }

  /** Sends the answer to `id`. */
  answer(id: RequestId, line: string): void {
    if (!this.#waiting.delete(id)) return;
    if (this.#isPrimed) this.#event(line, false);
    else this.#answers.push(line);
    this.#settle();
  }

  /** `id` will not be answered: its client has cancelled it. */
  leave(id: RequestId): void {
    if (this.#waiting.delete(id)) this.#settle();
  }

  /** Sends what came after `sequence` over `outlet`, and what is still to come. */
  resume(outlet: Outlet, sequence: number): void {
    this.#outlet?.end();
    clearTimeout(this.#end);
    outlet.beginStream();
    this.#attach(outlet);
    for (const kept of this.#kept) if (kept.sequence > sequence) this.#write(kept);
    if (this.#waiting.size === 0) this.#finish();
  }

  /** Ends the response; nothing is kept. */
  close(): void {
    clearInterval(this.#waking);
    clearTimeout(this.#end);
    this.#outlet?.beginStream();
    this.#outlet?.end();
    this.#kept = [];
  }

  #attach(outlet: Outlet): void {
    this.#outlet = outlet;
    outlet.onGone = () => {
      if (this.#outlet === outlet) this.#lose();
    };
  }

  #lose(): void {
    this.#outlet = undefined;
    if (this.#isPrimed) this.#expireLater();
    else this.#abandon();
  }

  /** Nobody can take it up again. */
  #abandon(): void {
    for (const id of [...this.#waiting]) this.#host.cancel(id);
    this.#waiting.clear();
    this.close();
    this.#host.forget(this);
  }

  #expireLater(): void {
    clearTimeout(this.#end);
    this.#end = setTimeout(() => this.#abandon(), RESUME_MS);
    this.#end.unref();
  }

  #settle(): void {
    if (this.#waiting.size > 0) return;
    clearInterval(this.#waking);
    if (this.#isPrimed) this.#finish();
    else {
      const [first] = this.#answers;
      if (this.#isBatch && first !== undefined) this.#outlet?.json(200, `[${this.#answers.join(",")}]`, this.#headers);
      else if (first !== undefined) this.#outlet?.json(200, first, this.#headers);
      else this.#outlet?.bare(202, this.#headers);
      this.#host.forget(this);
    }
  }

  /** Everything was said; it is kept for a client that loses the end of it. */
  #finish(): void {
    this.#outlet?.end();
    this.#outlet = undefined;
    this.#expireLater();
  }

  #begin(): void {
    if (this.#isPrimed) return;
    this.#isPrimed = true;
    this.#outlet?.beginStream(this.#headers);
    this.#outlet?.event("", { id: `${this.key}-0`, retryMs: RETRY_MS });
    for (const line of this.#answers.splice(0)) this.#event(line, false);
  }

  #event(line: string, isNote: boolean): void {
    this.#sequence += 1;
    const kept = { sequence: this.#sequence, line, isNote };
    this.#kept.push(kept);
    if (isNote) this.#keptNoteBytes += line.length;
    while (this.#keptNoteBytes > KEPT_NOTE_BYTES_MAX) this.#dropOldestNote();
    this.#write(kept);
  }

  #dropOldestNote(): void {
    const index = this.#kept.findIndex(({ isNote }) => isNote);
    const [dropped] = this.#kept.splice(index, 1);
    this.#keptNoteBytes -= dropped?.line.length ?? this.#keptNoteBytes;
  }

  #write({ sequence, line }: Kept): void {
    this.#outlet?.event(line, { id: `${this.key}-${sequence}` });
  }

  #wake(): void {
    this.#begin();
    this.#outlet?.keepAlive();
  }
}
