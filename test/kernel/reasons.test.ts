/**
 * Every reason of a refusal, by its name: each row makes a call that a whole kernel refuses with it. What cannot be
 * reached by a call yet, or not from here, is listed with why.
 */
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { INITIAL_MARK } from "../../src/flow/flow.ts";
import type { DataClass, TrustLevel } from "../../src/model/outcome/label.ts";
import { NO_GATES, type OperatorGates } from "../../src/model/people/gates.ts";
import { NO_LIMITS } from "../../src/model/spending/spending-limits.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { networksOf } from "../../src/names/address-class.ts";
import { SecretBroker } from "../../src/sandbox/net/broker/broker.ts";
import { shell } from "../../src/tools/shell/shell.ts";
import { webTools } from "../../src/tools/web/web-tools.ts";
import { approve, ask, askedRef, refuse } from "../support/asking.ts";
import { gatesOf, type WrittenGates } from "../support/gates.ts";
import {
  type MemoryKernel,
  type MemoryKernelOptions,
  memoryKernel,
  START_MS,
  testTool,
} from "../support/memory-kernel.ts";
import { reasonsInCode } from "../support/reasons.ts";

const PERMIT = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);\n`;
const FORBID = `@id("test.forbid")\n@message("m")\n@rationale("probe_is_closed")\nforbid (principal, action == Handrail::Action::"probe", resource);\n`;
const done: Tool["execute"] = () => ({ kind: "data", data: {} });
const READ = { path: "a.txt" };
const TOKEN_LIKE = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;

type Produce = () => Promise<CallResponse>;

/** Reads a file of a kernel with these options. */
const reading =
  (options: MemoryKernelOptions, path = "a.txt") =>
  async () => {
    const kernel = await memoryKernel(options);
    writeFileSync(join(kernel.root, "a.txt"), "text\n");
    return kernel.call("read_file", { path });
  };

/** Calls a tool of a test, which policy permits, after `prepare`. */
const probing =
  (
    capability: Partial<Tool["capability"]>,
    more: MemoryKernelOptions = {},
    execute = done,
    analyse?: Tool["analyse"],
  ) =>
  async () => {
    const kernel = await memoryKernel({
      tools: [testTool("probe", execute, capability, analyse)],
      policies: PERMIT,
      ...more,
    });
    return kernel.call("probe", READ);
  };

/** Calls under gates that an operator wrote. */
const gated =
  (
    written: WrittenGates,
    session: MemoryKernelOptions["session"] = {},
    args: Record<string, unknown> = READ,
    tool = "read_file",
  ) =>
  async () => {
    const kernel = await memoryKernel({ settings: { gates: await gatesOf(written) }, session: session ?? {} });
    return kernel.door.execute(
      { kind: "call", requestId: "one", sessionToken: kernel.token, tool, arguments: args },
      new AbortController().signal,
    );
  };

const broken = (reason: "tool_policy_invalid" | "tool_spec_invalid"): Produce => {
  const gates: OperatorGates = { ...NO_GATES, rules: { ok: false, reason, problem: "broken" } };
  return reading({ settings: { gates } });
};

/** Sends to an unknown host after such content was seen. */
const sendingAfter =
  (trustLevel: TrustLevel, dataClass: DataClass, more: Partial<Tool["capability"]> = {}) =>
  async () => {
    const analyse: Tool["analyse"] = () => [
      { resource: { kind: "host", host: "example.org", port: 443 }, effect: "network" },
    ];
    const tool = testTool(
      "probe",
      done,
      { effect: "network", network: { mode: "any" }, ...more },
      more.effect === "exec" ? () => [] : analyse,
    );
    const kernel = await memoryKernel({ unmarked: true, tools: [tool], policies: PERMIT });
    await kernel.marks.raiseMark(kernel.session, { initial: INITIAL_MARK, seen: { trustLevel, dataClass } }, START_MS);
    return kernel.call("probe", READ);
  };

/** Sends a secret to a server that it is not bound to. */
const sendingSecret: Produce = async () => {
  const network = { lookUp: async () => [], connect: () => neverCalled(), ownNetworks: () => networksOf([]) };
  const bindings = [{ host: "other.github.com", port: 443, path: "/", place: { kind: "basic" } as const }];
  const broker = new SecretBroker([{ name: "KEY", placeholder: "p".repeat(20), value: "v".repeat(20), bindings }]);
  const kernel = await memoryKernel({ tools: webTools, network: { ...network, isOwnPort: () => false }, broker });
  return kernel.call("web_fetch", { url: "https://api.github.com/?k={{secret:KEY}}" });
};

function neverCalled(): never {
  throw new Error("nothing is sent");
}

const asked =
  (then: (kernel: MemoryKernel, ref: string) => unknown): Produce =>
  async () => {
    const kernel = await memoryKernel();
    const ref = await askedRef(kernel);
    await then(kernel, ref);
    return ask(kernel);
  };

const inWorkspace =
  (prepare: (root: string) => void, tool: string, args: Record<string, string>): Produce =>
  async () => {
    const kernel = await memoryKernel();
    prepare(kernel.root);
    return kernel.call(tool, args);
  };

const skill = (input: object) => ({ skills: { docs: { tools: { write_file: { input } } } } });
const SLOW = { properties: { content: { not: { type: "string", pattern: "^[ab]{1,500}$" } } } };
const WRITE = { path: "a.txt", content: "x" };

/** The reason, the layer that refuses, and a call that is refused with it. */
const REASONS: readonly (readonly [reason: string, layer: string, produce: Produce])[] = [
  ["validation_failed", "validate", async () => (await memoryKernel()).call("read_file", READ, { requestId: "" })],
  [
    "session_invalid",
    "authenticate",
    async () => (await memoryKernel()).call("read_file", READ, { token: "ses_x.guess" }),
  ],
  ["session_expired", "authenticate", reading({ session: { expiresAtMs: START_MS } })],
  ["session_revoked", "authenticate", reading({ session: { revokedAtMs: START_MS } })],
  ["session_frozen", "authenticate", reading({ session: { frozenAtMs: START_MS } })],
  ["tools_disabled", "gates", reading({ settings: { toolsEnabled: false } })],
  ["tool_not_allowed", "gates", gated({ policy: { allowed_tools: ["list_files"] } })],
  ["tool_requires_arming", "gates", gated({ specs: [{ id: "write_file", risk: "high" }] }, {}, WRITE, "write_file")],
  ["tool_policy_invalid", "gates", broken("tool_policy_invalid")],
  ["tool_spec_invalid", "gates", broken("tool_spec_invalid")],
  ["tool_spec_missing", "gates", async () => (await memoryKernel()).call("teleport", {})],
  [
    "lease_expired",
    "scope",
    async () => {
      const kernel = await memoryKernel();
      await kernel.sessions.updateLease(kernel.lease.id, { releasedAtMs: START_MS });
      return kernel.call("read_file", READ);
    },
  ],
  ["lease_scope", "scope", reading({ scope: { tools: [["list_files"]] } })],
  ["permission_denied", "scope", probing({ requiredRole: "sre" })],
  ["tool_not_allowed", "scope", gated({ modes: { idle: { tools: [] } } }, { mode: "idle" })],
  ["skill_tool_not_allowed", "scope", gated({ skills: { docs: { tools: {} } } }, { skill: "docs" })],
  [
    "skill_tool_constraint_failed",
    "scope",
    gated(skill({ properties: { path: { const: "b" } } }), { skill: "docs" }, WRITE, "write_file"),
  ],
  [
    "skill_tool_input_invalid",
    "scope",
    async () => {
      const kernel = await memoryKernel({
        settings: { gates: await gatesOf(skill({ type: "object" })) },
        session: { skill: "docs" },
      });
      const { encodeRequest } = await import("../../src/wire/codec.ts");
      const { create } = await import("@bufbuild/protobuf");
      const { ToolRequestSchema } = await import("../../src/gen/handrail/tool/v1/tool_pb.ts");
      const tool = { case: "fileWrite", value: { path: "a.bin", content: new Uint8Array([0xff]) } } as const;
      const bytes = encodeRequest(create(ToolRequestSchema, { requestId: "one", sessionToken: kernel.token, tool }));
      return kernel.door.execute({ kind: "wire", bytes }, new AbortController().signal);
    },
  ],
  [
    "skill_tool_input_unreadable",
    "scope",
    gated(skill(SLOW), { skill: "docs" }, { ...WRITE, content: "c".repeat(500_000) }, "write_file"),
  ],
  ["workspace_path_traversal", "workspace", reading({}, "../a.txt")],
  ["workspace_path_escape", "workspace", reading({}, "/etc/hostname")],
  [
    "workspace_symlink_escape",
    "workspace",
    inWorkspace((root) => symlinkSync("/etc/hostname", join(root, "link")), "read_file", { path: "link" }),
  ],
  ["workspace_blocked_zone", "workspace", reading({}, ".env")],
  [
    "workspace_hard_link",
    "workspace",
    inWorkspace(
      (root) => {
        writeFileSync(join(root, "one"), "x");
        linkSync(join(root, "one"), join(root, "two"));
      },
      "write_file",
      { path: "two", content: "y" },
    ),
  ],
  [
    "workspace_read_only",
    "workspace",
    inWorkspace((root) => mkdirSync(join(root, "shared")), "write_file", { path: "shared/a", content: "y" }),
  ],
  [
    "probe_denied",
    "policy",
    async () => (await memoryKernel({ tools: [testTool("probe", done, { effect: "exec" })] })).call("probe", READ),
  ],
  ["probe_is_closed", "policy", probing({}, { policies: PERMIT + FORBID })],
  ["flow_secret_egress", "flow", sendingAfter("user", "secret")],
  ["flow_sensitive_egress", "flow", sendingAfter("user", "sensitive")],
  ["secret_binding_mismatch", "flow", sendingSecret],
  [
    "flow_untrusted_exec",
    "flow",
    sendingAfter("untrusted", "internal", { effect: "exec", labels: { acceptsUntrusted: false } }),
  ],
  [
    "redaction_marker_in_content",
    "flow",
    async () => {
      const kernel = await memoryKernel();
      writeFileSync(join(kernel.root, "a.txt"), `token = "${TOKEN_LIKE}"\n`);
      const { outcome } = await kernel.call("read_file", READ);
      const shown = outcome.kind === "success" ? String(outcome.data["content"]) : "";
      return kernel.call("write_file", { path: "b.txt", content: shown });
    },
  ],
  [
    "flow_secret_content",
    "flow",
    async () => {
      const kernel = await memoryKernel();
      return kernel.call("put_content", { content: `sent with ${kernel.token}` });
    },
  ],
  [
    "shell_exec_denied",
    "policy",
    async () => (await memoryKernel({ tools: [shell as Tool], preset: "reader" })).call("shell", { command: "ls" }),
  ],
  ["tool_approval_required", "approval", async () => ask(await memoryKernel())],
  ["tool_approval_denied", "approval", asked(refuse)],
  [
    "tool_approval_expired",
    "approval",
    asked(async (kernel, ref) => {
      await approve(kernel, ref);
      kernel.time.nowMs += 15 * 60_000;
    }),
  ],
  [
    "tool_approval_invalid",
    "approval",
    asked(async (kernel, ref) => {
      await approve(kernel, ref);
      writeFileSync(join(kernel.root, "CLAUDE.md"), "changed meanwhile");
    }),
  ],
  [
    "tool_approval_request_failed",
    "approval",
    async () => {
      const kernel = await memoryKernel();
      for (const name of Object.keys(kernel.asked) as (keyof typeof kernel.asked)[])
        if (name !== "close") Object.assign(kernel.asked, { [name]: () => Promise.reject(new Error("down")) });
      return ask(kernel);
    },
  ],
  ["budget_exceeded", "budget", reading({ budget: { calls: 0 } })],
  [
    "rate_limited",
    "error",
    async () => {
      const rates = { tools: new Map(), principal: { callsPerMinute: 1, burst: 1 } };
      const kernel = await memoryKernel({ settings: { limits: { ...NO_LIMITS, id: "test", rates } } });
      await kernel.call("list_files", { path: "." });
      return kernel.call("list_files", { path: "." });
    },
  ],
  [
    "tool_call_invalid",
    "call",
    async () => {
      const kernel = await memoryKernel();
      const odd = { kind: "call", requestId: "one", sessionToken: kernel.token, tool: 7, arguments: {} } as unknown;
      return kernel.door.execute(odd as Parameters<typeof kernel.door.execute>[0], new AbortController().signal);
    },
  ],
  ["tool_input_invalid", "call", async () => (await memoryKernel()).call("read_file", { path: 7 })],
  [
    "tool_input_read_failed",
    "call",
    async () => {
      const { door, token } = await memoryKernel();
      async function* cut(): AsyncGenerator<Uint8Array> {
        yield Buffer.from("the beginning");
        throw new Error("the connection was lost");
      }
      const who = { requestId: "one", sessionToken: token };
      return door.putContent({ who, announced: {}, chunks: cut() }, new AbortController().signal);
    },
  ],
  ["tool_output_invalid", "call", probing({ effect: "read" }, {}, (() => "text") as unknown as Tool["execute"])],
  ["tool_not_implemented", "call", gated({ specs: [{ id: "teleport" }] }, {}, {}, "teleport")],
];

/** What no row reaches, why, and which test does. */
const ELSEWHERE: Readonly<Record<string, { readonly why: string; readonly test: string }>> = {
  workspace_device_boundary: {
    why: "needs another file system inside of a workspace",
    test: "../sandbox/files/faults/files-writing.test.ts",
  },
};

/** What the specification of reasons names, beside the reasons that policies give themselves. */
const SPECIFIED = [
  "validation_failed",
  "session_invalid",
  "session_expired",
  "session_revoked",
  "session_frozen",
  "tools_disabled",
  "tool_not_allowed",
  "tool_requires_arming",
  "tool_policy_invalid",
  "tool_spec_invalid",
  "tool_spec_missing",
  "lease_expired",
  "lease_scope",
  "permission_denied",
  "skill_tool_not_allowed",
  "skill_tool_constraint_failed",
  "skill_tool_input_invalid",
  "skill_tool_input_unreadable",
  "workspace_path_traversal",
  "workspace_path_escape",
  "workspace_symlink_escape",
  "workspace_blocked_zone",
  "workspace_device_boundary",
  "workspace_hard_link",
  "workspace_read_only",
  "flow_secret_egress",
  "flow_sensitive_egress",
  "flow_untrusted_exec",
  "secret_binding_mismatch",
  "tool_approval_required",
  "tool_approval_invalid",
  "tool_approval_denied",
  "tool_approval_expired",
  "tool_approval_request_failed",
  "budget_exceeded",
  "rate_limited",
  "tool_call_invalid",
  "tool_input_invalid",
  "tool_input_read_failed",
  "tool_output_invalid",
  "tool_not_implemented",
];

test.each(REASONS)("%s is what %s refuses with", async (reason, layer, produce) => {
  const { outcome } = await produce();
  const found =
    outcome.kind === "denied"
      ? [outcome.denial.reason, outcome.denial.layer]
      : outcome.kind === "error"
        ? [outcome.code.toLowerCase(), "error"]
        : ["success"];
  expect(found).toEqual([reason, layer]);
});

test("every reason that is specified, and every one that the code can give, is reached by a row or by the test that is named", async () => {
  const { EVENT_TYPES } = await import("../../src/model/outcome/event.ts");
  const wanted = new Set([...SPECIFIED, ...reasonsInCode(EVENT_TYPES)]);
  const reached = new Set(REASONS.map(([reason]) => reason));
  expect([...wanted].filter((reason) => !reached.has(reason)).sort()).toEqual(Object.keys(ELSEWHERE).sort());
  for (const [reason, { test: path }] of Object.entries(ELSEWHERE))
    expect(readFileSync(new URL(path, import.meta.url), "utf8")).toContain(`"${reason}"`);
});

test("an effect whose output cannot be read has an unknown outcome, and is not done twice", async () => {
  const kernel = await memoryKernel({
    tools: [testTool("probe", (() => 7) as unknown as Tool["execute"])],
    policies: PERMIT,
  });
  const first = await kernel.call("probe", READ, { dedupeKey: "key" });
  expect(first.outcome).toMatchObject({ kind: "error", code: "OUTCOME_UNKNOWN" });
  expect((await kernel.call("probe", READ, { dedupeKey: "key" })).outcome).toMatchObject({
    kind: "error",
    code: "OUTCOME_UNKNOWN",
  });
  expect(kernel.ledger.of("tool_selected")).toHaveLength(1);
});
