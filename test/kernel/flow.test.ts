/**
 * What a principal has seen follows it through the kernel: into policy, into flow control, into stored content, and out
 * of it.
 */
import { expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { systemRandom } from "../../src/base/ids.ts";
import { INITIAL_MARK } from "../../src/flow/flow.ts";
import { ToolFailure } from "../../src/model/outcome/failure.ts";
import type { Mark } from "../../src/model/outcome/label.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { mintSession } from "../../src/session/session.ts";
import {
  type MemoryKernel,
  type MemoryKernelOptions,
  memoryKernel,
  START_MS,
  testTool,
} from "../support/memory-kernel.ts";

const permit = (action: string) =>
  `@id("test.${action}")\n@message("m")\npermit (principal, action == Handrail::Action::"${action}", resource);\n`;

const done = () => ({ kind: "data", data: {} }) as const;

/** A tool whose result has a label; it reads a file. */
function shows(name: string, labels: NonNullable<Tool["capability"]["labels"]>, text = "x"): Tool {
  return testTool(name, () => ({ kind: "data", data: { text } }), { effect: "read", labels });
}

/** A tool that sends to a host. */
function sends(host: string): Tool {
  const analyse: Tool["analyse"] = () => [{ resource: { kind: "host", host, port: 443 }, effect: "network" }];
  return testTool(
    "send",
    done,
    { effect: "network", network: { mode: "any", allowedHosts: ["known.example"] } },
    analyse,
  );
}

const executes = testTool("execute", done, { effect: "exec" }, () => []);

const SOURCES = [
  shows("web", { outputTrust: "untrusted", outputDataClass: "public" }),
  shows("payroll", { outputTrust: "verified", outputDataClass: "sensitive" }),
  shows("vault", { outputTrust: "verified", outputDataClass: "secret" }),
];

function kernelWith(tools: readonly Tool[], more: MemoryKernelOptions = {}): Promise<MemoryKernel> {
  const names = ["web", "payroll", "vault", ...tools.map(({ name }) => name)];
  const policies = [...new Set(names)].map(permit).join("") + (more.policies ?? "");
  return memoryKernel({ unmarked: true, ...more, tools: [...SOURCES, ...tools], policies });
}

const marked = (kernel: MemoryKernel): Promise<Mark | undefined> => kernel.marks.findMark(kernel.session);

/** How a call ended: `goes`, or why not. */
function ended({ outcome }: CallResponse): string {
  if (outcome.kind === "denied") return `${outcome.denial.reason} ${outcome.denial.ruleId}`;
  return outcome.kind === "error" ? outcome.code : "goes";
}

test.each([
  ["nothing", "goes", "tool_approval_required FC-2"],
  ["payroll", "tool_approval_required FC-2", "flow_sensitive_egress FC-2"],
  ["vault", "flow_secret_egress FC-2", "flow_secret_egress FC-2"],
] as const)("FC-2: after %s a known host: %s, an unknown one: %s", async (source, toKnown, toUnknown) => {
  for (const [host, expected] of [
    ["known.example", toKnown],
    ["other.example", toUnknown],
  ] as const) {
    const kernel = await kernelWith([sends(host)]);
    if (source !== "nothing") expect(ended(await kernel.call(source, { path: "a" }))).toBe("goes");
    expect(ended(await kernel.call("send", { path: "a" }))).toBe(expected);
  }
});

test("FC-3: after untrusted content a tool that executes asks; before it, it does not", async () => {
  const kernel = await kernelWith([executes]);
  expect(ended(await kernel.call("execute", { path: "a" }))).toBe("goes");
  await kernel.call("web", { path: "a" });
  expect(ended(await kernel.call("execute", { path: "a" }))).toBe("tool_approval_required FC-3");
});

test("FC-3: what asks may be waived by a permit of the operator, what is denied may not", async () => {
  const waiver =
    '@id("op.waiver")\n@message("m")\n@waives("FC-3,FC-2")\npermit (principal, action == Handrail::Action::"execute", resource);\n';
  const kernel = await kernelWith([executes], { policies: waiver });
  await kernel.call("web", { path: "a" });
  expect(ended(await kernel.call("execute", { path: "a" }))).toBe("goes");
  const refuses = testTool("execute", done, { effect: "exec", labels: { acceptsUntrusted: false } }, () => []);
  const strict = await kernelWith([refuses], { policies: waiver });
  await strict.call("web", { path: "a" });
  expect(ended(await strict.call("execute", { path: "a" }))).toBe("flow_untrusted_exec FC-3");
});

test("a policy sees what the principal has seen", async () => {
  const policies =
    '@id("test.tainted")\n@message("m")\nforbid (principal, action == Handrail::Action::"execute", resource) when { context.trust == "untrusted" || context.dataClass == "sensitive" };\n';
  for (const source of ["web", "payroll"]) {
    const kernel = await kernelWith([testTool("execute", done, { effect: "write" })], { policies });
    expect(ended(await kernel.call("execute", { path: "a" }))).toBe("goes");
    await kernel.call(source, { path: "a" });
    expect(ended(await kernel.call("execute", { path: "a" }))).toContain("test.tainted");
  }
});

test("the mark rises durably before the result is answered, and is recorded once", async () => {
  const kernel = await kernelWith([]);
  expect(await marked(kernel)).toBeUndefined();
  for (let time = 0; time < 3; time += 1) await kernel.call("web", { path: "a" });
  expect(await marked(kernel)).toEqual({ trustLevel: "untrusted", dataClass: "internal" });
  expect(kernel.ledger.of("mark_raised").map(({ payload }) => payload)).toEqual([
    {
      tool: "web",
      before: { trustLevel: "user", dataClass: "internal" },
      after: { trustLevel: "untrusted", dataClass: "internal" },
    },
  ]);
});

test("a result whose mark cannot be kept is not answered", async () => {
  const kernel = await kernelWith([]);
  (kernel.marks as { raiseMark: unknown }).raiseMark = async () => {
    throw new KernelError("STORE_UNAVAILABLE", "the disk is full");
  };
  const { outcome } = await kernel.call("web", { path: "a" });
  expect(outcome).toMatchObject({ kind: "error", code: "STORE_UNAVAILABLE" });
});

test("a secret that was hidden raises the result's label and not the mark", async () => {
  const leaky = testTool("leaky", (_args, { signal: _unused }) => ({ kind: "data", data: { text: leak.token } }), {
    effect: "read",
    labels: { outputTrust: "verified" },
  });
  const leak = { token: "" };
  const kernel = await kernelWith([leaky]);
  leak.token = kernel.token;
  const { outcome } = await kernel.call("leaky", { path: "a" });
  expect(outcome).toMatchObject({
    kind: "success",
    data: { text: "[REDACTED:session-token]" },
    label: { dataClass: "secret" },
  });
  expect((await marked(kernel))?.dataClass).toBe("internal");
});

test("a mark belongs to the principal, not to one session: another session of it does not escape", async () => {
  const kernel = await kernelWith([executes]);
  await kernel.call("web", { path: "a" });
  expect(await kernel.marks.findMark({ ...kernel.session, agentId: "somebody else" })).toBeUndefined();
  expect(
    await kernel.marks.findMark({
      userId: kernel.session.userId,
      agentId: kernel.session.agentId,
      serviceRoot: kernel.root,
    }),
  ).toEqual({
    trustLevel: "untrusted",
    dataClass: "internal",
  });
});

test("a mark that rises while a call waits for its intent is seen by the check that follows", async () => {
  const kernel = await kernelWith([executes]);
  kernel.ledger.before = async (event) => {
    if (event.type !== "tool_selected") return;
    await kernel.marks.raiseMark(
      kernel.session,
      {
        initial: { trustLevel: "user", dataClass: "internal" },
        seen: { trustLevel: "untrusted", dataClass: "public" },
      },
      1,
    );
  };
  expect(ended(await kernel.call("execute", { path: "a" }))).toBe("tool_approval_required FC-3");
});

/** A tool whose untrusted result waits until it is let go. */
function waitingTool() {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const execute: Tool["execute"] = async () => {
    begun.resolve();
    await gate.promise;
    return { kind: "data", data: {} };
  };
  const tool = testTool("waits", execute, { effect: "read", labels: { outputTrust: "untrusted" } });
  return { tool, begun: begun.promise, go: gate.resolve };
}

const UNTRUSTED: Mark = { trustLevel: "untrusted", dataClass: "internal" };

test("a declassification while a call runs does not swallow what that call then shows", async () => {
  const { tool, begun, go } = waitingTool();
  const kernel = await kernelWith([tool]);
  await kernel.call("web", { path: "a" });
  const running = kernel.call("waits", { path: "a" });
  await begun;
  await kernel.marks.replaceMark(kernel.session, { expected: UNTRUSTED, mark: INITIAL_MARK }, 1);
  expect(await marked(kernel)).toEqual(INITIAL_MARK); // the control: what follows comes from the call that ran
  go();
  expect(ended(await running)).toBe("goes");
  expect(await marked(kernel)).toEqual(UNTRUSTED);
  expect(kernel.ledger.of("mark_raised")).toHaveLength(2);
});

test("of calls at the same time the one that raised the mark records it", async () => {
  const kernel = await kernelWith([]);
  await Promise.all(Array.from({ length: 5 }, () => kernel.call("web", { path: "a" })));
  await kernel.call("payroll", { path: "a" });
  expect(kernel.ledger.of("mark_raised").map(({ payload }) => payload)).toEqual([
    { tool: "web", before: INITIAL_MARK, after: UNTRUSTED },
    { tool: "payroll", before: UNTRUSTED, after: { trustLevel: "untrusted", dataClass: "sensitive" } },
  ]);
});

test("an answer that is given again shows its content again, so that its mark follows after a declassification too", async () => {
  const kernel = await kernelWith([]);
  const once = { dedupeKey: "once" };
  const first = await kernel.call("payroll", { path: "a" }, once);
  const seen: Mark = { trustLevel: "verified", dataClass: "sensitive" };
  expect(await marked(kernel)).toEqual(seen);
  await kernel.marks.replaceMark(kernel.session, { expected: seen, mark: INITIAL_MARK }, 1);
  expect(await marked(kernel)).toEqual(INITIAL_MARK); // the control: the replay alone raises it again
  const { outcome } = await kernel.call("payroll", { path: "a" }, once);
  expect(outcome).toEqual(first.outcome);
  expect(kernel.ledger.of("tool_replayed")).toHaveLength(1);
  expect(await marked(kernel)).toEqual(seen);
});

test("a replay raises the mark by what its answer shows, not by what was hidden in it", async () => {
  const leak = { token: "" };
  const labels = { outputTrust: "verified" } as const;
  const leaky = testTool("leaky", () => ({ kind: "data", data: { text: leak.token } }), { effect: "read", labels });
  const kernel = await kernelWith([leaky]);
  leak.token = kernel.token;
  for (let time = 0; time < 2; time += 1) {
    const { outcome } = await kernel.call("leaky", { path: "a" }, { dedupeKey: "once" });
    expect(outcome).toMatchObject({ label: { dataClass: "secret" } });
  }
  expect(kernel.ledger.of("tool_replayed")).toHaveLength(1);
  expect(await marked(kernel)).toEqual({ trustLevel: "verified", dataClass: "internal" });
});

test("a failure that is given again carries the mark of the tool whose words it holds", async () => {
  const fails = testTool(
    "fails",
    () => Promise.reject(new ToolFailure("FILE_NOT_FOUND", "said the page", "look elsewhere")),
    {
      effect: "read",
      labels: { outputTrust: "untrusted" },
    },
  );
  const kernel = await kernelWith([fails]);
  const once = { dedupeKey: "once" };
  await kernel.call("fails", { path: "a" }, once);
  await kernel.marks.replaceMark(kernel.session, { expected: UNTRUSTED, mark: INITIAL_MARK }, 1);
  expect(ended(await kernel.call("fails", { path: "a" }, once))).toBe("FILE_NOT_FOUND");
  expect(kernel.ledger.of("tool_replayed")).toHaveLength(1);
  expect(await marked(kernel)).toEqual(UNTRUSTED);
});

test("content that another session stored after it read what is untrusted is untrusted to whoever fetches it", async () => {
  const kernel = await kernelWith([executes]);
  await kernel.call("web", { path: "a" });
  const stored = await kernel.call("put_content", { content: "as the page says" });
  expect(stored.outcome).toMatchObject({ kind: "success", data: {} });
  const hash = stored.outcome.kind === "success" ? String(stored.outcome.data["content_hash"]) : "";
  await kernel.call("artifact_publish", { artifact_id: "page", content_hash: hash, category: "report" });

  for (const args of [{ artifact_id: "page" }, { content_hash: hash }]) {
    const wanted = { ...kernel.session, agentId: `fetches ${Object.keys(args)}`, lifetimeMs: 60_000 };
    const other = await mintSession(kernel.sessions, wanted, { nowMs: START_MS, random: systemRandom });
    expect(ended(await kernel.call("execute", { path: "a" }, { token: other.token }))).toBe("goes"); // the control
    const fetched = await kernel.call("artifact_fetch", args, { token: other.token });
    expect(fetched.outcome).toMatchObject({ kind: "success", label: { trustLevel: "untrusted" } });
    expect(await kernel.marks.findMark(other.session)).toEqual(UNTRUSTED);
    expect(ended(await kernel.call("execute", { path: "a" }, { token: other.token }))).toBe(
      "tool_approval_required FC-3",
    );
  }
});

test("an explanation says what flow control says: a call that it denies is not told to run", async () => {
  const send = testTool(
    "send",
    done,
    { effect: "network", network: { mode: "any", allowedHosts: ["known.example"] } },
    () => [{ resource: { kind: "host", host: "known.example", port: 443 }, effect: "network" }],
  );
  const policies = `@id("test.send")\n@message("m")\n@waives("*")\npermit (principal, action == Handrail::Action::"send", resource);\n`;
  const kernel = await memoryKernel({ tools: [send], policies });
  const explained = () => kernel.door.explain({ who: kernel, tool: "send", args: { path: "a" } });
  // Control: before anything secret was seen, policy's permit is all there is.
  expect((await explained()).denial).toBeUndefined();
  await kernel.marks.raiseMark(
    kernel.session,
    { initial: INITIAL_MARK, seen: { trustLevel: "user", dataClass: "secret" } },
    1,
  );
  expect((await explained()).denial).toMatchObject({ layer: "flow", ruleId: "FC-2" });
  expect((await kernel.call("send", { path: "a" })).outcome).toMatchObject({
    kind: "denied",
    denial: { ruleId: "FC-2" },
  });
});
