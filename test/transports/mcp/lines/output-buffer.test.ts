// Whatever is added comes out once, in order, however slowly the stream takes it.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { joined } from "../../../../src/transports/mcp/answers/print-result.ts";
import { OutputBuffer } from "../../../../src/transports/mcp/lines/output-buffer.ts";

/** A stream that takes each write a turn later, as a full pipe does. */
function slowStream(): { readonly stream: Writable; readonly taken: Buffer[] } {
  const taken: Buffer[] = [];
  const stream = new Writable({
    highWaterMark: 1000,
    write(bytes: Buffer, _encoding, done) {
      setImmediate(() => {
        taken.push(Buffer.from(bytes)); // only now: whoever reuses the bytes before would be seen
        done();
      });
    },
  });
  return { stream, taken };
}

const ended = (stream: Writable) => new Promise<void>((resolve) => stream.end(resolve));

test("pieces leave in their order, whatever their sizes and wherever it is flushed", async () => {
  const piece = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 50 }),
    fc.integer({ min: 1, max: 40_000 }).map((length) => "a€".repeat(length)),
    fc
      .constantFrom('é"'.repeat(600), "x\n".repeat(600), "y".repeat(5000), "\u0001".repeat(12_000), "€😀".repeat(9000), "z")
      .map((unescaped) => ({ unescaped })), // the same again, soon or later
    fc.string({ unit: "binary", maxLength: 50 }).map((unescaped) => ({ unescaped })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(piece, fc.boolean()), { maxLength: 40 }), async (steps) => {
      const { stream, taken } = slowStream();
      const buffer = new OutputBuffer(stream);
      for (const [part, flush] of steps) {
        buffer.add(part);
        if (flush) buffer.flush();
      }
      buffer.flush();
      await ended(stream);
      expect(Buffer.concat(taken).toString() === joined(steps.map(([part]) => part))).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test("what is read behind the stream stays as it was, however long it is kept", async () => {
  const kept = new PassThrough();
  const buffer = new OutputBuffer(kept);
  for (let number = 0; number < 100; number += 1) {
    buffer.add(`${number};`);
    buffer.flush();
    if (number % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(String(kept.read())).toBe(Array.from({ length: 100 }, (_, number) => `${number};`).join(""));
});

test("a stream that is full says so until it has drained", async () => {
  const { stream } = slowStream();
  const buffer = new OutputBuffer(stream);
  buffer.add("x".repeat(2000));
  expect(buffer.flush()).toBe(false);
  await new Promise((resolve) => stream.once("drain", resolve));
  buffer.drained();
  expect(buffer.flush()).toBe(true);
  await ended(stream);
});

/** Both ends of a connection. */
async function socketPair(): Promise<readonly [Socket, Socket]> {
  const directory = mkdtempSync(join(tmpdir(), "handrail-output-"));
  const server = createServer();
  server.listen(join(directory, "socket"));
  await once(server, "listening");
  const near = connect(join(directory, "socket"));
  const [far] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => {
    for (const end of [near, far]) end.destroy();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return [near, far];
}

test("behind a socket everything arrives as it was, though its memory is filled again, whether it is read at once or late", async () => {
  const [near, far] = await socketPair();
  const pieces: Buffer[] = [];
  const buffer = new OutputBuffer(near);
  const sent: string[] = [];
  const send = async (lines: number, pausing: boolean) => {
    for (let line = 0; line < lines; line += 1) {
      const text = `${sent.length}:${String.fromCharCode(97 + (sent.length % 26)).repeat(600 + (sent.length % 7) * 900)};`;
      sent.push(text);
      buffer.add(text);
      if (line % 5 === 0) buffer.flush();
      if (pausing && line % 9 === 0) await nextTurn();
    }
    buffer.flush();
  };
  await send(500, false); // nobody reads yet: all of it waits
  far.on("data", (piece: Buffer) => pieces.push(piece));
  await send(2000, true);
  near.end();
  await once(far, "end");
  expect(Buffer.concat(pieces).equals(Buffer.from(sent.join("")))).toBe(true);
});
