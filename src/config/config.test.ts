// Settings: optional, strict, and safe where nothing is said; a workspace's own file can only narrow.
import { expect, test } from "vitest";
import { defaultSettings, parseNarrowing, parseSettings } from "./config.ts";

test("an operator who wrote nothing gets the safe defaults", async () => {
  expect(defaultSettings()).toEqual({
    preset: "dev",
    tools: { enabled: true, disabled: [] },
    files: { secret: [], shared: [], read_only: [], protected: [] },
    alert: { violations_per_minute: 5 },
    sessions: { lifetime_seconds: 43_200 },
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
  ["a duplicate key", "preset: dev\npreset: open\n", /not valid YAML/],
  ["broken YAML", "preset: [\n", /not valid YAML/],
  ["a list", "- preset\n", /file/],
])("%s is refused, and named", async (_what, text, problem) => {
  await expect(parseSettings(text, "handrail.yaml")).rejects.toThrow(problem);
});

test("every problem is named at once", async () => {
  await expect(parseSettings("preset: lax\nalert:\n  violations_per_minute: 0\n", "handrail.yaml")).rejects.toThrow(/preset.*alert/s);
});

test.each(["preset: open\n", "tools:\n  enabled: true\n", "files:\n  shared: [x]\n", "workspaces: []\n", "roles: [sre]\n"])(
  "a workspace's own file cannot say %j",
  async (text) => {
    await expect(parseNarrowing(text, "handrail.yaml")).rejects.toThrow(/handrail\.yaml/);
  },
);

test("a workspace's own file can narrow", async () => {
  expect(await parseNarrowing("tools:\n  disabled: [write_file]\nfiles:\n  secret: ['*.pem']\n", "handrail.yaml")).toEqual({
    tools: { disabled: ["write_file"] },
    files: { secret: ["*.pem"], read_only: [], protected: [] },
  });
});
