/**
 * The alarm: too many violations freeze a principal in its workspace, whatever session it uses, until a person lifts
 * it.
 */

import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { KernelError } from "../../../src/base/errors.ts";
import { systemRandom } from "../../../src/base/ids.ts";
import { endTurn } from "../../../src/base/turn.ts";
import { INITIAL_MARK } from "../../../src/flow/flow.ts";
import { REFUSALS_RECORDED_PER_SECOND } from "../../../src/kernel/answer/refusal-rate.ts";
import { commandOf } from "../../../src/model/place/command.ts";
import { FreezeAdministration } from "../../../src/server/people/freeze-administration.ts";
import { mintSession } from "../../../src/session/session.ts";
import { type MemoryKernel, memoryKernel, START_MS, testTool } from "../../support/memory-kernel.ts";

const violate = (kernel: MemoryKernel, token = kernel.token) =>
  kernel.call("read_file", { path: "../outside" }, { token });
const read = (kernel: MemoryKernel, token = kernel.token) => kernel.call("list_files", { path: "." }, { token });

/** A token of another session; of the same principal in the same workspace unless said otherwise. */
async function anotherSession(
  { sessions, session }: MemoryKernel,
  change: { userId?: string; agentId?: string; serviceRoot?: string } = {},
) {
  return (
    await mintSession(
      sessions,
      { ...session, ...change, lifetimeMs: 3_600_000 },
      { nowMs: START_MS, random: systemRandom },
    )
  ).token;
}

function administrationOf(kernel: MemoryKernel): FreezeAdministration {
  return new FreezeAdministration({ ...kernel, clock: { nowMs: () => kernel.time.nowMs, monotonicMs: () => 0 } });
}

describe("violations", () => {
  test("five within a minute do nothing, the sixth freezes the principal, and the record says all of it", async () => {
    const kernel = await memoryKernel();
    for (let count = 0; count < 5; count += 1) await violate(kernel);
    expect((await read(kernel)).outcome.kind).toBe("success");
    expect((await violate(kernel)).outcome).toMatchObject({
      kind: "denied",
      denial: { reason: "workspace_path_traversal" },
    });
    expect((await read(kernel)).outcome).toEqual({
      kind: "denied",
      denial: {
        layer: "authenticate",
        reason: "session_frozen",
        ruleId: "FREEZE:workspace",
        message:
          "after too many violations within a minute this agent is frozen in this workspace, whatever session it uses, until a person has reviewed it; stop working and tell the user",
        fix: `the operator runs \`handrail sessions review ${kernel.session.id}\`, then \`handrail sessions resume ${kernel.session.id}\``,
      },
    });
    expect(kernel.ledger.of("workspace_violation")).toHaveLength(6);
    expect(kernel.ledger.of("alert_mode").map(({ payload }) => payload)).toEqual([
      { violations_per_minute: 5, severity: "critical", review: "required", frozen: true },
    ]);
    expect(
      kernel.ledger.of("frozen").map(({ payload, sessionId, durability }) => [payload, sessionId, durability]),
    ).toEqual([
      [
        {
          scope: "workspace",
          userId: "tester",
          agentId: "agent",
          serviceRoot: kernel.root,
          cause: "alert",
          severity: "critical",
        },
        kernel.session.id,
        "durable",
      ],
    ]);
    expect(kernel.ledger.of("tool_execution_denied").at(-1)?.payload).toMatchObject({
      reason: "session_frozen",
      role: "dev",
    });
  });

  test("ten over two minutes freeze nobody", async () => {
    const kernel = await memoryKernel();
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 5; count += 1) await violate(kernel);
      kernel.time.nowMs += 60_000;
    }
    expect((await read(kernel)).outcome.kind).toBe("success");
  });

  test("of flow control count as those of the workspace guard do, and name where it would have gone", async () => {
    const send = testTool(
      "send",
      () => ({ kind: "data", data: {} }),
      { effect: "network" },
      () => [{ resource: { kind: "host", host: "example.com", port: 443 }, effect: "network" }],
    );
    const policies = `@id("test.send")\n@message("m")\npermit (principal, action == Handrail::Action::"send", resource);`;
    const kernel = await memoryKernel({ tools: [send], policies });
    await kernel.marks.raiseMark(
      kernel.session,
      { initial: INITIAL_MARK, seen: { trustLevel: "user", dataClass: "secret" } },
      START_MS,
    );
    for (let count = 0; count < 6; count += 1)
      expect((await kernel.call("send", { path: "a" })).outcome).toMatchObject({
        denial: { reason: "flow_secret_egress" },
      });
    expect(kernel.ledger.of("flow_violation")).toHaveLength(6);
    expect(kernel.ledger.of("flow_violation")[0]?.payload).toEqual({
      timestamp: "2026-01-01T00:00:00.000Z",
      agent_id: "agent",
      violation_type: "flow_secret_egress",
      target_path: "example.com:443",
      command_args: [],
      severity: "warning",
    });
    expect((await read(kernel)).outcome).toMatchObject({ denial: { reason: "session_frozen" } });
  });

  test.each([
    ["the lease", { scope: { commands: [["git"]] } }, "lease_scope"],
    [
      "policy",
      {
        policies: `@id("test.forbid")\n@message("m")\nforbid (principal, action == Handrail::Action::"run", resource);`,
      },
      "run_denied",
    ],
  ] as const)(
    "of a rule about commands by %s count, and name the command without its secrets",
    async (_, options, reason) => {
      const words = ["curl", "--header", "ghp_016C7qIkFz2rGuYlvYLGXjPoBDPDYUpuIBQv", "example.com"] as const;
      const run = testTool(
        "run",
        () => ({ kind: "data", data: {} }),
        { effect: "exec" },
        () => [{ resource: commandOf(words), effect: "exec" }],
      );
      const kernel = await memoryKernel({ tools: [run], ...options });
      const response = await kernel.call("run", { path: "a" });
      expect(response.outcome).toMatchObject({ kind: "denied", denial: { reason } });
      const [violation] = kernel.ledger.of("command_violation");
      expect(violation?.payload).toMatchObject({ violation_type: reason, target_path: "", agent_id: "agent" });
      expect(violation?.payload["command_args"]).toEqual([
        "curl",
        "--header",
        expect.stringMatching(/^\[REDACTED:/),
        "example.com",
      ]);
      expect(JSON.stringify(kernel.ledger.events)).not.toContain("ghp_016C7");
    },
  );

  test("a flood of a thousand is answered, counted, and fills neither the ledger nor the store", async () => {
    const kernel = await memoryKernel();
    const answers = await Promise.all(Array.from({ length: 1000 }, () => violate(kernel)));
    const reasons = answers.map(({ outcome }) => (outcome.kind === "denied" ? outcome.denial.reason : outcome.kind));
    expect(new Set(reasons)).toEqual(new Set(["workspace_path_traversal"]));
    for (let count = 0; count < 1000; count += 1) await violate(kernel);
    expect(kernel.ledger.of("workspace_violation")).toHaveLength(1000);
    expect(kernel.ledger.of("alert_mode")).toHaveLength(1);
    expect(kernel.ledger.of("frozen")).toHaveLength(1);
    expect(kernel.ledger.of("tool_execution_denied")).toHaveLength(1000 + REFUSALS_RECORDED_PER_SECOND);
    expect(
      await kernel.violations.count({ owner: kernel.session, atMs: START_MS, windowMs: 60_000, countMax: 1000 }),
    ).toBeLessThanOrEqual(8);
  });

  test("with `alert.freeze: false` are recorded, and freeze nobody", async () => {
    const kernel = await memoryKernel({ settings: { freezeOnAlert: false } });
    for (let count = 0; count < 9; count += 1) await violate(kernel);
    expect((await read(kernel)).outcome.kind).toBe("success");
    expect(kernel.ledger.of("alert_mode").map(({ payload }) => payload["frozen"])).toEqual([false]);
    expect(kernel.ledger.of("frozen")).toEqual([]);
  });

  test("that cannot be counted are too many: the first one freezes", async () => {
    const kernel = await memoryKernel();
    kernel.violations.count = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is full"));
    await violate(kernel);
    expect((await read(kernel)).outcome).toMatchObject({ denial: { reason: "session_frozen" } });
    expect(kernel.internalErrors).toHaveLength(1);
  });
});

describe("a frozen principal", () => {
  const frozen = async (kernel: MemoryKernel) => {
    for (let count = 0; count < 6; count += 1) await violate(kernel);
  };

  test("stays frozen with another session, new or old; other agents, users and workspaces do not freeze with it", async () => {
    const kernel = await memoryKernel();
    const old = await anotherSession(kernel);
    await frozen(kernel);
    const outcomes = async (token: string) => (await read(kernel, token)).outcome;
    expect(await outcomes(old)).toMatchObject({ denial: { reason: "session_frozen" } });
    expect(await outcomes(await anotherSession(kernel))).toMatchObject({ denial: { reason: "session_frozen" } });
    for (const other of [{ userId: "bob" }, { agentId: "other" }, { serviceRoot: "/srv/elsewhere" }])
      expect((await outcomes(await anotherSession(kernel, other))).kind).toBe("success");
  });

  test("gets no list of tools either, and stores and fetches nothing", async () => {
    const kernel = await memoryKernel();
    await frozen(kernel);
    const who = { requestId: "r", sessionToken: kernel.token };
    expect(await kernel.door.admit(who)).toMatchObject({
      kind: "refused",
      response: { outcome: { denial: { reason: "session_frozen" } } },
    });
    const chunks = (async function* () {
      yield new Uint8Array([1]);
    })();
    const put = await kernel.door.putContent({ who, announced: {}, chunks }, new AbortController().signal);
    expect(put.outcome).toMatchObject({ denial: { reason: "session_frozen" } });
    const got = await kernel.door.getContent({ ...who, hash: new Uint8Array(32) }, new AbortController().signal);
    expect(got).toMatchObject({ kind: "refused", response: { outcome: { denial: { reason: "session_frozen" } } } });
  });

  test("acts again once it is resumed, with a count that starts anew", async () => {
    const kernel = await memoryKernel();
    await frozen(kernel);
    const resumed = await administrationOf(kernel).resumeSession(kernel.session.id, {
      by: "ann",
      reason: "a script of mine",
    });
    expect(resumed).toMatchObject({
      lifted: [{ cause: "alert", by: "kernel", reason: "more than 5 violations within a minute" }],
    });
    expect(resumed.remaining).toBeUndefined();
    for (let count = 0; count < 5; count += 1) await violate(kernel);
    expect((await read(kernel)).outcome.kind).toBe("success");
    await violate(kernel);
    expect((await read(kernel)).outcome).toMatchObject({ denial: { reason: "session_frozen" } });
    expect(kernel.ledger.of("alert_mode")).toHaveLength(2);
    expect(kernel.ledger.of("resumed").map(({ actor, payload }) => [actor, payload])).toEqual([
      [
        "operator:ann",
        {
          scope: "workspace",
          userId: "tester",
          agentId: "agent",
          serviceRoot: kernel.root,
          reason: "a script of mine",
          severity: "warning",
        },
      ],
    ]);
  });

  test("is not resumed when that cannot be recorded", async () => {
    const kernel = await memoryKernel();
    await frozen(kernel);
    kernel.ledger.breakFor(({ type }) => type === "resumed");
    await expect(administrationOf(kernel).resumeSession(kernel.session.id, { by: "ann", reason: "" })).rejects.toThrow(
      "disk is full",
    );
    expect((await read(kernel)).outcome).toMatchObject({ denial: { reason: "session_frozen" } });
  });

  test("is frozen in this kernel although the freeze cannot be stored, and for good once it can", async () => {
    const kernel = await memoryKernel();
    const { insertFreeze } = kernel.freezes;
    kernel.freezes.insertFreeze = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is full"));
    await frozen(kernel);
    expect((await read(kernel)).outcome).toMatchObject({ denial: { reason: "session_frozen" } });
    expect(await kernel.freezes.listFreezes()).toEqual([]);
    kernel.freezes.insertFreeze = insertFreeze;
    expect((await read(kernel)).outcome).toMatchObject({ denial: { reason: "session_frozen" } });
    expect(await kernel.freezes.listFreezes()).toHaveLength(1);
    await administrationOf(kernel).resumeSession(kernel.session.id, { by: "ann", reason: "" });
    expect((await read(kernel)).outcome.kind).toBe("success");
  });

  test("nobody can tell who is frozen when the store cannot be read: the call is refused", async () => {
    const kernel = await memoryKernel();
    kernel.freezes.findFreeze = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is gone"));
    expect((await read(kernel)).outcome).toMatchObject({ kind: "error", code: "STORE_UNAVAILABLE" });
  });

  test("a machine that cannot ring is one that cannot end calls: the call is refused", async () => {
    const kernel = await memoryKernel();
    const { listen } = kernel.bell;
    Object.assign(kernel.bell, {
      listen: () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "no more watches")),
    });
    expect((await read(kernel)).outcome).toMatchObject({ kind: "error", code: "STORE_UNAVAILABLE" });
    Object.assign(kernel.bell, { listen });
    expect((await read(kernel)).outcome.kind).toBe("success");
  });
});

describe("running calls", () => {
  /** A kernel with tools that run until they are told to stop: one that reads, one that writes. */
  async function slowKernel() {
    const started = Promise.withResolvers<void>();
    const wait = async (signal: AbortSignal) => {
      started.resolve();
      if (!signal.aborted) await once(signal, "abort");
      return { kind: "data", data: { seen: "much" } } as const;
    };
    const tools = (["read", "write"] as const).map((effect) =>
      testTool(`slow_${effect}`, (_, { signal }) => wait(signal), { effect }),
    );
    const policies = ["read", "write"].map(
      (effect) =>
        `@id("test.${effect}")\n@message("m")\npermit (principal, action == Handrail::Action::"slow_${effect}", resource);\n`,
    );
    return { kernel: await memoryKernel({ tools, policies: policies.join("") }), started: started.promise };
  }

  test.each([
    ["everybody is stopped", (freezes: FreezeAdministration) => freezes.kill({ scope: "all" }, ACT), "FREEZE:all"],
    [
      "the principal is frozen",
      (freezes: FreezeAdministration) => freezes.kill({ scope: "principal", userId: "tester", agentId: "agent" }, ACT),
      "FREEZE:principal",
    ],
    [
      "the session is frozen",
      (freezes: FreezeAdministration, { session }: MemoryKernel) => freezes.freezeSession(session.id, ACT),
      "SESSION:frozen",
    ],
  ] as const)("end when %s: what only read is refused, and what it saw is not told", async (_, freeze, ruleId) => {
    const { kernel, started } = await slowKernel();
    const running = kernel.call("slow_read", { path: "a" });
    await started;
    await freeze(administrationOf(kernel), kernel);
    const { outcome } = await running;
    expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "session_frozen", ruleId } });
    expect(JSON.stringify(outcome)).not.toContain("much");
    expect(kernel.ledger.types().filter((type) => type.startsWith("tool_"))).toEqual(["tool_execution_denied"]);
  });

  test("that may have had an effect say what came of them, and the record says that they were stopped", async () => {
    const { kernel, started } = await slowKernel();
    const running = kernel.call("slow_write", { path: "a" });
    await started;
    await administrationOf(kernel).kill({ scope: "all" }, ACT);
    expect((await running).outcome.kind).toBe("success");
    expect(kernel.ledger.of("tool_executed")[0]).toMatchObject({
      closes: 1,
      payload: { success: true, stopped: "session_frozen" },
    });
  });

  test("of others go on", async () => {
    const { kernel, started } = await slowKernel();
    const cancel = new AbortController();
    const running = kernel.call("slow_read", { path: "a" }, { signal: cancel.signal });
    await started;
    await administrationOf(kernel).kill({ scope: "principal", userId: "bob", agentId: "agent" }, ACT);
    await administrationOf(kernel).kill(
      { scope: "workspace", userId: "tester", agentId: "agent", serviceRoot: "/elsewhere" },
      ACT,
    );
    expect((await read(kernel)).outcome.kind).toBe("success");
    cancel.abort();
    expect((await running).outcome.kind).toBe("success");
  });

  test("of the same principal end with the violation that freezes it", async () => {
    const { kernel, started } = await slowKernel();
    const running = kernel.call("slow_read", { path: "a" });
    await started;
    for (let count = 0; count < 6; count += 1) await violate(kernel);
    expect((await running).outcome).toMatchObject({ denial: { reason: "session_frozen" } });
  });

  test("that wait for an approval end as well, and an approval that comes later finds nobody", async () => {
    const kernel = await memoryKernel({ approvers: true });
    const asked = new Promise<void>((resolve) => {
      kernel.ledger.before = ({ type }) => void (type === "approval_requested" && resolve());
    });
    const waiting = kernel.call("write_file", { path: "CLAUDE.md", content: "x" });
    await asked;
    await administrationOf(kernel).kill({ scope: "principal", userId: "tester", agentId: "agent" }, ACT);
    expect((await waiting).outcome).toMatchObject({
      kind: "denied",
      denial: { reason: "session_frozen", ruleId: "FREEZE:principal" },
    });
    expect(kernel.ledger.of("tool_selected")).toEqual([]);
  });

  test("end when nobody can see any more whether they may go on", async () => {
    const { kernel, started } = await slowKernel();
    const running = kernel.call("slow_read", { path: "a" });
    await started;
    kernel.freezes.findFreeze = () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is gone"));
    await kernel.bell.ring("freezes");
    expect((await running).outcome).toMatchObject({ denial: { reason: "session_frozen", ruleId: "FREEZE:unknown" } });
  });

  test("end when the bell broke before it could tell of a freeze, and all of them when it cannot be mended", async () => {
    const { kernel, started } = await slowKernel();
    const running = kernel.call("slow_read", { path: "a" });
    await started;
    await kernel.freezes.insertFreeze({
      target: { scope: "all" },
      cause: "operator",
      reason: "",
      by: "x",
      atMs: START_MS,
    });
    await kernel.killSwitch.lost();
    expect((await running).outcome).toMatchObject({ denial: { reason: "session_frozen", ruleId: "FREEZE:all" } });
    const other = await slowKernel();
    const others = other.kernel.call("slow_read", { path: "a" });
    await other.started;
    Object.assign(other.kernel.bell, {
      listen: () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "no more watches")),
    });
    await other.kernel.killSwitch.lost();
    expect((await others).outcome).toMatchObject({ denial: { reason: "session_frozen", ruleId: "FREEZE:unknown" } });
  });

  test("go on when the bell broke and nobody was frozen", async () => {
    const { kernel, started } = await slowKernel();
    const cancel = new AbortController();
    const running = kernel.call("slow_read", { path: "a" }, { signal: cancel.signal });
    await started;
    await kernel.killSwitch.lost();
    cancel.abort();
    expect((await running).outcome.kind).toBe("success");
  });

  test("that cannot be told of a freeze are no reason to leave it out of the record", async () => {
    const kernel = await memoryKernel();
    const silent = {
      ...kernel.bell,
      ring: () => Promise.reject(new KernelError("STORE_UNAVAILABLE", "the disk is full")),
    };
    const clock = { nowMs: () => kernel.time.nowMs, monotonicMs: () => 0 };
    const administration = new FreezeAdministration({ ...kernel, bell: silent, clock });
    await expect(administration.kill({ scope: "all" }, ACT)).rejects.toThrow("running calls could not be told");
    await expect(administration.freezeSession(kernel.session.id, ACT)).rejects.toThrow(
      "running calls could not be told",
    );
    expect(kernel.ledger.events.map(({ type, payload }) => [type, payload["scope"]])).toEqual([
      ["killed", "all"],
      ["frozen", "session"],
    ]);
  });

  test("a freeze that comes while the session is looked up ends the call all the same", async () => {
    const { kernel } = await slowKernel();
    await read(kernel);
    const { findFreeze } = kernel.freezes;
    kernel.freezes.findFreeze = async (owner) => {
      const found = await findFreeze(owner);
      kernel.freezes.findFreeze = findFreeze;
      await kernel.freezes.insertFreeze({
        target: { scope: "all" },
        cause: "operator",
        reason: "",
        by: "x",
        atMs: START_MS,
      });
      await kernel.killSwitch.look();
      return found;
    };
    endTurn(); // in the turn of the call before nobody would ask again
    expect((await kernel.call("slow_read", { path: "a" })).outcome).toMatchObject({
      denial: { reason: "session_frozen" },
    });
  });
});

const ACT = { by: "ann", reason: "something is wrong" };
