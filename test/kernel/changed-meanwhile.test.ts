/** Calls that end early: with nothing changed the key stays free, with something changed it is never executed again. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { blake3Hex } from "../../src/base/hash.ts";
import { RunRecord } from "../../src/kernel/call/run-record.ts";
import { arrive, type Caller, type Running } from "../../src/kernel/call/stages.ts";
import { createContentAccess } from "../../src/kernel/handles/content-access.ts";
import type { HandleParts } from "../../src/kernel/handles/handle-parts.ts";
import { CallRedaction } from "../../src/kernel/redaction/redaction.ts";
import { FailureWithoutEffect, Refusal, ToolFailure } from "../../src/model/outcome/failure.ts";
import type { ToolContext } from "../../src/model/tool/tool.ts";
import { contentResourceId } from "../../src/model/work/content.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { memoryKernel, testTool } from "../support/memory-kernel.ts";

const once = { dedupeKey: "once" };
const args = { path: "a.txt", content: "x", append: true };

describe("a write that waits for the file's lock", () => {
  test("and is cancelled changed nothing: the same key executes", async () => {
    const { call, locks, textOf } = await memoryKernel();
    const acquire = locks.acquire;
    const asked = Promise.withResolvers<void>();
    locks.acquire = async () => {
      asked.resolve();
      return { kind: "busy", owner: "somebody", sinceMs: 0 };
    };
    const leave = new AbortController();
    const holder = call("write_file", args, { ...once, signal: leave.signal });
    const queued = call("write_file", args, { dedupeKey: "queued", signal: leave.signal });
    await asked.promise;
    leave.abort();
    for (const { outcome } of await Promise.all([holder, queued]))
      expect(outcome).toMatchObject({ kind: "error", code: "CANCELLED" });
    locks.acquire = acquire;
    expect((await call("write_file", args, once)).outcome.kind).toBe("success");
    expect((await call("write_file", args, { dedupeKey: "queued" })).outcome.kind).toBe("success");
    expect(textOf("a.txt")).toBe("xx");
  });

  test("control: a cancellation of which nobody says what it left behind is kept", async () => {
    let runs = 0;
    const execute = () => {
      runs += 1;
      throw new ToolFailure("CANCELLED", "stopped", "look at it");
    };
    const { call } = await memoryKernel({ tools: [testTool("vague", execute)] });
    await call("vague", { path: "a" }, once);
    expect((await call("vague", { path: "a" }, once)).outcome).toMatchObject({ code: "CANCELLED" });
    expect(runs).toBe(1);
  });
});

const ENDS: readonly (readonly [string, () => Error])[] = [
  [
    "a refusal",
    () => new Refusal({ layer: "workspace", reason: "workspace_hard_link", ruleId: "R", message: "no further" }),
  ],
  ["a passing failure", () => new ToolFailure("IO_ERROR", "no further", { suggestion: "try again", retryAfterMs: 1 })],
  [
    "a failure without an effect of its own",
    () => new FailureWithoutEffect("CANCELLED", "no further", "send it again"),
  ],
];

/** A tool that appends to its file, if it is to, and then ends as `end` says. */
function halfTool(end: () => Error, change: (context: ToolContext, path: string) => unknown) {
  return testTool("half", async (given, context) => {
    await change(context, (given as { path: string }).path);
    throw end();
  });
}

const append = ({ files }: ToolContext, path: string) => files.write(path, Buffer.from("x"), { mode: "append" });

describe.each(ENDS)("%s", (_, end) => {
  test("after a change: the outcome is unknown, is recorded so, and the key never executes again", async () => {
    const { call, textOf, ledger } = await memoryKernel({ tools: [halfTool(end, append)] });
    const first = await call("half", { path: "a.txt" }, once);
    expect(first.outcome).toMatchObject({ kind: "error", code: "OUTCOME_UNKNOWN", retryable: false });
    expect(first.outcome).toMatchObject({ message: expect.stringContaining("no further") });
    const again = await call("half", { path: "a.txt" }, once);
    expect(again.outcome).toEqual(first.outcome);
    expect(textOf("a.txt")).toBe("x");
    const [intent] = ledger.of("tool_selected");
    const closing = ledger.events.filter(({ closes }) => closes !== undefined);
    expect(closing.map(({ type, closes, payload }) => [type, closes, payload["errorCode"]])).toEqual([
      ["tool_executed", intent?.sequence, "OUTCOME_UNKNOWN"],
    ]);
  });

  test("control: without a change the same key executes again", async () => {
    let runs = 0;
    const { call } = await memoryKernel({
      tools: [
        halfTool(end, () => {
          runs += 1;
        }),
      ],
    });
    await call("half", { path: "a.txt" }, once);
    await call("half", { path: "a.txt" }, once);
    expect(runs).toBe(2);
  });

  test("while a change is under way that nobody waits for: the outcome is unknown", async () => {
    const begin = (context: ToolContext, path: string) => void append(context, path).catch(() => undefined);
    const { call, textOf } = await memoryKernel({ tools: [halfTool(end, begin)] });
    expect((await call("half", { path: "a.txt" }, once)).outcome).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect((await call("half", { path: "a.txt" }, once)).outcome).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await call("write_file", { path: "a.txt", content: "y", append: true }); // stands in the queue behind it
    expect(textOf("a.txt")).toBe("xy");
  });
});

test("a refusal after a change is recorded as the refusal that it is, too", async () => {
  const refusal = () =>
    new Refusal({ layer: "workspace", reason: "workspace_hard_link", ruleId: "R", message: "no further" });
  const { call, ledger } = await memoryKernel({ tools: [halfTool(refusal, append)] });
  await call("half", { path: "a.txt" });
  const types = ledger.types().filter((type) => type !== "mark_raised");
  expect(types).toEqual(["tool_selected", "tool_execution_denied", "workspace_violation", "tool_executed"]);
  expect(ledger.of("tool_execution_denied")[0]).not.toHaveProperty("closes");
});

test("a write that the handle itself refused changed nothing", async () => {
  const change = ({ files }: ToolContext, path: string) => files.write(path, Buffer.from("x"), { mode: "create_only" });
  const passing = () => new ToolFailure("IO_ERROR", "unreached", "try again");
  const { call } = await memoryKernel({ tools: [halfTool(passing, change)] });
  await call("write_file", args);
  expect((await call("half", { path: "a.txt" }, once)).outcome).toMatchObject({ code: "FILE_EXISTS" });
});

test("stored content counts as a change, and content that was refused does not", async () => {
  const kernel = await memoryKernel();
  const changes = async (text: string): Promise<boolean> => {
    const bytes = Buffer.from(text);
    const id = contentResourceId({ kind: "content", hash: blake3Hex(bytes) });
    const mark = { trustLevel: "user", dataClass: "internal" } as const;
    const { session, lease } = kernel;
    const running = {
      ...arrive(systemClock),
      session,
      caller: { session, lease, mark } as Caller,
      accesses: [{ resource: { kind: "artifact", id }, effect: "write" }],
      redaction: new CallRedaction(createRedactor(), [{ rule: "session-token", value: kernel.token }]),
      tool: testTool("store", () => ({ kind: "data", data: {} })),
      run: new RunRecord(),
    } as unknown as Running;
    const parts = { content: kernel.content, clock: systemClock };
    const { signal } = new AbortController();
    const handle = { kernel: { parts }, running, rules: { judgeArtifact: () => true }, transfer: undefined, signal };
    await createContentAccess(handle as unknown as HandleParts)
      .put(bytes)
      .catch(() => undefined);
    return running.run.changes.any;
  };
  expect(await changes("text")).toBe(true);
  expect(await changes(`with ${kernel.token}`)).toBe(false);
});
