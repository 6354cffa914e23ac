// Settings: optional, strict, and safe where nothing is said; a workspace's own file can only narrow.
import { expect, test } from "vitest";
import { defaultSettings, parseSettings, parseWorkspaceSettings, wideningKeys } from "../../src/config/config.ts";
import { chosenToolchain } from "../../src/config/sections/toolchain.ts";
import { chosenGitRules } from "../../src/config/sections/tools/git-rules.ts";

test("an operator who wrote nothing gets the safe defaults", async () => {
  expect(defaultSettings()).toEqual({
    evidence: { documents: "effects" },
    tools: { enabled: true, disabled: [] },
    files: { secret: [], shared: [], read_only: [], protected: [] },
    alert: { violations_per_minute: 5, freeze: true },
    approvals: { expire_seconds: 900, prompts_per_minute: 12, prompts_per_hour: 60, attended_clients: [] },
    sessions: { lifetime_seconds: 43_200 },
    capabilities: {},
    limits: { operations_at_once: 8 },
    redaction: {
      rules: [],
      allow: [],
      environment: { secret: [], harmless: [] },
      random_tokens: { find: true, characters_min: 24, bits_min: 3.9 },
    },
    sandbox: {
      backend: "bwrap",
      views: "auto",
      toolchains: [],
      memory_mb: 512,
      processes: 100,
      processors: 1,
      file_mb: 1024,
      temporary_mb: 256,
      open_files: 1024,
      output_mb: 64,
    },
    web: { private_hosts: [] },
    metrics: {},
    telemetry: {},
    secrets: {},
    components: {},
    models: {},
    knowledge: {},
    git: { credentials: [], private_hosts: [], limits: { received_mb: 1024, written_mb: 4096 } },
    roles: ["dev", "sre", "release_manager", "product_owner"],
    plugins: [],
    language_servers: { enabled: true, memory_mb: 1024, servers: [] },
    upstream: { list_max: 16 },
    undo: { keep_days: 7, total_mb: 2048, file_mb: 64 },
    workspaces: [],
  });
  expect(await parseSettings("", "handrail.yaml")).toEqual(defaultSettings());
  expect(await parseSettings("# nothing\n", "handrail.yaml")).toEqual(defaultSettings());
});

test("the longest wait for a person is taken", async () => {
  expect((await parseSettings("approvals:\n  wait_seconds: 45\n", "handrail.yaml")).approvals.wait_seconds).toBe(45);
});

test("what is written is taken", async () => {
  const text =
    "preset: reader\nalert:\n  violations_per_minute: 100\nworkspaces:\n  - path: /w\n    roles: [dev, sre]\n";
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
  ["a wait that clients do not sit through", "approvals:\n  wait_seconds: 46\n", /approvals\.wait_seconds/],
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
  const { files } = await parseSettings(
    "files:\n  shared: [/lib, ./docs/, a//./b, plain, '@types']\n",
    "handrail.yaml",
  );
  expect(files.shared).toEqual(["lib", "docs", "a/b", "plain", "@types"]);
});

test("a list of 256 entries is taken", async () => {
  const { files } = await parseSettings(`files:\n  secret: [${"x,".repeat(256)}]\n`, "handrail.yaml");
  expect(files.secret).toHaveLength(256);
});

test("the toolchain of a workspace is words for programs, times and registries", async () => {
  const text = `workspaces:
  - path: /w
    toolchain:
      test: [npm, run, ci, ""]
      timeout_seconds: 3600
      install: { scripts: true, registries: { npm: [npm.example.com:8443], cargo: [crates.example.com] } }
`;
  const [workspace] = (await parseSettings(text, "handrail.yaml")).workspaces;
  expect(chosenToolchain(workspace?.toolchain, { test: ["x"], lint: ["make", "lint"] })).toEqual({
    test: ["npm", "run", "ci", ""],
    lint: ["make", "lint"],
    timeoutMs: 3_600_000,
    install: { scripts: true, registries: { npm: ["npm.example.com:8443"], cargo: ["crates.example.com"] } },
  });
  expect(chosenToolchain(undefined, undefined)).toEqual({});
});

test.each([
  ["a line for a shell", "test: npm test"],
  ["no program", "test: []"],
  ["an empty program", "test: ['']"],
  ["an option as a program", "lint: [--version]"],
  ["a null byte", 'test: ["a\\0b"]'],
  ["a word that is no text", "test: [npm, 7]"],
  ["too many words", `test: [${"x,".repeat(65)}]`],
  ["more than an hour", "timeout_seconds: 3601"],
  ["no time", "timeout_seconds: 0"],
  ["an unknown manager", "install: { registries: { pip: [pypi.org] } }"],
  ["a registry with a path", "install: { registries: { npm: ['npm.example.com/x'] } }"],
  ["a registry with a scheme", "install: { registries: { npm: ['https://npm.example.com'] } }"],
  ["a registry with wildcards", "install: { registries: { npm: ['*.example.com'] } }"],
  ["a port out of range", "install: { registries: { npm: ['a:65536'] } }"],
  ["an unknown key", "build: [make]"],
])("in a toolchain %s is refused, and named", async (_what, line) => {
  await expect(
    parseSettings(`workspaces:\n  - path: /w\n    toolchain:\n      ${line}\n`, "handrail.yaml"),
  ).rejects.toThrow(/workspaces\.0\.toolchain/);
});

test("rules of git: the operator's for a workspace stand before those for all, and the workspace itself can only protect more", async () => {
  const text = `git: { protected_branches: [trunk], branch_pattern: "agent/.+", message_pattern: "[A-Z]+-[0-9]+: .+" }
workspaces:
  - path: /w
    git: { branch_pattern: "(feature|fix)/[a-z0-9-]+" }
`;
  const { git, workspaces } = await parseSettings(text, "handrail.yaml");
  const own = await parseWorkspaceSettings("git: { protected_branches: [stable/*, trunk] }\n", "handrail.yaml");
  expect(chosenGitRules(git, workspaces[0]?.git, own.git)).toEqual({
    protectedBranches: ["trunk", "stable/*"],
    branchPattern: "(feature|fix)/[a-z0-9-]+",
    messagePattern: "[A-Z]+-[0-9]+: .+",
  });
  expect(chosenGitRules(undefined, undefined, own.git)).toEqual({
    protectedBranches: ["main", "master", "release/*", "stable/*", "trunk"],
  });
  expect(chosenGitRules(undefined, { protected_branches: [] }, undefined)).toEqual({ protectedBranches: [] });
  expect(wideningKeys(own)).toEqual([]);
});

test.each([
  ["a pattern that is none", "branch_pattern: '('", /git\.branch_pattern/],
  ["a pattern that is too long", `message_pattern: ${"a".repeat(1001)}`, /git\.message_pattern/],
  ["an empty pattern", "message_pattern: ''", /git\.message_pattern/],
  ["a branch that cannot be read", "protected_branches: ['re{lease']", /git\.protected_branches\.0/],
  ["a reference in place of a branch", "protected_branches: [refs/heads/main]", /git\.protected_branches\.0/],
  ["too many branches", `protected_branches: [${"x,".repeat(65)}]`, /git\.protected_branches/],
  ["an unknown key", "protected: [main]", /git/],
  ["a pattern of private hosts", "private_hosts: ['*.corp']", /git\.private_hosts\.0/],
  ["a network of private hosts", "private_hosts: [10.0.0.0/8]", /git\.private_hosts\.0/],
  ["this machine as a private host", "private_hosts: ['localhost:3000']", /git\.private_hosts\.0/],
  ["the loopback address as a private host", "private_hosts: ['[::1]:3000']", /git\.private_hosts\.0/],
  ["an address of the web as a private host", "private_hosts: ['https://git.corp/']", /git\.private_hosts\.0/],
])("of the rules of git %s is refused, and named", async (_what, line, problem) => {
  await expect(parseSettings(`git:\n  ${line}\n`, "handrail.yaml")).rejects.toThrow(problem);
});

test("every problem is named at once", async () => {
  await expect(parseSettings("preset: lax\nalert:\n  violations_per_minute: 0\n", "handrail.yaml")).rejects.toThrow(
    /preset.*alert/s,
  );
});

test.each([
  "preset: open\n",
  "toolchain:\n  timeout_seconds: 9\n",
  "toolchain:\n  install: {}\n",
  "tools:\n  enabled: true\n",
  "workspaces: []\n",
  "git:\n  branch_pattern: a\n",
  "git:\n  message_pattern: a\n",
  "git:\n  private_hosts: [git.corp]\n",
  "roles: [sre]\n",
])("a workspace's own file cannot say %j", async (text) => {
  await expect(parseWorkspaceSettings(text, "handrail.yaml")).rejects.toThrow(/handrail\.yaml/);
});

test("a workspace's own file can narrow", async () => {
  const settings = await parseWorkspaceSettings(
    "tools:\n  disabled: [write_file]\nfiles:\n  secret: ['*.pem']\n",
    "handrail.yaml",
  );
  expect(settings).toEqual({
    tools: { disabled: ["write_file"] },
    files: { secret: ["*.pem"], shared: [], read_only: [], protected: [] },
  });
  expect(wideningKeys(settings)).toEqual([]);
});

test("the keys of a workspace's own file that widen are known", async () => {
  const widening = async (text: string) => wideningKeys(await parseWorkspaceSettings(text, "handrail.yaml"));
  expect(await widening("files:\n  shared: [libs]\n  secret: ['*.pem']\n")).toEqual(["files.shared"]);
  expect(await widening("toolchain:\n  test: [make, check]\n  lint: [make, lint]\n")).toEqual([
    "toolchain.test",
    "toolchain.lint",
  ]);
  expect(await widening("toolchain: {}\n")).toEqual([]);
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
  await expect(parseWorkspaceSettings(`#${" ".repeat(16 * 1024)}`, "handrail.yaml")).rejects.toThrow(
    /larger than 16 KiB/,
  );
  // Each level would be written out again for the one above it.
  await expect(parseWorkspaceSettings("? ".repeat(500), "handrail.yaml")).rejects.toThrow(/plain value/);
});
