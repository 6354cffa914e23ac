// Tool specs and tool policies in serverd's shape: what they demand, and what is refused about them.
import { describe, expect, test } from "vitest";
import {
  parseToolPolicy,
  parseToolSpec,
  parseWorkspacePolicy,
  specsById,
} from "../../../src/config/files/tool-rules.ts";
import { compileInputSchema } from "../../../src/kernel/index.ts";

const spec = (value: object, name = "tools/a.json") =>
  parseToolSpec({ name, text: JSON.stringify(value) }, compileInputSchema);
const SPEC = { schema: "serverd.tool_spec.v1", id: "write_file" };
const POLICY = { schema: "serverd.tool_policy.v1" };
const file = (value: unknown) => ({
  name: "policy.json",
  text: typeof value === "string" ? value : JSON.stringify(value),
});

test.each([
  [{}, { requiresApproval: false, requiresArming: false }],
  [{ requires_approval: true }, { requiresApproval: true, requiresArming: false }],
  [
    { requires_arming: true, risk: "low" },
    { requiresApproval: false, requiresArming: true },
  ],
  [{ risk: "high" }, { requiresApproval: false, requiresArming: true }],
  [
    { risk_level: "high", deterministic: true, version: "v1", input_schema: "serverd.tool_input.noop.v1" },
    { requiresApproval: false, requiresArming: true },
  ],
  [
    { risk: "medium", schema: "handrail.tool_spec.v1", description: "d" },
    { requiresApproval: false, requiresArming: false },
  ],
])("a spec with %j demands", async (more, demands) => {
  expect(await spec({ ...SPEC, ...more })).toEqual({ id: "write_file", file: "tools/a.json", ...demands });
});

test("a spec may bring a JSON Schema", async () => {
  const { input } = await spec({ ...SPEC, input_schema: { type: "object", required: ["path"] } });
  expect([input?.problemOf({}), input?.problemOf({ path: "a" })]).toMatchObject([{ kind: "failed" }, undefined]);
});

test.each([
  ["another schema", { ...SPEC, schema: "serverd.tool_spec.v2" }, /schema: /],
  ["no id", { schema: SPEC.schema }, /id: /],
  ["an unknown key", { ...SPEC, requires_armin: true }, /unrecognized key: "requires_armin"/],
  ["risks that contradict", { ...SPEC, risk: "low", risk_level: "high" }, /risk: contradicts/],
  ["a wrong type", { ...SPEC, requires_approval: "yes" }, /requires_approval: /],
  ["a schema that is none", { ...SPEC, input_schema: { typ: 1 } }, /`input_schema`: typ: the keyword is not accepted/],
])("a spec with %s is refused, and said where", async (_what, value, problem) => {
  await expect(spec(value)).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringMatching(problem) });
  await expect(spec(value)).rejects.toThrow(/tools\/a\.json/);
});

test("two specs of one tool are refused", async () => {
  const specs = [await spec(SPEC), await spec(SPEC, "tools/b.json")];
  expect(() => specsById(specs)).toThrow(
    "`tools/b.json`: id: `write_file` has a spec in `tools/a.json` already; keep one of them",
  );
});

describe("a tool policy", () => {
  const allowed = (value: object) =>
    ["read_file", "write_file"].filter((tool) => parseToolPolicy(file({ ...POLICY, ...value })).allows(tool));

  test.each([
    [{}, []],
    [{ allowed_tools: ["read_file"] }, ["read_file"]],
    [{ allowed_tools: ["*"] }, ["read_file", "write_file"]],
    [{ default_allow: true }, ["read_file", "write_file"]],
  ])("with %j allows %j", (value, tools) => {
    expect(allowed(value)).toEqual(tools);
  });

  test("names what must be approved and armed", () => {
    const { enabled, requireApproval, requireArming } = parseToolPolicy(
      file({ ...POLICY, require_approval: ["a"], require_arming: ["b"] }),
    );
    expect([enabled, [...requireApproval], [...requireArming]]).toEqual([true, ["a"], ["b"]]);
    expect(parseToolPolicy(file({ ...POLICY, tools_enabled: false })).enabled).toBe(false);
  });

  test.each([
    ["no schema", {}, /schema: /],
    ["an unknown key", { ...POLICY, allowed: [] }, /unrecognized key: "allowed"/],
    ["a strange tool", { ...POLICY, allowed_tools: ["a b"] }, /allowed_tools\.0: /],
    ["broken JSON", '{"schema":', /not valid JSON/],
    ["a duplicate key", '{"schema":"serverd.tool_policy.v1","schema":"serverd.tool_policy.v1"}', /not valid JSON/],
  ])("with %s is refused, and said where", (_what, value, problem) => {
    expect(() => parseToolPolicy(file(value))).toThrow(problem);
    expect(() => parseToolPolicy(file(value))).toThrow(/^`policy\.json`: /);
  });
});

describe("the policy.json of a workspace", () => {
  test.each([
    ["a list", []],
    ["an object", { Version: "2012-10-17", Statement: [] }],
    ["another schema", { schema: "acme.policy.v1" }],
    ["a text", '"policy"'],
  ])("that is %s is somebody else's", (_what, value) => {
    expect(parseWorkspacePolicy(file(value))).toBeUndefined();
  });

  test("narrows, or closes the workspace as serverd does", () => {
    const narrowing = parseWorkspacePolicy(file({ ...POLICY, allowed_tools: ["read_file"] }));
    expect([narrowing?.enabled, narrowing?.allows("read_file"), narrowing?.allows("write_file")]).toEqual([
      true,
      true,
      false,
    ]);
    const serverd = {
      schema: "serverd.workspace_policy.v1",
      workspace_root: "workspace",
      allow_repo_root: false,
      per_run_dir: false,
    };
    expect(parseWorkspacePolicy(file({ ...serverd, enabled: false }))?.enabled).toBe(false);
    expect(parseWorkspacePolicy(file(serverd))?.allows("write_file")).toBe(true);
  });

  test.each([
    ["broken JSON", "{", /not valid JSON/],
    ["an unknown version", { schema: "serverd.tool_policy.v9" }, /schema: /],
    ["an unknown key", { ...POLICY, allow: [] }, /unrecognized key: "allow"/],
  ])("with %s is refused: its author wanted protection", (_what, value, problem) => {
    expect(() => parseWorkspacePolicy(file(value))).toThrow(problem);
  });
});
