/** Evidence: an intent before every effect, an outcome after it, and nothing answered that was not recorded. */
import { existsSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { KernelError } from "../../../src/base/errors.ts";
import { canonicalJson, type JsonObject } from "../../../src/base/json.ts";
import { REFUSALS_RECORDED_PER_SECOND } from "../../../src/kernel/answer/refusal-rate.ts";
import type { LedgerEvent } from "../../../src/model/outcome/event.ts";
import { mintSession } from "../../../src/session/session.ts";
import { type MemoryKernel, memoryKernel, START_MS, testTool } from "../../support/memory-kernel.ts";

describe("intent before effect", () => {
  test("the file is untouched when the intent is recorded, and written when the outcome is", async () => {
    const { ledger, call, root, textOf } = await memoryKernel();
    const seen: unknown[] = [];
    ledger.before = ({ type, intent, closes }, durability) => {
      seen.push({ type, intent, closes, durability, exists: existsSync(join(root, "a.txt")) });
    };
    const { outcome, ledgerSequence } = await call("write_file", { path: "a.txt", content: "new" });
    expect(seen).toEqual([
      { type: "tool_selected", intent: true, closes: undefined, durability: "durable", exists: false },
      { type: "tool_executed", intent: undefined, closes: 1, durability: "durable", exists: true },
    ]);
    expect([outcome.kind, ledgerSequence, textOf("a.txt")]).toEqual(["success", 2, "new"]);
  });

  test("a read records one buffered outcome and no intent", async () => {
    const { ledger, call } = await memoryKernel();
    await call("list_files", { path: "." });
    expect(ledger.events.map(({ type, durability, closes }) => [type, durability, closes])).toEqual([
      ["tool_executed", "buffered", undefined],
    ]);
  });

  test("an intent that cannot be recorded leaves the file alone, and says that a retry is safe", async () => {
    const { ledger, call, root } = await memoryKernel();
    ledger.breakFor(() => true);
    const { outcome, ledgerSequence } = await call("write_file", { path: "a.txt", content: "new" });
    expect(outcome).toEqual({
      kind: "error",
      code: "LEDGER_UNAVAILABLE",
      message: "the call cannot be recorded, so it was refused",
      suggestion: "ask the operator to make the ledger writable, then send it again",
      retryable: true,
      retryAfterMs: 1000,
    });
    expect([ledgerSequence, existsSync(join(root, "a.txt"))]).toEqual([undefined, false]);
  });

  test("an outcome that cannot be recorded after the effect is unknown, and further effects are refused until the ledger works", async () => {
    const { ledger, call, root, textOf } = await memoryKernel();
    let broken = false;
    ledger.breakFor(({ type }) => (broken ||= type === "tool_executed"));
    const first = await call("write_file", { path: "a.txt", content: "new" });
    expect(first.outcome).toMatchObject({ kind: "error", code: "OUTCOME_UNKNOWN", retryable: false, retryAfterMs: 0 });
    expect(textOf("a.txt")).toBe("new");
    const second = await call("write_file", { path: "b.txt", content: "new" });
    expect(second.outcome).toMatchObject({ kind: "error", code: "LEDGER_UNAVAILABLE" });
    expect(existsSync(join(root, "b.txt"))).toBe(false);
    ledger.before = () => undefined;
    expect((await call("write_file", { path: "b.txt", content: "new" })).outcome.kind).toBe("success");
  });

  test("a read that cannot be recorded gives no output", async () => {
    const { ledger, call } = await memoryKernel();
    await call("write_file", { path: "a.txt", content: "confidential" });
    ledger.breakFor(() => true);
    const response = await call("read_file", { path: "a.txt" });
    expect(response.outcome).toMatchObject({ kind: "error", code: "LEDGER_UNAVAILABLE" });
    expect(JSON.stringify(response)).not.toContain("confidential");
  });

  test("a denial that cannot be recorded is an error, not a denial, and ends nothing but the call", async () => {
    const { ledger, call } = await memoryKernel({ settings: { violationsPerMinute: 1 } });
    await call("read_file", { path: ".env" });
    ledger.breakFor(() => true);
    expect((await call("read_file", { path: ".env" })).outcome).toMatchObject({
      kind: "error",
      code: "LEDGER_UNAVAILABLE",
    });
  });

  test("a tool that fails, a handle that refuses and a bug each close the intent", async () => {
    const throws = (name: string, error: Error) => testTool(name, () => Promise.reject(error));
    const { ledger, call, internalErrors } = await memoryKernel({
      tools: [throws("broken", new TypeError("undefined is not a function"))],
    });
    await call("write_file", { path: "dir/file", content: "" });
    await call("write_file", { path: "dir", content: "" });
    await call("broken", { path: "a" });
    const intents = ledger.events.filter(({ intent }) => intent).map(({ sequence }) => sequence);
    expect(ledger.events.flatMap(({ closes }) => closes ?? [])).toEqual(intents);
    expect(intents).toHaveLength(3);
    expect(internalErrors).toHaveLength(1);
  });
});

describe("a bug in a tool", () => {
  test("in a tool that only reads is recorded as internal, and its message stays inside", async () => {
    const secret = "at /srv/handrail/inner.ts:12 password=hunter2";
    const { ledger, call, internalErrors } = await memoryKernel({
      tools: [
        testTool(
          "broken",
          () => {
            throw new TypeError(secret);
          },
          { effect: "read" },
        ),
      ],
    });
    const response = await call("broken", { path: "a" });
    expect(response.outcome).toEqual({
      kind: "error",
      code: "INTERNAL",
      message: "the kernel met an internal error and refused the call",
      suggestion: "tell the operator; the kernel's log has the cause",
      retryable: false,
      retryAfterMs: 0,
    });
    expect(ledger.of("tool_executed")[0]?.payload).toMatchObject({
      tool: "broken",
      success: false,
      errorCode: "INTERNAL",
    });
    expect(JSON.stringify([response, ledger.events])).not.toContain("hunter2");
    expect(internalErrors).toEqual([new TypeError(secret)]);
  });

  test("after the tool wrote leaves the outcome unknown: it says so, and the record closes the intent", async () => {
    const halfway = testTool("halfway", async (_, { files }) => {
      await files.write("a.txt", Buffer.from("written"), { mode: "overwrite" });
      throw new TypeError("undefined is not a function");
    });
    const { ledger, call, textOf, internalErrors } = await memoryKernel({ tools: [halfway] });
    const { outcome } = await call("halfway", { path: "a.txt" });
    expect([textOf("a.txt"), outcome]).toEqual([
      "written",
      expect.objectContaining({ kind: "error", code: "OUTCOME_UNKNOWN" }),
    ]);
    expect(ledger.of("tool_executed")).toMatchObject([
      { closes: 1, payload: { success: false, errorCode: "OUTCOME_UNKNOWN" } },
    ]);
    expect(internalErrors).toHaveLength(1);
  });

  test("in its analysis refuses the call before anything is done", async () => {
    const analyse = () => {
      throw new RangeError("no");
    };
    const { ledger, call } = await memoryKernel({
      tools: [testTool("broken", () => ({ kind: "data", data: {} }), {}, analyse)],
    });
    expect((await call("broken", { path: "a" })).outcome).toMatchObject({ kind: "error", code: "INTERNAL" });
    expect(ledger.types()).toEqual(["tool_executed"]);
  });
});

describe("what a record holds", () => {
  test("arguments of a write stand as a keyed digest and a size, never as text", async () => {
    const { ledger, call } = await memoryKernel();
    await call("write_file", { path: "a.txt", content: "content-that-is-private" });
    const [intent, outcome] = ledger.events;
    expect(intent?.payload).toEqual({
      tool: "write_file",
      role: "dev",
      preset: "dev",
      accesses: [{ kind: "file", effect: "write", path: "a.txt", zone: "own" }],
      mark: "verified internal",
      rules: ["dev.write-own"],
      policy: expect.stringMatching(/^blake3:[0-9a-f]{64}$/),
      argsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      argsBytes: 52,
    });
    expect(outcome?.payload).toEqual({
      ...intent?.payload,
      success: true,
      truncated: false,
      secretsFound: 0,
      outputBytes: expect.any(Number),
      label: { trustLevel: "verified", dataClass: "internal" },
      executionTime: expect.any(Number),
    });
    expect(JSON.stringify(ledger.events)).not.toContain("content-that-is-private");
  });

  test.each([
    ["a tool name", (): [string, object] => ["\ud800", {}]],
    ["a property name", (): [string, object] => ["read_file", { path: "a", "\ud800": 1 }]],
    [
      "a long property name that is cut for the record",
      (): [string, object] => ["read_file", { path: "a", [`${"x".repeat(127)}😀`]: 1 }],
    ],
    ["a path", (): [string, object] => ["read_file", { path: "\ud800" }]],
    ["a path of a foreign tool", (): [string, object] => ["foreign", { path: "\ud800" }]],
  ])("half of a surrogate pair in %s is refused and recorded", async (_, made) => {
    const { ledger, call, internalErrors } = await memoryKernel({
      tools: [testTool("foreign", () => ({ kind: "data", data: {} }))],
    });
    const [tool, args] = made();
    expect((await call(tool, args as JsonObject)).outcome.kind).toBe("denied");
    expect(ledger.types()).toEqual(["tool_execution_denied"]);
    expect(internalErrors).toEqual([]);
  });

  test("output is never recorded, and reads record what was read", async () => {
    const { ledger, call } = await memoryKernel();
    await call("write_file", { path: "a.txt", content: "content-that-is-private" });
    await call("read_file", { path: "a.txt" });
    expect(ledger.events.at(-1)?.payload).toMatchObject({ tool: "read_file", args: { path: "a.txt" } });
    expect(JSON.stringify(ledger.events)).not.toContain("content-that-is-private");
  });
});

describe("the record of a read, as it is printed", () => {
  const printed = async (kernel: MemoryKernel, path: string): Promise<string> => {
    await kernel.call("read_file", { path });
    const { executionTime, policy, ...rest } = kernel.ledger.of("tool_executed").at(-1)?.payload ?? {};
    expect([typeof executionTime, typeof policy]).toEqual(["number", "string"]);
    return canonicalJson(rest);
  };

  test("has these members and no others", async () => {
    const kernel = await memoryKernel();
    await kernel.call("write_file", { path: "a.txt", content: "12345" });
    const label = '"label":{"dataClass":"internal","trustLevel":"verified"},"mark":"verified internal","outputBytes":';
    const outcome = '"secretsFound":0,"success":true,"tool":"read_file","truncated":false}';
    const access = '{"accesses":[{"effect":"read","kind":"file","path":"a.txt","zone":"own"}],"args":{"path":"a.txt"},';
    for (let time = 0; time < 3; time += 1) {
      const text = await printed(kernel, "a.txt");
      expect(text.replace(/"outputBytes":[0-9]+/, '"outputBytes":')).toBe(
        `${access}${label},"preset":"dev","role":"dev","rules":["dev.read-files"],${outcome}`,
      );
    }
  });

  test("keeps every other member where the path holds a secret", async () => {
    const kernel = await memoryKernel();
    const path = `${["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_")}.txt`;
    writeFileSync(join(kernel.root, path), "12345");
    const text = await printed(kernel, path);
    expect(text).not.toContain(path.slice(4, 20));
    await kernel.call("write_file", { path: "a.txt", content: "12345" });
    const names = (record: string) => Object.keys(JSON.parse(record) as object);
    expect(names(text)).toEqual(names(await printed(kernel, "a.txt")));
  });
});

describe("a flood of refused requests", () => {
  test("is recorded one by one up to a rate and then counted; the counts add up", async () => {
    const { door, ledger, call, time } = await memoryKernel();
    const sent = 200;
    for (let second = 0; second < 2; second += 1) {
      for (let index = 0; index < sent / 2; index += 1) {
        const { outcome } = await call(
          "read_file",
          { path: "a" },
          index % 2 === 0 ? { token: "nonsense" } : { requestId: "" },
        );
        expect(outcome.kind).toBe("denied");
      }
      time.nowMs += 1000;
    }
    await door.flush();
    const single = ledger.of("tool_execution_denied").length;
    const counted = ledger.of("requests_refused").reduce((sum, { payload }) => sum + Number(payload["count"]), 0);
    expect(single).toBe(2 * REFUSALS_RECORDED_PER_SECOND);
    expect(single + counted).toBe(sent);
    expect(ledger.of("requests_refused").map(({ durability }) => durability)).toEqual(["durable", "durable"]);
  });

  test("is counted on when the ledger does not take the count", async () => {
    const { door, ledger, call } = await memoryKernel();
    for (let index = 0; index < REFUSALS_RECORDED_PER_SECOND + 3; index += 1)
      await call("read_file", { path: "a" }, { token: "nonsense" });
    ledger.breakFor(() => true);
    await expect(door.flush()).rejects.toThrow("the disk is full");
    ledger.before = () => undefined;
    await door.flush();
    expect(ledger.of("requests_refused").map(({ payload }) => payload)).toEqual([{ count: 3 }]);
  });

  test("does not keep an authenticated session's refusals from being recorded", async () => {
    const { ledger, call } = await memoryKernel({ settings: { freezeOnAlert: false } });
    for (let index = 0; index < 50; index += 1) await call("read_file", { path: "a" }, { token: "nonsense" });
    for (let index = 0; index < 50; index += 1) await call("read_file", { path: ".env" });
    expect(ledger.of("tool_execution_denied").filter(({ payload }) => payload["layer"] === "workspace")).toHaveLength(
      50,
    );
  });

  test.each([
    ["the master gate refuses", { settings: { toolsEnabled: false } }],
    ["one tool's gate refuses", { settings: { disabledTools: new Set(["read_file"]) } }],
  ])("is counted too when %s before any session is known", async (_, options) => {
    const { door, ledger, call } = await memoryKernel(options);
    for (let index = 0; index < REFUSALS_RECORDED_PER_SECOND + 5; index += 1)
      await call("read_file", { path: "a" }, { token: "nonsense" });
    await door.flush();
    expect(ledger.of("tool_execution_denied")).toHaveLength(REFUSALS_RECORDED_PER_SECOND);
    expect(ledger.of("requests_refused").map(({ payload }) => payload)).toEqual([{ count: 5 }]);
  });

  test("is counted too when the store of sessions fails", async () => {
    const { ledger, call, sessions } = await memoryKernel();
    Object.assign(sessions, {
      findSession: () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is gone")),
    });
    for (let index = 0; index < REFUSALS_RECORDED_PER_SECOND + 5; index += 1) await call("read_file", { path: "a" });
    expect(ledger.events).toHaveLength(REFUSALS_RECORDED_PER_SECOND);
  });

  test("flushing with nothing counted records nothing", async () => {
    const { door, ledger } = await memoryKernel();
    await door.flush();
    expect(ledger.events).toEqual([]);
  });
});

/** A kernel, and a second session on it with a lease of its own. */
async function twoSessions() {
  const kernel = await memoryKernel();
  await kernel.sessions.insertLease({ ...kernel.lease, id: "lea_other" });
  const wanted = { ...kernel.session, leaseId: "lea_other", lifetimeMs: 3_600_000 };
  return {
    kernel,
    other: await mintSession(kernel.sessions, wanted, {
      nowMs: START_MS,
      random: (count) => new Uint8Array(count).fill(3),
    }),
  };
}

describe("a session that must not act any more", () => {
  const MUST_NOT: readonly (readonly [string, (kernel: MemoryKernel) => unknown, string])[] = [
    [
      "is revoked",
      ({ sessions, session }) => sessions.updateSession(session.id, { revokedAtMs: START_MS }),
      "session_revoked",
    ],
    [
      "is frozen",
      ({ sessions, session }) => sessions.updateSession(session.id, { frozenAtMs: START_MS }),
      "session_frozen",
    ],
    [
      "has expired",
      ({ sessions, session }) => sessions.updateSession(session.id, { expiresAtMs: START_MS }),
      "session_expired",
    ],
    [
      "has no workspace",
      (kernel) => kernel.breakWorkspace(new KernelError("CONFIG_INVALID", "no")),
      "tool_policy_invalid",
    ],
  ];

  test.each(MUST_NOT)("because it %s is named by the record of its refusal", async (_, end, reason) => {
    const kernel = await memoryKernel();
    await end(kernel);
    await kernel.call("read_file", { path: "a" });
    expect(kernel.ledger.events).toMatchObject([
      {
        type: "tool_execution_denied",
        sessionId: kernel.session.id,
        actor: "tester/agent",
        payload: { reason, role: "dev" },
      },
    ]);
  });

  const FLOOD = REFUSALS_RECORDED_PER_SECOND + 5;
  test.each([
    ...MUST_NOT.slice(0, 3),
    [
      "lost its lease",
      ({ sessions, lease }: MemoryKernel) => sessions.updateLease(lease.id, { releasedAtMs: START_MS }),
      "lease_expired",
    ] as const,
  ])("because it %s does not fill the ledger, nor hides another one's refusals", async (_, end) => {
    const { kernel, other } = await twoSessions();
    await end(kernel);
    for (let index = 0; index < FLOOD; index += 1) await kernel.call("read_file", { path: "a" });
    expect(kernel.ledger.of("tool_execution_denied")).toHaveLength(REFUSALS_RECORDED_PER_SECOND);
    await kernel.sessions.updateSession(other.session.id, { revokedAtMs: START_MS });
    await kernel.call("read_file", { path: "a" }, { token: other.token }); // another session's refusals are recorded all the same
    expect(kernel.ledger.events.at(-1)?.sessionId).toBe(other.session.id);
    await kernel.door.flush();
    expect(kernel.ledger.of("requests_refused").map(({ payload }) => payload)).toEqual([{ count: 5 }]);
    kernel.time.nowMs += 1000;
    await kernel.call("read_file", { path: "a" });
    expect(kernel.ledger.events.at(-1)).toMatchObject({ type: "tool_execution_denied", sessionId: kernel.session.id });
  });

  test("does not fill the ledger by asking for the list of tools", async () => {
    const kernel = await memoryKernel();
    await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: START_MS });
    for (let index = 0; index < FLOOD; index += 1)
      await kernel.door.admit({ requestId: `r${index}`, sessionToken: kernel.token });
    expect(kernel.ledger.of("tool_execution_denied")).toHaveLength(REFUSALS_RECORDED_PER_SECOND);
  });

  test("is not named when only its id was known: another secret identifies nobody", async () => {
    const kernel = await memoryKernel();
    await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: START_MS });
    await kernel.call("read_file", { path: "a" }, { token: `${kernel.session.id}.guess` });
    expect(kernel.ledger.events).toMatchObject([{ sessionId: "", actor: "", payload: { reason: "session_invalid" } }]);
  });
});

describe("violations", () => {
  test("each is in the security audit stream, and the sixth within a minute raises the alarm once", async () => {
    const { ledger, call, root } = await memoryKernel({ settings: { freezeOnAlert: false } });
    const alarmed: boolean[] = [];
    for (let index = 0; index < 8; index += 1) {
      await call("read_file", { path: "../outside" });
      alarmed.push(ledger.of("alert_mode").length > 0);
    }
    expect(alarmed).toEqual([false, false, false, false, false, true, true, true]);
    expect(ledger.of("alert_mode").map(({ payload }) => payload)).toEqual([
      { violations_per_minute: 5, severity: "critical", review: "required", frozen: false },
    ]);
    expect(ledger.of("workspace_violation")).toHaveLength(8);
    expect(ledger.of("workspace_violation")[0]?.payload).toEqual({
      timestamp: "2026-01-01T00:00:00.000Z",
      agent_id: "agent",
      violation_type: "workspace_path_traversal",
      target_path: join(dirname(root), "outside"),
      command_args: [],
      severity: "warning",
    });
  });

  test.each([
    ["read_file", {}],
    ["write_file", { content: "x" }],
    ["edit_file", { edits: [{ operation: "delete", spec: "x" }] }],
    ["delete_file", {}],
    ["search_file", { regex: "x" }],
    ["list_files", {}],
  ])("%s: the audit names what was asked for, and the agent learns nothing of it", async (tool, more) => {
    const { ledger, call, root } = await memoryKernel({ settings: { freezeOnAlert: false } });
    const outside = join(dirname(root), "outside");
    mkdirSync(join(outside, "there"), { recursive: true });
    const told = async (path: string) => JSON.stringify((await asked(path)).outcome).replaceAll(path, "PATH");
    const asked = async (path: string) => {
      const { outcome } = await call(tool, { ...more, path });
      if (outcome.kind !== "denied") throw new Error(`${path} was not denied`);
      const { targetPath: _, ...denial } = outcome.denial; // what doors never send
      return { outcome: denial };
    };
    expect(await told(`${outside}/there`)).toBe(await told(`${outside}/no/such`));
    await asked(`${outside}/./a//b/../c`);
    await asked("sub/../../sibling");
    await asked("../a\u202eb\u0007c");
    writeFileSync(join(root, ".env"), "");
    await asked(".env");
    symlinkSync(join(outside, "there"), join(root, "link"));
    await asked("link");
    expect(ledger.of("workspace_violation").map(({ payload }) => payload["target_path"])).toEqual([
      `${outside}/there`,
      `${outside}/no/such`,
      `${outside}/a/c`,
      join(dirname(root), "sibling"),
      join(dirname(root), "a⟨U+202E⟩b⟨U+0007⟩c"),
      ".env",
      "link",
    ]);
  });

  test("the audit names a hard link", async () => {
    const { ledger, call, root } = await memoryKernel();
    writeFileSync(join(root, "one"), "x");
    linkSync(join(root, "one"), join(root, "two"));
    await call("write_file", { path: "./two", content: "y" });
    expect(ledger.of("workspace_violation").map(({ payload }) => payload["target_path"])).toEqual(["two"]);
  });

  test("five within a minute, or ten over two minutes, raise no alarm; the operator's limit is the one in force", async () => {
    const { ledger, call, time } = await memoryKernel();
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 5; index += 1) await call("read_file", { path: ".env" });
      time.nowMs += 60_000;
    }
    expect(ledger.of("alert_mode")).toEqual([]);
    const strict = await memoryKernel({ settings: { violationsPerMinute: 1 } });
    for (let index = 0; index < 2; index += 1) await strict.call("read_file", { path: ".env" });
    expect(strict.ledger.of("alert_mode")).toHaveLength(1);
  });

  test("validation, approval and policy are no violations", async () => {
    const forbid = `@id("test.forbid")\n@message("m")\nforbid (principal, action == Handrail::Action::"read_file", resource);`;
    const { ledger, call } = await memoryKernel({ policies: forbid });
    await call("read_file", { path: "a" });
    await call("read_file", { path: 7 });
    await call("write_file", { path: "CLAUDE.md", content: "" });
    expect(ledger.of("workspace_violation")).toEqual([]);
    const facts = ledger
      .of("tool_execution_denied")
      .map(({ payload }) => [payload["layer"], payload["reason"], payload["severity"]]);
    expect(facts).toEqual([
      ["policy", "file_read_denied", "warning"],
      ["call", "tool_input_invalid", "warning"],
      ["approval", "tool_approval_required", "warning"],
    ]);
  });

  test("a call that waits for nobody's approval is also recorded as asking for one", async () => {
    const { ledger, call } = await memoryKernel();
    await call("write_file", { path: "CLAUDE.md", content: "" });
    const types: LedgerEvent["type"][] = ["approval_requested", "tool_execution_denied", "tool_approval_required"];
    expect(ledger.types()).toEqual(types);
  });
});
