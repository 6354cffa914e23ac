/**
 * Requests that somebody rewrote in `approvals.db` after people were asked: whatever the channel, they are approved by
 * nobody, and that is recorded. Each channel is tried with the request as it was, too.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test, vi } from "vitest";
import { ApprovalManager } from "../../src/approval/handler.ts";
import type { InBandAsker } from "../../src/approval/in-band.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { canonicalJson } from "../../src/base/json.ts";
import { approvalPort } from "../../src/server/admin/approval-port.ts";
import { approvalActs } from "../../src/server/people/approval-acts.ts";
import { ASKING, approve, ask, askedRef, askingKernel, denialOf, pending } from "../support/asking.ts";
import type { MemoryKernel, MemoryKernelOptions } from "../support/memory-kernel.ts";
import { SOON } from "../support/waiting.ts";

type Rewrite = (row: { document: string; binding: string }) => { document: string; binding: string };

const REWRITES: readonly (readonly [string, Rewrite])[] = [
  ["another document", (row) => ({ ...row, document: row.document.replace("write_file", "read_file_") })],
  ["a document that is none", (row) => ({ ...row, document: "{" })],
  ["the binding of another call", (row) => ({ ...row, binding: "0".repeat(64) })],
];

function database({ root }: MemoryKernel): Database.Database {
  return new Database(join(root, "../state/approvals.db"));
}

/** Rewrites the stored request beside the kernel's back. */
function rewrite(kernel: MemoryKernel, ref: string, how: Rewrite): void {
  const opened = database(kernel);
  const row = opened
    .prepare<[string], Parameters<Rewrite>[0]>("SELECT document, binding FROM approvals WHERE ref = ?")
    .get(ref);
  if (row === undefined) throw new Error("nothing was asked");
  opened
    .prepare("UPDATE approvals SET document = @document, binding = @binding WHERE ref = @ref")
    .run({ ...how(row), ref });
  opened.close();
}

const port = (kernel: MemoryKernel) =>
  approvalPort(
    approvalActs({
      approvals: kernel.approvals,
      store: kernel.asked,
      bell: kernel.bell,
      clock: { nowMs: () => kernel.time.nowMs, monotonicMs: () => 0 },
      approverOf: async () => "ann",
      recordRefusal: async () => undefined,
      content: kernel.content,
    }),
  );

/** Approves over a channel, if it can. */
const CHANNELS: readonly (readonly [string, (kernel: MemoryKernel, ref: string) => unknown])[] = [
  ["the command line", (kernel, ref) => approve(kernel, ref)],
  ["RPC", (kernel, ref) => port(kernel).decide(ref, { approved: true, scope: { kind: "once" } }, "token")],
  [
    "the answer of another round",
    async (kernel, ref) => {
      const from = { client: "editor", channel: "multi_round_trip" } as const;
      const answer = { kind: "approve", scope: "once" } as const;
      await kernel.approvals.answerInBand({ ref, sessionId: kernel.session.id, from, answer, answersBefore: 0 });
    },
  ],
  [
    "a decision file",
    async (kernel, ref) => {
      const stored = await kernel.asked.find(ref, kernel.time.nowMs);
      const decision = {
        schema: "handrail.tool_approval.v1",
        approval_ref: ref,
        approved: true,
        code: stored?.code ?? "",
      };
      const directory = join(kernel.root, "../state/approvals");
      mkdirSync(directory, { recursive: true, mode: 0o700 }); // whoever asks makes it a moment after the request stands
      writeFileSync(join(directory, `${ref.slice(7)}.approved.json`), canonicalJson(decision), { mode: 0o600 });
    },
  ],
];

const ATTENDED: MemoryKernelOptions = { approvalSettings: { attendedClients: new Set(["editor"]) } };

function forged(kernel: MemoryKernel, ref: string) {
  return kernel.ledger.of("approval_forged").filter(({ payload }) => payload["approvalRef"] === ref);
}

describe.each(CHANNELS)("approved over %s", (_, decide) => {
  test("the request as it was lets the call through", async () => {
    const kernel = await askingKernel(ATTENDED);
    const calling = ask(kernel);
    await decide(kernel, (await pending(kernel)).ref);
    expect((await calling).outcome.kind).toBe("success");
  });

  test.each(REWRITES)("a request with %s does not: the call is refused, and it is recorded", async (__, how) => {
    const kernel = await askingKernel(ATTENDED);
    const calling = ask(kernel);
    const { ref } = await pending(kernel);
    rewrite(kernel, ref, how);
    await decide(kernel, ref);
    expect(denialOf(await calling)).toMatchObject({
      layer: "approval",
      reason: "tool_approval_invalid",
      approvalRef: ref,
    });
    expect(forged(kernel, ref)).toMatchObject([
      { payload: { problem: "what is stored is not what the reference names", severity: "critical" } },
    ]);
    expect(await kernel.asked.find(ref, kernel.time.nowMs)).toMatchObject({ state: "void" });
    expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
  });

  test.each(REWRITES)("with %s it lets no later call through either", async (__, how) => {
    const kernel = await askingKernel(ATTENDED);
    const ref = await askedRef(kernel);
    rewrite(kernel, ref, how);
    await decide(kernel, ref);
    kernel.people.approvers = false; // it does not wait
    const denial = denialOf(await ask(kernel));
    expect(denial.reason).toMatch(/^tool_approval_(invalid|required)$/);
    expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
  });
});

test("an approval that was given and rewritten since is used by no call", async () => {
  for (const [, how] of REWRITES) {
    const kernel = await askingKernel();
    const ref = await askedRef(kernel);
    await approve(kernel, ref);
    rewrite(kernel, ref, how);
    const denial = denialOf(await ask(kernel));
    expect(denial).toMatchObject({ reason: "tool_approval_invalid", approvalRef: ref });
    expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
  }
});

test("control: an approval that nobody checks is used for a call that nobody approved", async () => {
  const kernel = await askingKernel();
  const ref = await askedRef(kernel);
  await approve(kernel, ref);
  const other = { content: "never approved\n" };
  const wanted = await askedRef(kernel, other);
  const { call = "", binding = "" } = (await kernel.asked.find(wanted, kernel.time.nowMs)) ?? {};
  const opened = database(kernel);
  opened.prepare("DELETE FROM approvals WHERE ref = ?").run(wanted);
  opened.prepare("UPDATE approvals SET call = ?, binding = ? WHERE ref = ?").run(call, binding, ref);
  opened.close();
  // The store alone would let it through; the document beside it names another call.
  expect(await kernel.asked.consume({ ref, binding, requestId: "probe" }, kernel.time.nowMs)).toBe(true);
  expect(await kernel.asked.giveBack(ref, "probe")).toBe(true);
  expect(denialOf(await ask(kernel, other))).toMatchObject({
    reason: "tool_approval_invalid",
    ruleId: "APPROVAL:document",
    approvalRef: ref,
  });
  expect(forged(kernel, ref)).toHaveLength(1);
});

test("a handler is never asked about a request that was rewritten", async () => {
  const asked: JsonObject[] = [];
  const approvalManager = new ApprovalManager();
  const kernel = await askingKernel({ approvalManager });
  const ref = await askedRef(kernel);
  approvalManager.setHandler({ request: async (request) => asked.push({ id: request.id }) > 0 });
  rewrite(kernel, ref, (row) => ({ ...row, document: row.document.replace("write_file", "read_file_") }));
  expect(denialOf(await ask(kernel))).toMatchObject({ reason: "tool_approval_invalid", ruleId: "APPROVAL:document" });
  expect(asked).toEqual([]);
  expect((await ask(kernel)).outcome.kind).toBe("success");
  expect(asked).toEqual([{ id: "write_file:execute" }]);
});

test("a client is not asked about one either", async () => {
  const questions: unknown[] = [];
  const inBand: InBandAsker = {
    client: "editor",
    channel: "elicitation",
    ask: async (question) => {
      questions.push(question);
      return { kind: "approve", scope: "once" };
    },
  };
  const kernel = await askingKernel(ATTENDED);
  rewrite(kernel, await askedRef(kernel), (row) => ({
    ...row,
    document: row.document.replace("write_file", "read_file_"),
  }));
  expect(denialOf(await ask(kernel, {}, { inBand }))).toMatchObject({ ruleId: "APPROVAL:document" });
  expect(questions).toEqual([]);
  expect((await ask(kernel, {}, { inBand })).outcome.kind).toBe("success");
  expect(questions).toHaveLength(1);
});

test("over RPC nothing of it is shown, and it can be denied", async () => {
  const kernel = await askingKernel();
  const ref = await askedRef(kernel);
  const { list, find, decide } = port(kernel);
  expect((await find(ref))?.document).toContain("write_file");
  rewrite(kernel, ref, (row) => ({ ...row, document: row.document.replace("write_file", "read_file_") }));
  expect(await find(ref)).toMatchObject({ ref, document: "" });
  expect(await list("pending")).toMatchObject([{ ref, document: "" }]);
  expect(await decide(ref, { approved: false }, "token")).toMatchObject({
    decided: true,
    approval: { state: "denied", document: "" },
  });
  await vi.waitFor(
    async () => expect(denialOf(await ask(kernel))).toMatchObject({ reason: "tool_approval_denied" }),
    SOON,
  );
});
