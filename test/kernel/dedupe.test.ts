/**
 * Replay protection through the whole pipeline (CTR-0003): at most one execution, and one answer for all who ask with
 * the same key.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { DEDUPE_KEPT_MS } from "../../src/dedupe/dedupe.ts";
import { DEDUPE_WAITERS_MAX } from "../../src/dedupe/flights.ts";
import { type FailureDetails, Refusal, ToolFailure } from "../../src/model/outcome/failure.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import type { Tool, ToolContext } from "../../src/model/tool/tool.ts";
import { editTools } from "../../src/tools/edit/edit-tools.ts";
import { fileTools } from "../../src/tools/file/file-tools.ts";
import { toToolResult } from "../../src/wire/index.ts";
import { encodeResponse, toWireResponse } from "../../src/wire/protobuf.ts";
import { engineOf, memoryKernel, START_MS, testTool } from "../support/memory-kernel.ts";

/** A tool whose runs the test holds open: each run waits for `finish`. */
function heldTool(effect: "read" | "write" = "write") {
  const runs: PromiseWithResolvers<void>[] = [];
  const started: PromiseWithResolvers<void>[] = [Promise.withResolvers()];
  const execute: Tool["execute"] = async () => {
    const run = Promise.withResolvers<void>();
    const number = runs.push(run);
    started[number] = Promise.withResolvers();
    started[number - 1]?.resolve();
    await run.promise;
    return { kind: "data", data: { run: number } };
  };
  return {
    tool: testTool("held", execute, { effect }),
    runs,
    started: async (run: number) => started[run - 1]?.promise,
  };
}

const settled = () => new Promise((done) => setTimeout(done, 5));
const once = { dedupeKey: "once" };
const bytesOf = ({ requestId: _, ...rest }: CallResponse): string => {
  const response = { ...rest, requestId: "same" };
  return JSON.stringify(toToolResult(response)) + Buffer.from(encodeResponse(toWireResponse(response))).toString("hex");
};

describe("CTR-0003: the same key and the same call in one session", () => {
  test("gets the first answer byte for byte under its own request id, and nothing is executed again", async () => {
    const { call, textOf, ledger } = await memoryKernel();
    const args = { path: "a.txt", content: "x", append: true };
    const first = await call("write_file", args, { ...once, requestId: "first" });
    const second = await call("write_file", args, { ...once, requestId: "second" });
    expect(first.outcome.kind).toBe("success");
    expect([first.requestId, second.requestId]).toEqual(["first", "second"]);
    expect(bytesOf(second)).toBe(bytesOf(first));
    expect(textOf("a.txt")).toBe("x");
    expect(ledger.types()).toEqual(["tool_selected", "tool_executed", "tool_replayed"]);
    const [replay] = ledger.of("tool_replayed");
    expect(replay).toMatchObject({
      requestId: "second",
      payload: { tool: "write_file", success: true, firstRequestId: "first" },
    });
    expect(replay?.payload["firstSequence"]).toBe(first.ledgerSequence);
  });

  test("control: without a key the call is executed each time", async () => {
    const { call, textOf } = await memoryKernel();
    const args = { path: "a.txt", content: "x", append: true };
    await Promise.all([call("write_file", args), call("write_file", args)]);
    expect(textOf("a.txt")).toBe("xx");
  });

  test("raw bytes are replayed as raw bytes", async () => {
    const bytes = Buffer.from([0, 255, 10, 13]);
    let runs = 0;
    const execute = () => {
      runs += 1;
      return { kind: "bytes", bytes } as const;
    };
    const { call } = await memoryKernel({ tools: [testTool("raw", execute, { effect: "read" })] });
    const first = await call("raw", { path: "a" }, once);
    const second = await call("raw", { path: "a" }, once);
    expect([bytesOf(second), runs]).toEqual([bytesOf(first), 1]);
    expect(second.outcome).toMatchObject({ bytes });
  });

  test("members in another order are the same call; another argument, tool or key is not", async () => {
    const { call } = await memoryKernel();
    const first = await call("write_file", { path: "a.txt", content: "x" }, once);
    expect(bytesOf(await call("write_file", { content: "x", path: "a.txt" }, once))).toBe(bytesOf(first));
    const conflict = { kind: "error", code: "DEDUPE_CONFLICT", retryable: false };
    expect((await call("write_file", { path: "a.txt", content: "y" }, once)).outcome).toMatchObject(conflict);
    expect((await call("read_file", { path: "a.txt" }, once)).outcome).toMatchObject(conflict);
    expect((await call("read_file", { path: "a.txt" }, { dedupeKey: "other" })).outcome.kind).toBe("success");
  });

  test("a key under way is taken too", async () => {
    const { tool, runs, started } = heldTool();
    const { call } = await memoryKernel({ tools: [tool] });
    const first = call("held", { path: "a" }, once);
    await started(1);
    expect((await call("held", { path: "b" }, once)).outcome).toMatchObject({ code: "DEDUPE_CONFLICT" });
    runs[0]?.resolve();
    expect((await first).outcome.kind).toBe("success");
  });

  test("another session may use the same key for another call", async () => {
    const { call, sessions, session } = await memoryKernel();
    await call("write_file", { path: "a.txt", content: "x" }, once);
    const { mintSession } = await import("../../src/session/session.ts");
    const wanted = { ...session, lifetimeMs: 3_600_000 };
    const { token } = await mintSession(sessions, wanted, {
      nowMs: START_MS,
      random: (count) => new Uint8Array(count).fill(3),
    });
    expect((await call("write_file", { path: "b.txt", content: "y" }, { ...once, token })).outcome.kind).toBe(
      "success",
    );
  });

  test("10,000 at once: one execution, 10,000 equal answers, each under its own request id", async () => {
    const { tool, runs, started } = heldTool();
    const { call } = await memoryKernel({ tools: [tool] });
    const calls = Array.from({ length: 10_000 }, () => call("held", { path: "a" }, once));
    await started(1);
    runs[0]?.resolve();
    const answers = await Promise.all(calls);
    expect(runs).toHaveLength(1);
    expect(new Set(answers.map(bytesOf)).size).toBe(1);
    expect(answers[0]?.outcome).toMatchObject({ kind: "success", data: { run: 1 } });
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(10_000);
  });

  test("the kept answer is the redacted one", async () => {
    const kernel = await memoryKernel();
    writeFileSync(join(kernel.root, "a.txt"), `token ${kernel.token}`);
    const first = await kernel.call("read_file", { path: "a.txt" }, once);
    const again = await kernel.call("read_file", { path: "a.txt" }, once);
    expect(bytesOf(again)).toBe(bytesOf(first));
    await kernel.kept.close();
    const database = readFileSync(join(kernel.root, "../state/dedupe.db"), "latin1");
    expect(database).toContain("read_file");
    expect(database).not.toContain(kernel.token);
  });
});

describe("what is not kept", () => {
  test("a denial: once the rule is gone the same key executes", async () => {
    const kernel = await memoryKernel({
      tools: [testTool("probe", () => ({ kind: "data", data: {} }), { approval: { level: "ask" } })],
    });
    const args = { path: "a.txt" };
    expect((await kernel.call("probe", args, once)).outcome.kind).toBe("denied");
    const permit = `@id("p")\n@waives("CAPABILITY:probe")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);\n`;
    const tools = [
      ...fileTools,
      ...editTools,
      testTool("probe", () => ({ kind: "data", data: {} }), { approval: { level: "ask" } }),
    ];
    kernel.policy.current = () => engineOf("dev", permit, tools);
    expect((await kernel.call("probe", args, once)).outcome.kind).toBe("success");
  });

  const ENDS: readonly (readonly [string, () => never, boolean])[] = [
    ["a passing error", () => fail("IO_ERROR", { retryAfterMs: 1 }), false],
    ["a refusal of the machine", () => refuse(), false],
    ["an error for good", () => fail("FILE_NOT_FOUND"), true],
    ["a bug after the effect began", () => break_(), true],
  ];
  test.each(ENDS)("%s", async (_, end, kept) => {
    let runs = 0;
    const execute = () => {
      runs += 1;
      if (runs === 1) end();
      return { kind: "data", data: {} } as const;
    };
    const { call } = await memoryKernel({ tools: [testTool("probe", execute)] });
    const first = await call("probe", { path: "a" }, once);
    const second = await call("probe", { path: "a" }, once);
    expect([runs, bytesOf(first) === bytesOf(second), second.outcome.kind === "success"]).toEqual(
      kept ? [1, true, false] : [2, false, true],
    );
  });

  test("a session that was revoked gets no replay", async () => {
    const { call, sessions, session } = await memoryKernel();
    await call("write_file", { path: "a.txt", content: "x" }, once);
    await sessions.updateSession(session.id, { revokedAtMs: START_MS });
    const { outcome } = await call("write_file", { path: "a.txt", content: "x" }, once);
    expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "session_revoked" } });
  });

  test("a policy that forbids the call now forbids its replay", async () => {
    const kernel = await memoryKernel();
    await kernel.call("write_file", { path: "a.txt", content: "x" }, once);
    kernel.policy.current = () => engineOf("reader", "", [...fileTools, ...editTools]);
    expect((await kernel.call("write_file", { path: "a.txt", content: "x" }, once)).outcome.kind).toBe("denied");
  });
});

function fail(code: "IO_ERROR" | "FILE_NOT_FOUND", details?: Omit<FailureDetails, "suggestion">): never {
  throw new ToolFailure(code, "it broke", { suggestion: "mend it", ...details });
}
function refuse(): never {
  throw new Refusal({ layer: "workspace", reason: "workspace_hard_link", ruleId: "R", message: "m" });
}
function break_(): never {
  throw new Error("a bug");
}

describe("those who wait", () => {
  test("go on by themselves, one at a time, when the first one's answer is not kept", async () => {
    const order: string[] = [];
    let running = 0;
    const execute = async () => {
      running += 1;
      order.push(`run ${order.length + 1}, ${running} at a time`);
      await settled();
      running -= 1;
      if (order.length < 4) fail("IO_ERROR", { retryAfterMs: 1 });
      return { kind: "data", data: { run: order.length } } as const;
    };
    const { call } = await memoryKernel({ tools: [testTool("flaky", execute)] });
    const answers = await Promise.all(Array.from({ length: 10 }, () => call("flaky", { path: "a" }, once)));
    expect(order).toEqual(["run 1, 1 at a time", "run 2, 1 at a time", "run 3, 1 at a time", "run 4, 1 at a time"]);
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual([
      ...Array(3).fill("error"),
      ...Array(7).fill("success"),
    ]);
    expect(new Set(answers.slice(3).map(bytesOf)).size).toBe(1);
  });

  test("leave when they are cancelled, and the others do not notice", async () => {
    const { tool, runs, started } = heldTool();
    const { call, ledger } = await memoryKernel({ tools: [tool] });
    const cancel = new AbortController();
    const first = call("held", { path: "a" }, once);
    await started(1);
    const leaver = call("held", { path: "a" }, { ...once, signal: cancel.signal });
    const stayer = call("held", { path: "a" }, once);
    await settled();
    cancel.abort();
    expect((await leaver).outcome).toMatchObject({ kind: "error", code: "CANCELLED" });
    runs[0]?.resolve();
    expect(bytesOf(await stayer)).toBe(bytesOf(await first));
    expect(runs).toHaveLength(1);
    expect(ledger.of("tool_executed").find(({ payload }) => payload["errorCode"] === "CANCELLED")?.payload["ran"]).toBe(
      false,
    );
  });

  test("take over from a leader that was cancelled before it ran", async () => {
    const { tool, runs, started } = heldTool();
    const { call, ledger } = await memoryKernel({ tools: [tool] });
    const cancel = new AbortController();
    const intent = Promise.withResolvers<void>();
    ledger.before = async ({ type, requestId }) => {
      if (type === "tool_selected" && requestId === "leader") await intent.promise;
    };
    const leader = call("held", { path: "a" }, { ...once, requestId: "leader", signal: cancel.signal });
    const follower = call("held", { path: "a" }, once);
    await settled();
    cancel.abort();
    intent.resolve();
    await started(1);
    runs[0]?.resolve();
    expect((await leader).outcome).toMatchObject({ code: "CANCELLED" });
    expect((await follower).outcome).toMatchObject({ kind: "success", data: { run: 1 } });
  });

  test("of a cancelled read make it themselves", async () => {
    const cancel = new AbortController();
    const running = Promise.withResolvers<void>();
    let runs = 0;
    const execute = async (_: unknown, { signal }: ToolContext) => {
      runs += 1;
      running.resolve();
      await settled();
      if (signal.aborted) throw new ToolFailure("CANCELLED", "stopped", "send it again");
      return { kind: "data", data: {} } as const;
    };
    const { call } = await memoryKernel({ tools: [testTool("slow", execute, { effect: "read" })] });
    const leader = call("slow", { path: "a" }, { ...once, signal: cancel.signal });
    const follower = call("slow", { path: "a" }, once);
    await running.promise;
    cancel.abort();
    expect([(await leader).outcome.kind, (await follower).outcome.kind, runs]).toEqual(["error", "success", 2]);
  });

  test("are checked again: a session revoked meanwhile gets no answer", async () => {
    const { tool, runs, started } = heldTool();
    const { call, sessions, session } = await memoryKernel({ tools: [tool] });
    const first = call("held", { path: "a" }, once);
    await started(1);
    const second = call("held", { path: "a" }, once);
    await settled();
    await sessions.updateSession(session.id, { revokedAtMs: START_MS });
    runs[0]?.resolve();
    expect((await first).outcome.kind).toBe("success");
    expect((await second).outcome).toMatchObject({ kind: "denied", denial: { reason: "session_revoked" } });
  });

  test("are bounded: one too many is told to come back", async () => {
    const { tool, runs, started } = heldTool();
    const { call } = await memoryKernel({ tools: [tool] });
    const first = call("held", { path: "a" }, once);
    await started(1);
    const crowd = Array.from({ length: DEDUPE_WAITERS_MAX + 1 }, () => call("held", { path: "a" }, once));
    const tooMany = await Promise.race(crowd);
    expect(tooMany.outcome).toMatchObject({ kind: "error", code: "RESOURCE_BUSY", retryable: true });
    runs[0]?.resolve();
    await first;
    const kinds = (await Promise.all(crowd)).map(({ outcome }) => outcome.kind);
    expect(kinds.filter((kind) => kind === "error")).toHaveLength(1);
  });
});

describe("a store that fails", () => {
  const down = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "`dedupe.db` cannot be used"));
  const refused = { kind: "error", code: "STORE_UNAVAILABLE", retryable: true };

  test("refuses a call with a key, its duplicates too, and no other", async () => {
    const { call, kept, textOf, ledger } = await memoryKernel();
    const claim = kept.claim;
    kept.claim = down;
    const args = { path: "a.txt", content: "x", append: true };
    const answers = await Promise.all([1, 2, 3].map(() => call("write_file", args, once)));
    expect(answers.map(({ outcome }) => outcome)).toMatchObject([refused, refused, refused]);
    expect(ledger.types()).not.toContain("tool_selected");
    expect((await call("write_file", args)).outcome.kind).toBe("success");
    kept.claim = claim;
    expect((await call("write_file", args, once)).outcome.kind).toBe("success");
    expect(textOf("a.txt")).toBe("xx");
  });

  test("between claim and effect: no effect", async () => {
    const { call, kept, ledger } = await memoryKernel();
    const begin = kept.begin;
    const args = { path: "a.txt", content: "x" };
    kept.begin = down;
    expect((await call("write_file", args, once)).outcome).toMatchObject(refused);
    kept.begin = async () => false;
    expect((await call("write_file", args, once)).outcome).toMatchObject(refused);
    expect(ledger.types()).not.toContain("tool_selected");
    kept.begin = begin;
    expect((await call("write_file", args, once)).outcome.kind).toBe("success");
  });

  test("after the effect: the answer is given, and whoever asks again hears that the outcome is unknown", async () => {
    const { call, kept, textOf, internalErrors } = await memoryKernel();
    kept.keep = down;
    const args = { path: "a.txt", content: "x", append: true };
    const both = await Promise.all([call("write_file", args, once), call("write_file", args, once)]);
    expect(both.map(({ outcome }) => outcome.kind)).toEqual(["success", "success"]);
    expect((await call("write_file", args, once)).outcome).toMatchObject({ code: "OUTCOME_UNKNOWN", retryable: false });
    expect(textOf("a.txt")).toBe("x");
    expect(internalErrors).toHaveLength(1);
  });

  test("after a read: it is made again", async () => {
    const { call, kept } = await memoryKernel();
    kept.keep = down;
    expect((await call("list_files", { path: "." }, once)).outcome.kind).toBe("success");
    expect((await call("list_files", { path: "." }, once)).outcome.kind).toBe("success");
  });
});

describe("time", () => {
  const args = { path: "a.txt", content: "x", append: true };

  test("an answer is kept for 24 hours and not a millisecond longer", async () => {
    const { call, time, textOf, sessions, session, lease } = await memoryKernel();
    const late = START_MS + 2 * DEDUPE_KEPT_MS;
    await sessions.updateSession(session.id, { expiresAtMs: late });
    await sessions.updateLease(lease.id, { expiresAtMs: late });
    await call("write_file", args, once);
    time.nowMs = START_MS + DEDUPE_KEPT_MS;
    await call("write_file", args, once);
    expect(textOf("a.txt")).toBe("x");
    time.nowMs += 1;
    await call("write_file", args, once);
    expect(textOf("a.txt")).toBe("xx");
  });

  test("a clock that went backwards makes no answer old", async () => {
    const { call, time, textOf } = await memoryKernel();
    await call("write_file", args, once);
    time.nowMs = START_MS - 1000;
    expect((await call("write_file", args, once)).outcome.kind).toBe("success");
    expect(textOf("a.txt")).toBe("x");
  });
});

test("an effect whose outcome could not be recorded stays unknown under its key", async () => {
  const { call, ledger, textOf } = await memoryKernel();
  const args = { path: "a.txt", content: "x", append: true };
  ledger.breakFor(({ type }) => type === "tool_executed");
  const first = await call("write_file", args, once);
  expect(first.outcome).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  ledger.before = () => undefined;
  expect(bytesOf(await call("write_file", args, once))).toBe(bytesOf(first));
  expect(textOf("a.txt")).toBe("x");
});
