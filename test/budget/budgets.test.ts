/** Budgets through the whole pipeline: reserved before, settled once after, refused when nothing is left. */
import { describe, expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { RESERVED_DURATION_MS } from "../../src/kernel/call/spending.ts";
import { Refusal, ToolFailure } from "../../src/model/outcome/failure.ts";
import type { LeaseBudget } from "../../src/model/people/lease.ts";
import { type Amounts, NOTHING } from "../../src/model/spending/budget.ts";
import { NO_LIMITS, type SpendingLimits } from "../../src/model/spending/spending-limits.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { toToolResult } from "../../src/wire/index.ts";
import { toWireResponse } from "../../src/wire/protobuf.ts";
import { type MemoryKernel, memoryKernel, START_MS, testTool } from "../support/memory-kernel.ts";

const READ = { path: "a.txt" };
const done: Tool["execute"] = () => ({ kind: "data", data: {} });

/** A tool whose run the test holds open. */
function heldTool(effect: "read" | "write" = "read") {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const stopped = heldUntilStopped(started.resolve);
  const execute: Tool["execute"] = async (args, context) => {
    await Promise.race([finish.promise, stopped(args, context)]);
    return { kind: "data", data: {} };
  };
  return { tool: testTool("held", execute, { effect }), started: started.promise, finish: () => finish.resolve() };
}

/** Runs until it is told to stop. */
function heldUntilStopped(onStart: () => void): Tool["execute"] {
  return (_, { signal }) => {
    onStart();
    return new Promise<never>((_resolve, reject) => {
      signal.addEventListener(
        "abort",
        () => reject(new ToolFailure("CANCELLED", "the tool was stopped", "send it again")),
        { once: true },
      );
    });
  };
}

async function accountOf({ spent, lease }: MemoryKernel): Promise<{ spent: Amounts; reserved: Amounts } | undefined> {
  return (await spent.listAccounts(10)).find(({ key }) => key === `lease:${lease.id}`);
}

const reasonOf = ({ outcome }: CallResponse) =>
  outcome.kind === "denied" ? outcome.denial.reason : outcome.kind === "error" ? outcome.code : outcome.kind;

/** A lease with a budget, and a tool that does nothing. */
function limited(budget: LeaseBudget, effect: "read" | "write" = "read"): Promise<MemoryKernel> {
  return memoryKernel({ budget, tools: [testTool("probe", done, { effect })] });
}

describe("a lease with a budget of calls", () => {
  test("is denied the call after the last, with what is exhausted and the narrowest change", async () => {
    const kernel = await limited({ calls: 2 });
    expect([reasonOf(await kernel.call("probe", READ)), reasonOf(await kernel.call("probe", READ))]).toEqual([
      "success",
      "success",
    ]);
    const { outcome } = await kernel.call("probe", READ);
    expect(outcome).toEqual({
      kind: "denied",
      denial: {
        layer: "budget",
        reason: "budget_exceeded",
        ruleId: "LEASE:lea_test",
        message:
          "the budget of the lease `lea_test` has 0 of 2 calls left (2 spent), and the call needs 1; ask the operator for more",
        fix: "a lease with a budget of `calls=3`",
      },
    });
    expect((await accountOf(kernel))?.spent.calls).toBe(2);
  });

  test("of nothing admits none, and none at all leaves no trace in the store", async () => {
    expect(reasonOf(await (await limited({ calls: 0 })).call("probe", READ))).toBe("budget_exceeded");
    const unlimited = await limited({});
    unlimited.spent.reserve = () => Promise.reject(new Error("nobody should ask"));
    expect(reasonOf(await unlimited.call("probe", READ))).toBe("success");
    // what was spent is answered all the same
    const bytes = Buffer.byteLength('{"path":"a.txt"}');
    expect((await unlimited.call("probe", READ)).budgetConsumed).toBeGreaterThanOrEqual(bytes);
  });

  test("is spent by its derived leases too, and by all that derive from it together", async () => {
    const kernel = await limited({ calls: 2 });
    const derived = { ...kernel.lease, id: "lea_child", parentId: kernel.lease.id, budget: { calls: 2 } };
    await kernel.sessions.insertLease(derived);
    await kernel.sessions.insertSession({ ...kernel.session, leaseId: "lea_child" });
    expect(reasonOf(await kernel.call("probe", READ))).toBe("success");
    await kernel.sessions.insertSession(kernel.session);
    expect(reasonOf(await kernel.call("probe", READ))).toBe("success");
    await kernel.sessions.insertSession({ ...kernel.session, leaseId: "lea_child" });
    const { outcome } = await kernel.call("probe", READ);
    expect(outcome).toMatchObject({ denial: { reason: "budget_exceeded", ruleId: "LEASE:lea_test" } });
    expect((await kernel.spent.listAccounts(10)).map(({ key, spent }) => [key, spent.calls])).toEqual([
      ["lease:lea_child", 1],
      ["lease:lea_test", 2],
    ]);
  });

  test("is not overspent by calls at once", async () => {
    const kernel = await limited({ calls: 5 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => kernel.call("probe", READ)));
    expect(answers.filter((answer) => reasonOf(answer) === "success")).toHaveLength(5);
    expect((await accountOf(kernel))?.spent.calls).toBe(5);
  });
});

describe("nothing is spent by a call that", () => {
  const cases: readonly (readonly [string, (kernel: MemoryKernel) => Promise<CallResponse>])[] = [
    ["is denied before its budget", (kernel) => kernel.call("probe", { path: ".env" })],
    [
      "is denied after it reserved, because its session was revoked while the intent was recorded",
      async (kernel) => {
        kernel.ledger.before = async (event) => {
          if (event.type === "tool_selected")
            await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: START_MS });
        };
        return kernel.call("probe", READ);
      },
    ],
    [
      "cannot record its intent",
      async (kernel) => {
        kernel.ledger.breakFor(({ type }) => type === "tool_selected");
        return kernel.call("probe", READ);
      },
    ],
    ["was cancelled before it ran", (kernel) => kernel.call("probe", READ, { signal: AbortSignal.abort() })],
    ["is refused by its own handle", (kernel) => kernel.call("refused", READ)],
  ];
  test.each(cases)("%s", async (_, made) => {
    const refuse = () => {
      throw new Refusal({
        layer: "workspace",
        reason: "workspace_symlink_escape",
        ruleId: "WORKSPACE:link",
        message: "m",
      });
    };
    const kernel = await memoryKernel({
      budget: { calls: 3 },
      tools: [testTool("probe", done), testTool("refused", refuse, { effect: "read" })],
    });
    expect((await made(kernel)).outcome.kind).not.toBe("success");
    expect((await accountOf(kernel)) ?? { spent: NOTHING, reserved: NOTHING }).toMatchObject({
      spent: NOTHING,
      reserved: NOTHING,
    });
  });

  test("is a replay", async () => {
    const kernel = await limited({ calls: 1 }, "write");
    const first = await kernel.call("probe", READ, { dedupeKey: "once" });
    const again = await kernel.call("probe", READ, { dedupeKey: "once", requestId: first.requestId });
    expect(again).toEqual(first);
    expect((await accountOf(kernel))?.spent.calls).toBe(1);
  });

  test("but tokens and cost that its tool may have paid by then are gone, however the call ends", async () => {
    const started = Promise.withResolvers<void>();
    const ways: readonly (readonly [string, Tool["execute"]])[] = [
      ["CANCELLED", heldUntilStopped(started.resolve)],
      [
        "IO_ERROR",
        () => {
          throw new ToolFailure("IO_ERROR", "it broke", "mend it");
        },
      ],
      [
        "workspace_symlink_escape",
        () => {
          throw new Refusal({
            layer: "workspace",
            reason: "workspace_symlink_escape",
            ruleId: "WORKSPACE:link",
            message: "m",
          });
        },
      ],
      ["tool_output_invalid", () => "no output" as never],
      ["success", done],
    ];
    for (const [ending, execute] of ways) {
      const probe = {
        ...testTool("probe", execute, { effect: "read" }),
        spends: () => ({ tokens: 10, costMicros: 5 }),
      };
      const kernel = await memoryKernel({ budget: { tokens: 15, costMicros: 100 }, tools: [probe] });
      const cancel = new AbortController();
      const answer = kernel.call("probe", READ, { signal: cancel.signal });
      if (ending === "CANCELLED") {
        await started.promise;
        cancel.abort();
      }
      expect(reasonOf(await answer)).toBe(ending);
      expect([ending, await accountOf(kernel)]).toMatchObject([
        ending,
        { spent: { tokens: 10, costMicros: 5 }, reserved: NOTHING },
      ]);
      const [record] = kernel.ledger.events.filter(
        ({ type }) => type === "tool_executed" || type === "tool_execution_denied",
      );
      expect(record?.payload["consumed"]).toMatchObject({ tokens: 10, costMicros: 5 });
      expect(reasonOf(await kernel.call("probe", READ))).toBe("budget_exceeded");
    }
  });

  test("control: a call that ran and failed is spent", async () => {
    const fail = () => {
      throw new ToolFailure("IO_ERROR", "it broke", "mend it");
    };
    const kernel = await memoryKernel({ budget: { calls: 3 }, tools: [testTool("probe", fail)] });
    expect(reasonOf(await kernel.call("probe", READ))).toBe("IO_ERROR");
    expect(await accountOf(kernel)).toMatchObject({ spent: { calls: 1 }, reserved: NOTHING });
  });
});

describe("what was spent", () => {
  test("is measured, recorded, and answered in the tool's unit", async () => {
    const execute: Tool["execute"] = () => ({
      kind: "data",
      data: { text: "x".repeat(50) },
      consumed: { tokens: 7, costMicros: 2_500 },
    });
    const probe = {
      ...testTool("probe", execute, { effect: "read" }),
      spends: () => ({ tokens: 10, costMicros: 5_000 }),
    };
    const other = { ...probe, name: "other", capability: { ...probe.capability, budgetUnit: "tokens" as const } };
    const kernel = await memoryKernel({ budget: { calls: 9, tokens: 20 }, tools: [probe, other] });
    const first = await kernel.call("probe", READ);
    const bytes = Buffer.byteLength('{"path":"a.txt"}') + "text".length + 50;
    expect(first.budgetConsumed).toBe(bytes);
    expect(toToolResult(first).metadata).toMatchObject({ budget_consumed: bytes });
    expect(toWireResponse(first).result.value).toMatchObject({ budgetConsumed: BigInt(bytes) });
    expect((await kernel.call("other", READ)).budgetConsumed).toBe(7);
    const consumed = { calls: 1, durationMs: expect.any(Number), bytes, tokens: 7, costMicros: 2_500 };
    expect(kernel.ledger.of("tool_executed").map(({ payload }) => payload["consumed"])).toEqual([consumed, consumed]);
    expect((await accountOf(kernel))?.spent).toMatchObject({
      calls: 2,
      bytes: 2 * bytes,
      tokens: 14,
      costMicros: 5_000,
    });
    expect(await kernel.call("probe", READ).then(reasonOf)).toBe("budget_exceeded");
  });

  test("is not in the evidence where nothing is limited", async () => {
    const kernel = await limited({});
    await kernel.call("probe", READ);
    expect(kernel.ledger.of("tool_executed")[0]?.payload).not.toHaveProperty("consumed");
  });
});

describe("a budget of bytes", () => {
  const sized = (bytes: number, effect: "read" | "write") =>
    testTool("probe", () => ({ kind: "data", data: { text: "x".repeat(bytes) } }), { effect });

  test("admits a result that just fits, also one larger than what was reserved at first", async () => {
    const all = Buffer.byteLength('{"path":"a.txt"}') + "text".length + 90_000;
    const kernel = await memoryKernel({ budget: { bytes: all }, tools: [sized(90_000, "read")] });
    expect(reasonOf(await kernel.call("probe", READ))).toBe("success");
    expect((await accountOf(kernel))?.spent.bytes).toBe(all);
    expect(reasonOf(await kernel.call("probe", READ))).toBe("budget_exceeded");
  });

  test("withholds a result that is larger than what is left, and says that an effect stands", async () => {
    const read = await memoryKernel({ budget: { bytes: 90_000 }, tools: [sized(90_000, "read")] });
    const withheld = await read.call("probe", READ);
    expect(withheld.outcome).toMatchObject({
      code: "OUTPUT_LIMIT",
      retryable: false,
      message: expect.stringContaining("the result is withheld"),
    });
    expect(JSON.stringify(withheld)).not.toContain("xxx");
    const write = await memoryKernel({ budget: { bytes: 90_000 }, tools: [sized(90_000, "write")] });
    expect((await write.call("probe", READ)).outcome).toMatchObject({
      code: "OUTPUT_LIMIT",
      message: expect.stringContaining("what the call did stands"),
    });
  });

  test("is drawn on by what is handed in", async () => {
    const kernel = await memoryKernel({ budget: { bytes: 1000 } });
    expect(reasonOf(await kernel.call("write_file", { path: "a.txt", content: "x".repeat(2000) }))).toBe(
      "budget_exceeded",
    );
    expect(reasonOf(await kernel.call("write_file", { path: "a.txt", content: "x" }))).toBe("success");
  });
});

describe("a budget of time", () => {
  test("stops a call when it is used up", async () => {
    const held = heldTool();
    const kernel = await memoryKernel({ budget: { durationMs: 40 }, tools: [held.tool] });
    const { outcome } = await kernel.call("held", READ);
    expect(outcome).toMatchObject({
      code: "TIMEOUT",
      retryable: false,
      message: expect.stringContaining("duration left"),
    });
    expect((await accountOf(kernel))?.spent.durationMs).toBeGreaterThanOrEqual(39);
    expect(reasonOf(await kernel.call("held", READ))).toBe("budget_exceeded");
  });

  test("lets a call go on that needs more than it reserved at first, while there is more", async () => {
    const held = heldTool();
    const kernel = await memoryKernel({
      budget: { durationMs: 10 * RESERVED_DURATION_MS },
      tools: [{ ...held.tool, spends: () => ({ durationMs: 15 }) }],
    });
    const answer = kernel.call("held", READ);
    await held.started;
    const extended = Promise.withResolvers<void>();
    const extend = kernel.spent.extend;
    kernel.spent.extend = async (wish) => {
      const granted = await extend(wish);
      extended.resolve();
      return granted;
    };
    await extended.promise;
    held.finish();
    expect(reasonOf(await answer)).toBe("success");
    expect(await accountOf(kernel)).toMatchObject({ reserved: NOTHING });
  });

  test("leaves room for a second call beside a first that runs", async () => {
    const held = heldTool();
    const kernel = await memoryKernel({
      budget: { durationMs: 2 * RESERVED_DURATION_MS },
      tools: [held.tool, testTool("probe", done, { effect: "read" })],
    });
    const first = kernel.call("held", READ);
    await held.started;
    expect(reasonOf(await kernel.call("probe", READ))).toBe("success");
    held.finish();
    expect(reasonOf(await first)).toBe("success");
  });
});

describe("limits of sessions and principals", () => {
  const limits = (more: Partial<SpendingLimits>): SpendingLimits => ({ id: "test", ...more });
  const withLimits = (given: SpendingLimits) =>
    memoryKernel({ settings: { limits: given }, tools: [testTool("probe", done, { effect: "read" })] });

  test("a session's budget is its own, a principal's is that of all its sessions", async () => {
    const kernel = await withLimits(limits({ session: { budget: { calls: 1 } }, principal: { budget: { calls: 2 } } }));
    const as = (id: string) => kernel.sessions.insertSession({ ...kernel.session, id });
    const token = (id: string) => kernel.token.replace(/^[^.]*/, id);
    expect(reasonOf(await kernel.call("probe", READ))).toBe("success");
    expect((await kernel.call("probe", READ)).outcome).toMatchObject({
      denial: { ruleId: "LIMITS:per_session", fix: "`limits.per_session.calls: 2` in handrail.yaml" },
    });
    for (const [id, expected] of [
      ["ses_2", "success"],
      ["ses_3", "LIMITS:per_principal"],
    ] as const) {
      await as(id);
      const hash = (await import("../../src/base/hash.ts")).blake3Hex(token(id));
      await kernel.sessions.insertSession({ ...kernel.session, id, tokenHash: hash });
      const { outcome } = await kernel.call("probe", READ, { token: token(id) });
      expect(outcome.kind === "denied" ? outcome.denial.ruleId : outcome.kind).toBe(expected);
    }
  });

  test("a period that is over begins anew, and the denial says when", async () => {
    const kernel = await withLimits(limits({ principal: { budget: { calls: 1 }, periodMs: 3_600_000 } }));
    await kernel.call("probe", READ);
    kernel.time.nowMs = START_MS + 3_599_999;
    expect((await kernel.call("probe", READ)).outcome).toMatchObject({
      denial: { message: expect.stringContaining("wait until 2026-01-01T01:00:00.000Z") },
    });
    await kernel.sessions.updateSession(kernel.session.id, { expiresAtMs: START_MS + 9_000_000 });
    kernel.time.nowMs = START_MS + 3_600_000;
    expect(reasonOf(await kernel.call("probe", READ))).toBe("success");
  });

  test("limits that change while a call waits refuse it", async () => {
    let current = NO_LIMITS;
    const settings = {
      get limits() {
        return current;
      },
    };
    const kernel = await memoryKernel({ settings, tools: [testTool("probe", done)] });
    kernel.ledger.before = (event) => {
      if (event.type === "tool_selected") current = limits({ session: { budget: { calls: 0 } } });
    };
    expect((await kernel.call("probe", READ)).outcome).toMatchObject({ denial: { ruleId: "LIMITS:changed" } });
  });
});

describe("a store that fails", () => {
  test("refuses the call, and nothing runs", async () => {
    let ran = false;
    const probe = testTool("probe", () => {
      ran = true;
      return { kind: "data", data: {} };
    });
    const kernel = await memoryKernel({ budget: { calls: 3 }, tools: [probe] });
    for (const method of ["reserve", "sync"] as const) {
      const works = kernel.spent[method];
      Object.assign(kernel.spent, {
        [method]: () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is gone")),
      });
      expect((await kernel.call("probe", READ)).outcome).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
      Object.assign(kernel.spent, { [method]: works });
    }
    kernel.spent.reserve = () => Promise.reject(new KernelError("STORE_CORRUPT", "an amount is none"));
    expect((await kernel.call("probe", READ)).outcome).toMatchObject({ code: "STORE_CORRUPT", retryable: false });
    expect(ran).toBe(false);
  });

  test("while it settles keeps the amount reserved, and settles it when it works again", async () => {
    const kernel = await limited({ calls: 3 });
    const { settle } = kernel.spent;
    kernel.spent.settle = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is gone"));
    expect(reasonOf(await kernel.call("probe", READ))).toBe("success");
    expect(await accountOf(kernel)).toMatchObject({ spent: NOTHING, reserved: { calls: 1 } });
    kernel.spent.settle = settle;
    await kernel.call("probe", READ);
    expect(await accountOf(kernel)).toMatchObject({ spent: { calls: 2 }, reserved: NOTHING });
  });

  test("or is slow has what allowed a read looked at again", async () => {
    const kernel = await limited({ calls: 3 });
    const { reserve } = kernel.spent;
    kernel.spent.reserve = async (wish, spender) => {
      await new Promise((waited) => setTimeout(waited, 10));
      await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: START_MS });
      return reserve(wish, spender);
    };
    expect(reasonOf(await kernel.call("probe", READ))).toBe("session_revoked");
    expect(await accountOf(kernel)).toMatchObject({ spent: NOTHING, reserved: NOTHING });
  });

  test("whose reservation is gone refuses an effect", async () => {
    const kernel = await limited({ calls: 3 }, "write");
    kernel.ledger.before = async (event) => {
      if (event.type === "tool_selected") await kernel.spent.adopt("ins_test", "ins_other", 10);
    };
    expect((await kernel.call("probe", READ)).outcome).toMatchObject({ denial: { ruleId: "LIMITS:reservation" } });
  });
});
