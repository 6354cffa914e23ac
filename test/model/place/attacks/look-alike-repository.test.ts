// A directory that git takes for a repository, made of harmless writes: the person's next `git status` in it would run
// the agent's program.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { createKernel } from "../../../../src/index.ts";
import { newRepository } from "../../../support/git-place.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const ASKS = { error: { code: "TOOL_APPROVAL_REQUIRED", rule_id: "dev.write-protected" } };

/** The files of a look-alike in `directory` whose program leaves a mark; the program itself is an ordinary script. */
function lookAlike(place: Place, directory: string): readonly (readonly [path: string, content: string])[] {
  const program = join(place.workspace, "tools/check.sh");
  const config = `[core]\n\trepositoryformatversion = 0\n\tworktree = ${place.workspace}\n\tfsmonitor = ${program}\n`;
  return [
    [`${directory}/HEAD`, "ref: refs/heads/main\n"],
    [`${directory}/objects/info/note.txt`, "x"],
    [`${directory}/refs/heads/note.txt`, "x"],
    [`${directory}/config`, config],
  ];
}

function plantProgram(place: Place): string {
  const mark = join(place.base, "mark");
  const script = place.put("workspace/tools/check.sh", `#!/bin/sh\necho ran > ${mark}\n`);
  chmodSync(script, 0o755);
  return mark;
}

/** What a person does there, with nothing of the machine's settings. */
function personLooks(directory: string): void {
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  spawnSync("git", ["status"], { cwd: directory, env, timeout: 30_000 });
}

function put(place: Place, path: string, content: string): void {
  mkdirSync(dirname(join(place.workspace, path)), { recursive: true });
  writeFileSync(join(place.workspace, path), content);
}

async function open(place: Place, preset = "dev") {
  place.put("config/handrail.yaml", "approvals: { wait_seconds: 0 }\n");
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home },
    onWarning: () => undefined,
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace, preset });
  return async (tool: string, args: JsonObject) => (await session.call(tool, args)).result;
}

test("the control: the same files written past Handrail make `git status` run the program", () => {
  const place = freshPlace();
  const mark = plantProgram(place);
  for (const [path, content] of lookAlike(place, "src")) put(place, path, content);
  personLooks(join(place.workspace, "src"));
  expect(existsSync(mark)).toBe(true);
});

test.each([[[0, 1, 2, 3]], [[3, 2, 1, 0]], [[1, 2, 0, 3]], [[2, 3, 0, 1]]])(
  "write_file in the order %j, or all at once, does not complete it without a person",
  async (order) => {
    const place = freshPlace();
    const mark = plantProgram(place);
    const call = await open(place);
    const files = lookAlike(place, "src");
    const results = [];
    for (const index of order)
      results.push(await call("write_file", { path: files[index]?.[0] ?? "", content: files[index]?.[1] ?? "" }));
    // its `HEAD`, and whichever of the two stores would come second
    expect(results.filter(({ status }) => status !== "success")).toMatchObject([ASKS, ASKS]);
    await Promise.all(lookAlike(place, "lib").map(([path, content]) => call("write_file", { path, content })));
    for (const directory of ["src", "lib"]) {
      expect(existsSync(join(place.workspace, directory, "HEAD"))).toBe(false);
      personLooks(join(place.workspace, directory));
    }
    expect(existsSync(mark)).toBe(false);
  },
);

test("a repository under a name of its own that is there already is not fed: its settings, hooks and stores ask", async () => {
  const place = freshPlace();
  for (const [path, content] of lookAlike(place, "fixtures/bare.git")) put(place, path, content);
  symlinkSync("fixtures/bare.git", join(place.workspace, "link"));
  const call = await open(place);
  const at = (name: string) => `fixtures/bare.git/${name}`;
  for (const name of [
    "HEAD",
    "config",
    "config.worktree",
    "commondir",
    "hooks/post-checkout",
    "objects/info/alternates",
    "refs/heads/main",
  ])
    expect(await call("write_file", { path: at(name), content: "x" }), name).toMatchObject(ASKS);
  expect(await call("delete_file", { path: at("HEAD") })).toMatchObject({ error: { code: "TOOL_APPROVAL_REQUIRED" } });
  const edits = [
    {
      operation: "replace",
      match_mode: "exact",
      spec: "repositoryformatversion = 0",
      content: "repositoryformatversion = 1",
    },
  ];
  expect(await call("edit_file", { path: at("config"), edits })).toMatchObject(ASKS);
  expect(await call("write_file", { path: "link/config", content: "x" })).toMatchObject({
    error: { rule_id: "dev.write-protected" },
  });
  for (const path of [at("README.txt"), "fixtures/config", "fixtures/hooks/x", "objects/x", "other/refs/x", "config"])
    expect(await call("write_file", { path, content: "x" }), path).toMatchObject({ status: "success" });
});

test("a command completes and feeds none either", async () => {
  const place = freshPlace();
  const mark = plantProgram(place);
  for (const [path, content] of lookAlike(place, "fixtures/bare.git")) put(place, path, content);
  const before = readFileSync(join(place.workspace, "fixtures/bare.git/config"), "utf8");
  const call = await open(place, "open");
  const script = [
    ...lookAlike(place, "src").map(
      ([path, content]) => `mkdir -p $(dirname ${path}); printf '%s' '${content}' > "$PWD/${path}"`,
    ),
    `for name in config commondir hooks/x objects/x; do mkdir -p "fixtures/bare.git/$(dirname $name)"; echo x > "$PWD/fixtures/bare.git/$name"; done; true`,
  ].join("\n");
  place.put("workspace/make.sh", script);
  const result = await call("shell", { command: "bash make.sh" });
  expect(result).toMatchObject({ status: "success", data: { exit_code: 0 } });
  const { data } = result as unknown as { readonly data: { readonly not_kept: readonly { readonly path: string }[] } };
  expect(data.not_kept.map(({ path }) => path)).toEqual(
    expect.arrayContaining(["src/HEAD", "fixtures/bare.git/commondir"]),
  );
  for (const name of [
    "src/HEAD",
    "fixtures/bare.git/commondir",
    "fixtures/bare.git/hooks/x",
    "fixtures/bare.git/objects/x",
  ])
    expect(existsSync(join(place.workspace, name)), name).toBe(false);
  expect(readFileSync(join(place.workspace, "fixtures/bare.git/config"), "utf8")).toBe(before);
  personLooks(join(place.workspace, "src"));
  expect(existsSync(mark)).toBe(false);
});

test("git checks none out", async () => {
  const place = freshPlace();
  const mark = plantProgram(place);
  const plain = newRepository(place.workspace);
  plain.commit("plain", { "README.md": "x" });
  plain.git("checkout", "--quiet", "-b", "planted");
  plain.commit("planted", Object.fromEntries(lookAlike(place, "src")));
  plain.git("checkout", "--quiet", "main");
  const call = await open(place);
  for (const [operation, args] of [
    ["CHECKOUT", ["planted"]],
    ["MERGE", ["planted"]],
    ["RESET", ["--hard", "planted"]],
    ["CHECKOUT", ["planted", "--", "src/HEAD"]],
  ] as const)
    expect((await call("git", { operation, args: [...args] })).status, `${operation} ${args.join(" ")}`).not.toBe(
      "success",
    );
  expect(existsSync(join(place.workspace, "src/HEAD"))).toBe(false);
  if (existsSync(join(place.workspace, "src"))) personLooks(join(place.workspace, "src"));
  expect(existsSync(mark)).toBe(false);
});
