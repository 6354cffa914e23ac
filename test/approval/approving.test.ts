/** Approvals through the pipeline: what a person allows happens once, for the very call, and nothing else does. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { blake3Hex } from "../../src/base/hash.ts";
import { ASKING, approve, ask, askedRef, askingKernel, denialOf, pending, refuse } from "../support/asking.ts";
import { memoryKernel, testTool } from "../support/memory-kernel.ts";

test("with nobody to ask a call is refused at once, by a reference under which it can be approved", async () => {
  const kernel = await memoryKernel();
  const denial = denialOf(await ask(kernel));
  expect(denial).toEqual({
    layer: "approval",
    reason: "tool_approval_required",
    ruleId: "dev.write-protected",
    message: expect.stringContaining("needs a person's approval by rule `dev.write-protected`"),
    fix: 'an operator\'s permit with @waives("dev.write-protected")',
    approvalRef: expect.stringMatching(/^blake3:[0-9a-f]{64}$/),
    approvalId: "write_file:execute",
  });
  const stored = await kernel.asked.find(denial.approvalRef ?? "", kernel.time.nowMs);
  expect(stored?.ref).toBe(`blake3:${blake3Hex(stored?.document ?? "")}`);
  expect(JSON.parse(stored?.document ?? "")).toMatchObject({
    schema: "handrail.tool_approval_request.v1",
    id: "write_file:execute",
    tool: "write_file",
    action: "execute",
    binding: stored?.binding,
    details: { userId: "tester", agentId: "agent", sessionId: kernel.session.id },
  });
  expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
});

test("an identical later call uses the approval that came meanwhile, once; the one after it asks anew", async () => {
  const kernel = await memoryKernel();
  const ref = await askedRef(kernel);
  expect(await approve(kernel, ref)).toMatchObject({ kind: "decided", approval: { state: "approved" } });
  expect((await ask(kernel)).outcome.kind).toBe("success");
  expect(kernel.textOf(ASKING.path)).toBe(ASKING.content);
  writeFileSync(join(kernel.root, ASKING.path), "");
  expect(await askedRef(kernel)).not.toBe(ref);
  expect(kernel.textOf(ASKING.path)).toBe("");
});

test("a call waits for a person and goes on as soon as they approve", async () => {
  const kernel = await askingKernel();
  const calling = ask(kernel);
  const { ref } = await pending(kernel);
  expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
  await approve(kernel, ref);
  expect((await calling).outcome.kind).toBe("success");
  expect(kernel.textOf(ASKING.path)).toBe(ASKING.content);
});

test("a call that a person refuses is denied, and so is every identical one until that is over", async () => {
  const kernel = await askingKernel();
  const calling = ask(kernel);
  const { ref, expiresAtMs } = await pending(kernel);
  await refuse(kernel, ref);
  const denied = { layer: "approval", reason: "tool_approval_denied", ruleId: "APPROVAL:denied", approvalRef: ref };
  expect(denialOf(await calling)).toMatchObject(denied);
  // meao's reason beside the code, its id of the kind, and serverd's name of the reference
  expect(kernel.ledger.of("tool_execution_denied").at(-1)?.payload).toMatchObject({
    reason: "approval_denied",
    code: "tool_approval_denied",
    approvalId: "write_file:execute",
    approvalRef: ref,
    approval_ref: ref,
    severity: "warning",
  });
  expect(denialOf(await ask(kernel))).toMatchObject(denied);
  kernel.time.nowMs = expiresAtMs - 1;
  expect(denialOf(await ask(kernel))).toMatchObject(denied);
  kernel.time.nowMs = expiresAtMs;
  expect(await askedRef(kernel)).not.toBe(ref);
});

test("a call that nobody answers in time is refused by its reference, and the request stays", async () => {
  const kernel = await askingKernel({ approvalSettings: { waitMs: 30 } });
  const denial = denialOf(await ask(kernel));
  expect(denial).toMatchObject({ reason: "tool_approval_required", approvalRef: (await pending(kernel)).ref });
  const { ref } = await pending(kernel);
  expect(kernel.ledger.of("tool_approval_required").at(-1)?.payload).toMatchObject({
    reason: "tool_approval_required",
    approvalId: "write_file:execute",
    approval_ref: ref,
  });
});

test("a wait is never longer than forty-five seconds, whatever the settings say", async () => {
  const { APPROVAL_WAIT_MAX_MS } = await import("../../src/base/limits.ts");
  expect(APPROVAL_WAIT_MAX_MS).toBe(45_000);
});

test("a call whose client is gone stops waiting, and the request stays for an identical one", async () => {
  const kernel = await askingKernel();
  const client = new AbortController();
  const calling = ask(kernel, {}, { signal: client.signal });
  const { ref } = await pending(kernel);
  client.abort();
  expect((await calling).outcome).toMatchObject({ kind: "error", code: "CANCELLED" });
  await approve(kernel, ref);
  expect((await ask(kernel)).outcome.kind).toBe("success");
});

describe("what is asked", () => {
  test("a call about which nobody asks never meets the store", async () => {
    const kernel = await askingKernel();
    kernel.asked.live = () => Promise.reject(new Error("nobody should look"));
    expect((await kernel.call("write_file", { path: "a.txt", content: "" })).outcome.kind).toBe("success");
  });

  test("a tool of capability `ask` runs with the id of its approval in its context", async () => {
    const seen: (readonly string[])[] = [];
    const tool = testTool("probe", (_, { approvals }) => ({ kind: "data", data: { seen: seen.push(approvals) } }), {
      approval: { level: "ask" },
    });
    const permit = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);`;
    const kernel = await askingKernel({ tools: [tool], policies: permit });
    const calling = kernel.call("probe", { path: "a.txt" });
    await approve(kernel, (await pending(kernel)).ref);
    expect((await calling).outcome.kind).toBe("success");
    expect(seen).toEqual([["probe:execute"]]);
  });

  test("a call that the machine would refuse is refused before anybody is asked", async () => {
    const { symlinkSync } = await import("node:fs");
    const kernel = await askingKernel();
    symlinkSync("/etc/hostname", join(kernel.root, ASKING.path));
    expect(denialOf(await ask(kernel))).toMatchObject({ layer: "workspace", reason: "workspace_symlink_escape" });
    expect(await kernel.asked.list(undefined, 1, kernel.time.nowMs)).toEqual([]);
  });
});

test("a read that uses an approval which stands already is looked at again as well: using it took time", async () => {
  const tool = testTool("peek", () => ({ kind: "data", data: {} }), { effect: "read", approval: { level: "ask" } });
  const permit = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"peek", resource);`;
  const kernel = await memoryKernel({ tools: [tool], policies: permit });
  const peek = () => kernel.call("peek", { path: "a.txt" });
  await approve(kernel, denialOf(await peek()).approvalRef ?? "");
  kernel.ledger.before = async ({ type }) => {
    if (type === "approval_consumed")
      await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: kernel.time.nowMs });
  };
  expect(denialOf(await peek())).toMatchObject({ reason: "session_revoked" });
});

describe("scopes", () => {
  test("for the session: the same call runs again and again on the same state of its target, another one asks", async () => {
    const kernel = await memoryKernel();
    await approve(kernel, await askedRef(kernel), { kind: "session" });
    for (const _ of [1, 2]) {
      expect((await ask(kernel)).outcome.kind).toBe("success");
      const { unlinkSync } = await import("node:fs");
      unlinkSync(join(kernel.root, ASKING.path));
    }
    await askedRef(kernel, { content: "something else" });
  });

  test("until a time: it lapses by itself", async () => {
    const kernel = await memoryKernel();
    const untilMs = kernel.time.nowMs + 5000;
    await approve(kernel, await askedRef(kernel), { kind: "until", untilMs });
    kernel.time.nowMs = untilMs - 1;
    expect((await ask(kernel)).outcome.kind).toBe("success");
    const { unlinkSync } = await import("node:fs");
    unlinkSync(join(kernel.root, ASKING.path));
    kernel.time.nowMs = untilMs;
    await askedRef(kernel);
  });
});

describe("many at once", () => {
  test("a client that goes away while its call is described does not take identical calls with it", async () => {
    const kernel = await memoryKernel();
    writeFileSync(join(kernel.root, ASKING.path), "be bold\n".repeat(50_000));
    const gone = new AbortController();
    const { room, live } = kernel.asked;
    const describing = Promise.withResolvers<void>();
    const joined = Promise.withResolvers<void>();
    let [rooms, looks] = [0, 0];
    kernel.asked.room = async (...given) => {
      describing.resolve();
      if (++rooms === 1) await joined.promise;
      gone.abort();
      return room(...given);
    };
    kernel.asked.live = async (...given) => {
      if (++looks === 3) setImmediate(joined.resolve);
      return live(...given);
    };
    const first = ask(kernel, {}, { signal: gone.signal });
    await describing.promise;
    const others = [ask(kernel), ask(kernel)];
    expect((await first).outcome).toMatchObject({ kind: "error", code: "CANCELLED" });
    for (const other of others) expect(denialOf(await other).reason).toBe("tool_approval_required");
    const requests = await kernel.asked.list(undefined, 10, kernel.time.nowMs);
    expect(requests.map(({ document }) => JSON.parse(document).details)).toMatchObject([
      { changes: [{ kind: "modify", diff: expect.any(String) }] },
    ]);
    expect(rooms).toBe(2);
  });

  test("identical calls share one prompt; one approval of one execution lets exactly one of 64 through", async () => {
    let runs = 0;
    const tool = testTool(
      "probe",
      () => {
        runs += 1;
        return { kind: "data", data: {} };
      },
      { approval: { level: "ask" }, effect: "write" },
    );
    const permit = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);`;
    const kernel = await askingKernel({ tools: [tool], policies: permit });
    const calls = Array.from({ length: 64 }, () => kernel.call("probe", { path: "a.txt" }));
    const { ref } = await pending(kernel);
    await approve(kernel, ref);
    const outcomes = (await Promise.all(calls)).map(({ outcome }) =>
      outcome.kind === "denied" ? outcome.denial.reason : outcome.kind,
    );
    expect(runs).toBe(1);
    expect(outcomes.filter((outcome) => outcome === "success")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "tool_approval_required")).toHaveLength(63);
    expect(kernel.ledger.of("approval_consumed")).toHaveLength(1);
  });

  test("one thousand different calls at once ask for as many as people are asked in a minute; the rest are told when to come back", async () => {
    const prompts = { perMinuteMax: 30, perHourMax: 31 };
    const kernel = await memoryKernel({ approvalSettings: { prompts } });
    const calls = Array.from({ length: 1000 }, (_, index) => ask(kernel, { path: `.github/workflows/${index}.yml` }));
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(outcomes.filter(({ kind }) => kind === "denied")).toHaveLength(30);
    const crowded = outcomes.filter(({ kind }) => kind === "error");
    expect(crowded).toHaveLength(970);
    expect(crowded[0]).toMatchObject({ code: "RATE_LIMITED", retryable: true, retryAfterMs: expect.any(Number) });
    expect(await kernel.asked.list("pending", 1000, kernel.time.nowMs)).toHaveLength(30);
    kernel.time.nowMs += 60_001;
    expect(await askedRef(kernel, { content: "one more" })).toMatch(/^blake3:/);
    kernel.time.nowMs += 60_001; // a minute later there is room again, but not for more in an hour
    const { outcome } = await ask(kernel, { content: "too many in an hour" });
    expect(outcome).toMatchObject({ kind: "error", code: "RATE_LIMITED" });
    expect(outcome.kind === "error" ? outcome.retryAfterMs : 0).toBeGreaterThan(3_000_000);
  });
});

describe("evidence", () => {
  test("says who asked, who decided over which channel, who used it, and by which approval the effect happened", async () => {
    const kernel = await askingKernel();
    const calling = ask(kernel, {}, { requestId: "the call" });
    const { ref } = await pending(kernel);
    await kernel.approvals.decide(ref, {
      approved: true,
      by: "ann",
      channel: "rpc",
      scope: { kind: "once" },
      reason: "looks right",
    });
    await calling;
    const facts = kernel.ledger.events.map(({ type, actor, requestId, payload }) => ({
      type,
      actor,
      requestId,
      payload,
    }));
    const approval = { approvalRef: ref, approval_ref: ref, approvalId: "write_file:execute", tool: "write_file" };
    const used = { approvalRef: ref, approval_ref: ref, approvalId: "write_file:execute" };
    const decision = { by: "ann", channel: "rpc", scope: { kind: "once" } };
    expect(facts).toMatchObject([
      {
        type: "approval_requested",
        actor: "tester/agent",
        requestId: "the call",
        payload: { ...approval, rules: ["dev.write-protected"] },
      },
      {
        type: "tool_approval_decided",
        actor: "approver:ann",
        payload: { ...approval, ...decision, approved: true, reason: "looks right", holds: true },
      },
      { type: "approval_consumed", requestId: "the call", payload: { ...approval, ...decision } },
      { type: "tool_selected", payload: used },
      { type: "tool_executed", payload: { ...used, success: true } },
    ]);
  });

  test("says that an approval expired, and that one lost its ground", async () => {
    const kernel = await memoryKernel();
    const first = await askedRef(kernel);
    await approve(kernel, first);
    writeFileSync(join(kernel.root, ASKING.path), "changed");
    await ask(kernel);
    const second = await askedRef(kernel);
    kernel.time.nowMs += 15 * 60_000;
    await ask(kernel);
    expect(kernel.ledger.of("approval_void").map(({ payload }) => payload["approvalRef"])).toEqual([first]);
    expect(kernel.ledger.of("approval_expired").map(({ payload }) => payload["approvalRef"])).toEqual([second]);
  });

  test("a decision that cannot be recorded does not count", async () => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    kernel.ledger.breakFor(({ type }) => type === "tool_approval_decided");
    await expect(approve(kernel, ref)).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
    expect((await kernel.asked.find(ref, kernel.time.nowMs))?.state).toBe("pending");
  });

  test("a request that cannot be recorded is not there to be decided", async () => {
    const kernel = await askingKernel();
    kernel.ledger.breakFor(({ type }) => type === "approval_requested");
    expect((await ask(kernel)).outcome).toMatchObject({ kind: "error", code: "LEDGER_UNAVAILABLE" });
    expect(await kernel.asked.list("pending", 1, kernel.time.nowMs)).toEqual([]);
  });

  test("a request that was stored by a kernel which ended before it could record it is recorded with the decision about it", async () => {
    const kernel = await memoryKernel();
    kernel.asked.noteRecorded = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the kernel was killed"));
    const ref = await askedRef(kernel);
    kernel.ledger.events.length = 0;
    await approve(kernel, ref);
    expect(kernel.ledger.types()).toEqual(["approval_requested", "tool_approval_decided"]);
    expect(kernel.ledger.of("approval_requested")).toMatchObject([
      { payload: { approvalRef: ref, rules: ["dev.write-protected"], approvalId: "write_file:execute" } },
    ]);
  });

  test("a decision that was recorded and could not be stored is recorded as one that does not hold", async () => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    kernel.asked.decide = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is full"));
    await expect(approve(kernel, ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(kernel.ledger.of("tool_approval_decided").map(({ payload }) => payload["holds"])).toEqual([true, false]);
  });

  test("a use that cannot be recorded executes nothing, and the approval is there when the ledger is", async () => {
    const kernel = await memoryKernel();
    await approve(kernel, await askedRef(kernel));
    kernel.ledger.breakFor(({ type }) => type === "approval_consumed");
    expect((await ask(kernel)).outcome).toMatchObject({ kind: "error", code: "LEDGER_UNAVAILABLE" });
    expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
    kernel.ledger.breakFor(() => false);
    expect((await ask(kernel)).outcome.kind).toBe("success");
  });

  test("an approval is given back by a call that is refused before it began, and is spent by one that began", async () => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    await approve(kernel, ref);
    kernel.ledger.breakFor(({ type }) => type === "tool_selected");
    await ask(kernel);
    expect(await kernel.asked.find(ref, kernel.time.nowMs)).toMatchObject({ state: "approved", uses: 0 });
    expect(kernel.ledger.of("approval_returned")).toHaveLength(1);
    kernel.ledger.breakFor(() => false);
    expect((await ask(kernel)).outcome.kind).toBe("success");
    expect(await kernel.asked.find(ref, kernel.time.nowMs)).toMatchObject({ state: "consumed", uses: 1 });
  });
});
