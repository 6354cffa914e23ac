// What becomes of calls in both eras: cancelled, reporting progress, in batches, from a client that breaks the rules.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { LINE_BYTES_MAX } from "../../../src/base/limits.ts";
import type { ProgressListener } from "../../../src/model/outcome/progress.ts";
import { PROGRESS_NOTES_MAX } from "../../../src/transports/mcp/answers/progress-notes.ts";
import { BATCH_MESSAGES_MAX } from "../../../src/transports/mcp/lines/stdio-transport.ts";
import {
  byId,
  cancel,
  codes,
  connect,
  denied,
  type Execute,
  exchange,
  initialize,
  type Line,
  legacy,
  META,
  modern,
  READ,
  READ_CALL,
} from "../../support/mcp-connection.ts";

describe("cancellation", () => {
  const untilAborted: Execute = (_, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(denied("call", "cancelled"))));

  test.each([
    ["modern", [], modern(9, "tools/call", READ_CALL)],
    ["legacy", [initialize()], legacy(9, "tools/call", READ_CALL)],
  ])("stops a %s call, which is not answered; its id is free again", async (_, opening, call) => {
    let aborted = 0;
    const connection = connect(async (submission, signal, listener) => {
      const outcome = connection.calls.length === 1 ? await untilAborted(submission, signal, listener) : READ;
      if (signal.aborted) aborted += 1;
      return outcome;
    });
    connection.write(...opening, call, cancel(9), call);
    const answers = (await connection.end()).filter(({ id }) => id === 9);
    expect(answers).toMatchObject([{ result: { isError: false } }]);
    expect([aborted, connection.calls.length]).toEqual([1, 2]);
  });

  test("of what is unknown, answered or malformed is ignored, as are notifications that nobody knows", async () => {
    const connection = connect();
    connection.write(
      cancel(404),
      cancel("x"),
      cancel(null),
      { jsonrpc: "2.0", method: "notifications/cancelled" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: {}, _meta: META } },
      { jsonrpc: "2.0", method: "notifications/unheard_of", params: { _meta: META } },
      { jsonrpc: "2.0", method: "notifications/unheard_of" },
      modern(1, "tools/call", READ_CALL),
    );
    await connection.until(1);
    connection.write(cancel(1), modern(2, "tools/call", READ_CALL));
    expect(codes(await connection.end())).toEqual([
      [1, undefined],
      [2, undefined],
    ]);
  });

  test("of a request that waits for the library drops both, and its id is free for another", async () => {
    const connection = connect();
    connection.write(initialize());
    await connection.until(1);
    connection.write(legacy(5, "no/such"), cancel(5), legacy(5, "ping"), legacy(6, "no/such"));
    expect(new Set(codes((await connection.end()).slice(1)))).toEqual(
      new Set([
        [5, undefined],
        [6, -32601],
      ]),
    );
    expect(connection.lines()).toHaveLength(3);
  });

  test("of a modern request that waits for the library drops it, and its id is free for another", async () => {
    const connection = connect();
    connection.write(modern(5, "no/such"), cancel(5), modern(5, "server/discover"), modern(6, "no/such"));
    expect(new Set(codes(await connection.end()))).toEqual(
      new Set([
        [5, undefined],
        [6, -32601],
      ]),
    );
    expect(connection.lines()).toHaveLength(2);
  });

  test("a client that goes away takes its calls with it", async () => {
    const signals: AbortSignal[] = [];
    const connection = connect((submission, signal, listener) => {
      signals.push(signal);
      return untilAborted(submission, signal, listener);
    });
    connection.write(modern(1, "tools/call", READ_CALL));
    while (signals.length === 0) await new Promise((resolve) => setImmediate(resolve));
    connection.input.destroy();
    await connection.served;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe("progress", () => {
  const report = (listener: ProgressListener | undefined, completed: number, more: object = {}) =>
    listener?.({ kind: "progress", completed, ...more });
  const notes = (lines: readonly Line[]) =>
    lines.filter(({ method }) => method === "notifications/progress").map(({ params }) => params);

  test.each([
    ["modern", [], modern(1, "tools/call", READ_CALL, { ...META, progressToken: "p" })],
    ["legacy", [initialize()], legacy(1, "tools/call", { ...READ_CALL, _meta: { progressToken: "p" } })],
  ])("of a %s call grows, comes before the answer, and names the token", async (_, opening, call) => {
    const connection = connect(async (_call, _signal, listener) => {
      report(listener, 1, { total: 3, message: "half-way" });
      report(listener, 1);
      report(listener, 0.5);
      report(listener, 2);
      setImmediate(() => setImmediate(() => report(listener, 3))); // too late
      return READ;
    });
    connection.write(...opening, call);
    const lines = await connection.until(opening.length + 3);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(notes(connection.lines())).toEqual([
      { progressToken: "p", progress: 1, total: 3, message: "half-way" },
      { progressToken: "p", progress: 2 },
    ]);
    expect(lines.at(-1)).toMatchObject({ id: 1 });
    await connection.end();
  });

  test("shows what a command writes, each stream apart, and all of it before the answer", async () => {
    const connection = connect(async (_call, _signal, listener) => {
      listener?.({ kind: "output", stream: "stdout", bytes: Buffer.from("one\n") });
      listener?.({ kind: "output", stream: "stderr", bytes: Buffer.from("oh") });
      listener?.({ kind: "output", stream: "stdout", bytes: Buffer.from("two\n") });
      return READ;
    });
    connection.write(modern(1, "tools/call", READ_CALL, { ...META, progressToken: "p" }));
    const lines = await connection.until(4);
    expect(notes(lines)).toEqual([
      { progressToken: "p", progress: 4, message: "one\n", _meta: { "handrail/stream": "stdout" } },
      { progressToken: "p", progress: 10, message: "two\n", _meta: { "handrail/stream": "stdout" } },
      { progressToken: "p", progress: 11, message: "oh", _meta: { "handrail/stream": "stderr" } },
    ]);
    expect(lines.at(-1)).toMatchObject({ id: 1 });
    await connection.end();
  });

  test("nobody listens to a call without a token, or with one that is none", async () => {
    const listeners: unknown[] = [];
    const execute: Execute = async (_call, _signal, listener) => {
      listeners.push(listener);
      return READ;
    };
    await exchange(
      [
        initialize(),
        legacy(1, "tools/call", READ_CALL),
        legacy(2, "tools/call", { ...READ_CALL, _meta: { progressToken: {} } }),
        modern(3, "tools/call", READ_CALL),
      ],
      execute,
    );
    expect(listeners).toEqual([undefined, undefined, undefined]);
  });

  test("is limited in number, and ends with the cancellation", async () => {
    const flood: Execute = async (_call, signal, listener) => {
      for (let step = 1; step <= PROGRESS_NOTES_MAX + 5; step += 1) report(listener, step);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      report(listener, PROGRESS_NOTES_MAX * 2);
      return READ;
    };
    const connection = connect(flood);
    connection.write(modern(1, "tools/call", READ_CALL, { ...META, progressToken: 7 }));
    await connection.until(PROGRESS_NOTES_MAX);
    connection.write(cancel(1));
    expect(notes(await connection.end())).toHaveLength(PROGRESS_NOTES_MAX);
  });
});

describe("batches", () => {
  async function batch(
    messages: readonly unknown[],
    revision = "2025-03-26",
    execute?: Execute,
  ): Promise<readonly unknown[]> {
    const connection = connect(execute);
    connection.write(initialize(revision));
    await connection.until(1);
    connection.write(JSON.stringify(messages));
    return (await connection.end()).slice(1);
  }

  test("of revision 2025-03-26 are answered together, in one line", async () => {
    const messages = [
      legacy(1, "ping"),
      { jsonrpc: "2.0", method: "notifications/unheard_of" },
      legacy(2, "tools/call", READ_CALL),
      { no: 1 },
    ];
    const [answers, ...more] = await batch(messages);
    expect(more).toEqual([]);
    const ids = (answers as readonly Line[]).map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set([1, 2, null]));
    expect(answers).toContainEqual(
      expect.objectContaining({ id: 2, result: expect.objectContaining({ isError: false }) }),
    );
  });

  test.each(["2024-11-05", "2025-06-18", "2025-11-25"])("are refused in revision %s", async (revision) => {
    expect(codes((await batch([legacy(1, "ping")], revision)) as readonly Line[])).toEqual([[null, -32600]]);
  });

  test("are refused before any revision was agreed on", async () => {
    expect(codes(await exchange([JSON.stringify([modern(1, "server/discover")])]))).toEqual([[null, -32600]]);
  });

  test("are refused when empty or too large, and hold no `initialize`", async () => {
    expect(codes((await batch([])) as readonly Line[])).toEqual([[null, -32600]]);
    const many = Array.from({ length: BATCH_MESSAGES_MAX + 1 }, (_, id) => legacy(id, "ping"));
    expect(codes((await batch(many)) as readonly Line[])).toEqual([[null, -32600]]);
    const [answers] = await batch([{ ...initialize(), id: "again" }, legacy(2, "ping")]);
    expect(byId(answers as readonly Line[])).toMatchObject({ null: { error: { code: -32600 } }, 2: { result: {} } });
  });

  test("of notifications alone are not answered, and a cancelled request leaves its batch", async () => {
    expect(await batch([{ jsonrpc: "2.0", method: "notifications/unheard_of" }])).toEqual([]);
    const aborted: Execute = (_call, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(READ)));
    const connection = connect(aborted);
    connection.write(initialize("2025-03-26"));
    await connection.until(1);
    connection.write(JSON.stringify([legacy(1, "tools/call", READ_CALL), legacy(2, "ping")]), cancel(1));
    const [, answers] = await connection.end();
    expect(answers).toMatchObject([{ id: 2, result: {} }]);
  });
});

test("a line without end is refused in words, and the connection is closed", async () => {
  const connection = connect();
  const piece = Buffer.alloc(8 * 1024 * 1024, "x");
  for (let sent = 0; sent <= LINE_BYTES_MAX; sent += piece.length) {
    if (!connection.input.write(piece)) await new Promise((resolve) => connection.input.once("drain", resolve));
  }
  await connection.served;
  expect(connection.lines()).toMatchObject([
    { id: null, error: { code: -32600, message: expect.stringContaining("closed") } },
  ]);
});

test("an error in making a call says nothing about itself to the client", async () => {
  const connection = connect(() => Promise.reject(new Error("the secret is 42")));
  connection.write(modern(1, "tools/call", READ_CALL));
  expect(await connection.end()).toEqual([
    { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "internal error" } } satisfies JsonObject,
  ]);
  expect(connection.errors).toEqual(["the secret is 42"]);
});
