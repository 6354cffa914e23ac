/** Speaks to a front door byte by byte, as no library would. */
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A connection of the running test. */
export interface RawConnection {
  readonly socket: Socket;
  readonly write: (bytes: string | Uint8Array) => void;
  /** Everything that came so far, as Latin-1. */
  readonly seen: () => string;
  /** Resolves when the peer has closed, with everything that came. */
  readonly closed: Promise<string>;
  /** Resolves once `pattern` has come. Rejects when the peer closes before. */
  readonly until: (pattern: RegExp) => Promise<string>;
}

/** Connects to a Unix socket, or to a port of this machine. */
export async function rawConnection(to: string | number): Promise<RawConnection> {
  const socket = typeof to === "number" ? connect(to, "127.0.0.1") : connect(to);
  onTestFinished(() => void socket.destroy());
  const pieces: Buffer[] = [];
  const seen = () => Buffer.concat(pieces).toString("latin1");
  const waiting = new Set<() => void>();
  socket.on("data", (piece: Buffer) => {
    pieces.push(piece);
    for (const look of waiting) look();
  });
  socket.on("error", () => undefined); // `close` follows
  const closed = new Promise<string>((done) => socket.once("close", () => done(seen())));
  await new Promise<void>((done, failed) => socket.once("connect", done).once("error", failed));
  const until = (pattern: RegExp) =>
    new Promise<string>((done, failed) => {
      const look = () => {
        if (!pattern.test(seen())) return;
        waiting.delete(look);
        done(seen());
      };
      waiting.add(look);
      void closed.then(() => failed(new Error(`closed before ${pattern}: ${seen()}`)));
      look();
    });
  return { socket, write: (bytes) => void socket.write(bytes), seen, closed, until };
}

/** A request of HTTP/1.1 with a body; `headers` come after those that every request needs. */
export function http1(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array = new Uint8Array(),
): Buffer {
  const lines = { host: "localhost", "content-length": String(body.byteLength), ...headers };
  const head = Object.entries(lines)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`, "latin1"), body]);
}

/** An envelope of gRPC-Web and of streams of Connect. */
export function envelope(message: Uint8Array, flags = 0, declared = message.byteLength): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(declared, 1);
  return Buffer.concat([head, message]);
}
