// Every protocol, through the clients of the library: calls, streams, content, deadlines, many at once.
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import type { Submission } from "../../../src/kernel/index.ts";
import { requestFromJson } from "../../../src/wire/protobuf.ts";
import { signalOf } from "../../support/call-end.ts";
import { clientsOf, denialOf, PROTOCOLS, quickDoor, serveFront, successOf } from "../../support/front-door.ts";

const REQUEST = { requestId: "r-1", sessionToken: "t", tool: { case: "fileRead", value: { path: "a" } } } as const;
const BYTES = toBinary(ToolRequestSchema, create(ToolRequestSchema, REQUEST));

describe.each(PROTOCOLS)("%s", (protocol) => {
  test("a call reaches the door as the bytes that the client sent, and its answer comes back", async () => {
    const seen: Submission[] = [];
    const front = await serveFront(
      quickDoor({
        execute: async (submission) => {
          seen.push(submission);
          return successOf("r-1", { x: 1 });
        },
      }),
    );
    for (const where of ["unix", "tcp"] as const) {
      const answer = await clientsOf(front, protocol, where).kernel.execute(REQUEST);
      expect(answer.requestId).toBe("r-1");
      expect(answer.result.case).toBe("success");
    }
    const [first] = seen;
    if (protocol === "connect-json/1.1")
      expect(requestFromJson((first as { text: string }).text)).toEqual(create(ToolRequestSchema, REQUEST));
    else expect(first).toEqual({ kind: "wire", bytes: expect.objectContaining({ byteLength: BYTES.byteLength }) });
    expect(seen).toHaveLength(2);
    expect(front.errors).toEqual([]);
  });

  test("a denied call is an answer, not an error of the RPC", async () => {
    const front = await serveFront(quickDoor({ execute: async () => denialOf("session_expired") }));
    const { result } = await clientsOf(front, protocol).kernel.execute(REQUEST);
    expect(result).toMatchObject({
      case: "denied",
      value: { rationaleCode: "SESSION_EXPIRED", ruleId: "SESSION:test" },
    });
  });

  test("a stream brings what the tool reports, then the one response", async () => {
    const front = await serveFront(
      quickDoor({
        execute: async (_, __, { listener } = {}) => {
          listener?.({ kind: "progress", completed: 1, total: 2, message: "half" });
          listener?.({ kind: "output", stream: "stdout", bytes: Buffer.from("text") });
          return successOf("r-1", {});
        },
      }),
    );
    const events = [];
    for await (const { event } of clientsOf(front, protocol).kernel.executeStream(REQUEST)) events.push(event);
    expect(events).toMatchObject([
      { case: "progress", value: { completed: 1, total: 2, message: "half" } },
      { case: "output", value: { stream: "stdout", data: new Uint8Array(Buffer.from("text")) } },
      { case: "response", value: { requestId: "r-1", result: { case: "success" } } },
    ]);
  });

  test("a deadline of the client aborts the call", async () => {
    const aborted = Promise.withResolvers<void>();
    let hasBegun = false;
    const front = await serveFront(
      quickDoor({
        execute: (_, end) =>
          new Promise((done) => {
            hasBegun = true;
            signalOf(end).addEventListener("abort", () => {
              aborted.resolve();
              done(successOf("r-1", {}));
            });
          }),
      }),
    );
    let failed: unknown;
    // on a busy machine a short one is over before the call has reached the door
    for (let timeoutMs = 50; !hasBegun; timeoutMs *= 4)
      failed = await clientsOf(front, protocol)
        .kernel.execute(REQUEST, { timeoutMs })
        .catch((error: unknown) => error);
    await aborted.promise;
    expect(failed).toMatchObject({ code: Code.DeadlineExceeded });
  });

  test.each(["execute", "executeStream"] as const)("a client that leaves aborts its call: %s", async (method) => {
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const front = await serveFront(
      quickDoor({
        execute: (_, end) =>
          new Promise((done) => {
            started.resolve();
            signalOf(end).addEventListener("abort", () => {
              aborted.resolve();
              done(successOf("r-1", {}));
            });
          }),
      }),
    );
    const leave = new AbortController();
    const { kernel } = clientsOf(front, protocol);
    const call = async () => {
      if (method === "execute") return kernel.execute(REQUEST, { signal: leave.signal });
      const events = [];
      for await (const event of kernel.executeStream(REQUEST, { signal: leave.signal })) events.push(event);
      return events;
    };
    const failed = call().catch((error: unknown) => error);
    await started.promise;
    leave.abort();
    await aborted.promise;
    expect(await failed).toMatchObject({ code: Code.Canceled });
    expect(front.errors).toEqual([]);
  });

  test("1,000 calls at once are each answered", async () => {
    const front = await serveFront(quickDoor());
    const { kernel } = clientsOf(front, protocol);
    const answers = await Promise.all(Array.from({ length: 1000 }, () => kernel.execute(REQUEST)));
    expect(answers.filter(({ result }) => result.case === "success")).toHaveLength(1000);
    expect(front.errors).toEqual([]);
  });

  test("an upload reaches the door in pieces, a download comes back whole", async () => {
    const stored: Buffer[] = [];
    const announcements: unknown[] = [];
    const content = Buffer.alloc(3_000_000, "abc");
    const front = await serveFront(
      quickDoor({
        putContent: async ({ who, announced, chunks }) => {
          announcements.push({ who, announced });
          for await (const chunk of chunks) stored.push(Buffer.from(chunk));
          return successOf("r-1", { content_hash: "ab".repeat(32), size_bytes: content.length });
        },
        getContent: async () => ({
          kind: "content",
          size: content.length,
          chunks: (async function* () {
            yield content;
          })(),
        }),
      }),
    );
    const { kernel } = clientsOf(front, protocol);
    const headers = { authorization: "Bearer ses_1.x" };
    async function* parts() {
      yield { part: { case: "header", value: { requestId: "up", size: BigInt(content.length) } } } as const;
      for (let start = 0; start < content.length; start += 500_000) {
        yield { part: { case: "chunk", value: content.subarray(start, start + 500_000) } } as const;
      }
    }
    const put = await kernel.putContent(parts(), { headers });
    expect(announcements).toEqual([
      { who: { requestId: "up", sessionToken: "ses_1.x" }, announced: { size: content.length } },
    ]);
    expect(Buffer.concat(stored).equals(content)).toBe(true);
    expect(put).toMatchObject({ size: BigInt(content.length), response: { result: { case: "success" } } });
    expect(Buffer.from(put.contentHash).toString("hex")).toBe("ab".repeat(32));
    const pieces: Uint8Array[] = [];
    for await (const { part } of kernel.getContent({ contentHash: put.contentHash }, { headers })) {
      if (part.case === "chunk") pieces.push(part.value);
      else expect(part).toEqual({ case: "size", value: BigInt(content.length) });
    }
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
    expect(pieces.length).toBeGreaterThan(1);
  });

  test("whoever is not admitted gets `unauthenticated` with the refusal", async () => {
    const front = await serveFront(quickDoor());
    const { kernel } = clientsOf(front, protocol);
    const without = await kernel.listTools({}).catch((error: unknown) => error);
    expect(without).toMatchObject({ code: Code.Unauthenticated, rawMessage: expect.stringContaining("Bearer TOKEN") });
    const wrong = await kernel
      .listTools({}, { headers: { authorization: "Bearer ses_1.x" } })
      .catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(ConnectError);
    expect(wrong).toMatchObject({ code: Code.Unauthenticated, rawMessage: "the session token is not valid" });
  });
});
