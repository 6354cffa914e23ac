/**
 * Answers that must not count, each beside the one that does; and what a call may not find changed once somebody has
 * answered.
 */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { canonicalJson, type JsonObject } from "../../src/base/json.ts";
import { editTools } from "../../src/tools/edit/edit-tools.ts";
import { fileTools } from "../../src/tools/file/file-tools.ts";
import { ASKING, approve, ask, askedRef, askingKernel, denialOf, pending, refuse } from "../support/asking.ts";
import { engineOf, type MemoryKernel, memoryKernel } from "../support/memory-kernel.ts";

const INVALID = { layer: "approval", reason: "tool_approval_invalid", ruleId: "APPROVAL:binding" };

describe("an approval fits one call in every byte", () => {
  const OTHERS: readonly (readonly [string, (kernel: MemoryKernel) => Promise<unknown>])[] = [
    ["other content", (kernel) => askedRef(kernel, { content: `${ASKING.content} ` })],
    ["another path to the same file", (kernel) => askedRef(kernel, { path: `./${ASKING.path}` })],
    ["another file", (kernel) => askedRef(kernel, { path: "AGENTS.md" })],
  ];

  test.each(OTHERS)("a call with %s asks for itself", async (_, other) => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    await approve(kernel, ref);
    expect(await other(kernel)).not.toBe(ref);
    expect((await ask(kernel)).outcome.kind).toBe("success");
  });

  test("a call of another session asks for itself", async () => {
    const { mintSession } = await import("../../src/session/session.ts");
    const { systemRandom } = await import("../../src/base/ids.ts");
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    await approve(kernel, ref);
    const { id: _id, tokenHash: _hash, createdAtMs, expiresAtMs, ...same } = kernel.session;
    const { token } = await mintSession(
      kernel.sessions,
      { ...same, lifetimeMs: expiresAtMs - createdAtMs },
      { nowMs: createdAtMs, random: systemRandom },
    );
    const denial = denialOf(await ask(kernel, {}, { token }));
    expect([denial.reason, denial.approvalRef === ref]).toEqual(["tool_approval_required", false]);
  });

  const CHANGES: readonly (readonly [string, (kernel: MemoryKernel) => unknown])[] = [
    ["the target was written", ({ root }) => writeFileSync(join(root, ASKING.path), "by somebody else")],
    [
      "the target was replaced by a link to a file",
      ({ root }) => {
        writeFileSync(join(root, "b"), "");
        symlinkSync("b", join(root, ASKING.path));
      },
    ],
    [
      "the principal has seen more",
      ({ marks, session, time }) =>
        marks.raiseMark(
          session,
          {
            initial: { trustLevel: "user", dataClass: "internal" },
            seen: { trustLevel: "untrusted", dataClass: "internal" },
          },
          time.nowMs,
        ),
    ],
    [
      "the policy was changed",
      (kernel) => {
        const more =
          '@id("test.more")\n@message("m")\nforbid (principal, action == Handrail::Action::"delete_file", resource);';
        kernel.policy.current = () => engineOf("dev", more, [...fileTools, ...editTools]);
      },
    ],
    [
      "the lease was narrowed",
      ({ sessions, lease }) => sessions.insertLease({ ...lease, scope: { ...lease.scope, tools: [["write_file"]] } }),
    ],
  ];

  test.each(CHANGES)("%s after the approval: it is refused once, and then asked about anew", async (_, change) => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    await approve(kernel, ref);
    await change(kernel);
    const denial = denialOf(await ask(kernel));
    // A link leads to another file, which is judged by itself.
    if (denial.reason !== "tool_approval_invalid") expect(denial).toMatchObject({ reason: "tool_approval_required" });
    else expect(denial).toMatchObject({ ...INVALID, approvalRef: ref });
    expect(await kernel.asked.find(ref, kernel.time.nowMs)).toMatchObject({ state: "void" });
    expect(await askedRef(kernel)).not.toBe(ref);
  });

  test("with nothing changed it goes through", async () => {
    const kernel = await memoryKernel();
    await approve(kernel, await askedRef(kernel));
    expect((await ask(kernel)).outcome.kind).toBe("success");
  });
});

describe("what changes while a call waits", () => {
  const CHANGES: readonly (readonly [string, (kernel: MemoryKernel) => unknown, object])[] = [
    [
      "its session is revoked",
      ({ sessions, session, time }) => sessions.updateSession(session.id, { revokedAtMs: time.nowMs }),
      { layer: "authenticate", reason: "session_revoked" },
    ],
    [
      "its lease is released",
      ({ sessions, lease, time }) => sessions.updateLease(lease.id, { releasedAtMs: time.nowMs }),
      { reason: "lease_expired" },
    ],
    [
      "the policy is reloaded",
      (kernel) => {
        kernel.policy.current = () => engineOf("reader", "", [...fileTools, ...editTools]);
      },
      { reason: "tool_policy_invalid", ruleId: "POLICY:changed" },
    ],
    [
      "the workspace's rules change",
      ({ rezone }) => rezone({ readOnly: ["docs/**"] }),
      { reason: "tool_policy_invalid", ruleId: "WORKSPACE:changed" },
    ],
    ["its target is written", ({ root }) => writeFileSync(join(root, ASKING.path), "by somebody else"), INVALID],
    [
      "its principal sees more",
      ({ marks, session, time }) =>
        marks.raiseMark(
          session,
          {
            initial: { trustLevel: "user", dataClass: "internal" },
            seen: { trustLevel: "untrusted", dataClass: "internal" },
          },
          time.nowMs,
        ),
      INVALID,
    ],
  ];

  test.each(CHANGES)("%s: the approval that comes then does nothing", async (_, change, expected) => {
    const kernel = await askingKernel();
    const calling = ask(kernel);
    const { ref } = await pending(kernel);
    await change(kernel);
    await approve(kernel, ref);
    expect(denialOf(await calling)).toMatchObject(expected);
    if (expected !== INVALID || !existsSync(join(kernel.root, ASKING.path)))
      expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
    else expect(kernel.textOf(ASKING.path)).toBe("by somebody else");
    expect(kernel.ledger.of("tool_selected")).toEqual([]);
  });

  test("the request expires: the call is refused, and so is a decision that comes too late", async () => {
    const kernel = await askingKernel({ approvalSettings: { lifetimeMs: 60 } });
    const calling = ask(kernel);
    const { ref, expiresAtMs } = await pending(kernel);
    kernel.time.nowMs = expiresAtMs;
    expect(denialOf(await calling)).toMatchObject({
      layer: "approval",
      reason: "tool_approval_expired",
      approvalRef: ref,
    });
    expect(await approve(kernel, ref)).toMatchObject({ kind: "stands", approval: { state: "expired" } });
    expect(kernel.ledger.of("tool_approval_decided")).toMatchObject([
      { payload: { approved: true, holds: false, stands: "expired" } },
    ]);
  });
});

test("an approval that nobody used in time is over: the call is told once, and then asks anew", async () => {
  const kernel = await memoryKernel();
  const ref = await askedRef(kernel);
  await approve(kernel, ref);
  kernel.time.nowMs += 15 * 60_000;
  expect(denialOf(await ask(kernel))).toMatchObject({
    reason: "tool_approval_expired",
    ruleId: "APPROVAL:expired",
    approvalRef: ref,
  });
  expect(await askedRef(kernel)).not.toBe(ref);
});

describe("the state of the target, at the very moment of the write", () => {
  /** Approves, and has somebody change the file after everything was looked at, right before it is written. */
  async function changedUnderTheLock(change: (root: string) => void, tool: "write_file" | "delete_file") {
    const kernel = await memoryKernel();
    writeFileSync(join(kernel.root, ASKING.path), "before");
    const args = tool === "write_file" ? ASKING : { path: ASKING.path };
    kernel.people.approvers = false;
    const { approvalRef = "" } = denialOf(await kernel.call(tool, args));
    await approve(kernel, approvalRef);
    kernel.ledger.before = ({ type }) => {
      if (type === "tool_selected") change(kernel.root);
    };
    return { kernel, response: await kernel.call(tool, args) };
  }

  test.each(["write_file", "delete_file"] as const)(
    "%s of a file that somebody else changes in between is refused",
    async (tool) => {
      const { kernel, response } = await changedUnderTheLock(
        (root) => writeFileSync(join(root, ASKING.path), "meanwhile"),
        tool,
      );
      expect(denialOf(response)).toMatchObject({ reason: "tool_approval_invalid", ruleId: "APPROVAL:target" });
      expect(kernel.textOf(ASKING.path)).toBe("meanwhile");
    },
  );

  test.each(["write_file", "delete_file"] as const)(
    "%s of a file that is put there anew with the same bytes is done",
    async (tool) => {
      const again = (root: string) => {
        unlinkSync(join(root, ASKING.path));
        writeFileSync(join(root, ASKING.path), "before");
      };
      const { response } = await changedUnderTheLock(again, tool);
      expect(response.outcome.kind).toBe("success");
    },
  );

  test("a write that waits for the lock of its file goes on by its approval, and not when its session has ended meanwhile", async () => {
    const kernel = await memoryKernel();
    await approve(kernel, await askedRef(kernel));
    const { acquire } = kernel.locks;
    let looked = false;
    kernel.locks.acquire = async (wanted) => {
      if (looked) return acquire(wanted);
      looked = true;
      return { kind: "busy", owner: "another kernel", sinceMs: wanted.nowMs };
    };
    expect((await ask(kernel)).outcome.kind).toBe("success");

    await approve(kernel, await askedRef(kernel, { path: "AGENTS.md" }));
    looked = false;
    kernel.locks.acquire = async (wanted) => {
      if (looked) return acquire(wanted);
      looked = true;
      await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: kernel.time.nowMs });
      return { kind: "busy", owner: "another kernel", sinceMs: wanted.nowMs };
    };
    expect(denialOf(await ask(kernel, { path: "AGENTS.md" }))).toMatchObject({ reason: "session_revoked" });
    expect(existsSync(join(kernel.root, "AGENTS.md"))).toBe(false);
  });

  test("without an approval nobody looks: the same change in between does not keep an ordinary write from its file", async () => {
    const kernel = await memoryKernel();
    kernel.ledger.before = ({ type }) => {
      if (type === "tool_selected") writeFileSync(join(kernel.root, "a.txt"), "meanwhile");
    };
    expect((await kernel.call("write_file", { path: "a.txt", content: "new" })).outcome.kind).toBe("success");
  });
});

describe("decision files", () => {
  const file = (approvalRef: string, code: string, change: JsonObject = {}): string =>
    canonicalJson({
      schema: "handrail.tool_approval.v1",
      approval_ref: approvalRef,
      approved: true,
      code,
      by: "ann",
      ...change,
    });

  /** A request that waits, and where its decision would lie. */
  async function waiting(kernel: MemoryKernel) {
    const calling = ask(kernel);
    const approval = await pending(kernel);
    const directory = join(kernel.state, "approvals");
    const hash = approval.ref.slice(7);
    await vi.waitFor(() => expect(existsSync(join(directory, `${hash}.json`))).toBe(true), {
      timeout: 120_000,
      interval: 5,
    });
    return { calling, approval, hash, path: join(directory, `${hash}.approved.json`), directory };
  }

  /** Puts a file down as a careful person does: complete, and for nobody else. */
  function put(path: string, text: string, mode = 0o600): void {
    writeFileSync(`${path}.new`, text, { mode });
    chmodSync(`${path}.new`, mode);
    renameSync(`${path}.new`, path);
  }

  test("one that names the request and repeats its code lets the waiting call through, and is taken away", async () => {
    const kernel = await askingKernel();
    const { calling, approval, path, directory, hash } = await waiting(kernel);
    const { readFileSync, readdirSync, statSync } = await import("node:fs");
    const request = JSON.parse(readFileSync(join(directory, `${hash}.json`), "utf8")) as JsonObject;
    expect(request).toMatchObject({ approval_ref: approval.ref, code: approval.code, request: { tool: "write_file" } });
    expect(statSync(join(directory, `${hash}.json`)).mode & 0o777).toBe(0o600);
    put(path, file(approval.ref, approval.code));
    expect((await calling).outcome.kind).toBe("success");
    expect(readdirSync(directory)).toEqual([]);
    expect(kernel.ledger.of("tool_approval_decided")).toMatchObject([
      { payload: { by: "file:ann", channel: "file", approved: true } },
    ]);
  });

  test("one that was put down while nobody waited is found by the next identical call", async () => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    const { code } = (await kernel.asked.find(ref, kernel.time.nowMs)) ?? {};
    put(join(kernel.state, "approvals", `${ref.slice(7)}.approved.json`), file(ref, code ?? ""));
    expect((await ask(kernel)).outcome.kind).toBe("success");
  });

  test("one that refuses, refuses", async () => {
    const kernel = await askingKernel();
    const { calling, approval, path } = await waiting(kernel);
    put(path, file(approval.ref, approval.code, { approved: false }));
    expect(denialOf(await calling)).toMatchObject({ reason: "tool_approval_denied" });
  });

  test("one that is written bit by bit counts when it is whole", async () => {
    const kernel = await askingKernel();
    const { calling, approval, path } = await waiting(kernel);
    const text = file(approval.ref, approval.code);
    writeFileSync(path, text.slice(0, 20), { mode: 0o600 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    writeFileSync(path, text);
    expect((await calling).outcome.kind).toBe("success");
  });

  const FORGED: readonly (readonly [string, (path: string, ref: string, code: string) => void])[] = [
    ["the wrong code", (path, ref) => put(path, file(ref, "guess"))],
    [
      "no code",
      (path, ref) =>
        put(path, canonicalJson({ schema: "handrail.tool_approval.v1", approval_ref: ref, approved: true })),
    ],
    ["another request's name", (path, _, code) => put(path, file(`blake3:${"0".repeat(64)}`, code))],
    ["an unknown schema", (path, ref, code) => put(path, file(ref, code, { schema: "handrail.tool_approval.v2" }))],
    ["a member too many", (path, ref, code) => put(path, file(ref, code, { note: "x" }))],
    ["`approved` that is no truth value", (path, ref, code) => put(path, file(ref, code, { approved: "true" }))],
    [
      "a time that has passed",
      (path, ref, code) => put(path, file(ref, code, { scope: { kind: "until", untilMs: 1 } })),
    ],
    ["a mode that lets others write", (path, ref, code) => put(path, file(ref, code), 0o622)],
    ["a mode that lets others read", (path, ref, code) => put(path, file(ref, code), 0o644)],
    [
      "a symbolic link in its place",
      (path, ref, code) => {
        writeFileSync(`${path}.elsewhere`, file(ref, code), { mode: 0o600 });
        symlinkSync(`${path}.elsewhere`, path);
      },
    ],
    [
      "a second name",
      (path, ref, code) => {
        put(`${path}.elsewhere`, file(ref, code));
        linkSync(`${path}.elsewhere`, path);
      },
    ],
    ["a directory in its place", (path) => mkdirSync(path)],
  ];

  test.each(FORGED)(
    "one with %s does not count: the call is refused, it is recorded, and others can still answer",
    async (_, forge) => {
      const kernel = await askingKernel();
      const { calling, approval, path } = await waiting(kernel);
      forge(path, approval.ref, approval.code);
      expect(denialOf(await calling)).toMatchObject({
        reason: "tool_approval_invalid",
        ruleId: "APPROVAL:decision_file",
        approvalRef: approval.ref,
      });
      expect(kernel.ledger.of("approval_forged")).toMatchObject([
        { payload: { approvalRef: approval.ref, severity: "critical" } },
      ]);
      expect(existsSync(path)).toBe(false);
      expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
      await approve(kernel, approval.ref);
      expect((await ask(kernel)).outcome.kind).toBe("success");
    },
  );

  test("one in a directory that others can enter does not count", async () => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    const { code } = (await kernel.asked.find(ref, kernel.time.nowMs)) ?? {};
    const directory = join(kernel.state, "approvals");
    put(join(directory, `${ref.slice(7)}.approved.json`), file(ref, code ?? ""));
    chmodSync(directory, 0o755);
    expect(denialOf(await ask(kernel))).toMatchObject({ reason: "tool_approval_request_failed" });
    chmodSync(directory, 0o700);
    expect((await ask(kernel)).outcome.kind).toBe("success");
  });

  test("a decision that was used does nothing a second time", async () => {
    const kernel = await askingKernel();
    const { calling, approval, path } = await waiting(kernel);
    const text = file(approval.ref, approval.code);
    put(path, text);
    await calling;
    unlinkSync(join(kernel.root, ASKING.path));
    put(path, text);
    expect(await askedRef(kernel)).not.toBe(approval.ref);
  });
});

describe("two approvers who disagree", () => {
  test("a denial takes back an approval that nobody has used; who comes second is told", async () => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    expect((await approve(kernel, ref)).kind).toBe("decided");
    expect(await refuse(kernel, ref)).toMatchObject({
      kind: "decided",
      approval: { state: "denied", decision: { by: "bob" } },
    });
    expect(await approve(kernel, ref)).toMatchObject({
      kind: "stands",
      approval: { state: "denied", decision: { by: "bob" } },
    });
    expect(denialOf(await ask(kernel))).toMatchObject({ reason: "tool_approval_denied" });
  });

  test("a denial that comes after the execution changes nothing, is told so, and is recorded", async () => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    await approve(kernel, ref);
    expect((await ask(kernel)).outcome.kind).toBe("success");
    expect(await refuse(kernel, ref)).toMatchObject({
      kind: "stands",
      approval: { state: "consumed", decision: { by: "ann" } },
    });
    expect(kernel.ledger.of("tool_approval_decided").map(({ payload }) => [payload["by"], payload["holds"]])).toEqual([
      ["ann", true],
      ["bob", false],
    ]);
  });
});

describe("a store that is down", () => {
  const FAILED = { layer: "approval", reason: "tool_approval_request_failed", ruleId: "APPROVAL:request" };
  const down = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is gone"));

  test.each(["live", "room", "add", "consume"] as const)(
    "when it cannot `%s`, the call is refused; when it can, it goes on",
    async (method) => {
      const kernel = await memoryKernel();
      if (method === "consume") await approve(kernel, await askedRef(kernel));
      const working = kernel.asked[method];
      kernel.asked[method] = down;
      expect(denialOf(await ask(kernel))).toMatchObject(FAILED);
      expect(existsSync(join(kernel.root, ASKING.path))).toBe(false);
      Object.assign(kernel.asked, { [method]: working });
      if (method !== "consume") await approve(kernel, await askedRef(kernel));
      expect((await ask(kernel)).outcome.kind).toBe("success");
    },
  );

  test("when it goes away while a call waits, the call is refused", async () => {
    const kernel = await askingKernel();
    const calling = ask(kernel);
    await pending(kernel);
    kernel.asked.find = down;
    await kernel.bell.ring("approvals");
    expect(denialOf(await calling)).toMatchObject(FAILED);
  });

  test("when a decision cannot be stored, the approver learns it and the call goes on waiting", async () => {
    const kernel = await askingKernel();
    const calling = ask(kernel);
    const { ref } = await pending(kernel);
    const working = kernel.asked.decide;
    kernel.asked.decide = down;
    await expect(approve(kernel, ref)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    kernel.asked.decide = working;
    await approve(kernel, ref);
    expect((await calling).outcome.kind).toBe("success");
  });
});
