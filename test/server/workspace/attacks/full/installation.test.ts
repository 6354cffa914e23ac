// An agent whose workspace is, holds or lies in the Handrail that is running must not change it: the next start would
// run what it wrote.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { createKernel } from "../../../../../src/index.ts";
import { newRepository } from "../../../../support/git-place.ts";
import { freshPlace } from "../../../../support/place.ts";

const ROOT = process.cwd();
/** A name that nothing bears; whatever a failing defence leaves is removed. */
const PLANTED = "planted-by-a-test.txt";

async function open(workspace: string, more: { readonly allowUnusualWorkspace?: boolean } = {}) {
  const place = freshPlace();
  const told: string[] = [];
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home },
    onWarning: (message) => told.push(message),
    ...more,
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace, preset: "open" });
  const call = async (tool: string, args: JsonObject) => (await session.call(tool, args)).result;
  return { call, told, kernel };
}

function leavesNothingAt(path: string): void {
  onTestFinished(() => {
    rmSync(path, { force: true });
    expect(existsSync(path)).toBe(false);
  });
}

/** What each file tool does to the installation below `prefix`. */
async function attack(call: Awaited<ReturnType<typeof open>>["call"], prefix: string) {
  const at = (path: string) => (prefix === "" ? path : `${prefix}/${path}`);
  const exact = { operation: "replace", match_mode: "exact", spec: "handrail", content: "handrail", count: 1 };
  return [
    await call("write_file", { path: at(PLANTED), content: "planted" }),
    await call("write_file", { path: at(`src/cli/${PLANTED}`), content: "planted" }),
    await call("write_file", { path: at(`.toolchain/${PLANTED}`), content: "planted" }),
    await call("edit_file", {
      path: at("presets/dev.cedar"),
      edits: [{ ...exact, spec: "no such words", content: "x" }],
    }),
    await call("delete_file", { path: at(`examples/${PLANTED}`) }),
  ];
}

test.each([
  ["is the installation", ROOT, ""],
  ["holds the installation", dirname(ROOT), basename(ROOT)],
])("a workspace that %s: no file of it is written, and the start says so", async (_, workspace, prefix) => {
  leavesNothingAt(join(ROOT, PLANTED));
  const { call, told } = await open(workspace, { allowUnusualWorkspace: true });
  for (const result of await attack(call, prefix))
    expect(result).toMatchObject({ error: { rule_id: "ZONE:installation" } });
  const read = await call("read_file", { path: prefix === "" ? "package.json" : `${prefix}/package.json` });
  expect(read.status).toBe("success");
  expect(told).toEqual(
    expect.arrayContaining([expect.stringMatching(/Handrail's own installation, which is read only/)]),
  );
});

test("a workspace that lies in the installation: its tests run, and neither tools nor commands nor git change anything", async () => {
  const service = join(ROOT, "examples/service");
  leavesNothingAt(join(service, PLANTED));
  const { call } = await open(service);
  expect(await call("write_file", { path: PLANTED, content: "planted" })).toMatchObject({
    error: { rule_id: "ZONE:installation" },
  });
  expect(await call("shell", { command: `echo planted > ${PLANTED}` })).toMatchObject({
    error: { rule_id: "ZONE:installation" },
  });
  const unseen = await call("shell", {
    command: `node -e 'require("fs").writeFileSync(["${PLANTED}"].join(""), "x")' 2>&1`,
  });
  expect(unseen).toMatchObject({ status: "success", data: { stdout: expect.stringContaining("EROFS") } });
  expect(existsSync(join(service, PLANTED))).toBe(false);
  expect(await call("run_test", {})).toMatchObject({ status: "success", data: { exit_code: 0 } });
});

test("the control: the same calls in a copy elsewhere write", async () => {
  const place = freshPlace();
  for (const name of ["package.json", "presets", "examples"])
    cpSync(join(ROOT, name), join(place.workspace, name), { recursive: true });
  const { call, told } = await open(place.workspace);
  const results = await attack(call, "");
  expect(results.map(({ status }) => status)).toEqual(["success", "success", "success", "error", "error"]);
  expect(await call("shell", { command: `echo planted > shell-${PLANTED}` })).toMatchObject({ status: "success" });
  expect(readFileSync(join(place.workspace, `shell-${PLANTED}`), "utf8")).toBe("planted\n");
  expect(told.filter((message) => message.includes("installation"))).toEqual([]);
});

test("git changes nothing in the repository of the installation; that of another Handrail's it does", async () => {
  const place = freshPlace();
  const copy = join(place.base, "copy");
  for (const name of ["src", "presets", "package.json"])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const plain = newRepository(copy);
  plain.commit("one", { "presets/own.cedar": "one" });
  plain.commit("two", { "presets/own.cedar": "two" });
  const git = (installation: string, operation: string, ...args: readonly string[]) => {
    const call = [
      "call",
      "git",
      "--json",
      JSON.stringify({ operation, args }),
      "--workspace",
      copy,
      "--preset",
      "open",
    ];
    const options = {
      env: {
        PATH: process.env["PATH"],
        HOME: place.home,
        HANDRAIL_STATE_HOME: place.state,
        NODE_COMPILE_CACHE: join(place.base, "compile-cache"),
      },
      encoding: "utf8",
    } as const;
    return spawnSync(process.execPath, [join(installation, "src/cli/main.ts"), ...call], options).stdout;
  };
  const changes = [
    ["BRANCH", "planted"],
    ["CHECKOUT", "HEAD~1"],
    ["RESET", "--hard", "HEAD~1"],
    ["COMMIT", "--allow-empty", "-m", "three"],
  ] as const;
  for (const [operation, ...args] of changes)
    expect(git(copy, operation, ...args), operation).toMatch(/belongs to the Handrail that is running/);
  expect(plain.git("log", "--all", "--format=%s").trim()).toBe("two\none");
  for (const [operation, ...args] of changes.slice(0, 2))
    expect(JSON.parse(git(ROOT, operation, ...args)), operation).toMatchObject({ status: "success" });
  expect(readFileSync(join(copy, "presets/own.cedar"), "utf8")).toBe("one");
});

const isRoot = () => process.getuid?.() === 0;

/** What a call answers in a namespace where `from` is mounted on `to` as well, and what the start said. */
function callMounted(
  place: ReturnType<typeof freshPlace>,
  [from, to]: readonly [string, string],
  tool: string,
  args: JsonObject,
) {
  const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
  const call = ["call", tool, "--json", JSON.stringify(args), "--workspace", place.workspace, "--preset", "open"];
  const command = ["sh", "-c", script, "sh", from, to, process.execPath, join(ROOT, "src/cli/main.ts"), ...call];
  const { stdout, stderr } = spawnSync("unshare", [isRoot() ? "-m" : "-rm", ...command], {
    env: {
      PATH: process.env["PATH"],
      HOME: place.home,
      HANDRAIL_STATE_HOME: place.state,
      HANDRAIL_CONFIG_HOME: place.config,
    },
    encoding: "utf8",
  });
  return { answer: stdout, stderr };
}

test.each([
  ["below the workspace", ROOT, "in", "in"],
  ["in part below the workspace", join(ROOT, "src"), "in", "in"],
  ["as the workspace", ROOT, ".", "."],
  ["in a mount of what holds it, as the workspace", dirname(ROOT), ".", basename(ROOT)],
])("the installation mounted %s: nothing is written there", (_, from, to, at) => {
  const place = freshPlace();
  leavesNothingAt(join(from === dirname(ROOT) ? ROOT : from, PLANTED));
  mkdirSync(join(place.workspace, "in"));
  const { answer, stderr } = callMounted(place, [from, join(place.workspace, to)], "write_file", {
    path: join(at, PLANTED),
    content: "planted",
  });
  expect(answer, stderr).toContain("ZONE:installation");
});

test("the state directory mounted below a workspace is hidden there, and as a workspace is refused", () => {
  const place = freshPlace();
  const inner = join(place.workspace, "in");
  mkdirSync(inner);
  writeFileSync(join(place.workspace, "plain"), "plain");
  // the control: the state is made, and a file of the workspace is read
  expect(callMounted(place, [place.home, inner], "read_file", { path: "plain" }).answer).toContain('"success"');
  const read = callMounted(place, [place.state, inner], "read_file", { path: "in/evidence.key" });
  expect(read.answer, read.stderr).toMatch(/ZONE:/);
  const taken = callMounted(place, [place.state, place.workspace], "read_file", { path: "evidence.key" });
  expect(taken.answer + taken.stderr).toMatch(/lies in Handrail's own directory/);
});

test.each(["/", "/etc", "/root"])("`%s` is refused as a workspace by the door that all share", async (workspace) => {
  const place = freshPlace();
  const options = { stateDirectory: place.state, configDirectory: place.config, environment: { HOME: place.home } };
  await using kernel = await createKernel(options);
  await expect(kernel.openSession({ workspace })).rejects.toThrow(/--allow-unusual-workspace/);
  await expect(kernel.openSession({ workspace: place.workspace, projectRoot: "/" })).rejects.toThrow(
    /--allow-unusual-workspace/,
  );
  await expect(kernel.openSession({ workspace: place.home })).rejects.toThrow(/home directory/);
  await kernel.openSession({ workspace: place.workspace });
});

test("the operator allows one by the flag or by handrail.yaml", async () => {
  const place = freshPlace();
  const options = { stateDirectory: place.state, configDirectory: place.config, environment: { HOME: place.home } };
  {
    await using kernel = await createKernel({ ...options, allowUnusualWorkspace: true });
    await kernel.openSession({ workspace: place.home });
  }
  place.put("config/handrail.yaml", `workspaces: [{ path: "${place.home}", allow_unusual: true }]\n`);
  await using kernel = await createKernel(options);
  await kernel.openSession({ workspace: place.home });
  await expect(kernel.openSession({ workspace: "/" })).rejects.toThrow(/--allow-unusual-workspace/);
});
