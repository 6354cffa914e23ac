// Calls that take longer than a client without tasks waits: the same call again waits on, over stdio and HTTP.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { HELD_MAX, HeldCalls } from "../../../../src/transports/mcp/tasks/held-calls.ts";
import { cancel, connectTo, initialize, type Line, legacy, META, modern } from "../../../support/mcp-connection.ts";
import { BOUND } from "../../../support/mcp-desk.ts";
import { bearer, modernHeaders, post, serveMcpPlace } from "../../../support/mcp-http-place.ts";
import { factsOf } from "../../../support/mcp-result.ts";
import { memoryKernel, testTool } from "../../../support/memory-kernel.ts";

const HELD = { heldAfterMs: 50 };

/** A kernel with a tool that ends when the test says so, or is ended. */
async function place() {
  const runs: { readonly end: () => void; isEnded: boolean }[] = [];
  const slow = testTool(
    "slow",
    (_, { signal }) => {
      const { promise, resolve } = Promise.withResolvers<{ readonly kind: "data"; readonly data: JsonObject }>();
      const run = { end: () => resolve({ kind: "data", data: { done: true } }), isEnded: false };
      signal.addEventListener("abort", () => {
        run.isEnded = true;
        resolve({ kind: "data", data: {} });
      });
      runs.push(run);
      return promise;
    },
    { effect: "read" },
  );
  const kernel = await memoryKernel({ tools: [slow] });
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(kernel.root, name), "x\n");
  return { kernel, runs };
}

const CALL = { name: "slow", arguments: { path: "a.txt" } };
type Answer = Line & { readonly result: JsonObject };
const textOf = ({ result }: Answer) => String((result["content"] as readonly JsonObject[])[0]?.["text"]);

/** Makes a call again until it is answered. */
async function answered(call: () => Promise<Answer>): Promise<Answer> {
  for (let turns = 0; turns < 1_000; turns += 1) {
    const answer = await call();
    if (factsOf(answer.result).status !== "running") return answer;
  }
  throw new Error("it runs on");
}

/** A client over standard streams. */
async function stdio(era: "legacy" | "modern") {
  const { kernel, runs } = await place();
  const connection = connectTo(kernel.door, kernel.token, HELD);
  onTestFinished(() => void connection.input.destroy());
  if (era === "legacy") connection.write(initialize());
  let last = 0;
  const begin = (params: object, meta?: object) => {
    last += 1;
    const id = last;
    connection.write(era === "legacy" ? legacy(id, "tools/call", params) : modern(id, "tools/call", params, meta));
    const answer = () =>
      vi.waitFor(() => {
        const line = connection.lines().find((each) => each.id === id && !("method" in each));
        if (line === undefined) throw new Error("no answer");
        return line as Answer;
      }, BOUND);
    return { id, answer };
  };
  return { begin, call: (params: object, meta?: object) => begin(params, meta).answer(), runs, connection };
}

/** A legacy client over HTTP. */
async function http() {
  const { kernel, runs } = await place();
  const door = await serveMcpPlace(kernel.door, { offers: HELD });
  const begun = await post(door, initialize(), bearer(kernel.token));
  const headers = { ...bearer(kernel.token), "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  let last = 0;
  const call = async (params: object) => {
    last += 1;
    return (await post(door, legacy(last, "tools/call", params), headers)).messages.at(-1) as Answer;
  };
  return { call, runs, door, headers };
}

describe.each([
  ["legacy over stdio", () => stdio("legacy")],
  ["modern over stdio", () => stdio("modern")],
  ["legacy over HTTP", http],
])("a client without tasks, %s", (_, connect) => {
  test("hears that a call still runs, and gets its result by the very same call", async () => {
    const { call, runs } = await connect();
    const first = await call(CALL);
    expect([factsOf(first.result).status, first.result["isError"]]).toEqual(["running", false]);
    expect(textOf(first)).toContain("very same call again");
    const second = await call(CALL);
    expect(factsOf(second.result).status).toBe("running");
    expect(runs).toHaveLength(1);
    runs[0]?.end();
    const third = await answered(() => call(CALL));
    expect(factsOf(third.result).status).toBe("success");
    expect(textOf(third)).toContain('"done":true');
    expect(third.id).not.toBe(first.id);
    // its result was handed out: the next one is a run of its own
    const fourth = call(CALL);
    await vi.waitFor(() => expect(runs).toHaveLength(2), BOUND);
    runs[1]?.end();
    expect(textOf(await fourth)).not.toBe("");
  });

  test("begins another run by another call", async () => {
    const { call, runs } = await connect();
    await call(CALL);
    await call({ name: "slow", arguments: { path: "b.txt" } });
    expect(runs).toHaveLength(2);
  });
});

test("who hears of progress waits for the answer itself", async () => {
  const { begin, runs } = await stdio("legacy");
  const { answer } = begin({ ...CALL, _meta: { progressToken: 1 } });
  await vi.waitFor(() => expect(runs).toHaveLength(1), BOUND);
  await new Promise((resolve) => setTimeout(resolve, 500)); // ten times as long as others wait
  runs[0]?.end();
  expect(factsOf((await answer()).result).status).toBe("success");
});

test("who knows tasks has a task", async () => {
  const { begin, runs } = await stdio("modern");
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const { answer } = begin(CALL, { ...META, "io.modelcontextprotocol/clientCapabilities": capabilities });
  await vi.waitFor(() => expect(runs).toHaveLength(1), BOUND);
  await new Promise((resolve) => setTimeout(resolve, 500));
  runs[0]?.end();
  expect(factsOf((await answer()).result).status).toBe("success");
});

describe("a held call ends", () => {
  test("with the call that waits for it", async () => {
    const { begin, call, runs, connection } = await stdio("legacy");
    await call(CALL);
    const { id } = begin(CALL);
    connection.write(cancel(id));
    await vi.waitFor(() => expect(runs[0]?.isEnded).toBe(true), BOUND);
  });

  test.each(["legacy", "modern"] as const)("with its client, %s", async (era) => {
    const { call, runs, connection } = await stdio(era);
    await call(CALL);
    connection.input.end();
    await vi.waitFor(() => expect(runs[0]?.isEnded).toBe(true), BOUND);
  });

  test("with its legacy session over HTTP, and is never another's", async () => {
    const { call, runs, door, headers } = await http();
    await call(CALL);
    const token = { authorization: headers.authorization };
    const message = modern(1, "tools/call", CALL);
    await post(door, message, { ...token, ...modernHeaders(message) });
    expect(runs).toHaveLength(2); // the control: the same session's client of the other era has its own
    await fetch(door.url, { method: "DELETE", headers });
    await vi.waitFor(() => expect(runs[0]?.isEnded).toBe(true), BOUND);
    expect(runs[1]?.isEnded).toBe(false);
  });
});

test("too many make the client wait", async () => {
  const held = new HeldCalls(1);
  const never = () => new Promise<string>(() => undefined);
  const call = (path: number) => ({
    id: path,
    parameters: { name: "slow", arguments: { path } },
    isStructured: true,
    frame: {},
  });
  for (let path = 0; path < HELD_MAX; path += 1) {
    const line = await held.run(() => call(path), new AbortController(), never);
    expect(JSON.parse(line)).toMatchObject({ id: path, result: { isError: true } });
  }
  const over = Promise.withResolvers<string>();
  const waiting = held.run(
    () => call(HELD_MAX),
    new AbortController(),
    () => over.promise,
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  over.resolve("its own answer");
  expect(await waiting).toBe("its own answer");
  held.close();
});
