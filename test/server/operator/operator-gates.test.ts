// What is read of the operator's directory: in order, located when it is wrong, and never half.
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SHIPPED_MODES } from "../../../src/model/people/gates.ts";
import { configurationState } from "../../../src/server/operator/configuration-state.ts";
import { readOperatorDirectory } from "../../../src/server/operator/operator-directory.ts";
import { problemOfGates } from "../../../src/server/operator/operator-gates.ts";
import { freshPlace, type Place } from "../../support/place.ts";

const SPEC = (id: string) => JSON.stringify({ schema: "serverd.tool_spec.v1", id });
const POLICY = JSON.stringify({ schema: "serverd.tool_policy.v1", allowed_tools: ["read_file"] });
const read = async (place: Place) => (await readOperatorDirectory(place.config)).narrowing;

test("an operator without gates has none", async () => {
  expect(await read(freshPlace())).toEqual({
    gates: { hash: "", rules: { ok: true, specs: new Map() }, modes: SHIPPED_MODES, skills: new Map() },
    files: [],
    toolDirectory: false,
  });
});

test("specs are loaded in the order of their file names, and the policy stands beside them or above", async () => {
  for (const where of ["config/policy.json", "config/tools/policy.json"]) {
    const place = freshPlace();
    place.put("config/tools/b.json", SPEC("write_file"));
    place.put("config/tools/a.json", SPEC("read_file"));
    place.put("config/tools/notes.txt", "not a spec");
    place.put(where, POLICY);
    const found = await read(place);
    const rules = found?.gates.rules;
    expect(rules?.ok && [...rules.specs.keys()]).toEqual(["read_file", "write_file"]);
    expect(rules?.ok && rules.policy?.allows("read_file")).toBe(true);
    expect(found?.files.map(({ name }) => name)).toEqual([
      where.slice("config/".length),
      "tools/a.json",
      "tools/b.json",
    ]);
  }
});

test("modes and skills go by the names of their files", async () => {
  const place = freshPlace();
  place.put("config/modes/review.yaml", "tools: [read_file]\n");
  place.put("config/skills/docs.json", '{ "tools": { "read_file": {} } }');
  place.put("config/skills/notes.yaml", "tools: { read_file: {} }\n");
  const gates = (await read(place))?.gates;
  expect([[...(gates?.modes.keys() ?? [])], [...(gates?.skills.keys() ?? [])]]).toEqual([
    [...SHIPPED_MODES.keys(), "review"],
    ["docs", "notes"],
  ]);
});

test("equal files have one name, others another", async () => {
  const [one, other] = [freshPlace(), freshPlace()];
  for (const place of [one, other]) place.put("config/modes/review.yaml", "tools: [read_file]\n");
  expect((await read(one))?.gates.hash).toBe((await read(other))?.gates.hash);
  other.put("config/modes/review.yaml", "tools: [write_file]\n");
  expect((await read(one))?.gates.hash).not.toBe((await read(other))?.gates.hash);
});

describe("a mode or a skill", () => {
  test.each<[string, string, string, RegExp]>([
    ["that is not valid", "modes/review.yaml", "tool: []\n", /`modes\/review\.yaml`: tools: /],
    ["that is not valid JSON", "skills/docs.json", "{", /`skills\/docs\.json`: not valid JSON/],
    [
      "whose schema is none",
      "skills/docs.json",
      '{"tools":{"a":{"input":{"typ":1}}}}',
      /`skills\/docs\.json`: `tools\.a\.input`: typ: /,
    ],
    ["that is misnamed", "modes/review.yml", "tools: []\n", /call it `review\.yaml`/],
    ["that is too large", "modes/review.yaml", `# ${"x".repeat(256 * 1024)}\ntools: []\n`, /is larger than 256 KiB/],
  ])("%s is a fault of the configuration, and said where", async (_what, name, text, problem) => {
    const place = freshPlace();
    place.put(`config/${name}`, text);
    await expect(read(place)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(problem),
    });
  });

  test("that two files define is a fault", async () => {
    const place = freshPlace();
    place.put("config/skills/docs.json", '{ "tools": {} }');
    place.put("config/skills/docs.yaml", "tools: {}\n");
    await expect(read(place)).rejects.toThrow(
      "`skills/docs.yaml`: `docs` is defined by another file already; keep one of them",
    );
  });

  test("that others can write is not the operator's", async () => {
    const place = freshPlace();
    chmodSync(place.put("config/modes/review.yaml", "tools: []\n"), 0o666);
    await expect(read(place)).rejects.toThrow(/can be written by others/);
    const other = freshPlace();
    other.put("config/skills/docs.json", '{ "tools": {} }');
    chmodSync(join(other.config, "skills"), 0o777);
    await expect(read(other)).rejects.toThrow(/can be written by others/);
  });
});

describe("specs or a policy that cannot be used let no tool run, and say why to the operator:", () => {
  const rulesOf = async (prepare: (place: Place) => void) => {
    const place = freshPlace();
    prepare(place);
    const narrowing = await read(place);
    const rules = narrowing?.gates.rules;
    if (rules === undefined || rules.ok || narrowing === undefined) throw new Error("they were read");
    expect(problemOfGates({ path: "/c", narrowing }, [])).toBe(`/c: no tool runs (${rules.reason}): ${rules.problem}`);
    return [rules.reason, rules.problem];
  };

  test.each<[string, (place: Place) => void, string, RegExp]>([
    [
      "a broken policy",
      (place) => place.put("config/policy.json", "{"),
      "tool_policy_invalid",
      /^`policy\.json`: not valid JSON/,
    ],
    [
      "a policy with an unknown key",
      (place) => place.put("config/tools/policy.json", '{"schema":"serverd.tool_policy.v1","allow":[]}'),
      "tool_policy_invalid",
      /^`tools\/policy\.json`: file: unrecognized key: "allow"/,
    ],
    [
      "two policies",
      (place) => [place.put("config/policy.json", POLICY), place.put("config/tools/policy.json", POLICY)],
      "tool_policy_invalid",
      /keep one of them/,
    ],
    [
      "a policy that is a directory",
      (place) => mkdirSync(join(place.config, "policy.json")),
      "tool_policy_invalid",
      /regular file/,
    ],
    [
      "a policy that others can write",
      (place) => chmodSync(place.put("config/policy.json", POLICY), 0o666),
      "tool_policy_invalid",
      /can be written by others/,
    ],
    ["a broken spec", (place) => place.put("config/tools/a.json", "[]"), "tool_spec_invalid", /^`tools\/a\.json`: /],
    [
      "a spec of another schema",
      (place) => place.put("config/tools/a.json", '{"schema":"x","id":"a"}'),
      "tool_spec_invalid",
      /schema: /,
    ],
    [
      "two specs of one tool",
      (place) => [place.put("config/tools/a.json", SPEC("a")), place.put("config/tools/b.json", SPEC("a"))],
      "tool_spec_invalid",
      /^`tools\/b\.json`: id: `a` has a spec in `tools\/a\.json` already/,
    ],
    [
      "a spec that leads nowhere",
      (place) => {
        mkdirSync(join(place.config, "tools"), { mode: 0o700 });
        symlinkSync("none", join(place.config, "tools", "a.json"));
      },
      "tool_spec_invalid",
      /tools\/a\.json/,
    ],
  ])("%s", async (_what, prepare, reason, problem) => {
    const [found, why] = await rulesOf(prepare);
    expect(found).toBe(reason);
    expect(why).toMatch(problem);
  });
});

test("every file that is read is looked after", async () => {
  const place = freshPlace();
  const files = ["modes/a.yaml", "skills/a.json", "tools/a.json", "policy.json"];
  const states = new Set([await configurationState(place.config)]);
  for (const name of files) {
    place.put(`config/${name}`, "one");
    states.add(await configurationState(place.config));
    writeFileSync(join(place.config, name), "other");
    states.add(await configurationState(place.config));
    rmSync(join(place.config, name));
  }
  expect(states.size).toBe(1 + 2 * files.length);
});

test("names that no tool has are told, those of tools to come are not", () => {
  const tools = new Map([
    ["raed_file", undefined],
    ["git_push", undefined],
    ["read_file", undefined],
  ]);
  const skills = new Map([["docs", { name: "docs", description: "", tools }]]);
  const narrowing = {
    gates: { hash: "h", rules: { ok: true, specs: new Map() }, modes: new Map(), skills },
    files: [],
    toolDirectory: false,
  } as const;
  expect(problemOfGates({ path: "/c", narrowing }, [{ name: "read_file" }])).toBe(
    "/c: modes, skills, tool specs or policy.json name `raed_file`, which no tool is called; correct the spelling",
  );
});
