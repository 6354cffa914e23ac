// Stored content against tools that make things up, agents that launder what they have seen, and arguments that cost
// time.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { SHOWN_BYTES_MAX } from "../../../src/base/limits.ts";
import { boundedChunks } from "../../../src/cas/bounded-chunks.ts";
import { createContentAccess } from "../../../src/kernel/handles/content-access.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import { type ContentAccess, contentResourceId } from "../../../src/model/work/content.ts";
import { contentBusy } from "../../../src/model/work/content-failures.ts";
import { CONTENT_STAGED_PER_SENDER_MAX } from "../../../src/stores/embedded/content/content-staging.ts";
import { type MemoryKernel, memoryKernel, testTool } from "../../support/memory-kernel.ts";
import { SOON } from "../../support/waiting.ts";

const SIGNAL = new AbortController().signal;
const LABEL = { trustLevel: "verified", dataClass: "internal", source: { origin: "test", timestamp: "" } } as const;

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Content of another user in another workspace. */
async function theirs(kernel: MemoryKernel, text: string): Promise<string> {
  const staged = await kernel.content.stage(once(text), {}, SIGNAL);
  return (
    await staged.commit({ owner: { userId: "alice", workspace: "/elsewhere" }, label: LABEL, nowMs: kernel.time.nowMs })
  ).hash;
}

const permit = (action: string) =>
  `@id("test.${action}")\n@message("m")\npermit (principal, action == Handrail::Action::"${action}", resource);\n`;

describe("a tool that reads content", () => {
  const range = { offset: 0, length: 100 };

  /** The handle of a call whose analysis named the content `own` of its caller. */
  function handleOf(kernel: MemoryKernel, own: string): ContentAccess {
    const access = {
      resource: { kind: "artifact", id: contentResourceId({ kind: "content", hash: own }) },
      effect: "read",
    };
    const { content, session } = kernel;
    const running = { accesses: [access], tool: { name: "reader" }, session, caller: { session, mark: LABEL } };
    const parts = { content, clock: systemClock };
    const rules = { judgeArtifact: () => false };
    return createContentAccess({ kernel: { parts }, running, rules, transfer: {}, signal: SIGNAL } as never);
  }

  async function places() {
    const kernel = await memoryKernel();
    const stored = (await kernel.call("put_content", { content: "my own" })).outcome;
    const own = stored.kind === "success" ? String(stored.data["content_hash"]) : "";
    const handle = handleOf(kernel, own);
    return {
      handle,
      found: await handle.find({ kind: "content", hash: own }),
      hash: await theirs(kernel, "alice's private text"),
      kernel,
      own,
    };
  }

  test("gets what it found by its name (control)", async () => {
    const { handle, found } = await places();
    expect(Buffer.from(await handle.read(found, range)).toString()).toBe("my own");
    await handle.stream(found, range);
  });

  const refused = { denial: { layer: "scope", reason: "permission_denied" } };

  test("stores nothing as what a server answered", async () => {
    const { handle } = await places();
    await expect(handle.keepAnswer(Buffer.from("image"))).rejects.toMatchObject(refused);
  });

  test("gets nothing for a description that it made up, copied or has from another call", async () => {
    const { handle, found, hash, kernel, own } = await places();
    const another = await handleOf(kernel, own).find({ kind: "content", hash: own });
    for (const made of [{ hash, sizeBytes: 20, label: LABEL }, { ...found, hash }, another]) {
      await expect(handle.read(made, range)).rejects.toMatchObject(refused);
      await expect(handle.stream(made, range)).rejects.toMatchObject(refused);
    }
  });

  test("cannot change what it found into something else", async () => {
    const { handle, found, hash } = await places();
    expect(() => Object.assign(found, { hash })).toThrow(TypeError);
    expect(Buffer.from(await handle.read(found, range)).toString()).toBe("my own");
  });

  test("is refused by the pipeline too", async () => {
    let hash = "";
    const thief = testTool(
      "thief",
      async (_args, { content }) => {
        const bytes = await content.read({ hash, sizeBytes: 20, label: LABEL }, range);
        return { kind: "data", data: { text: Buffer.from(bytes).toString() } };
      },
      { effect: "read" },
    );
    const kernel = await memoryKernel({ tools: [thief], policies: permit("thief") });
    hash = await theirs(kernel, "alice's private text");
    expect((await kernel.call("thief", { path: "a" })).outcome).toMatchObject({
      kind: "denied",
      denial: { reason: "permission_denied" },
    });
  });
});

describe("publishing after something was seen", () => {
  const seen = testTool("vault", () => ({ kind: "data", data: { text: "the secret plan" } }), {
    effect: "read",
    labels: { outputTrust: "untrusted", outputDataClass: "secret" },
  });

  test.each([
    ["nothing", false, { trustLevel: "verified", dataClass: "internal" }],
    ["a secret", true, { trustLevel: "untrusted", dataClass: "secret" }],
  ] as const)("%s: the artifact's label covers its metadata too", async (_, look, expected) => {
    const kernel = await memoryKernel({ tools: [seen], policies: permit("vault") });
    const stored = (await kernel.call("put_content", { content: "harmless" })).outcome;
    const hash = stored.kind === "success" ? String(stored.data["content_hash"]) : "";
    if (look) expect((await kernel.call("vault", { path: "a" })).outcome.kind).toBe("success");
    const wish = { artifact_id: "x", content_hash: hash, category: "c", metadata: ["k=the secret plan"] };
    expect((await kernel.call("artifact_publish", wish)).outcome.kind).toBe("success");
    const artifact = await kernel.content.findArtifact(kernel.session.serviceRoot, "x");
    expect(artifact?.label).toMatchObject(expected);
  });
});

describe("many slow uploads of one principal", () => {
  const large: Tool["execute"] = () => ({ kind: "data", data: { text: "x".repeat(200_000) } });

  test("leave room for others, and for the results of calls", async () => {
    const kernel = await memoryKernel({
      tools: [testTool("looked", large, { effect: "read" })],
      policies: permit("looked"),
    });
    const gate = new AbortController();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("x");
      await new Promise((resolve) => gate.signal.addEventListener("abort", resolve, { once: true }));
    }
    const upload = (chunks: AsyncIterable<Uint8Array>) =>
      kernel.door.putContent({ who: { requestId: "up", sessionToken: kernel.token }, announced: {}, chunks }, SIGNAL);
    const first = Array.from({ length: CONTENT_STAGED_PER_SENDER_MAX }, () => upload(slow()));
    await vi.waitFor(
      () => expect(readdirSync(join(kernel.state, "cas", "temporary"))).toHaveLength(CONTENT_STAGED_PER_SENDER_MAX),
      SOON,
    );
    expect((await upload(once("one more"))).outcome).toMatchObject({
      kind: "error",
      code: "RESOURCE_BUSY",
      retryable: true,
    });
    // Another principal, content in a call, and a result that is stored.
    await (await kernel.content.stage(once("another's"), { sender: "another" }, SIGNAL)).discard();
    expect((await kernel.call("put_content", { content: "in the call" })).outcome.kind).toBe("success");
    expect((await kernel.call("looked", { path: "a" })).outcome).toMatchObject({
      kind: "success",
      truncated: true,
    });
    gate.abort();
    for (const { outcome } of await Promise.all(first)) expect(outcome.kind).toBe("success");
    expect((await upload(once("one more"))).outcome.kind).toBe("success");
  });

  test("a result for which there is no room now may be asked for again; of an effect it is said that it stands", async () => {
    const tools = [testTool("looked", large, { effect: "read" }), testTool("did", large)];
    const kernel = await memoryKernel({ tools, policies: permit("looked") + permit("did") });
    const full = Object.assign(kernel.content, { stage: () => Promise.reject(contentBusy()) });
    expect(full).toBe(kernel.content);
    expect((await kernel.call("looked", { path: "a" })).outcome).toMatchObject({
      code: "RESOURCE_BUSY",
      retryable: true,
    });
    expect((await kernel.call("did", { path: "a" })).outcome).toMatchObject({ code: "OUTPUT_LIMIT", retryable: false });
  });

  test("a sender of many small pieces is given up once it was waited for longer than they are worth", async () => {
    async function* dripping(): AsyncGenerator<Uint8Array> {
      for (let piece = 0; piece < 1000; piece += 1) {
        yield Buffer.from("x");
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }
    const takeAll = async (bytesPerSecond: number): Promise<number> => {
      let pieces = 0;
      for await (const _ of boundedChunks(dripping(), SIGNAL, { stallMs: 500, bytesPerSecond })) pieces += 1;
      return pieces;
    };
    expect(await takeAll(1)).toBe(1000); // control: a second for each byte
    await expect(takeAll(1_000_000)).rejects.toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("too slowly"),
    });
  });
});

test("base64 that is padding for a megabyte is refused like any other that is none", async () => {
  const kernel = await memoryKernel();
  const content = `${"=".repeat(1_000_000)}x`;
  expect((await kernel.call("put_content", { content, encoding: "base64" })).outcome).toMatchObject({
    code: "CONTENT_MISMATCH",
  });
  expect((await kernel.call("put_content", { content: "eA", encoding: "base64" })).outcome.kind).toBe("success");
});

describe("answers end where they can be shown whole", () => {
  const inline = 1_048_576;

  test.each<[string, string, object]>([
    ["plain text", "line of text\n".repeat(100_000), { limit: inline }],
    ["text that is written longer", '"\\\n\u0001'.repeat(300_000), { limit: inline }],
    ["base64", "x".repeat(1_200_000), { limit: 900_000, encoding: "base64" }],
  ])("artifact_fetch of much %s", async (_, text, args) => {
    const kernel = await memoryKernel();
    const stored = (await kernel.call("put_content", { content: text })).outcome;
    const hash = stored.kind === "success" ? String(stored.data["content_hash"]) : "";
    const parts: string[] = [];
    for (let offset: unknown = 0; typeof offset === "number"; ) {
      const { outcome } = await kernel.call("artifact_fetch", { content_hash: hash, offset, ...args });
      expect(outcome).toMatchObject({ kind: "success", truncated: false, data: { content_hash: hash, offset } });
      if (outcome.kind !== "success") return;
      expect(Buffer.byteLength(JSON.stringify(outcome.data))).toBeGreaterThan(offset === 0 ? 0.95 * inline : 0);
      parts.push(Buffer.from(String(outcome.data["content"]), "encoding" in args ? "base64" : "utf8").toString());
      offset = outcome.data["next_offset"];
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join("") === text).toBe(true);
  });

  test.each([
    ["plain", "call(argument_one, argument_two) // e"],
    ["written longer", '"\\\t"\\\t"\\\t" e'],
  ])("search_file and count_matches of many lines, %s", async (_, line) => {
    const kernel = await memoryKernel();
    for (let file = 0; file < 20; file += 1) writeFileSync(join(kernel.root, `f${file}.txt`), `${line}\n`.repeat(200));
    const { outcome } = await kernel.call("search_file", { path: ".", regex: "e", context: 5, max_results: 1000 });
    expect(outcome).toMatchObject({ kind: "success", data: { truncated: true } });
    if (outcome.kind !== "success") return;
    expect(outcome.data["results"]).toBeInstanceOf(Array);
    const bytes = Buffer.byteLength(JSON.stringify(outcome.data));
    expect([bytes > 90_000, bytes <= SHOWN_BYTES_MAX]).toEqual([true, true]);
  });
});
