// Lines that come at once are handled a few per turn, all of them, in order, also when the input ends behind them.
import { PassThrough, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { CALLS_IN_FLIGHT_MAX, MESSAGES_PER_TURN_MAX } from "../../../../src/base/limits.ts";
import { LineTransport } from "../../../../src/transports/mcp/lines/stdio-transport.ts";

function connected() {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new LineTransport(input, output);
  const seen: unknown[] = [];
  const turns: number[] = [];
  let turn = 0;
  transport.onmessage = (message: JSONRPCMessage) => {
    seen.push("id" in message ? message.id : undefined);
    turns.push(turn);
    if ("id" in message && message.id !== undefined)
      transport.sendPrinted(message.id, `{"id":${JSON.stringify(message.id)}}`);
  };
  const tick = setInterval(() => undefined, 1000);
  const count = (): void => {
    turn += 1;
    if (turn < 1000) setImmediate(count);
  };
  setImmediate(count);
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      clearInterval(tick);
      resolve();
    };
  });
  return { input, output, transport, seen, turns, closed };
}

const lines = (count: number) =>
  Array.from({ length: count }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`).join("");

test("a hundred lines in one chunk are handled in order, a few per turn, and answered before the end", async () => {
  const { input, output, transport, seen, turns, closed } = connected();
  await transport.start();
  input.end(lines(100));
  await closed;
  expect(seen).toEqual(Array.from({ length: 100 }, (_, id) => id));
  for (const turn of new Set(turns))
    expect(turns.filter((other) => other === turn).length).toBeLessThanOrEqual(MESSAGES_PER_TURN_MAX);
  const answered = String(output.read()).trim().split("\n");
  expect(answered.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual(seen);
});

test("a line that is cut at the end of a chunk waits for its rest, after the lines before it", async () => {
  const { input, transport, seen, closed } = connected();
  await transport.start();
  const text = lines(40);
  const cut = text.length - 10;
  input.write(text.slice(0, cut));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(seen).toHaveLength(39);
  input.end(text.slice(cut));
  await closed;
  expect(seen).toHaveLength(40);
});

/** A transport whose peer's requests are answered when the test says so. */
function slow(output: Writable = new PassThrough()) {
  const input = new PassThrough();
  const transport = new LineTransport(input, output);
  const open: (string | number)[] = [];
  const seen: unknown[] = [];
  let most = 0;
  transport.onmessage = (message: JSONRPCMessage) => {
    if (!("method" in message && "id" in message)) return;
    seen.push(message.id);
    most = Math.max(most, open.push(message.id));
  };
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  const answer = (pad = "") => {
    for (const id of open.splice(0)) transport.sendPrinted(id, `{"id":${id}${pad}}`);
  };
  return { input, transport, seen, open, answer, closed, most: () => most };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test("calls beyond the bound wait, also those of one chunk, and all are answered in order after the end", async () => {
  const { input, transport, seen, open, answer, closed, most } = slow();
  await transport.start();
  const wanted = 3 * CALLS_IN_FLIGHT_MAX + 10;
  input.end(lines(wanted));
  for (let round = 1; round <= 4; round += 1) {
    await turns(100);
    expect(seen).toHaveLength(Math.min(round * CALLS_IN_FLIGHT_MAX, wanted));
    expect(open).toHaveLength(round < 4 ? CALLS_IN_FLIGHT_MAX : 10);
    answer();
  }
  await closed;
  expect(seen).toEqual(Array.from({ length: wanted }, (_, id) => id));
  expect(most()).toBe(CALLS_IN_FLIGHT_MAX);
});

test("a client that reads nothing has no further line of its chunk handled until it reads", async () => {
  const output = new PassThrough({ highWaterMark: 1000 });
  const { input, transport, seen, open, answer, closed } = slow(output);
  await transport.start();
  input.end(lines(200));
  while (open.length === 0) await turns(1);
  answer(`,"pad":"${"x".repeat(5000)}"`);
  await turns(100);
  const handled = seen.length;
  expect(handled).toBeLessThanOrEqual(2 * MESSAGES_PER_TURN_MAX);
  output.resume();
  for (let round = 0; round < 100 && seen.length < 200; round += 1) {
    await turns(5);
    answer();
  }
  expect(seen).toEqual(Array.from({ length: 200 }, (_, id) => id));
  answer();
  await closed;
});

test("the id of a request that is not answered yet answers nothing else", async () => {
  const output = new PassThrough();
  const { input, transport, answer, closed } = slow(output);
  await transport.start();
  input.end(
    `${lines(1)}{"jsonrpc":"2.0","id":0,"method":"ping","extra":1}\n{"jsonrpc":"2.0","id":7,"method":"ping","extra":1}\n`,
  );
  await turns(10);
  answer();
  await closed;
  const answered = String(output.read())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: unknown; error?: unknown });
  expect(answered.map(({ id, error }) => [id, error !== undefined])).toEqual([
    [null, true],
    [7, true],
    [0, false],
  ]);
});

test("answers of one turn leave together, and all of them in order, however slowly the client reads", async () => {
  const taken: string[] = [];
  const writes: number[] = [];
  const output = new Writable({
    decodeStrings: false,
    highWaterMark: 1000,
    writev(chunks, done) {
      writes.push(chunks.length);
      setImmediate(() => {
        taken.push(...chunks.map(({ chunk }) => String(chunk)));
        done();
      });
    },
  });
  const { input, transport, seen, open, answer, closed } = slow(output);
  await transport.start();
  input.end(lines(300));
  for (let round = 0; round < 1000 && (seen.length < 300 || open.length > 0); round += 1) {
    answer(`,"pad":"${"é€😀\\n".repeat(round * 50)}"`);
    await turns(1);
  }
  await closed;
  await new Promise<void>((resolve) => output.end(resolve));
  const answered = taken
    .join("")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { id: number }).id);
  expect(answered).toEqual(Array.from({ length: 300 }, (_, id) => id));
  expect(Math.max(...writes)).toBe(MESSAGES_PER_TURN_MAX);
});
