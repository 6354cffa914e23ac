// Modes and skills: strict, named after their files, and every problem is said with its place.
import { expect, test } from "vitest";
import { parseMode, parseSkill } from "../../../src/config/files/profiles.ts";
import { compileInputSchema } from "../../../src/kernel/index.ts";

const mode = (text: string, name = "modes/review.yaml") => parseMode({ name, text });
const skill = (text: string, name = "skills/docs.yaml") => parseSkill({ name, text }, compileInputSchema);

test("a mode names what is left, and narrows some of it", async () => {
  const text = `description: reviews only
tools: [read_file, write_file]
narrow:
  write_file: { paths: ["docs/**"], requires_approval: true }
`;
  const parsed = await mode(text);
  expect({ ...parsed, tools: [...parsed.tools].map(([tool, { allowsPath: _test, ...left }]) => [tool, left]) }).toEqual(
    {
      name: "review",
      description: "reviews only",
      tools: [
        ["read_file", { requiresApproval: false, requiresArming: false }],
        ["write_file", { paths: ["docs/**"], requiresApproval: true, requiresArming: false }],
      ],
    },
  );
  expect(["docs/a/b.md", "src/a.ts"].map((path) => parsed.tools.get("write_file")?.allowsPath(path))).toEqual([
    true,
    false,
  ]);
  expect(parsed.tools.get("read_file")?.allowsPath("src/a.ts")).toBe(true);
});

test("an empty list of paths leaves none", async () => {
  const parsed = await mode("tools: [write_file]\nnarrow: { write_file: { paths: [] } }\n");
  expect(parsed.tools.get("write_file")?.allowsPath("a.txt")).toBe(false);
});

test("a skill is YAML or JSON", async () => {
  const schema = { type: "object", properties: { path: { const: "a" } } };
  for (const [name, text] of [
    [
      "skills/docs.yaml",
      "name: docs\ntools:\n  read_file: {}\n  list_files:\n  write_file: { input: { type: object, properties: { path: { const: a } } } }\n",
    ],
    [
      "skills/docs.json",
      JSON.stringify({ name: "docs", tools: { read_file: {}, list_files: null, write_file: { input: schema } } }),
    ],
  ] as const) {
    const parsed = await skill(text, name);
    expect([parsed.name, [...parsed.tools].map(([tool, constraint]) => [tool, constraint?.schema])]).toEqual([
      "docs",
      [
        ["read_file", undefined],
        ["list_files", undefined],
        ["write_file", schema],
      ],
    ]);
  }
});

test.each([
  ["an unknown key", "tools: []\ntool: [read_file]\n", /`modes\/review\.yaml`: file: unrecognized key: "tool"/],
  ["no list of tools", "description: nothing\n", /tools: /],
  ["a strange tool", 'tools: ["../x"]\n', /tools\.0: must be the name of a tool/],
  [
    "a narrowed tool that is not allowed",
    "tools: []\nnarrow: { read_file: {} }\n",
    /narrow\.read_file: the tool is not in `tools`/,
  ],
  [
    "a misspelt narrowing",
    "tools: [read_file]\nnarrow: { read_file: { path: [a] } }\n",
    /narrow\.read_file: unrecognized key: "path"/,
  ],
  [
    "a pattern that cannot be used",
    "tools: [a]\nnarrow: { a: { paths: ['[a'] } }\n",
    /narrow\.a\.paths\.0: the pattern cannot be used/,
  ],
  ["another name than the file's", "name: other\ntools: []\n", /name: is `other`, but the file defines `review`/],
  ["broken YAML", "tools: [\n", /not valid YAML/],
  ["a key that stands twice", "tools: []\ntools: [read_file]\n", /stands there twice/],
])("a mode with %s is refused, and said where", async (_what, text, problem) => {
  await expect(mode(text)).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringMatching(problem) });
});

test("the name of the mode that narrows nothing is not to be had, nor one that cannot be asked for", async () => {
  await expect(mode("tools: []\n", "modes/default.yaml")).rejects.toThrow(/`default` is the mode that narrows nothing/);
  await expect(mode("tools: []\n", "modes/Review 2.yaml")).rejects.toThrow(/the file's name must match/);
});

test.each([
  ["an unknown key", '{ "tools": {}, "constraints": [] }', /unrecognized key: "constraints"/],
  ["tools as a list", '{ "tools": ["read_file"] }', /tools: /],
  [
    "a schema that is no object",
    '{ "tools": { "read_file": { "input": true } } }',
    /tools\.read_file\.input: must be a JSON Schema object/,
  ],
  [
    "a misspelt keyword",
    '{ "tools": { "read_file": { "input": { "typ": 1 } } } }',
    /`tools\.read_file\.input`: typ: the keyword is not accepted/,
  ],
  ["broken JSON", "{", /not valid JSON/],
])("a skill with %s is refused, and said where", async (_what, text, problem) => {
  await expect(skill(text, "skills/docs.json")).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(problem),
  });
  await expect(skill(text, "skills/docs.json")).rejects.toThrow(/skills\/docs\.json/);
});
