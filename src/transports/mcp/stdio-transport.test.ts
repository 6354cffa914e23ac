// Lines that come at once are handled a few per turn, all of them, in order, also when the input ends behind them.
import { PassThrough } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { MESSAGES_PER_TURN_MAX } from "../../base/limits.ts";
import { LineTransport } from "./stdio-transport.ts";

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
    if ("id" in message && message.id !== undefined) transport.sendPrinted(message.id, [`{"id":${JSON.stringify(message.id)}}`]);
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

const lines = (count: number) => Array.from({ length: count }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`).join("");

test("a hundred lines in one chunk are handled in order, a few per turn, and answered before the end", async () => {
  const { input, output, transport, seen, turns, closed } = connected();
  await transport.start();
  input.end(lines(100));
  await closed;
  expect(seen).toEqual(Array.from({ length: 100 }, (_, id) => id));
  for (const turn of new Set(turns)) expect(turns.filter((other) => other === turn).length).toBeLessThanOrEqual(MESSAGES_PER_TURN_MAX);
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
