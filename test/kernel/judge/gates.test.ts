/**
 * Modes, skills, tool specs and tool policies on a whole kernel: what they leave runs, everything else is refused by
 * the file that is the reason.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { parseWorkspacePolicy } from "../../../src/config/files/tool-rules.ts";
import { ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { NO_GATES, type OperatorGates } from "../../../src/model/people/gates.ts";
import type { Session } from "../../../src/model/people/session.ts";
import type { CallResponse } from "../../../src/model/tool/call.ts";
import { encodeRequest } from "../../../src/wire/codec.ts";
import { DELETES_ANYTHING } from "../../support/deleting.ts";
import { gatesOf, type WrittenGates } from "../../support/gates.ts";
import { type MemoryKernel, memoryKernel, testTool } from "../../support/memory-kernel.ts";

function endOf({ outcome }: CallResponse): readonly unknown[] {
  if (outcome.kind === "denied") return [outcome.denial.layer, outcome.denial.reason, outcome.denial.ruleId];
  return [outcome.kind];
}

const OK = ["success"];

async function kernelUnder(written: WrittenGates, session: Partial<Session> = {}): Promise<MemoryKernel> {
  const kernel = await memoryKernel({
    settings: { gates: await gatesOf(written) },
    session,
    policies: DELETES_ANYTHING,
  });
  for (const directory of ["docs", "src"]) {
    mkdirSync(join(kernel.root, directory));
    writeFileSync(join(kernel.root, directory, "a.md"), "text\n");
  }
  return kernel;
}

describe("a mode", () => {
  const modes = {
    review: { tools: ["read_file", "write_file", "list_files"], narrow: { write_file: { paths: ["docs/**"] } } },
  };

  test("mode_tool_tightening_denies_execution", async () => {
    const kernel = await kernelUnder({ modes }, { mode: "review" });
    const refused = ["scope", "tool_not_allowed", "MODE:review"];
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual(OK);
    expect(endOf(await kernel.call("delete_file", { path: "src/a.md" }))).toEqual(refused);
    expect(kernel.textOf("src/a.md")).toBe("text\n");
    expect(
      kernel.ledger
        .of("tool_execution_denied")
        .map(({ payload }) => [payload["tool"], payload["reason"], payload["ruleId"]]),
    ).toEqual([["delete_file", "tool_not_allowed", "MODE:review"]]);
    // The control: without the mode the same call runs.
    const open = await kernelUnder({ modes });
    expect(endOf(await open.call("delete_file", { path: "src/a.md" }))).toEqual(OK);
  });

  test("leaves a tool the paths that it names, by whatever path they are reached", async () => {
    const kernel = await kernelUnder({ modes }, { mode: "review" });
    const write = (path: string) => kernel.call("write_file", { path, content: "new\n" });
    symlinkSync("../src", join(kernel.root, "docs", "link"));
    expect(endOf(await write("docs/a.md"))).toEqual(OK);
    expect(endOf(await write("src/a.md"))).toEqual(["scope", "tool_not_allowed", "MODE:review"]);
    expect(endOf(await write("docs/link/a.md"))).toEqual(["scope", "tool_not_allowed", "MODE:review"]);
    expect(kernel.textOf("src/a.md")).toBe("text\n");
  });

  test("narrows what a search and a listing find", async () => {
    const narrow = { search_file: { paths: ["docs/**", "."] } };
    const kernel = await kernelUnder({ modes: { docs: { tools: ["search_file"], narrow } } }, { mode: "docs" });
    const { outcome } = await kernel.call("search_file", { path: ".", regex: "text", recursive: true });
    expect(outcome.kind === "success" && JSON.stringify(outcome.data)).toMatch(/docs\/a\.md/);
    expect(outcome.kind === "success" && JSON.stringify(outcome.data)).not.toMatch(/src\/a\.md/);
  });

  test("that asks and arms imposes it, and no more than that", async () => {
    const narrow = { write_file: { requires_approval: true, requires_arming: true } };
    const kernel = await kernelUnder(
      { modes: { careful: { tools: ["read_file", "write_file"], narrow } } },
      { mode: "careful" },
    );
    const write = () => kernel.call("write_file", { path: "src/a.md", content: "new\n" });
    expect(endOf(await write())).toEqual(["gates", "tool_requires_arming", "MODE:careful"]);
    await kernel.armings.putArming({ armedAtMs: kernel.time.nowMs, untilMs: kernel.time.nowMs + 1000, armedBy: "ada" });
    expect(endOf(await write())).toEqual(["approval", "tool_approval_required", "MODE:careful"]);
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual(OK);
  });

  test("never widens: what policy, lease or a zone refuses stays refused", async () => {
    const kernel = await kernelUnder(
      { modes: { all: { tools: ["read_file"], narrow: { read_file: { paths: ["**"] } } } } },
      { mode: "all" },
    );
    writeFileSync(join(kernel.root, ".env"), "A=1\n");
    expect(endOf(await kernel.call("read_file", { path: ".env" }))).toEqual([
      "workspace",
      "workspace_blocked_zone",
      "ZONE:secret",
    ]);
  });

  test("that is not defined allows nothing", async () => {
    const kernel = await kernelUnder({ modes }, { mode: "gone" });
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual([
      "scope",
      "tool_not_allowed",
      "MODE:gone",
    ]);
  });
});

describe("a skill", () => {
  const input = {
    type: "object",
    properties: { path: { type: "string", pattern: "^docs/" }, content: { maxLength: 10 } },
    required: ["path"],
  };
  const skills = { docs: { tools: { read_file: {}, write_file: { input } } } };
  const write = (kernel: MemoryKernel, path: string, content = "new\n") => kernel.call("write_file", { path, content });

  test("allows its tools alone", async () => {
    const kernel = await kernelUnder({ skills }, { skill: "docs" });
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual(OK);
    expect(endOf(await kernel.call("delete_file", { path: "src/a.md" }))).toEqual([
      "scope",
      "skill_tool_not_allowed",
      "SKILL:docs",
    ]);
  });

  test("allows inputs that satisfy its schema, and says what does not", async () => {
    const kernel = await kernelUnder({ skills }, { skill: "docs" });
    expect(endOf(await write(kernel, "docs/a.md"))).toEqual(OK);
    const { outcome } = await write(kernel, "src/a.md");
    expect(outcome).toMatchObject({
      kind: "denied",
      denial: {
        layer: "scope",
        reason: "skill_tool_constraint_failed",
        ruleId: "SKILL:docs",
        message: 'the skill `docs` allows `write_file` with other inputs only: path must match pattern "^docs/"',
      },
    });
    expect(endOf(await write(kernel, "docs/a.md", "far too long\n"))).toEqual([
      "scope",
      "skill_tool_constraint_failed",
      "SKILL:docs",
    ]);
    expect([kernel.textOf("docs/a.md"), kernel.textOf("src/a.md")]).toEqual(["new\n", "text\n"]);
  });

  test("refuses bytes that are no text, and takes bytes that are", async () => {
    const kernel = await kernelUnder({ skills }, { skill: "docs" });
    const send = (content: Uint8Array) => {
      const tool = { case: "fileWrite", value: { path: "docs/b.md", content } } as const;
      const bytes = encodeRequest(create(ToolRequestSchema, { requestId: "one", sessionToken: kernel.token, tool }));
      return kernel.door.execute({ kind: "wire", bytes }, new AbortController().signal);
    };
    expect(endOf(await send(Buffer.from("text\n")))).toEqual(OK);
    expect(endOf(await send(Buffer.from([0xff, 0xfe])))).toEqual(["scope", "skill_tool_input_invalid", "SKILL:docs"]);
    expect(endOf(await send(Buffer.from("far too long\n")))).toEqual([
      "scope",
      "skill_tool_constraint_failed",
      "SKILL:docs",
    ]);
  });

  test("refuses an input that it cannot judge in bounded time", async () => {
    const pattern = "^[ab]{1,500}$";
    const slow = {
      docs: { tools: { write_file: { input: { properties: { content: { not: { type: "string", pattern } } } } } } },
    };
    const kernel = await kernelUnder({ skills: slow }, { skill: "docs" });
    expect(endOf(await write(kernel, "docs/a.md", "c".repeat(500_000)))).toEqual([
      "scope",
      "skill_tool_input_unreadable",
      "SKILL:docs",
    ]);
    expect(endOf(await write(kernel, "docs/a.md", "ccc"))).toEqual(OK);
  });

  test("holds together with a mode: both must allow", async () => {
    const kernel = await kernelUnder(
      { skills, modes: { reader: { tools: ["read_file"] } } },
      { skill: "docs", mode: "reader" },
    );
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual(OK);
    expect(endOf(await write(kernel, "docs/a.md"))).toEqual(["scope", "tool_not_allowed", "MODE:reader"]);
  });
});

describe("a tool spec", () => {
  test("raises what a tool needs, and never lowers it", async () => {
    const specs = [
      { id: "write_file", risk: "high" },
      { id: "delete_file", requires_approval: true },
      { id: "read_file", requires_approval: false },
    ];
    const kernel = await kernelUnder({ specs });
    expect(endOf(await kernel.call("write_file", { path: "src/a.md", content: "" }))).toEqual([
      "gates",
      "tool_requires_arming",
      "SPEC:write_file",
    ]);
    expect(endOf(await kernel.call("delete_file", { path: "src/a.md" }))).toEqual([
      "approval",
      "tool_approval_required",
      "SPEC:delete_file",
    ]);
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual(OK);
    const asking = testTool("probe", () => ({ kind: "data", data: {} }), { approval: { level: "ask" } });
    const lowered = await gatesOf({ specs: [{ id: "probe", requires_approval: false, risk: "low" }] });
    const PERMIT = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);\n`;
    const other = await memoryKernel({ tools: [asking], policies: PERMIT, settings: { gates: lowered } });
    expect(endOf(await other.call("probe", { path: "a.txt" }))).toEqual([
      "approval",
      "tool_approval_required",
      "CAPABILITY:probe",
    ]);
  });

  test("of a tool that is not here is not implemented; without one the tool is unknown", async () => {
    const kernel = await kernelUnder({ specs: [{ id: "teleport" }] });
    expect(endOf(await kernel.call("teleport", {}))).toEqual(["call", "tool_not_implemented", "SPEC:teleport"]);
    expect(endOf(await kernel.call("telephone", {}))).toEqual(["gates", "tool_spec_missing", "TOOL:unknown"]);
  });

  test("may demand more of the input", async () => {
    const kernel = await kernelUnder({
      specs: [{ id: "read_file", input_schema: { properties: { path: { pattern: "^docs/", type: "string" } } } }],
    });
    expect(endOf(await kernel.call("read_file", { path: "docs/a.md" }))).toEqual(OK);
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual([
      "call",
      "tool_input_invalid",
      "SPEC:read_file",
    ]);
  });

  test("changes the hash of what is on offer", async () => {
    const { ToolRegistry } = await import("../../../src/kernel/index.ts");
    const registry = new ToolRegistry();
    const { rules } = await gatesOf({ specs: [{ id: "write_file", requires_approval: true }] });
    const { rules: other } = await gatesOf({ specs: [{ id: "write_file", requires_arming: true }] });
    const hashes = [undefined, rules, other].map((one) => registry.hash(one?.ok ? one.specs : undefined));
    expect(new Set(hashes).size).toBe(3);
    expect(registry.hash(new Map())).toBe(registry.hash());
  });
});

describe("a tool policy", () => {
  const denied = (reason: string) => ["gates", reason, "GATE:policy.json"];

  test("lists what may run", async () => {
    const kernel = await kernelUnder({ policy: { allowed_tools: ["read_file"] } });
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual(OK);
    expect(endOf(await kernel.call("list_files", { path: "." }))).toEqual(denied("tool_not_allowed"));
    const none = await kernelUnder({ policy: {} });
    expect(endOf(await none.call("read_file", { path: "src/a.md" }))).toEqual(denied("tool_not_allowed"));
  });

  test("switches everything off", async () => {
    const kernel = await kernelUnder({ policy: { tools_enabled: false, default_allow: true } });
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual(denied("tools_disabled"));
  });

  test("demands approval and arming", async () => {
    const kernel = await kernelUnder({
      policy: { default_allow: true, require_approval: ["list_files"], require_arming: ["write_file"] },
    });
    expect(endOf(await kernel.call("list_files", { path: "." }))).toEqual([
      "approval",
      "tool_approval_required",
      "GATE:policy.json",
    ]);
    expect(endOf(await kernel.call("write_file", { path: "src/a.md", content: "" }))).toEqual(
      denied("tool_requires_arming"),
    );
    expect(endOf(await kernel.call("read_file", { path: "src/a.md" }))).toEqual(OK);
  });

  test.each(["tool_policy_invalid", "tool_spec_invalid"] as const)(
    "that cannot be read lets no tool run: %s",
    async (reason) => {
      const gates: OperatorGates = {
        ...NO_GATES,
        rules: { ok: false, reason, problem: "`policy.json`: told to the operator alone" },
      };
      const kernel = await memoryKernel({ settings: { gates } });
      const { outcome } = await kernel.call("read_file", { path: "a" });
      expect(outcome).toMatchObject({ kind: "denied", denial: { layer: "gates", reason } });
      expect(JSON.stringify(outcome)).not.toMatch(/told to the operator alone/);
    },
  );

  test("of a workspace narrows that workspace", async () => {
    const policyOf = (value: object) => {
      const toolPolicy = parseWorkspacePolicy({
        name: "policy.json",
        text: JSON.stringify({ schema: "serverd.tool_policy.v1", ...value }),
      });
      return toolPolicy === undefined ? {} : { toolPolicy };
    };
    const listing = { path: "." };
    const narrowed = await memoryKernel(policyOf({ allowed_tools: ["list_files"], require_arming: ["list_files"] }));
    expect(endOf(await narrowed.call("read_file", { path: "a" }))).toEqual([
      "scope",
      "tool_not_allowed",
      "WORKSPACE:policy.json",
    ]);
    expect(endOf(await narrowed.call("list_files", listing))).toEqual([
      "gates",
      "tool_requires_arming",
      "WORKSPACE:policy.json",
    ]);
    const closed = await memoryKernel(policyOf({ tools_enabled: false, default_allow: true }));
    expect(endOf(await closed.call("list_files", listing))).toEqual([
      "scope",
      "tools_disabled",
      "WORKSPACE:policy.json",
    ]);
    const open = await memoryKernel(policyOf({ default_allow: true }));
    expect(endOf(await open.call("list_files", listing))).toEqual(OK);
  });
});

test("gates that change while the intent is recorded end the call before its effect", async () => {
  const before = await gatesOf({ modes: { edit: { tools: ["write_file"] } } });
  const after = await gatesOf({ modes: { edit: { tools: ["read_file"] } } });
  let gates = before;
  const kernel = await memoryKernel({
    session: { mode: "edit" },
    settings: {
      get gates() {
        return gates;
      },
    },
  });
  const write = () => kernel.call("write_file", { path: "a.txt", content: "new" });
  kernel.ledger.before = (event) => {
    if (event.type === "tool_selected") gates = after;
  };
  expect(endOf(await write())).toEqual(["scope", "tool_not_allowed", "MODE:edit"]);
  expect(() => kernel.textOf("a.txt")).toThrow(/ENOENT/);
  gates = before;
  kernel.ledger.before = () => undefined;
  expect(endOf(await write())).toEqual(OK);
});

test("a kept answer is not given again to a session whose mode does not leave the tool any more", async () => {
  let gates = await gatesOf({ modes: { edit: { tools: ["read_file"] } } });
  const kernel = await memoryKernel({
    session: { mode: "edit" },
    settings: {
      get gates() {
        return gates;
      },
    },
  });
  writeFileSync(join(kernel.root, "a.txt"), "text\n");
  const read = (requestId: string) => kernel.call("read_file", { path: "a.txt" }, { requestId, dedupeKey: "key" });
  expect(endOf(await read("one"))).toEqual(OK);
  gates = await gatesOf({ modes: { edit: { tools: [] } } });
  expect(endOf(await read("two"))).toEqual(["scope", "tool_not_allowed", "MODE:edit"]);
});
