/** The documents of calls: what they hold, when they are kept, and that equal calls have equal ones. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KernelError } from "../../../../src/base/errors.ts";
import { ToolFailure } from "../../../../src/model/outcome/failure.ts";
import { answering, keptBy } from "../../../support/answering-tool.ts";
import { documentOf, lastDocuments } from "../../../support/kept-documents.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

const EFFECTS = { settings: { documents: "effects" } } as const;
const ALL = { settings: { documents: "all" } } as const;

test("an effect: call and input are kept before it, its output before it is answered", async () => {
  const kernel = await memoryKernel(EFFECTS);
  const { outcome } = await kernel.call("write_file", { path: "a.txt", content: "text" }, { requestId: "r1" });
  expect(outcome.kind).toBe("success");
  const kinds = kernel.ledger.events.map(({ type, durability }) => `${type} ${durability}`);
  expect(kinds).toEqual([
    "tool_selected durable",
    "tool_call_written durable",
    "tool_executed durable",
    "tool_output_written durable",
  ]);
  const { input, call, output } = await lastDocuments(kernel);
  expect(input.value).toEqual({
    schema: "handrail.tool_input.v1",
    tool: "write_file",
    arguments: { path: "a.txt", content: "text" },
  });
  expect(call.value).toMatchObject({
    schema: "handrail.tool_call.v1",
    tool: "write_file",
    tool_input: input.hash,
    request_id: "r1",
    session_id: kernel.session.id,
    role: "dev",
    accesses: [{ kind: "file", effect: "write", path: "a.txt" }],
  });
  expect(output.value).toMatchObject({
    schema: "handrail.tool_output.v1",
    tool: "write_file",
    tool_call: call.hash,
    success: true,
    data: outcome.kind === "success" ? outcome.data : {},
  });
});

test("a read has documents only where the operator wants all of them", async () => {
  for (const [options, expected] of [
    [EFFECTS, ["tool_executed"]],
    [ALL, ["tool_call_written", "tool_executed", "tool_output_written"]],
  ] as const) {
    const kernel = await memoryKernel(options);
    writeFileSync(join(kernel.root, "a.txt"), "text");
    await kernel.call("read_file", { path: "a.txt" });
    expect(kernel.ledger.types()).toEqual(expected);
  }
});

test("nothing is kept where documents are off", async () => {
  const kernel = await memoryKernel({ settings: { documents: "off" } });
  await kernel.call("write_file", { path: "a.txt", content: "text" });
  expect(kernel.ledger.types()).toEqual(["tool_selected", "tool_executed"]);
});

test("the same call twice has the same bytes, but for the request that it answers", async () => {
  const kernel = await memoryKernel(ALL);
  writeFileSync(join(kernel.root, "a.txt"), "text");
  const documents = [];
  for (const requestId of ["r1", "r1", "r2"]) {
    await kernel.call("read_file", { path: "a.txt", limit: 3 }, { requestId });
    kernel.time.nowMs += 1000;
    documents.push(await lastDocuments(kernel));
  }
  const [first, second, third] = documents;
  expect(second).toEqual(first);
  expect(third?.input).toEqual(first?.input);
  expect(third?.call.value).toEqual({ ...first?.call.value, request_id: "r2" });
  expect(third?.output.value).toEqual({ ...first?.output.value, tool_call: third?.call.hash });
});

test("the order in which a client names its arguments changes no document", async () => {
  const kernel = await memoryKernel(ALL);
  writeFileSync(join(kernel.root, "a.txt"), "text");
  await kernel.call("read_file", { path: "a.txt", limit: 3 }, { requestId: "r" });
  const before = await lastDocuments(kernel);
  await kernel.call("read_file", { limit: 3, path: "a.txt" }, { requestId: "r" });
  expect(await lastDocuments(kernel)).toEqual(before);
});

test("a failure of a tool that ran is its output", async () => {
  const kernel = await memoryKernel(ALL);
  const { outcome } = await kernel.call("read_file", { path: "missing.txt" });
  expect(outcome).toMatchObject({ kind: "error", code: "FILE_NOT_FOUND" });
  const { output } = await lastDocuments(kernel);
  expect(output.value).toMatchObject({ success: false, error: { code: "FILE_NOT_FOUND", retryable: false } });
});

test("a refused call has no documents", async () => {
  const kernel = await memoryKernel(ALL);
  await kernel.call("read_file", { path: "../outside.txt" });
  await kernel.call("write_file", { path: "secrets/key", content: "x" });
  expect(kernel.ledger.of("tool_call_written")).toEqual([]);
});

test("arguments that are too long are named by size and keyed digest", async () => {
  const kernel = await memoryKernel(EFFECTS);
  const content = "x".repeat(300 * 1024);
  await kernel.call("write_file", { path: "a.txt", content });
  const { input } = await lastDocuments(kernel);
  expect(Object.keys(input.value).sort()).toEqual(["arguments_omitted", "schema", "tool"]);
  expect(input.text.length).toBeLessThan(300);
});

test("a large result stays in the content store, and its document names it", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
  const kernel = await memoryKernel({ ...ALL, tools: [answering(() => ({ lines }))] });
  const { outcome } = await kernel.call("answering", {});
  const { output } = await lastDocuments(kernel);
  const stored = outcome.kind === "success" ? outcome.stored : undefined;
  expect(stored).toBeDefined();
  expect(output.value["content"]).toEqual({ hash: stored?.hash, size: stored?.sizeBytes });
});

test("no collection takes what entries name, and a session cannot fetch it", async () => {
  const kernel = await memoryKernel(EFFECTS);
  await kernel.call("write_file", { path: "a.txt", content: "text" });
  const before = await lastDocuments(kernel);
  const maintenance = await kernel.content.maintenance();
  await maintenance.collect(0, kernel.time.nowMs + 1_000_000_000, false);
  expect(await lastDocuments(kernel)).toEqual(before);
  const { outcome } = await kernel.call("artifact_fetch", { content_hash: before.output.hash });
  expect(outcome).toMatchObject({ kind: "error", code: "CONTENT_NOT_FOUND" });
  const published = await kernel.call("artifact_publish", {
    artifact_id: "stolen",
    content_hash: before.input.hash,
    category: "report",
  });
  expect(published.outcome).toMatchObject({ kind: "error", code: "CONTENT_NOT_FOUND" });
});

test("a store that keeps nothing refuses effects before they happen", async () => {
  const kernel = await memoryKernel(EFFECTS);
  Object.assign(kernel.content, { keepDocuments: () => Promise.reject(FULL) });
  const { outcome } = await kernel.call("write_file", { path: "a.txt", content: "text" });
  expect(outcome).toMatchObject({ kind: "error", code: "STORE_UNAVAILABLE", retryable: true });
  expect(() => kernel.textOf("a.txt")).toThrow(/ENOENT/);
  expect(kernel.ledger.types()).toEqual(["tool_executed"]);
  expect(kernel.ledger.events[0]?.payload).toMatchObject({ success: false, ran: false });
});

test("documents that do not become durable refuse the effect, and its intent is closed", async () => {
  const kernel = await memoryKernel(EFFECTS);
  Object.assign(kernel.content, { keepDocuments: async () => ({ sync: () => Promise.reject(FULL) }) });
  const { outcome } = await kernel.call("write_file", { path: "a.txt", content: "text" });
  expect(outcome).toMatchObject({ kind: "error", code: "STORE_UNAVAILABLE" });
  expect(() => kernel.textOf("a.txt")).toThrow(/ENOENT/);
  const [intent] = kernel.ledger.of("tool_selected");
  expect(kernel.ledger.of("tool_executed")).toMatchObject([{ closes: intent?.sequence, payload: { ran: false } }]);
});

test("an effect whose output cannot be kept is not answered as done", async () => {
  const kernel = await memoryKernel(EFFECTS);
  const { keepDocuments } = kernel.content;
  let calls = 0;
  const failing: typeof keepDocuments = (...given) => {
    calls += 1;
    return calls > 1 ? Promise.reject(FULL) : keepDocuments.apply(kernel.content, given);
  };
  Object.assign(kernel.content, { keepDocuments: failing });
  const { outcome } = await kernel.call("write_file", { path: "a.txt", content: "text" });
  expect(outcome).toMatchObject({ kind: "error", code: "OUTCOME_UNKNOWN", retryable: false });
  expect(kernel.textOf("a.txt")).toBe("text"); // it did happen, and nobody is told otherwise
  const [intent] = kernel.ledger.of("tool_selected");
  expect(kernel.ledger.of("tool_executed")).toMatchObject([
    { closes: intent?.sequence, payload: { success: false, errorCode: "OUTCOME_UNKNOWN" } },
  ]);
});

test("a read whose documents cannot be kept is not answered", async () => {
  const kernel = await memoryKernel(ALL);
  writeFileSync(join(kernel.root, "a.txt"), "text");
  Object.assign(kernel.content, { keepDocuments: () => Promise.reject(FULL) });
  const { outcome } = await kernel.call("read_file", { path: "a.txt" });
  expect(outcome).toMatchObject({ kind: "error", code: "STORE_UNAVAILABLE" });
});

test("what a tool's own code returns beyond JSON has a canonical form, or is named by its digest", async () => {
  const odd: Record<string, unknown> = { half: "a\ud800", many: [1, Number.NaN] };
  let deep: unknown = "x";
  for (let level = 0; level < 200; level += 1) deep = { deep };
  const results = [odd, { deep }, Object.fromEntries([["__proto__", "x"]])];
  let next = 0;
  const kernel = await memoryKernel({ ...ALL, tools: [answering(() => results[next] as never)] });
  const kinds = [];
  for (next = 0; next < results.length; next += 1) {
    const { outcome } = await kernel.call("answering", {});
    if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
    const { output } = await lastDocuments(kernel);
    kinds.push(Object.keys(output.value).filter((name) => name === "data" || name === "result_omitted"));
  }
  expect(kinds).toEqual([["data"], ["result_omitted"], ["result_omitted"]]);
});

test("approvals: the request and the decision are kept, and their entries name them", async () => {
  const kernel = await memoryKernel({
    settings: { documents: "effects" },
    approvers: false,
    approvalDocuments: (content) => keptBy(content),
  });
  const { outcome } = await kernel.call("write_file", { path: ".npmrc", content: "x" });
  if (outcome.kind !== "denied") throw new Error("the call asks");
  const ref = outcome.denial.approvalRef ?? "";
  const asked = kernel.ledger.of("approval_requested").at(-1);
  const request = await documentOf(kernel, asked?.payload["document"]);
  expect(`blake3:${request.hash}`).toBe(ref);
  expect(request.value["schema"]).toBe("handrail.tool_approval_request.v1");
  const given = { approved: true, by: "ann", channel: "cli", reason: `as we said ${AWS}` } as const;
  await kernel.approvals.decide(ref, given);
  const decided = kernel.ledger.of("tool_approval_decided").at(-1);
  const decision = await documentOf(kernel, decided?.payload["document"]);
  expect(decision.value).toMatchObject({ schema: "handrail.tool_approval.v1", approval_ref: ref, approved: true });
  expect(decision.text).not.toContain(AWS);
  await (await kernel.content.maintenance()).collect(0, kernel.time.nowMs + 1_000_000_000, false);
  expect((await documentOf(kernel, request.hash)).text).toBe(request.text);
});

test("an approval counts only once its document is kept; a refusal holds without", async () => {
  let isFull = false;
  const kernel = await memoryKernel({
    approvalDocuments: (content) => {
      const kept = keptBy(content);
      return { ...kept, keep: (...given) => (isFull ? Promise.reject(FULL) : kept.keep(...given)) };
    },
  });
  const ask = async (path: string) => {
    const { outcome } = await kernel.call("write_file", { path, content: "{}" });
    return outcome.kind === "denied" ? (outcome.denial.approvalRef ?? "") : "";
  };
  const [first, second] = [await ask(".npmrc"), await ask(".vscode/settings.json")];
  isFull = true;
  const by = { by: "ann", channel: "cli" } as const;
  await expect(kernel.approvals.decide(first, { ...by, approved: true })).rejects.toThrow(KernelError);
  expect((await kernel.approvals.find(first))?.state).toBe("pending");
  await kernel.approvals.decide(second, { ...by, approved: false });
  expect((await kernel.approvals.find(second))?.state).toBe("denied");
  const { outcome } = await kernel.call("write_file", { path: ".envrc", content: "x" });
  expect(outcome.kind).not.toBe("success");
  expect(outcome).not.toBeInstanceOf(ToolFailure);
});

/** Put together here, so that this file holds no secret. */
const AWS = ["AKIA", "Z7QK3LMN", "2PXWRTV4"].join("");

const FULL = new KernelError("STORE_UNAVAILABLE", "the disk is full");
