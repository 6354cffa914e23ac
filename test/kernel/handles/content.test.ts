/** Large results, uploads, artifacts: through the pipeline, over real files. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { utf8 } from "../../../src/base/bytes.ts";
import { blake3Digest, blake3Hex } from "../../../src/base/hash.ts";
import { ARTIFACTS_PAGE_MAX, INLINE_RESULT_BYTES_MAX, SHOWN_BYTES_MAX } from "../../../src/base/limits.ts";
import { type ToolRequest, ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import type { CallResponse } from "../../../src/model/tool/call.ts";
import { decodeResponse, encodeRequest } from "../../../src/wire/protobuf.ts";
import { type MemoryKernel, memoryKernel, testTool } from "../../support/memory-kernel.ts";

const SIGNAL = new AbortController().signal;

async function* pieces(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? utf8(chunk) : chunk;
}

function dataOf(response: CallResponse): Readonly<Record<string, unknown>> {
  if (response.outcome.kind !== "success") throw new Error(JSON.stringify(response.outcome));
  return response.outcome.data;
}

async function fetched(
  kernel: MemoryKernel,
  hash: string,
  range: { offset?: number; limit?: number } = {},
): Promise<Buffer> {
  const request = { requestId: "fetch", sessionToken: kernel.token, hash: Buffer.from(hash, "hex"), ...range };
  const answer = await kernel.door.getContent(request, SIGNAL);
  if (answer.kind === "refused") throw new Error(JSON.stringify(answer.response.outcome));
  const parts: Uint8Array[] = [];
  for await (const chunk of answer.chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

const put = (kernel: MemoryKernel, text: string, announced: { hash?: Uint8Array; size?: number } = {}) =>
  kernel.door.putContent(
    { who: { requestId: "put", sessionToken: kernel.token }, announced, chunks: pieces(text) },
    SIGNAL,
  );

async function overWire(kernel: MemoryKernel, tool: ToolRequest["tool"]) {
  const request = encodeRequest(create(ToolRequestSchema, { requestId: "w", sessionToken: kernel.token, tool }));
  const { result } = decodeResponse(await kernel.door.executeBytes(request, SIGNAL));
  if (result.case !== "success")
    throw new Error(JSON.stringify(result.value, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
  return result.value;
}

/** Files below the state directory's content that are neither complete objects nor directories. */
function leftovers(kernel: MemoryKernel): string[] {
  return readdirSync(join(kernel.state, "cas", "temporary"));
}

describe("CTR-0018: prompts, and everything else, can be stored first and named by hash", () => {
  test("an upload is stored verbatim under its BLAKE3-256, and comes back whole and in parts", async () => {
    const kernel = await memoryKernel();
    const bytes = Buffer.alloc(3 * 1024 * 1024 + 17, "0123456789abcdef\n");
    const response = await kernel.door.putContent(
      {
        who: { requestId: "up", sessionToken: kernel.token },
        announced: { hash: blake3Digest(bytes), size: bytes.byteLength },
        chunks: pieces(bytes.subarray(0, 10), bytes.subarray(10, 2_000_000), bytes.subarray(2_000_000)),
      },
      SIGNAL,
    );
    const hash = blake3Hex(bytes);
    expect(dataOf(response)).toEqual({ content_hash: hash, size_bytes: bytes.byteLength });
    expect(
      createHash("sha256")
        .update(await fetched(kernel, hash))
        .digest("hex"),
    ).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(
      (await fetched(kernel, hash, { offset: 1_048_570, limit: 12 })).equals(bytes.subarray(1_048_570, 1_048_582)),
    ).toBe(true);
    expect((await fetched(kernel, hash, { offset: bytes.byteLength - 3 })).equals(bytes.subarray(-3))).toBe(true);
    expect((await fetched(kernel, hash, { offset: bytes.byteLength })).byteLength).toBe(0);
    expect(leftovers(kernel)).toEqual([]);
  });

  test("text in the call is stored too, and the intent precedes it", async () => {
    const kernel = await memoryKernel();
    const hash = blake3Hex("a prompt");
    expect(dataOf(await kernel.call("put_content", { content: "a prompt" }))).toEqual({
      content_hash: hash,
      size_bytes: 8,
    });
    expect(kernel.ledger.events.map(({ type, durability }) => [type, durability])).toEqual([
      ["tool_selected", "durable"],
      ["tool_executed", "durable"],
    ]);
    expect(dataOf(await kernel.call("artifact_fetch", { content_hash: hash }))).toMatchObject({
      content: "a prompt",
      size_bytes: 8,
    });
  });

  test("no bytes at all are content as well", async () => {
    const kernel = await memoryKernel();
    const hash = blake3Hex("");
    expect(dataOf(await kernel.call("put_content", { content: "" }))).toEqual({ content_hash: hash, size_bytes: 0 });
    expect((await fetched(kernel, hash)).byteLength).toBe(0);
    expect(dataOf(await kernel.call("artifact_fetch", { content_hash: hash }))).toMatchObject({
      content: "",
      size_bytes: 0,
    });
  });
});

describe("what is stored is what was announced, or nothing", () => {
  test.each([
    ["another hash", { hash: blake3Digest("other") }, "CONTENT_MISMATCH"],
    ["more bytes", { size: 9 }, "CONTENT_MISMATCH"],
    ["fewer bytes", { size: 7 }, "CONTENT_MISMATCH"],
    ["more bytes than an object may have", { size: 2 ** 30 + 1 }, "TOOL_INPUT_INVALID"],
  ])("%s", async (_, announced, code) => {
    const kernel = await memoryKernel();
    const { outcome } = await put(kernel, "12345678", announced);
    expect(
      outcome.kind === "error"
        ? outcome.code
        : outcome.kind === "denied"
          ? outcome.denial.reason.toUpperCase()
          : "stored",
    ).toBe(code);
    const again = await kernel.call("artifact_fetch", { content_hash: blake3Hex("12345678") });
    expect(again.outcome).toMatchObject({ kind: "error", code: "CONTENT_NOT_FOUND" });
  });

  test("a hash of the wrong length is refused before anything is read", async () => {
    const kernel = await memoryKernel();
    expect((await put(kernel, "x", { hash: new Uint8Array(31) })).outcome).toMatchObject({
      kind: "denied",
      denial: { reason: "tool_input_invalid" },
    });
  });

  test("an upload that breaks off leaves nothing, and is recorded", async () => {
    const kernel = await memoryKernel();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(2_000_000);
      throw new Error("the peer went away");
    }
    const response = await kernel.door.putContent(
      { who: { requestId: "cut", sessionToken: kernel.token }, announced: {}, chunks: broken() },
      SIGNAL,
    );
    expect(response.outcome).toMatchObject({
      kind: "denied",
      denial: { layer: "call", reason: "tool_input_read_failed" },
    });
    expect(leftovers(kernel)).toEqual([]);
    expect(kernel.ledger.events.at(-1)).toMatchObject({
      type: "tool_execution_denied",
      payload: { tool: "put_content", reason: "tool_input_read_failed" },
    });
  });

  test("a cancelled upload leaves nothing, even when its sender never speaks again", async () => {
    const kernel = await memoryKernel();
    const abort = new AbortController();
    async function* silent(): AsyncGenerator<Uint8Array> {
      yield utf8("begin");
      abort.abort();
      await new Promise(() => undefined);
    }
    const response = await kernel.door.putContent(
      { who: { requestId: "silent", sessionToken: kernel.token }, announced: {}, chunks: silent() },
      abort.signal,
    );
    expect(response.outcome).toMatchObject({ kind: "error", code: "CANCELLED" });
    expect(leftovers(kernel)).toEqual([]);
  });
});

describe("PutContent keeps bytes verbatim or refuses them", () => {
  test("the session's own token is found wherever the upload is cut", async () => {
    const kernel = await memoryKernel();
    const { token } = kernel;
    for (const cut of [1, token.length - 1, token.length]) {
      const upload = pieces(`before ${token.slice(0, cut)}`, token.slice(cut), " after");
      const response = await kernel.door.putContent(
        { who: { requestId: `cut-${cut}`, sessionToken: token }, announced: {}, chunks: upload },
        SIGNAL,
      );
      expect(response.outcome).toMatchObject({
        kind: "denied",
        denial: { layer: "flow", reason: "flow_secret_content" },
      });
    }
    expect((await kernel.call("put_content", { content: `x${token}` })).outcome).toMatchObject({
      kind: "denied",
      denial: { reason: "flow_secret_content" },
    });
    expect(leftovers(kernel)).toEqual([]);
    expect(JSON.stringify(kernel.ledger.events)).not.toContain(token);
  });

  test("control: all but the last character of the token is no secret", async () => {
    const kernel = await memoryKernel();
    const text = kernel.token.slice(0, -1);
    expect(dataOf(await put(kernel, text))).toEqual({ content_hash: blake3Hex(text), size_bytes: text.length });
  });
});

describe("who may not store sends nothing", () => {
  const neverRead = (read: { count: number }): AsyncIterable<Uint8Array> => ({
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        read.count += 1;
        return { done: true, value: undefined };
      },
    }),
  });

  test.each([
    ["without a session", {}, "wrong", "session_invalid"],
    ["under the preset reader", { preset: "reader" }, undefined, "put_content_denied"],
    ["with a lease that does not cover the tool", { scope: { tools: [["read_file"]] } }, undefined, "lease_scope"],
    ["while tools are switched off", { settings: { toolsEnabled: false } }, undefined, "tools_disabled"],
  ])("%s", async (_, options, token, reason) => {
    const kernel = await memoryKernel(options);
    const read = { count: 0 };
    const who = { requestId: "no", sessionToken: token ?? kernel.token };
    const { outcome } = await kernel.door.putContent({ who, announced: {}, chunks: neverRead(read) }, SIGNAL);
    expect(outcome).toMatchObject({ kind: "denied", denial: { reason } });
    expect(read.count).toBe(0);
    expect(kernel.ledger.of("tool_execution_denied")).toHaveLength(1);
  });
});

describe("artifacts", () => {
  const publish = (kernel: MemoryKernel, id: string, hash: string, more: object = {}) =>
    kernel.call("artifact_publish", {
      artifact_id: id,
      content_hash: hash,
      category: "test_results",
      metadata: ["format=junit"],
      ...more,
    });

  test("CTR-0020: content that was not stored cannot be published", async () => {
    const kernel = await memoryKernel();
    expect((await publish(kernel, "report", blake3Hex("missing"))).outcome).toMatchObject({
      kind: "error",
      code: "CONTENT_NOT_FOUND",
    });
    await put(kernel, "present");
    expect(dataOf(await publish(kernel, "report", blake3Hex("present")))).toEqual({
      artifact_id: "report",
      content_hash: blake3Hex("present"),
      size_bytes: 7,
      category: "test_results",
      metadata: ["format=junit"],
      published_at: "2026-01-01T00:00:00.000Z",
    });
  });

  test("CTR-0021: a published artifact never changes; publishing the same again is no error", async () => {
    const kernel = await memoryKernel();
    await put(kernel, "one");
    await put(kernel, "two");
    await publish(kernel, "report", blake3Hex("one"));
    kernel.time.nowMs += 1000;
    expect(
      dataOf(await publish(kernel, "report", blake3Hex("one"), { category: "other", metadata: [] })),
    ).toMatchObject({
      category: "test_results",
      published_at: "2026-01-01T00:00:00.000Z",
    });
    expect((await publish(kernel, "report", blake3Hex("two"))).outcome).toMatchObject({
      kind: "error",
      code: "ARTIFACT_EXISTS",
      retryable: false,
    });
    expect(dataOf(await kernel.call("artifact_fetch", { artifact_id: "report" }))).toMatchObject({
      artifact_id: "report",
      content: "one",
      category: "test_results",
      metadata: ["format=junit"],
    });
  });

  test("concurrent publications of one id end with one content", async () => {
    const kernel = await memoryKernel();
    const texts = Array.from({ length: 16 }, (_, index) => `content ${index}`);
    for (const text of texts) await put(kernel, text);
    const outcomes = await Promise.all(
      texts.map(async (text) => (await publish(kernel, "race", blake3Hex(text))).outcome.kind),
    );
    expect(outcomes.filter((kind) => kind === "success")).toHaveLength(1);
  });

  test("APM2's variant publishes what its hash names", async () => {
    const kernel = await memoryKernel();
    await put(kernel, "junit");
    const value = { artifactId: "a", contentHash: blake3Digest("junit"), category: "c", metadata: ["k=v"] };
    const { inlineResult } = await overWire(kernel, { case: "artifactPublish", value } as ToolRequest["tool"]);
    expect(JSON.parse(Buffer.from(inlineResult).toString())).toMatchObject({
      status: "success",
      data: { content_hash: blake3Hex("junit") },
    });
  });

  test("an id that looks like a hash is refused, because it would name content", async () => {
    const kernel = await memoryKernel();
    await put(kernel, "x");
    expect((await publish(kernel, `blake3:${blake3Hex("x")}`, blake3Hex("x"))).outcome).toMatchObject({
      denial: { reason: "tool_input_invalid", violations: [{ field: "artifact_id", rule: "format" }] },
    });
  });

  test("a lease that lists artifacts covers no other one, by name or by hash", async () => {
    const kernel = await memoryKernel({ scope: { artifacts: [["allowed"]] } });
    const label = { trustLevel: "verified", dataClass: "internal", source: { origin: "test", timestamp: "" } } as const;
    const other = { userId: "somebody else", workspace: kernel.session.serviceRoot };
    for (const id of ["allowed", "withheld"]) {
      const staged = await kernel.content.stage(pieces(id), {}, SIGNAL);
      const { hash } = await staged.commit({ owner: other, label, nowMs: kernel.time.nowMs });
      const publisher = { ...other, agentId: "a", sessionId: "s", label, nowMs: kernel.time.nowMs };
      await kernel.content.publish({ id, contentHash: hash, category: "c", metadata: [] }, publisher);
    }
    expect(dataOf(await kernel.call("artifact_fetch", { artifact_id: "allowed" }))).toMatchObject({
      content: "allowed",
    });
    expect(dataOf(await kernel.call("artifact_fetch", { content_hash: blake3Hex("allowed") }))).toMatchObject({
      content: "allowed",
    });
    expect((await kernel.call("artifact_fetch", { artifact_id: "withheld" })).outcome).toMatchObject({
      denial: { reason: "lease_scope" },
    });
    expect((await kernel.call("artifact_fetch", { content_hash: blake3Hex("withheld") })).outcome).toMatchObject({
      kind: "error",
      code: "CONTENT_NOT_FOUND",
    });
  });

  test.each([
    ["the last of very many may be read", ["zz"], "success"],
    ["none of very many may be read", ["elsewhere"], "error"],
  ])("content is found by its hash through any artifact: %s", async (_, artifacts, end) => {
    const kernel = await memoryKernel({ scope: { artifacts: [artifacts] } });
    const label = { trustLevel: "verified", dataClass: "internal", source: { origin: "test", timestamp: "" } } as const;
    const other = { userId: "somebody else", workspace: kernel.session.serviceRoot };
    const staged = await kernel.content.stage(pieces("shared"), {}, SIGNAL);
    const { hash } = await staged.commit({ owner: other, label, nowMs: kernel.time.nowMs });
    const publisher = { ...other, agentId: "a", sessionId: "s", label, nowMs: kernel.time.nowMs };
    for (const id of [...Array.from({ length: 2 * ARTIFACTS_PAGE_MAX }, (_, index) => `a${index}`), "zz"])
      await kernel.content.publish({ id, contentHash: hash, category: "c", metadata: [] }, publisher);
    const { outcome } = await kernel.call("artifact_fetch", { content_hash: hash });
    expect(outcome.kind).toBe(end);
    if (outcome.kind === "success") expect(outcome.data).toMatchObject({ artifact_id: "zz", content: "shared" });
    if (outcome.kind === "error") expect(outcome.code).toBe("CONTENT_NOT_FOUND");
  });

  test("what another workspace or user stored is answered exactly as what does not exist", async () => {
    const kernel = await memoryKernel();
    const label = { trustLevel: "verified", dataClass: "internal", source: { origin: "test", timestamp: "" } } as const;
    const owners = [
      { userId: kernel.session.userId, workspace: "/another/workspace" },
      { userId: "somebody else", workspace: kernel.session.serviceRoot },
    ];
    for (const [index, owner] of owners.entries()) {
      const staged = await kernel.content.stage(pieces(`theirs ${index}`), {}, SIGNAL);
      await staged.commit({ owner, label, nowMs: kernel.time.nowMs });
    }
    const elsewhere = owners[0] ?? { userId: "", workspace: "" };
    const publisher = { ...elsewhere, agentId: "a", sessionId: "s", label, nowMs: kernel.time.nowMs };
    await kernel.content.publish(
      { id: "theirs", contentHash: blake3Hex("theirs 0"), category: "c", metadata: [] },
      publisher,
    );

    const answer = async (args: object, tool = "artifact_fetch") => (await kernel.call(tool, args as never)).outcome;
    const without = (text: string, outcome: unknown) => JSON.stringify(outcome).replaceAll(text, "NAME");
    const missing = blake3Hex("never stored");
    for (const hash of [blake3Hex("theirs 0"), blake3Hex("theirs 1")]) {
      expect(without(hash, await answer({ content_hash: hash }))).toBe(
        without(missing, await answer({ content_hash: missing })),
      );
      const wish = (content_hash: string) => ({ artifact_id: "mine", content_hash, category: "c" });
      expect(without(hash, await answer(wish(hash), "artifact_publish"))).toBe(
        without(missing, await answer(wish(missing), "artifact_publish")),
      );
    }
    expect(without("theirs", await answer({ artifact_id: "theirs" }))).toBe(
      without("nobodys", await answer({ artifact_id: "nobodys" })),
    );
    // The id is free here, although another workspace gave it, and what is stored there can be stored here.
    expect(dataOf(await put(kernel, "theirs 0"))).toEqual({ content_hash: blake3Hex("theirs 0"), size_bytes: 8 });
    expect(dataOf(await publish(kernel, "theirs", blake3Hex("theirs 0")))).toMatchObject({ artifact_id: "theirs" });
  });
});

describe("CTR-0024 and CTR-0025: large results are stored, small ones are inline", () => {
  test("FileRead of exactly 1 MiB is inline, one byte more is answered with its hash", async () => {
    const kernel = await memoryKernel();
    writeFileSync(join(kernel.root, "big"), "");
    truncateSync(join(kernel.root, "big"), INLINE_RESULT_BYTES_MAX);
    const inline = await overWire(kernel, { case: "fileRead", value: { path: "big" } } as ToolRequest["tool"]);
    expect([inline.inlineResult.byteLength, inline.resultHash.byteLength]).toEqual([INLINE_RESULT_BYTES_MAX, 0]);

    truncateSync(join(kernel.root, "big"), INLINE_RESULT_BYTES_MAX + 1);
    const stored = await overWire(kernel, { case: "fileRead", value: { path: "big" } } as ToolRequest["tool"]);
    const bytes = Buffer.alloc(INLINE_RESULT_BYTES_MAX + 1);
    expect([Buffer.from(stored.resultHash).toString("hex"), stored.inlineResult.byteLength, stored.truncated]).toEqual([
      blake3Hex(bytes),
      0,
      false,
    ]);
    expect((await fetched(kernel, blake3Hex(bytes))).equals(bytes)).toBe(true);
    expect(kernel.ledger.of("tool_executed").at(-2)).toMatchObject({
      payload: { tool: "read_file", resultHash: blake3Hex(bytes), outputBytes: bytes.byteLength },
    });
  });

  test("a large file is redacted before it is hashed and stored", async () => {
    const kernel = await memoryKernel();
    const secretAt = 1024 * 1024 - 5; // across the border of two pieces
    const file = Buffer.alloc(3 * 1024 * 1024, "x");
    file.write(kernel.token, secretAt);
    writeFileSync(join(kernel.root, "big"), file);
    const stored = await overWire(kernel, { case: "fileRead", value: { path: "big" } } as ToolRequest["tool"]);
    const bytes = await fetched(kernel, Buffer.from(stored.resultHash).toString("hex"));
    expect(bytes.includes(kernel.token)).toBe(false);
    expect(bytes.subarray(secretAt, secretAt + 24).toString()).toBe("[REDACTED:session-token]");
    expect(stored.label?.dataClass).toBe("secret");
    expect(dataOf(await kernel.call("artifact_fetch", { content_hash: blake3Hex(bytes), limit: 1 }))).toMatchObject({
      content: "x",
    });
    expect(kernel.ledger.of("secret_redacted")).toHaveLength(1);
  });

  const sized = (bytes: number) =>
    testTool("sized", () => ({ kind: "data", data: { text: "x".repeat(bytes - '{"text":""}'.length) } }));

  test("text of exactly 100 KB is shown whole, one byte more is cut with a way to the rest", async () => {
    const whole = await memoryKernel({ tools: [sized(SHOWN_BYTES_MAX)] });
    const { outcome } = await whole.call("sized", { path: "a" });
    expect(outcome).toMatchObject({ kind: "success", truncated: false, data: { text: expect.stringMatching(/^x+$/) } });

    const kernel = await memoryKernel({ tools: [sized(SHOWN_BYTES_MAX + 1)] });
    const cut = await kernel.call("sized", { path: "a" });
    const text = `{"text":"${"x".repeat(SHOWN_BYTES_MAX + 1 - 11)}"}`;
    const hash = blake3Hex(text);
    const { preview, ...rest } = dataOf(cut);
    if (typeof preview !== "string") throw new Error("there is no preview");
    expect(cut.outcome).toMatchObject({ truncated: true, stored: { hash, sizeBytes: SHOWN_BYTES_MAX + 1 } });
    expect(text.startsWith(preview)).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(preview))).toBeLessThanOrEqual(SHOWN_BYTES_MAX);
    expect(rest).toEqual({
      content_hash: hash,
      size: SHOWN_BYTES_MAX + 1,
      rest: {
        tool: "artifact_fetch",
        arguments: { content_hash: hash, offset: preview.length, limit: SHOWN_BYTES_MAX },
      },
    });
    expect(kernel.ledger.events.at(-1)).toMatchObject({ payload: { resultHash: hash, truncated: true } });
    expect((await fetched(kernel, hash)).toString()).toBe(text);
  });

  test("the way to the rest leads to the rest, piece by piece, without splitting a character", async () => {
    const text = "äöü€😀".repeat(60_000);
    const kernel = await memoryKernel({ tools: [testTool("wide", () => ({ kind: "data", data: { text } }))] });
    const { preview, rest } = dataOf(await kernel.call("wide", { path: "a" })) as {
      preview: string;
      rest: { tool: string; arguments: object };
    };
    let whole = preview;
    let next: object | undefined = rest.arguments;
    for (let part = 0; next && part < 100; part += 1) {
      const data = dataOf(await kernel.call(rest.tool, next as never)) as { content: string; next_offset?: number };
      whole += data.content;
      next = data.next_offset === undefined ? undefined : { ...rest.arguments, offset: data.next_offset };
    }
    expect(JSON.parse(whole)).toEqual({ text });
  });

  test("on the wire a result of more than 1 MiB is answered with its hash alone", async () => {
    const kernel = await memoryKernel({
      tools: [
        sized(INLINE_RESULT_BYTES_MAX + 1),
        testTool("cut", () => ({ kind: "data", data: { text: "y".repeat(200_000) } })),
      ],
    });
    const args = utf8(JSON.stringify({ path: "a" }));
    const large = await overWire(kernel, {
      case: "call",
      value: { name: "sized", argumentsJson: args },
    } as ToolRequest["tool"]);
    expect([large.resultHash.byteLength, large.inlineResult.byteLength, large.truncated]).toEqual([32, 0, true]);
    const cut = await overWire(kernel, {
      case: "call",
      value: { name: "cut", argumentsJson: args },
    } as ToolRequest["tool"]);
    expect([cut.resultHash.byteLength, cut.truncated]).toEqual([32, true]);
    expect(JSON.parse(Buffer.from(cut.inlineResult).toString())).toMatchObject({
      status: "success",
      data: { content_hash: Buffer.from(cut.resultHash).toString("hex") },
      metadata: { truncated: true },
    });
  });

  test("many values without text count as well as they are printed", async () => {
    const data = { list: Array.from({ length: 40_000 }, () => ({})) };
    const { call } = await memoryKernel({ tools: [testTool("hollow", () => ({ kind: "data", data }))] });
    expect((await call("hollow", { path: "a" })).outcome).toMatchObject({
      truncated: true,
      data: { size: 40_000 * 3 + 10 },
    });
  });

  test("read_file shows as much as the caller asked for, beyond 100 KB too", async () => {
    const kernel = await memoryKernel();
    writeFileSync(join(kernel.root, "text"), "line\n".repeat(60_000));
    expect(dataOf(await kernel.call("read_file", { path: "text", max_bytes: 300_000 }))).toMatchObject({
      bytes: 300_000,
    });
  });

  test("a result that cannot be stored is an error; of an effect it says that the effect stands", async () => {
    const kernel = await memoryKernel({
      tools: [
        sized(SHOWN_BYTES_MAX + 1),
        testTool("looked", () => ({ kind: "data", data: { text: "x".repeat(200_000) } }), { effect: "read" }),
      ],
    });
    writeFileSync(join(kernel.root, "..", "state"), "not a directory");
    for (const [tool, told] of [
      ["sized", "the call took effect, but its result"],
      ["looked", "its result"],
    ] as const) {
      const { outcome } = await kernel.call(tool, { path: "a" });
      expect(outcome).toMatchObject({ kind: "error", code: "OUTPUT_LIMIT", retryable: false });
      expect(outcome.kind === "error" && outcome.message.startsWith(told)).toBe(true);
    }
    expect(kernel.internalErrors).toHaveLength(2);
  });
});

describe("content that was altered on disk", () => {
  test("is never handed out, is put aside, and is whole again once it was stored again", async () => {
    const kernel = await memoryKernel();
    await put(kernel, "the truth");
    const hash = blake3Hex("the truth");
    const path = join(kernel.state, "cas", hash.slice(0, 2), hash.slice(2, 4), hash);
    expect(readFileSync(path, "utf8")).toBe("the truth");
    const { chmodSync } = await import("node:fs");
    chmodSync(path, 0o600);
    writeFileSync(path, "a false t");
    expect((await kernel.call("artifact_fetch", { content_hash: hash })).outcome).toMatchObject({
      kind: "error",
      code: "CONTENT_CORRUPT",
    });
    await expect(fetched(kernel, hash)).rejects.toMatchObject({ code: "CONTENT_CORRUPT" });
    expect(kernel.corrupt).toEqual([hash]);
    expect(readdirSync(join(kernel.state, "cas", "quarantine"))).toEqual([expect.stringMatching(`^${hash}\\.`)]);
    await put(kernel, "the truth");
    expect((await fetched(kernel, hash)).toString()).toBe("the truth");
  });
});

describe("arguments that do not fit", () => {
  const hash = blake3Hex("x");
  test.each<[string, object, object]>([
    ["artifact_publish", { artifact_id: "a", category: "c" }, { field: "content_hash", rule: "required" }],
    [
      "artifact_publish",
      { artifact_id: "a", category: "c", content_hash: hash.slice(1) },
      { field: "content_hash", rule: "hash_size" },
    ],
    [
      "artifact_publish",
      { artifact_id: "", category: "c", content_hash: hash },
      { field: "artifact_id", rule: "required" },
    ],
    [
      "artifact_publish",
      { artifact_id: "a".repeat(257), category: "c", content_hash: hash },
      { field: "artifact_id", rule: "max_length" },
    ],
    [
      "artifact_publish",
      { artifact_id: "a", category: "c", content_hash: hash, metadata: ["a=b=c"] },
      { field: "metadata[0]", rule: "format" },
    ],
    [
      "artifact_publish",
      { artifact_id: "a", category: "c", content_hash: hash, metadata: Array(1001).fill("a=b") },
      { field: "metadata", rule: "max_items" },
    ],
    ["artifact_fetch", {}, { field: "", rule: "mutually_exclusive" }],
    ["artifact_fetch", { artifact_id: "a", content_hash: hash }, { field: "", rule: "mutually_exclusive" }],
    ["artifact_fetch", { content_hash: hash, offset: -1 }, { field: "offset", rule: "min_value" }],
    ["put_content", { content: "x", hash }, { field: "hash", rule: "unknown_property" }],
  ])("%s %j", async (tool, args, violation) => {
    const kernel = await memoryKernel();
    expect((await kernel.call(tool, args as never)).outcome).toMatchObject({
      kind: "denied",
      denial: { reason: "tool_input_invalid", violations: [violation] },
    });
  });

  test("content in the call is checked against what it announces, and base64 must be base64", async () => {
    const kernel = await memoryKernel();
    for (const args of [{ content_hash: hash }, { size_bytes: 4 }, { encoding: "base64" }]) {
      expect((await kernel.call("put_content", { content: "no!", ...args })).outcome).toMatchObject({
        kind: "error",
        code: "CONTENT_MISMATCH",
      });
    }
    expect(
      dataOf(
        await kernel.call("put_content", {
          content: "eA==",
          encoding: "base64",
          content_hash: hash.toUpperCase(),
          size_bytes: 1,
        }),
      ),
    ).toEqual({
      content_hash: hash,
      size_bytes: 1,
    });
    expect((await kernel.call("put_content", {})).outcome).toMatchObject({ kind: "error", code: "NOT_SUPPORTED" });
  });

  test("bytes that are no text are fetched as base64, and refused as text", async () => {
    const kernel = await memoryKernel();
    const { content_hash } = dataOf(await kernel.call("put_content", { content: "/wD+", encoding: "base64" }));
    expect((await kernel.call("artifact_fetch", { content_hash } as never)).outcome).toMatchObject({
      kind: "error",
      code: "BINARY_FILE",
    });
    expect(
      dataOf(await kernel.call("artifact_fetch", { content_hash, encoding: "base64", offset: 1 } as never)),
    ).toMatchObject({
      content: "AP4=",
      offset: 1,
      bytes: 2,
    });
  });

  test("the schemas that clients are shown say what is required, and what a cut result looks like", async () => {
    const { door } = await memoryKernel();
    const shown = door.tools().find(({ name }) => name === "artifact_publish");
    expect(shown?.inputSchema).toMatchObject({ required: ["artifact_id", "content_hash", "category"] });
    expect(shown?.outputSchema).toMatchObject({
      anyOf: [{ required: expect.arrayContaining(["artifact_id"]) }, { required: expect.arrayContaining(["rest"]) }],
    });
  });
});
