/**
 * Re-check: what allowed a call must still hold once its intent is recorded; else nothing happens and the intent is
 * closed.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KernelError } from "../../../src/base/errors.ts";
import { REFUSALS_RECORDED_PER_SECOND } from "../../../src/kernel/answer/refusal-rate.ts";
import { editTools } from "../../../src/tools/edit/edit-tools.ts";
import { fileTools } from "../../../src/tools/file/file-tools.ts";
import { engineOf, type MemoryKernel, memoryKernel, START_MS } from "../../support/memory-kernel.ts";

const TOOLS = [...fileTools, ...editTools];

/** What happens while the disk takes the intent, and what answers the call then. */
const CHANGES: readonly (readonly [string, (kernel: MemoryKernel) => unknown, object])[] = [
  [
    "the session is revoked",
    ({ sessions, session }) => sessions.updateSession(session.id, { revokedAtMs: START_MS }),
    { layer: "authenticate", reason: "session_revoked", ruleId: "SESSION:revoked" },
  ],
  [
    "the session is frozen",
    ({ sessions, session }) => sessions.updateSession(session.id, { frozenAtMs: START_MS }),
    { layer: "authenticate", reason: "session_frozen", ruleId: "SESSION:frozen" },
  ],
  [
    "the session expires",
    ({ time, session }) => {
      time.nowMs = session.expiresAtMs;
    },
    { layer: "authenticate", reason: "session_expired", ruleId: "SESSION:expired" },
  ],
  [
    "the lease is released",
    ({ sessions, lease }) => sessions.updateLease(lease.id, { releasedAtMs: START_MS }),
    { layer: "scope", reason: "lease_expired", ruleId: "LEASE:lea_test" },
  ],
  [
    "the lease expires",
    ({ sessions, lease }) => sessions.updateLease(lease.id, { expiresAtMs: START_MS }),
    { layer: "scope", reason: "lease_expired", ruleId: "LEASE:lea_test" },
  ],
  [
    "the policy changes",
    (kernel) => {
      kernel.policy.current = () => engineOf("reader", "", TOOLS);
    },
    { layer: "policy", reason: "tool_policy_invalid", ruleId: "POLICY:changed" },
  ],
  [
    "the policy becomes invalid",
    (kernel) => {
      kernel.policy.current = () => Promise.reject(new KernelError("POLICY_INVALID", "the policies are not valid"));
    },
    { layer: "gates", reason: "tool_policy_invalid", ruleId: "CONFIG:policy_invalid" },
  ],
];

test("a tool that is switched off between intent and effect does nothing, and the intent is closed", async () => {
  const disabledTools = new Set<string>();
  const kernel = await memoryKernel({ settings: { disabledTools } });
  kernel.ledger.before = ({ type }) => void (type === "tool_selected" && disabledTools.add("write_file"));
  const { outcome } = await kernel.call("write_file", { path: "a.txt", content: "x" });
  expect(outcome).toMatchObject({
    kind: "denied",
    denial: { layer: "gates", reason: "tool_not_allowed", ruleId: "GATE:write_file" },
  });
  expect(existsSync(join(kernel.root, "a.txt"))).toBe(false);
  expect(kernel.ledger.of("tool_execution_denied")).toMatchObject([
    { closes: kernel.ledger.of("tool_selected")[0]?.sequence },
  ]);
});

test.each(CHANGES)(
  "%s between intent and effect: nothing happens and the intent is closed",
  async (_, change, expected) => {
    const kernel = await memoryKernel();
    kernel.ledger.before = async ({ type }) => {
      if (type === "tool_selected") await change(kernel);
    };
    const { outcome } = await kernel.call("write_file", { path: "a.txt", content: "new" });
    expect(outcome).toMatchObject({ kind: "denied", denial: expected });
    expect(existsSync(join(kernel.root, "a.txt"))).toBe(false);
    expect(kernel.ledger.events.map(({ type, intent, closes }) => [type, intent, closes])).toEqual([
      ["tool_selected", true, undefined],
      ["tool_execution_denied", undefined, 1],
    ]);
  },
);

test("the intent is closed although a flood of refused requests is being counted", async () => {
  const kernel = await memoryKernel();
  for (let index = 0; index <= REFUSALS_RECORDED_PER_SECOND; index += 1)
    await kernel.call("read_file", { path: "a" }, { token: "nonsense" });
  kernel.ledger.before = async ({ type }) => {
    if (type === "tool_selected") await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: START_MS });
  };
  await kernel.call("write_file", { path: "a.txt", content: "new" });
  const [intent] = kernel.ledger.of("tool_selected");
  expect(kernel.ledger.events.at(-1)).toMatchObject({ type: "tool_execution_denied", closes: intent?.sequence });
});

describe("a write that waits for the lock of its file", () => {
  /** Makes the lock busy until `change` was made, which the first look at it starts. */
  function waitFor(kernel: MemoryKernel, change: () => unknown): void {
    const { acquire } = kernel.locks;
    let looked = false;
    kernel.locks.acquire = async (wanted) => {
      if (looked) return acquire(wanted);
      looked = true;
      await change();
      return { kind: "busy", owner: "another kernel", sinceMs: wanted.nowMs };
    };
  }

  test.each(CHANGES)("is refused when %s meanwhile", async (_, change, expected) => {
    const kernel = await memoryKernel();
    waitFor(kernel, () => change(kernel));
    const { outcome } = await kernel.call("write_file", { path: "a.txt", content: "new" });
    expect(outcome).toMatchObject({ kind: "denied", denial: expected });
    expect(existsSync(join(kernel.root, "a.txt"))).toBe(false);
    expect(kernel.ledger.events.map(({ type, closes }) => [type, closes])).toEqual([
      ["tool_selected", undefined],
      ["tool_execution_denied", 1],
    ]);
  });

  test("is done when nothing changed meanwhile", async () => {
    const kernel = await memoryKernel();
    waitFor(kernel, () => undefined);
    expect((await kernel.call("write_file", { path: "a.txt", content: "new" })).outcome.kind).toBe("success");
    expect(kernel.textOf("a.txt")).toBe("new");
  });

  test("behind another call of the same kernel is refused as well", async () => {
    const kernel = await memoryKernel();
    const { release } = kernel.locks;
    kernel.locks.release = async (lock) => {
      await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: START_MS });
      return release(lock);
    };
    const writes = ["first", "second"].map((content) => kernel.call("write_file", { path: "a.txt", content }));
    const [first, second] = await Promise.all(writes);
    expect([first?.outcome.kind, second?.outcome]).toMatchObject([
      "success",
      { kind: "denied", denial: { reason: "session_revoked" } },
    ]);
    expect(kernel.textOf("a.txt")).toBe("first");
  });
});

describe("a policy that depends on the time", () => {
  const LATER = Math.floor(START_MS / 1000) + 60;
  const policies = `@id("test.hours")\n@message("too late")\nforbid (principal, action == Handrail::Action::"write_file", resource)\nwhen { context.time >= ${LATER} };`;

  test("is asked again after a wait: what it forbids by then does not happen", async () => {
    const kernel = await memoryKernel({ policies });
    kernel.ledger.before = ({ type }) => {
      if (type === "tool_selected") kernel.time.nowMs = LATER * 1000;
    };
    const { outcome } = await kernel.call("write_file", { path: "a.txt", content: "new" });
    expect(outcome).toMatchObject({ kind: "denied", denial: { layer: "policy", ruleId: "test.hours" } });
    expect(existsSync(join(kernel.root, "a.txt"))).toBe(false);
  });

  test("allows what it still allows", async () => {
    const kernel = await memoryKernel({ policies });
    kernel.ledger.before = ({ type }) => {
      if (type === "tool_selected") kernel.time.nowMs = LATER * 1000 - 1;
    };
    expect((await kernel.call("write_file", { path: "a.txt", content: "new" })).outcome.kind).toBe("success");
  });
});

test("with nothing changed the effect happens", async () => {
  const kernel = await memoryKernel();
  kernel.policy.current = () => engineOf("dev", "", TOOLS);
  expect((await kernel.call("write_file", { path: "a.txt", content: "new" })).outcome.kind).toBe("success");
  expect(kernel.textOf("a.txt")).toBe("new");
});
