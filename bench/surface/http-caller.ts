/** Calls an HTTP server over a Unix socket, one request at a time, with as little work of its own as can be. */
import { connect, type Socket } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");

/** One connection that is kept. */
export class HttpCaller {
  readonly #socket: Socket;
  #seen: Buffer = Buffer.alloc(0);
  #settle: { readonly resolve: (bodyBytes: number) => void; readonly reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("close", () => this.#settle?.reject(new Error("the server closed the connection")));
  }

  /** Connects. */
  static async connect(path: string): Promise<HttpCaller> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new HttpCaller(socket);
  }

  /** Sends a whole request; resolves with the size of the body of its answer, which must be a 200. */
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
    this.#seen = this.#seen.length === 0 ? bytes : Buffer.concat([this.#seen, bytes]);
    const headEnd = this.#seen.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = this.#seen.toString("latin1", 0, headEnd);
    const body = Number(/content-length: ?(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (!head.startsWith("HTTP/1.1 200") || Number.isNaN(body)) {
      this.#settle?.reject(new Error(`not an answer: ${head}`));
      return;
    }
    if (this.#seen.length < headEnd + HEAD_END.length + body) return;
    this.#seen = Buffer.alloc(0);
    this.#settle?.resolve(body);
  }
}
