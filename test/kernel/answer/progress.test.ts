/** Reports of a running tool: what leaves before the outcome, from which calls, and how much of it. */
import { expect, test } from "vitest";
import {
  PROGRESS_INTERVAL_MS,
  PROGRESS_MESSAGE_CHARACTERS_MAX,
  PROGRESS_OUTPUT_BYTES_MAX,
  PROGRESS_OUTPUT_CHUNK_BYTES,
  ProgressFeed,
} from "../../../src/kernel/answer/progress.ts";
import { CallRedaction } from "../../../src/kernel/redaction/redaction.ts";
import type { ProgressReport } from "../../../src/model/outcome/progress.ts";
import type { ToolContext } from "../../../src/model/tool/tool.ts";
import { builtInRedactor, memoryKernel, testTool } from "../../support/memory-kernel.ts";

const SECRET = { rule: "session-token", value: "ses_1.secret" };

function feed(recorded: boolean, secrets = [SECRET]) {
  const seen: ProgressReport[] = [];
  const errors: unknown[] = [];
  const time = { ms: 0 };
  const clock = { nowMs: () => time.ms, monotonicMs: () => time.ms };
  const made = new ProgressFeed(
    { clock, onInternalError: (error) => void errors.push(error) },
    (report) => void seen.push(report),
    { redaction: new CallRedaction(builtInRedactor(), secrets), intent: recorded ? 1 : undefined },
  );
  return { feed: made, seen, errors, time };
}

const outputOf = (seen: readonly ProgressReport[]) =>
  Buffer.concat(seen.map((report) => (report.kind === "output" ? report.bytes : Buffer.alloc(0))));

test("a call with an effect shows words and output, without the session's token", () => {
  const { feed: reports, seen } = feed(true);
  reports.report({ kind: "progress", completed: 1, total: 3, message: `at ${SECRET.value}` });
  reports.report({ kind: "output", stream: "stdout", bytes: Buffer.from("a ses_1.") });
  reports.report({ kind: "output", stream: "stdout", bytes: Buffer.from("secret b") });
  reports.end();
  expect(seen[0]).toEqual({ kind: "progress", completed: 1, total: 3, message: "at [REDACTED:session-token]" });
  expect(outputOf(seen).toString()).toBe("a [REDACTED:session-token] b");
});

test("a call that only reads, of which nothing is recorded yet, shows bare numbers", () => {
  const { feed: reports, seen } = feed(false);
  reports.report({ kind: "progress", completed: 1, message: "what the file says" });
  reports.report({ kind: "output", stream: "stdout", bytes: Buffer.from("what the file says") });
  reports.end();
  expect(seen).toEqual([{ kind: "progress", completed: 1 }]);
});

test("reports are bounded in rate, length and bytes", () => {
  const { feed: reports, seen, time } = feed(true, []);
  for (let index = 0; index < 10; index += 1) reports.report({ kind: "progress", completed: index });
  expect(seen).toHaveLength(1);
  time.ms += PROGRESS_INTERVAL_MS;
  reports.report({ kind: "progress", completed: 10, message: "x".repeat(PROGRESS_MESSAGE_CHARACTERS_MAX + 1) });
  expect(seen[1]).toEqual({ kind: "progress", completed: 10, message: "x".repeat(PROGRESS_MESSAGE_CHARACTERS_MAX) });
  reports.report({ kind: "output", stream: "stderr", bytes: Buffer.alloc(2 * PROGRESS_OUTPUT_BYTES_MAX) });
  reports.report({ kind: "output", stream: "stderr", bytes: Buffer.alloc(1) });
  const sizes = seen.map((report) => (report.kind === "output" ? report.bytes.byteLength : 0));
  expect(Math.max(...sizes)).toBe(PROGRESS_OUTPUT_CHUNK_BYTES);
  expect(outputOf(seen).byteLength).toBe(PROGRESS_OUTPUT_BYTES_MAX);
});

test("numbers that are none are dropped, and so is everything after the end", () => {
  const { feed: reports, seen } = feed(true);
  for (const completed of [Number.NaN, -1, Number.POSITIVE_INFINITY]) reports.report({ kind: "progress", completed });
  reports.report({ kind: "progress", completed: 1, total: Number.NaN });
  reports.end();
  reports.report({ kind: "progress", completed: 1 });
  reports.report({ kind: "output", stream: "stdout", bytes: Buffer.from("late") });
  expect(seen).toEqual([]);
});

test("a listener that fails is reported and disturbs nobody", async () => {
  const noisy = testTool("noisy", (_, { progress }: ToolContext) => {
    progress({ kind: "progress", completed: 1 });
    return { kind: "data", data: { done: true } };
  });
  const { door, token, internalErrors } = await memoryKernel({ tools: [noisy] });
  const submission = {
    kind: "call",
    requestId: "r",
    sessionToken: token,
    tool: "noisy",
    arguments: { path: "a" },
  } as const;
  const { outcome } = await door.execute(submission, new AbortController().signal, {
    listener: () => {
      throw new Error("the listener broke");
    },
  });
  expect(outcome).toMatchObject({ kind: "success", data: { done: true } });
  expect(internalErrors).toMatchObject([{ message: "the listener broke" }]);
});

test("reports come before the response, from a tool in the pipeline, and are optional", async () => {
  const working = testTool("working", async (_, { progress }: ToolContext) => {
    progress({ kind: "progress", completed: 1, total: 2, message: "half" });
    return { kind: "data", data: { done: true } };
  });
  const { door, call, token } = await memoryKernel({ tools: [working] });
  const seen: unknown[] = [];
  const submission = {
    kind: "call",
    requestId: "r",
    sessionToken: token,
    tool: "working",
    arguments: { path: "a" },
  } as const;
  const response = await door.execute(submission, new AbortController().signal, {
    listener: (report) => void seen.push(report),
  });
  expect(seen).toEqual([{ kind: "progress", completed: 1, total: 2, message: "half" }]);
  expect(response.outcome.kind).toBe("success");
  expect((await call("working", { path: "a" })).outcome.kind).toBe("success");
});
