/** Calls an MCP server by HTTP over a Unix socket, one request at a time, whichever way it frames its answers. */
import { connect, type Socket } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const CHUNKS_END = Buffer.from("\r\n0\r\n\r\n");

/** One connection that is kept. */
export class TextCaller {
  readonly #socket: Socket;
  #pieces: Buffer[] = [];
  #settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("close", () => this.#settle?.reject(new Error("the server closed the connection")));
  }

  /** Connects. */
  static async connect(path: string): Promise<TextCaller> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new TextCaller(socket);
  }

  /** Sends a whole request; resolves with its answer, which must be the result of a call that succeeded. */
  call(request: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
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
    const body = /content-length: ?(\d+)/i.exec(head)?.[1];
    const isWhole =
      body === undefined
        ? seen.subarray(-CHUNKS_END.length).equals(CHUNKS_END)
        : seen.length >= headEnd + HEAD_END.length + Number(body);
    if (!isWhole) return;
    this.#pieces = [];
    const isRead = head.startsWith("HTTP/1.1 200") && seen.includes('"content":[{') && !seen.includes('"isError":true');
    if (isRead) this.#settle?.resolve();
    else this.#settle?.reject(new Error(`not a read: ${seen.toString("utf8", 0, 2000)}`));
  }
}
