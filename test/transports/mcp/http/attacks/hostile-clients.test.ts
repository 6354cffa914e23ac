// Clients over HTTP that are slow, leave, come back, use an id twice or begin sessions without end.
import { expect, test, vi } from "vitest";
import type { KernelDoor } from "../../../../../src/kernel/index.ts";
import type { ProgressListener } from "../../../../../src/model/outcome/progress.ts";
import type { CallResponse } from "../../../../../src/model/tool/call.ts";
import { TOKEN_SESSIONS_MAX } from "../../../../../src/transports/mcp/http/legacy-sessions.ts";
import { signalOf } from "../../../../support/call-end.ts";
import { denied, initialize, legacy, modern, READ, READ_CALL } from "../../../../support/mcp-connection.ts";
import { BOUND } from "../../../../support/mcp-desk.ts";
import { bearer, modernHeaders, post, SENT, serveMcpPlace } from "../../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../../support/memory-kernel.ts";
import { http1, rawConnection } from "../../../../support/raw-http.ts";

/** A door whose calls wait until the test lets them go, or their client has left. */
async function place(limits: Parameters<typeof serveMcpPlace>[1] = {}) {
  const kernel = await memoryKernel();
  const calls: { readonly signal: AbortSignal; readonly go: () => void; readonly note: ProgressListener }[] = [];
  const door = {
    ...kernel.door,
    execute: (...[submission, end, hears]: Parameters<KernelDoor["execute"]>) =>
      new Promise<CallResponse>((resolve) => {
        const requestId = "requestId" in submission ? submission.requestId : "r";
        const signal = signalOf(end);
        const answer = (outcome: CallResponse["outcome"]) => resolve({ requestId, outcome, durationMs: 1, rules: [] });
        signal.addEventListener("abort", () => answer(denied("call", "cancelled")));
        calls.push({ signal, go: () => answer(READ), note: (report) => hears?.listener?.(report) });
      }),
  } as KernelDoor;
  const served = await serveMcpPlace(door, limits);
  const auth = bearer(kernel.token);
  const running = (count: number) => vi.waitFor(() => expect(calls.length).toBe(count), BOUND);
  const begin = async () => {
    const begun = await post(served, initialize(), auth);
    return { ...auth, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  };
  return { kernel, calls, served, auth, running, begin };
}

const CALL = modern(1, "tools/call", READ_CALL);
/** Bytes of an answer that no system takes at once. */
const ANSWER_BYTES = 32_000_000;
const NOTED = { ...READ_CALL, _meta: { progressToken: "p" } };

test("a body that does not come whole ends with its time; others are served meanwhile", async () => {
  const { served, auth } = await place({ stallMs: 300 });
  const slow = await rawConnection(served.port);
  const headers = { ...SENT, ...auth, ...modernHeaders(CALL), "content-length": "1000" };
  slow.write(http1("/mcp", headers, Buffer.from('{"jsonrpc"')));
  const discover = modern(2, "server/discover");
  expect((await post(served, discover, { ...auth, ...modernHeaders(discover) })).status).toBe(200);
  expect(await slow.until(/HTTP\/1\.1 408/)).toContain("was not complete within 300 ms");
  await slow.closed;
  expect(served.errors).toEqual([]);
});

test.each([
  ["reads nothing is cut off", true],
  ["reads gets all of it: the control", false],
])("a client that asks for a large answer and %s", async (_, isStalling) => {
  const kernel = await memoryKernel();
  const large = { ...READ, data: { content: "x".repeat(ANSWER_BYTES), path: "a.txt" } };
  const served = await serveMcpPlace(
    {
      ...kernel.door,
      execute: async () => ({ requestId: "r", outcome: large as CallResponse["outcome"], durationMs: 1, rules: [] }),
    } as KernelDoor,
    isStalling ? { stallMs: 500 } : {},
  );
  const client = await rawConnection(served.port);
  if (isStalling) client.socket.pause();
  const headers = { ...SENT, ...bearer(kernel.token), ...modernHeaders(CALL), connection: "close" };
  client.write(http1("/mcp", headers, Buffer.from(JSON.stringify(CALL))));
  if (isStalling) await new Promise((resolve) => setTimeout(resolve, 5000));
  client.socket.resume();
  const { length } = await client.closed;
  // what the two ends hold between them still comes
  if (isStalling) expect(length).toBeLessThan(ANSWER_BYTES);
  else expect(length).toBeGreaterThan(ANSWER_BYTES);
});

test.each(["modern", "legacy"])("a %s client that leaves before its answer takes its call with it", async (era) => {
  const { served, auth, calls, running, begin } = await place();
  const headers = era === "modern" ? { ...auth, ...modernHeaders(CALL) } : await begin();
  const message = era === "modern" ? CALL : legacy(1, "tools/call", READ_CALL);
  const leaving = await rawConnection(served.port);
  leaving.write(http1("/mcp", { ...SENT, ...headers }, Buffer.from(JSON.stringify(message))));
  await running(1);
  expect(calls[0]?.signal.aborted).toBe(false);
  leaving.socket.destroy();
  await vi.waitFor(() => expect(calls[0]?.signal.aborted).toBe(true), BOUND);
  expect(served.errors).toEqual([]);
});

test("a client that has closed its own side is still answered", async () => {
  const { served, auth, calls, running } = await place();
  const half = await rawConnection(served.port);
  const headers = { ...SENT, ...auth, ...modernHeaders(CALL) };
  half.write(http1("/mcp", headers, Buffer.from(JSON.stringify(CALL))));
  await running(1);
  half.socket.end();
  calls[0]?.go();
  // answered, or let go of with its call: never left hanging
  const said = await half.closed;
  expect(said === "" ? calls[0]?.signal.aborted : said.includes('"result"')).toBe(true);
});

test("a legacy stream that was lost is taken up again after the last event, by its own session alone", async () => {
  const { served, calls, running, begin } = await place();
  const [session, other] = [await begin(), await begin()];
  const losing = await rawConnection(served.port);
  const message = legacy("lost", "tools/call", NOTED);
  losing.write(http1("/mcp", { ...SENT, ...session }, Buffer.from(JSON.stringify(message))));
  await running(1);
  calls[0]?.note({ kind: "progress", completed: 1, total: 2 });
  const seen = await losing.until(/"progress":1/);
  const [primer, noted] = [...seen.matchAll(/^id: (\S+)/gm)].map(([, id]) => id ?? "");
  losing.socket.destroy();
  calls[0]?.note({ kind: "progress", completed: 2, total: 2 });
  const resume = (headers: object, last = "") =>
    fetch(served.url, { headers: { accept: "text/event-stream", ...headers, "last-event-id": last } });
  expect((await resume(other, noted)).status).toBe(404);
  expect((await resume(session, "s9-1")).status).toBe(404);
  expect((await resume(session, "nonsense")).status).toBe(404);
  const resumed = await resume(session, noted);
  expect(resumed.status).toBe(200);
  expect(calls[0]?.signal.aborted).toBe(false);
  calls[0]?.go();
  const text = await resumed.text();
  expect(text).toContain('"progress":2');
  expect(text).not.toContain('"progress":1,');
  expect(text).toContain('"id":"lost"');
  // what was said once more from the beginning is the same
  const again = await (await resume(session, primer)).text();
  expect(again).toContain('"progress":1');
  expect(again).toContain('"id":"lost"');
});

test("an id that is in use is refused, and the request that has it is answered", async () => {
  const { served, calls, running, begin } = await place();
  const session = await begin();
  const first = post(served, legacy("same", "tools/call", READ_CALL), session);
  await running(1);
  expect(await post(served, legacy("same", "tools/call", READ_CALL), session)).toMatchObject({
    status: 400,
    messages: [{ error: { message: expect.stringContaining("in use") } }],
  });
  calls[0]?.go();
  expect((await first).messages).toMatchObject([{ id: "same", result: { isError: false } }]);
  expect(calls.length).toBe(1);
});

test("an answer of a client to what was never asked is recorded, and does nothing", async () => {
  const { served, kernel, begin } = await place();
  const session = await begin();
  const refused: unknown[] = [];
  kernel.ledger.before = (event) => void refused.push(event.type);
  const answer = {
    jsonrpc: "2.0",
    id: "handrail-1",
    result: { action: "accept", content: { decision: "approve once" } },
  };
  expect((await post(served, answer, session)).status).toBe(202);
  await vi.waitFor(() => expect(refused).toContain("tool_execution_denied"), BOUND);
});

test("sessions that nobody uses give way to new ones; those in use do not", async () => {
  const { served, running, begin } = await place();
  const first = await begin();
  void post(served, legacy("busy", "tools/call", READ_CALL), first).catch(() => undefined);
  await running(1);
  const second = await begin();
  for (let count = 0; count < TOKEN_SESSIONS_MAX - 1; count += 1)
    expect((await begin())["mcp-session-id"]).not.toBe("");
  expect((await post(served, legacy(1, "ping"), second)).status).toBe(404);
  expect((await post(served, legacy(1, "ping"), first)).status).toBe(200);
});
