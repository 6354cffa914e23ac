/** Calls an HTTP server over a Unix socket, one request at a time, with as little work of its own as can be. */
import { connect, type Socket } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const CHUNKS_END = Buffer.from("\r\n0\r\n\r\n");
/** Characters of an answer that is none which are shown. */
const SHOWN_CHARACTERS = 2000;

/** One connection that is kept. */
export class HttpCaller {
  readonly #socket: Socket;
  readonly #isRight: (answer: Buffer) => boolean;
  #pieces: Buffer[] = [];
  #settle: { readonly resolve: (bodyBytes: number) => void; readonly reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, isRight: (answer: Buffer) => boolean) {
    this.#socket = socket;
    this.#isRight = isRight;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("close", () => this.#settle?.reject(new Error("the server closed the connection")));
  }

  /** Connects. @param isRight whether an answer of status 200 is the one that is measured */
  static async connect(path: string, isRight: (answer: Buffer) => boolean = () => true): Promise<HttpCaller> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new HttpCaller(socket, isRight);
  }

  /** Sends a whole request; resolves with the size of the body of its answer, chunks counted as they came. */
  call(request: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) throw new Error("the server has closed the connection");
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  /** Ends the connection. */
  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#pieces.push(bytes);
    const seen = this.#pieces.length === 1 ? bytes : Buffer.concat(this.#pieces);
    const headEnd = seen.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = seen.toString("latin1", 0, headEnd);
    const came = seen.length - headEnd - HEAD_END.length;
    const length = /content-length: ?(\d+)/i.exec(head)?.[1];
    const isWhole =
      length === undefined ? seen.subarray(-CHUNKS_END.length).equals(CHUNKS_END) : came >= Number(length);
    if (!isWhole && head.startsWith("HTTP/1.1 200")) return;
    this.#pieces = [];
    if (isWhole && head.startsWith("HTTP/1.1 200") && this.#isRight(seen)) this.#settle?.resolve(came);
    else this.#settle?.reject(new Error(`not an answer: ${seen.toString("utf8", 0, SHOWN_CHARACTERS)}`));
  }
}
