/** Loading: every fault is found and located, and nothing faulty is ever in force. */
import { describe, expect, test } from "vitest";
import { KernelError } from "../../../src/base/errors.ts";
import { CONFIG_FILE_BYTES_MAX, POLICY_FILES_MAX } from "../../../src/base/limits.ts";
import { checkPolicies } from "../../../src/policy/check.ts";
import { createPolicyEngine, type PolicySource } from "../../../src/policy/policy.ts";
import { ACTIONS, engineOf, operator, ROLES } from "../../support/policy-fixtures.ts";

const check = (...sources: readonly PolicySource[]) => checkPolicies({ sources, actions: ACTIONS, roles: ROLES });
const errorsOf = async (text: string) =>
  (await check(operator(text))).problems.filter((problem) => problem.severity === "error");

const OK = `@id("own.ok") permit (principal, action, resource);`;

describe("faults are located", () => {
  test("a syntax error by line and column, in characters", async () => {
    const problems = await errorsOf(
      `// größer\n${OK}\n  /* é */`.replace("/* é */", `@message("é") forbid (principal, action resource);`),
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ file: "own.cedar", line: 3, column: 43, severity: "error" });
    expect(problems[0]?.message).toMatch(/^unexpected token `resource`/);
  });

  test.each([
    ["an unknown role", `principal in Handrail::Role::"devv", action, resource`, "", "devv"],
    ["an unknown action", `principal, action == Handrail::Action::"read_fil", resource`, "", "read_fil"],
    [
      "an unknown attribute",
      "principal, action, resource is Handrail::File",
      `when { resource.zoon == "own" }`,
      "zoon",
    ],
    [
      "an attribute of another kind",
      "principal, action, resource is Handrail::Host",
      `when { resource.zone == "own" }`,
      "zone",
    ],
    ["a comparison of different types", "principal, action, resource", `when { context.armed == "yes" }`, ""],
    [
      "an argument that may be absent",
      `principal, action == Handrail::Action::"git_push", resource`,
      "when { context.arguments.confirm }",
      "confirm",
    ],
    ["the entity of another namespace", `principal in Other::Role::"dev", action, resource`, "", "Other"],
  ])("%s", async (_, scope, condition, mention) => {
    const problems = await errorsOf(`${OK}\n@id("own.bad")\nforbid (${scope}) ${condition};`);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]).toMatchObject({ file: "own.cedar", severity: "error" });
    expect([2, 3]).toContain(problems[0]?.line);
    expect(problems[0]?.message).toContain(mention);
    expect(problems[0]?.message).not.toContain("policy1");
  });

  test("all faults of all files at once, in the order of the files", async () => {
    const found = await check(
      operator(`permit (principal, action, resource);`, "a.cedar"),
      operator(
        `@id("x") @aks permit (principal, action, resource);\n@id("x") forbid (principal, action, resource);`,
        "b.cedar",
      ),
      operator(`nonsense`, "c.cedar"),
    );
    expect(found.ok).toBe(false);
    expect(found.hash).toBeUndefined();
    expect(found.problems.map(({ file, line, message }) => `${file}:${line} ${message.split(";")[0]}`)).toEqual([
      "a.cedar:1 the policy has no id",
      "b.cedar:1 unknown annotation `@aks`",
      "b.cedar:2 the id `x` is taken by b.cedar:1",
      "c.cedar:1 unexpected end of input",
    ]);
  });

  test("policies beyond the ninth keep their own lines", async () => {
    const lines = Array.from({ length: 12 }, (_, index) =>
      index === 10
        ? "permit (principal, action, resource);"
        : `@id("own.p${index}") permit (principal, action, resource);`,
    );
    expect(await errorsOf(lines.join("\n"))).toMatchObject([{ line: 11, column: 1 }]);
  });
});

describe("annotations", () => {
  test.each([
    ["no id", "permit", "", "has no id"],
    ["an id of the kernel's kind", "permit", `@id("DEFAULT_DENY")`, "is not valid"],
    ["an id with a colon", "permit", `@id("capability:x")`, "is not valid"],
    ["an unknown annotation", "permit", `@id("x") @obligation("ask")`, "unknown annotation `@obligation`"],
    ["a rationale that is no code", "forbid", `@id("x") @rationale("Not So")`, "rationale"],
    ["an empty message", "forbid", `@id("x") @message(" ")`, "message is empty"],
    ["an obligation on a forbid", "forbid", `@id("x") @ask`, "can neither impose nor lift"],
    ["a waiver on a forbid", "forbid", `@id("x") @waives("y")`, "can neither impose nor lift"],
    ["a waiver that names nothing", "permit", `@id("x") @waives("")`, "is no rule id"],
    ["a waiver with a `*` in the middle", "permit", `@id("x") @waives("a*b")`, "is no rule id"],
  ])("%s is refused", async (_, effect, annotations, message) => {
    const problems = await errorsOf(`${annotations} ${effect} (principal, action, resource);`);
    expect(problems.map((problem) => problem.message).join("\n")).toContain(message);
  });

  test("a waiver of a rule that is not loaded is a warning", async () => {
    const found = await check(
      operator(`@id("x") @waives("dev.shel, CAPABILITY:shell") permit (principal, action, resource);`),
    );
    expect(found).toMatchObject({ ok: true, policies: 1, problems: [{ severity: "warning", line: 1 }] });
    expect(found.problems[0]?.message).toContain("`dev.shel`");
  });

  test("a policy that can never match is a warning", async () => {
    const found = await check(
      operator(`@id("x") permit (principal, action == Handrail::Action::"git_push", resource is Handrail::Model);`),
    );
    expect(found.ok).toBe(true);
    expect(found.problems.map((problem) => problem.severity)).toContain("warning");
  });
});

describe("loading", () => {
  test("an engine is not made of faulty policies; the error lists them all", async () => {
    const loading = engineOf([
      operator(`permit (principal, action, resource);\n@id("b") @nope permit (principal, action, resource);`),
    ]);
    await expect(loading).rejects.toBeInstanceOf(KernelError);
    await expect(loading).rejects.toMatchObject({
      code: "POLICY_INVALID",
      message: expect.stringMatching(/own\.cedar:1:1: .*\nown\.cedar:2:1: /),
    });
  });

  test.each([
    [
      "two files of one name",
      [operator(OK), operator(`@id("own.other") permit (principal, action, resource);`)],
      "two policy files",
    ],
    ["one id in two files", [operator(OK), operator(OK, "other.cedar")], "is taken by own.cedar:1"],
    ["a template", [operator(`@id("t") permit (principal == ?principal, action, resource);`)], "templates"],
    ["a file over the limit", [operator(`${OK}\n//${"x".repeat(CONFIG_FILE_BYTES_MAX)}`)], "is larger than"],
    ["text that is not well formed", [operator(`${OK} // \ud800`)], "not valid text"],
    [
      "too many files",
      Array.from({ length: POLICY_FILES_MAX + 1 }, (_, index) => operator("", `${index}.cedar`)),
      "at most",
    ],
  ])("%s is refused", async (_, sources, message) => {
    await expect(engineOf(sources)).rejects.toMatchObject({
      code: "POLICY_INVALID",
      message: expect.stringContaining(message),
    });
  });

  test.each([
    ["no role", { roles: [] }],
    ["a role that is no name", { roles: ['x"'] }],
    ["an action declared twice", { actions: [...ACTIONS, ...ACTIONS] }],
    ["an action with the name of a group", { actions: [{ name: "write", effect: "read" as const, resources: [] }] }],
  ])("%s is refused", async (_, change) => {
    await expect(createPolicyEngine({ actions: ACTIONS, sources: [], roles: ROLES, ...change })).rejects.toMatchObject({
      code: "POLICY_INVALID",
    });
  });

  test("a file at the limit, and one without policies, are accepted", async () => {
    const padding = CONFIG_FILE_BYTES_MAX - OK.length - 3;
    const engine = await engineOf([operator(`${OK}\n//${"x".repeat(padding)}`), operator("// nothing", "empty.cedar")]);
    expect(engine.policies.map((policy) => policy.id)).toEqual(["own.ok"]);
  });

  test("the hash depends on every byte and on the vocabulary, not on the order of the files", async () => {
    const [a, b] = [operator(OK, "a.cedar"), operator("// b", "b.cedar")];
    const hash = async (sources: readonly PolicySource[], roles = ROLES) =>
      (await createPolicyEngine({ actions: ACTIONS, sources, roles })).hash;
    const base = await hash([a, b]);
    expect(base).toMatch(/^blake3:[0-9a-f]{64}$/);
    expect(await hash([b, a])).toBe(base);
    expect((await check(b, a)).hash).toBe(base);
    expect(await hash([a, operator("// c", "b.cedar")])).not.toBe(base);
    expect(await hash([a, operator("// b", "c.cedar")])).not.toBe(base);
    expect(await hash([a, { ...b, origin: "preset" }])).not.toBe(base);
    expect(await hash([a, b], [...ROLES, "auditor"])).not.toBe(base);
  });
});
