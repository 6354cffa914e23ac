// Settings: optional, strict, and safe where nothing is said; a workspace's own file can only narrow.
import { expect, test } from "vitest";
import { defaultSettings, parseSettings, parseWorkspaceSettings, wideningKeys } from "./config.ts";

test("an operator who wrote nothing gets the safe defaults", async () => {
  expect(defaultSettings()).toEqual({
    tools: { enabled: true, disabled: [] },
    files: { secret: [], shared: [], read_only: [], protected: [] },
    alert: { violations_per_minute: 5, freeze: true },
    approvals: { expire_seconds: 900, attended_clients: [] },
    sessions: { lifetime_seconds: 43_200 },
    capabilities: {},
    limits: {},
    redaction: { rules: [], allow: [], environment: { secret: [], harmless: [] } },
    roles: ["dev", "sre", "release_manager", "product_owner"],
    workspaces: [],
  });
  expect(await parseSettings("", "handrail.yaml")).toEqual(defaultSettings());
  expect(await parseSettings("# nothing\n", "handrail.yaml")).toEqual(defaultSettings());
});

test("what is written is taken", async () => {
  const text = "preset: reader\nalert:\n  violations_per_minute: 100\nworkspaces:\n  - path: /w\n    roles: [dev, sre]\n";
  const settings = await parseSettings(text, "handrail.yaml");
  expect(settings.preset).toBe("reader");
  expect(settings.alert.violations_per_minute).toBe(100);
  expect(settings.workspaces).toEqual([{ path: "/w", roles: ["dev", "sre"], isolation: "STRICT" }]);
});

test.each([
  ["an unknown key", "presets: dev\n", /presets/],
  ["an unknown nested key", "alert:\n  violations: 5\n", /alert/],
  ["an unknown preset", "preset: lax\n", /preset/],
  ["a wrong type", "tools:\n  enabled: sometimes\n", /tools\.enabled/],
  ["a number out of range", "alert:\n  violations_per_minute: 0\n", /alert\.violations_per_minute/],
  ["a relative workspace path", "workspaces:\n  - path: w\n", /workspaces\.0\.path/],
  ["a role with a strange name", "roles: ['a b']\n", /roles\.0/],
  ["a shared directory with wildcards", "files:\n  shared: ['lib/*']\n", /files\.shared\.0/],
  ["a shared directory outside", "files:\n  shared: [../lib]\n", /files\.shared\.0/],
  ["the whole project as shared directory", "files:\n  shared: [./]\n", /files\.shared\.0/],
  ["a list without end", `files:\n  secret: [${"x,".repeat(257)}]\n`, /files\.secret/],
  ["a duplicate key", "preset: dev\npreset: open\n", /not valid YAML/],
  ["broken YAML", "preset: [\n", /not valid YAML/],
  ["a list", "- preset\n", /file/],
])("%s is refused, and named", async (_what, text, problem) => {
  await expect(parseSettings(text, "handrail.yaml")).rejects.toThrow(problem);
});

test("shared directories are known by one spelling, however they are written", async () => {
  const { files } = await parseSettings("files:\n  shared: [/lib, ./docs/, a//./b, plain, '@types']\n", "handrail.yaml");
  expect(files.shared).toEqual(["lib", "docs", "a/b", "plain", "@types"]);
});

test("a list of 256 entries is taken", async () => {
  const { files } = await parseSettings(`files:\n  secret: [${"x,".repeat(256)}]\n`, "handrail.yaml");
  expect(files.secret).toHaveLength(256);
});

test("every problem is named at once", async () => {
  await expect(parseSettings("preset: lax\nalert:\n  violations_per_minute: 0\n", "handrail.yaml")).rejects.toThrow(/preset.*alert/s);
});

test.each(["preset: open\n", "tools:\n  enabled: true\n", "workspaces: []\n", "roles: [sre]\n"])(
  "a workspace's own file cannot say %j",
  async (text) => {
    await expect(parseWorkspaceSettings(text, "handrail.yaml")).rejects.toThrow(/handrail\.yaml/);
  },
);

test("a workspace's own file can narrow", async () => {
  const settings = await parseWorkspaceSettings("tools:\n  disabled: [write_file]\nfiles:\n  secret: ['*.pem']\n", "handrail.yaml");
  expect(settings).toEqual({
    tools: { disabled: ["write_file"] },
    files: { secret: ["*.pem"], shared: [], read_only: [], protected: [] },
  });
  expect(wideningKeys(settings)).toEqual([]);
});

test("the one key of a workspace's own file that widens is known", async () => {
  const settings = await parseWorkspaceSettings("files:\n  shared: [libs]\n  secret: ['*.pem']\n", "handrail.yaml");
  expect(wideningKeys(settings)).toEqual(["files.shared"]);
});

test("a key that stands twice, a key that is no plain value, and too many aliases are refused", async () => {
  for (const [text, problem] of [
    ["files: {}\nfiles: {}\n", "the key `files` stands there twice"],
    ["? [a, b]\n: 1\n", "a key must be a plain value"],
    [`a: &a [${"x,".repeat(9)}]\nb: &b [${"*a,".repeat(9)}]\nc: [${"*b,".repeat(20)}]\n`, "refers to itself too often"],
  ] as const) {
    await expect(parseSettings(text, "handrail.yaml")).rejects.toThrow(problem);
  }
});

test("a stranger's file is small, is not compared key by key, and does not choose how long its refusal is", async () => {
  const keys = Array.from({ length: 2000 }, (_, index) => `k${index}:`).join("\n");
  const refusal = await parseWorkspaceSettings(keys, "handrail.yaml").catch(String);
  expect(refusal).toMatch(/unrecognized key/);
  expect(refusal).toSatisfy((text: string) => text.length < 1000);
  const wrong = `files: { secret: [${"1,".repeat(200)}] }`;
  expect(await parseWorkspaceSettings(wrong, "handrail.yaml").catch(String)).toMatch(/; and 184 more$/);
  await expect(parseWorkspaceSettings(`#${" ".repeat(16 * 1024)}`, "handrail.yaml")).rejects.toThrow(/larger than 16 KiB/);
  // Each level would be written out again for the one above it.
  await expect(parseWorkspaceSettings("? ".repeat(500), "handrail.yaml")).rejects.toThrow(/plain value/);
});
