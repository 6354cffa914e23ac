// Answers that last: they cover calls of the kind and target that was shown, for the session or the project, and end.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemRandom } from "../../src/base/ids.ts";
import { readApprovalDocument } from "../../src/model/approval/approval-document.ts";
import { promptLines } from "../../src/model/approval/prompt-lines.ts";
import { mintSession } from "../../src/session/session.ts";
import { ASKING, approve, ask, askedRef, askingKernel, denialOf, pending, refuse } from "../support/asking.ts";
import { type MemoryKernel, memoryKernel } from "../support/memory-kernel.ts";

const DAY_MS = 24 * 3_600_000;

/** Another session of the same user and agent. */
async function otherToken({ sessions, session, time }: MemoryKernel): Promise<string> {
  const { id: _id, tokenHash: _hash, createdAtMs, expiresAtMs, ...same } = session;
  const lifetimeMs = expiresAtMs - createdAtMs;
  const { token } = await mintSession(sessions, { ...same, lifetimeMs }, { nowMs: time.nowMs, random: systemRandom });
  return token;
}

const kindOf = async (asking: ReturnType<typeof ask>) => (await asking).outcome.kind;

test("a request says what an answer for its kind covers, and that is what it covers", async () => {
  const kernel = await memoryKernel();
  const ref = await askedRef(kernel);
  const stored = await kernel.approvals.find(ref);
  const request = readApprovalDocument(ref, stored?.document ?? "");
  if (request === undefined) throw new Error("unreadable");
  expect(request.details.covers).toEqual([
    {
      what: "create, change or delete this file, by write_file",
      target: ASKING.path,
      effect: "write",
      rules: ["dev.write-protected"],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
  const lines = promptLines(request, ref).map(({ text }) => text);
  expect(lines).toContain("create, change or delete this file, by write_file (dev.write-protected)");
  await approve(kernel, ref, { kind: "kind" });
  expect(await kindOf(ask(kernel))).toBe("success");
  expect(await kindOf(ask(kernel, { content: "other content" }))).toBe("success");
  expect(kernel.textOf(ASKING.path)).toBe("other content");
  writeFileSync(join(kernel.root, ASKING.path), "by a person"); // whatever lies there before
  expect(await kindOf(ask(kernel, { content: "third" }))).toBe("success");
  expect((await kernel.approvals.find(ref))?.uses).toBe(3);
  expect(kernel.ledger.of("approval_consumed")).toHaveLength(3);
  expect(kernel.ledger.of("tool_approval_decided")[0]?.payload).toMatchObject({ scope: { kind: "kind" } });
});

test("for the session it ends with the session, and is of no other", async () => {
  const kernel = await memoryKernel();
  await approve(kernel, await askedRef(kernel), { kind: "kind" });
  const token = await otherToken(kernel);
  expect(denialOf(await ask(kernel, {}, { token })).reason).toBe("tool_approval_required");
  expect(await kindOf(ask(kernel, { content: "x" }))).toBe("success");
});

test("for the project it covers later sessions of the same user and agent, up to its time", async () => {
  const kernel = await memoryKernel();
  const ref = await askedRef(kernel);
  const untilMs = kernel.time.nowMs + 3_000_000;
  await approve(kernel, ref, { kind: "project", untilMs });
  await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: kernel.time.nowMs });
  const token = await otherToken(kernel);
  const [listed] = await kernel.approvals.settle(await kernel.asked.list("approved", 10, kernel.time.nowMs));
  expect(listed).toMatchObject({ ref, state: "approved" }); // the end of its session does not end it
  expect(await kindOf(ask(kernel, { content: "later" }, { token }))).toBe("success");
  const stranger = await mintSession(
    kernel.sessions,
    { ...kernel.session, agentId: "another", lifetimeMs: DAY_MS },
    { nowMs: kernel.time.nowMs, random: systemRandom },
  );
  expect(denialOf(await ask(kernel, {}, { token: stranger.token })).reason).toBe("tool_approval_required");
  kernel.time.nowMs = untilMs;
  expect(denialOf(await ask(kernel, { content: "too late" }, { token })).reason).toBe("tool_approval_required");
});

test("it can be taken back, and holds for no call from then on", async () => {
  const kernel = await memoryKernel();
  const ref = await askedRef(kernel);
  await approve(kernel, ref, { kind: "kind" });
  expect(await kindOf(ask(kernel, { content: "x" }))).toBe("success");
  await refuse(kernel, ref);
  expect(denialOf(await ask(kernel, { content: "y" })).reason).toBe("tool_approval_required");
});

test("a burst of one kind is one prompt, which says how many wait", async () => {
  const kernel = await askingKernel();
  const calls = Array.from({ length: 8 }, (_, index) => ask(kernel, { content: `${index}` }));
  const { ref } = await pending(kernel);
  await expect.poll(async () => (await kernel.approvals.find(ref))?.joined, { timeout: 60_000 }).toBe(7);
  expect(await kernel.asked.list("pending", 10, kernel.time.nowMs)).toHaveLength(1);
  await approve(kernel, ref, { kind: "kind" });
  expect(await Promise.all(calls.map(kindOf))).toEqual(Array(8).fill("success"));
  expect(kernel.ledger.of("approval_requested")).toHaveLength(1);
});

test("of a burst an answer for one call is for that one; the others ask, and a refusal is one of all", async () => {
  const kernel = await askingKernel();
  const calls = Array.from({ length: 3 }, (_, index) => ask(kernel, { content: `${index}` }));
  const first = await pending(kernel);
  await expect.poll(async () => (await kernel.approvals.find(first.ref))?.joined, { timeout: 60_000 }).toBe(2);
  await approve(kernel, first.ref);
  await expect
    .poll(async () => (await kernel.asked.list("pending", 10, kernel.time.nowMs)).length, { timeout: 60_000 })
    .toBe(2); // each by itself now: nobody waits behind an answer twice
  for (const { ref } of await kernel.asked.list("pending", 10, kernel.time.nowMs)) await refuse(kernel, ref);
  const ended = await Promise.all(calls.map(kindOf));
  expect(ended.toSorted()).toEqual(["denied", "denied", "success"]);

  const again = Array.from({ length: 3 }, (_, index) => ask(kernel, { content: `again ${index}` }));
  const { ref } = await pending(kernel);
  await expect.poll(async () => (await kernel.approvals.find(ref))?.joined, { timeout: 60_000 }).toBe(2);
  await refuse(kernel, ref);
  const reasons = (await Promise.all(again)).map((one) => denialOf(one).reason);
  expect(reasons).toEqual(Array(3).fill("tool_approval_denied"));
});
