// Examples beside policies: read strictly, decided as calls are, and the shipped ones are kept.
import { describe, expect, test } from "vitest";
import { parseSettings } from "../../src/config/config.ts";
import { POLICY_EXAMPLES_MAX, parseExamples } from "../../src/policy/examples.ts";
import { formatProblem } from "../../src/policy/terms/problem.ts";
import { BUILT_IN_TOOLS } from "../../src/server/operator/built-in-tools.ts";
import { exampleInputs } from "../../src/server/policy/policies.ts";
import { formatFailure, requireExamples, runExamples } from "../../src/server/policy/policy-examples.ts";
import { testPresets } from "../../src/server/policy/policy-test.ts";

const problemsOf = async (text: string) =>
  (await parseExamples([{ name: "own.test.yaml", text }])).problems.map(formatProblem);

describe("a file of examples", () => {
  test.each([
    ["is empty", "", /^own\.test\.yaml:1:1: .*list of examples/],
    ["is no list", "deny: read_file\n", /^own\.test\.yaml:1:1: .*list of examples/],
    ["is no YAML", "- deny: [\n", /^own\.test\.yaml:\d+:\d+: .*not valid YAML/],
    ["names a key twice", "- deny: a\n  deny: b\n", /^own\.test\.yaml:2:3: .*not valid YAML/],
    ["has an unknown key", "- deny: read_file\n  path: a\n", /^own\.test\.yaml:1:3: .*path/],
    ["says neither allow nor deny", "- role: dev\n", /^own\.test\.yaml:1:3: .*either `allow` or `deny`/],
    ["says both", "- allow: a\n  deny: a\n", /either `allow` or `deny`/],
    ["has a wrong effect", "- deny: shell\n  effect: run\n", /^own\.test\.yaml:2:11: .*effect/],
    ["has an unknown preset", "- deny: shell\n  preset: lax\n", /^own\.test\.yaml:2:11: .*preset/],
    ["has an unknown obligation", "- allow: shell\n  obligations: [asks]\n", /^own\.test\.yaml:2:17: .*obligations\.0/],
    [
      "says what is touched twice",
      "- deny: shell\n  arguments: {}\n  effect: read\n",
      /leave `resource` and `effect` out/,
    ],
    ["wants obligations of a denial", "- deny: shell\n  obligations: [ask]\n", /leave `obligations` out/],
    ["has a resource of no kind", "- deny: shell\n  resource: { path: a }\n", /^own\.test\.yaml:2:/],
    ["is half of a surrogate pair", `- deny: "\ud800"\n`, /UTF-8/],
    [
      "refers to itself without end",
      `- &a { deny: x, arguments: { ${Array.from({ length: 9 }, (_, i) => `k${i}: &b${i} [${i > 0 ? `*b${i - 1},`.repeat(9) : "1"}]`).join(", ")} } }\n`,
      /refers to itself/,
    ],
  ])("that %s is refused, with its place", async (_what, text, problem) => {
    expect((await problemsOf(text)).join("\n")).toMatch(problem);
  });

  test("with two faults names both", async () => {
    expect(await problemsOf("- deny: a\n  x: 1\n- role: B\n  deny: a\n")).toEqual([
      expect.stringMatching(/^own\.test\.yaml:1:3: .*x/),
      expect.stringMatching(/^own\.test\.yaml:3:9: .*role/),
    ]);
  });

  test("has a bounded number of examples, over all files", async () => {
    const one = "- deny: a\n";
    expect(await problemsOf(one.repeat(POLICY_EXAMPLES_MAX))).toEqual([]);
    expect(await problemsOf(one.repeat(POLICY_EXAMPLES_MAX + 1))).toEqual([expect.stringContaining("more than")]);
    const halves = ["a", "b"].map((name) => ({ name, text: one.repeat(POLICY_EXAMPLES_MAX / 2 + 1) }));
    expect((await parseExamples(halves)).problems).toHaveLength(1);
  });
});

const POLICY = `@id("own.no-docs")
@message("leave it; do something else")
forbid (principal, action, resource is Handrail::File) when { resource.path like "docs/*" };`;

async function reportOf(examples: string, settings = "") {
  const parsed = await parseSettings(settings, "handrail.yaml");
  const operator = {
    path: "/nowhere",
    exists: true,
    settings: parsed,
    policies: [{ name: "own.cedar", text: POLICY }],
    examples: [{ name: "own.test.yaml", text: examples }],
  };
  const inputs = exampleInputs({ tools: BUILT_IN_TOOLS, operator });
  return { inputs, report: await runExamples(inputs) };
}

const outcome = async (example: string, settings?: string) => {
  const { report } = await reportOf(example, settings);
  return report.results.map(({ ok, found, preset }) => `${ok ? "kept" : "failed"} ${preset}: ${found}`);
};

describe("an example", () => {
  test.each([
    [
      "- deny: read_file\n  arguments: { path: docs/a }\n  by: own.no-docs\n",
      "kept dev: denied by own.no-docs (policy)",
    ],
    ["- deny: read_file\n  arguments: { path: docs/a }\n  by: other\n", "failed dev: denied by own.no-docs (policy)"],
    ["- allow: read_file\n  arguments: { path: docs/a }\n", "failed dev: denied by own.no-docs (policy)"],
    ["- allow: read_file\n  arguments: { path: src/a }\n  by: dev.read-files\n", "kept dev: allowed by dev.read-files"],
    ["- deny: read_file\n  arguments: { path: src/a }\n", "failed dev: allowed by dev.read-files"],
    [
      "- allow: write_file\n  arguments: { path: CLAUDE.md, content: '' }\n",
      "failed dev: allowed by dev.write-protected, needing ask dev.write-protected",
    ],
    [
      "- allow: write_file\n  arguments: { path: CLAUDE.md, content: '' }\n  obligations: [ask]\n",
      "kept dev: allowed by dev.write-protected, needing ask dev.write-protected",
    ],
    [
      "- allow: read_file\n  arguments: { path: src/a }\n  obligations: [ask]\n",
      "failed dev: allowed by dev.read-files",
    ],
    ["- deny: read_file\n  arguments: { path: ../a }\n  by: INV-0007\n", "kept dev: denied by INV-0007 (workspace)"],
    [
      "- deny: read_file\n  arguments: { path: a, nonsense: 1 }\n",
      "failed dev: not judged: SCHEMA:read_file (call) refuses the example itself: the arguments do not fit `read_file`: `nonsense`: unknown property",
    ],
    [
      "- deny: read_file\n  arguments: { path: a, nonsense: 1 }\n  by: SCHEMA:read_file\n",
      "kept dev: denied by SCHEMA:read_file (call)",
    ],
    [
      "- allow: read_file\n  arguments: { path: src/a }\n  preset: reader\n",
      "kept reader: allowed by reader.read-files",
    ],
    [
      "- deny: read_file\n  role: auditor\n  arguments: { path: a }\n",
      "failed dev: not judged: the role `auditor` is not defined in handrail.yaml",
    ],
    ["- deny: fly\n", "failed dev: not judged: there is no action `fly`"],
    [
      "- deny: system_ctl\n  arguments: { command: ls }\n",
      "failed dev: not judged: no tool `system_ctl` is registered that could say what its arguments touch; name the `resource` instead",
    ],
    [
      "- deny: read_file\n  arguments: { path: a }\n  zone: secret\n  by: ZONE:secret\n",
      "kept dev: denied by ZONE:secret (workspace)",
    ],
  ])("%j: %s", async (example, expected) => {
    expect(await outcome(example)).toEqual([expected]);
  });

  test("writes secrets as a call does: by the rules of the operator's settings", async () => {
    const write = (content: string) => `- allow: write_file\n  arguments: { path: src/a, content: "${content}" }\n`;
    const asks = "failed dev: allowed by dev.write-own, needing ask FC:secret-write";
    expect(await outcome(write(["AKIA", "Z7QK3LMN", "2PXWRTV4"].join("")))).toEqual([asks]);
    const rule =
      '{ id: acme, kind: definite, keywords: [acme_], expression: "acme_[0-9]{8}", examples: { secret: [acme_12345670] } }';
    expect(await outcome(write("acme_48151623"))).toEqual(["kept dev: allowed by dev.write-own"]);
    expect(await outcome(write("acme_48151623"), `redaction: { rules: [${rule}] }\n`)).toEqual([asks]);
  });

  test("sees the zones and the preset of the operator's settings", async () => {
    const read = "- deny: read_file\n  arguments: { path: keys/a }\n  by: ZONE:secret\n";
    expect(await outcome(read)).toEqual(["failed dev: allowed by dev.read-files"]);
    expect(await outcome(read, "preset: reader\nfiles: { secret: [keys] }\n")).toEqual([
      "kept reader: denied by ZONE:secret (workspace)",
    ]);
    const grant = "workspaces: [{ path: /srv/shop, files: { secret: [keys] } }]\n";
    expect(await outcome(`${read}  workspace: /srv/shop\n`, grant)).toEqual([
      "kept dev: denied by ZONE:secret (workspace)",
    ]);
    expect(await outcome(`${read}  workspace: /srv/other\n`, grant)).toEqual(["failed dev: allowed by dev.read-files"]);
  });

  test("that fails is told with its place, what was expected and what was found", async () => {
    const { inputs, report } = await reportOf(
      "# first\n- deny: read_file\n  arguments: { path: src/a }\n  by: own.no-docs\n",
    );
    expect(report.results.map(formatFailure)).toEqual([
      'policy/own.test.yaml:2:3: `read_file` {"arguments":{"path":"src/a"}} by role `dev` under preset `dev` should be denied by own.no-docs, but is allowed by dev.read-files',
    ]);
    await expect(requireExamples(inputs)).rejects.toMatchObject({
      code: "POLICY_INVALID",
      message: expect.stringContaining("own.test.yaml:2:3"),
    });
  });
});

test("kept examples are remembered with all that they rest on, failed ones are not", async () => {
  const keys = new Set<string>();
  const validated = { has: (key: string) => keys.has(key), remember: (key: string) => void keys.add(key) };
  const kept = "- deny: read_file\n  arguments: { path: keys/a }\n";
  const { inputs } = await reportOf(kept, "files: { secret: [keys] }\n");
  await requireExamples({ ...inputs, validated });
  const remembered = [...keys].filter((key) => key.startsWith("examples "));
  expect(remembered).toHaveLength(1);
  const { inputs: others } = await reportOf(kept); // without the zone that made it true
  await expect(requireExamples({ ...others, validated })).rejects.toMatchObject({ code: "POLICY_INVALID" });
  expect([...keys].filter((key) => key.startsWith("examples "))).toEqual(remembered);
});

test("the examples of the shipped presets are kept", async () => {
  const { problems, results } = await testPresets();
  expect([...problems, ...results.filter(({ ok }) => !ok).map(formatFailure)]).toEqual([]);
  expect(results.length).toBeGreaterThan(60);
});

test("an example is denied where flow control would deny the call, whatever the policies permit", async () => {
  const text = `@id("own.web")\n@message("m")\n@waives("*")\npermit (principal, action == Handrail::Action::"web_fetch", resource is Handrail::Host);\n`;
  const settings = await parseSettings("", "handrail.yaml");
  const judged = async (dataClass: string) => {
    const example = `- allow: web_fetch\n  resource: { kind: host, host: a.example, port: 443 }\n  effect: network\n  context: { dataClass: ${dataClass} }\n`;
    const operator = {
      path: "/nowhere",
      exists: true,
      settings,
      policies: [{ name: "own.cedar", text }],
      examples: [{ name: "own.test.yaml", text: example }],
    };
    const { results } = await runExamples(exampleInputs({ tools: BUILT_IN_TOOLS, operator }));
    return results.map(({ ok, found }) => [ok, found]);
  };
  expect(await judged("secret")).toEqual([[false, "denied by FC-2 (flow)"]]);
  // Control: what may leave is allowed by that permit.
  expect(await judged("public")).toEqual([[true, expect.stringContaining("own.web")]]);
});
