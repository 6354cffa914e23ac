// What `handrail doctor --workspace` says of a workspace in which no command can run, and of one in which all is well.
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultSettings, settingsSchema } from "../../../../../src/config/config.ts";
import { createKernel } from "../../../../../src/index.ts";
import { SANDBOX_MOUNTS_MAX } from "../../../../../src/sandbox/plan/workspace-mounts.ts";
import { commandsFinding } from "../../../../../src/server/doctor/doctor-commands.ts";
import { viewFinding } from "../../../../../src/server/doctor/doctor-sandbox.ts";
import { unusualFindings } from "../../../../../src/server/doctor/doctor-workspace.ts";
import type { OperatorDirectory } from "../../../../../src/server/operator/operator-directory.ts";
import { freshPlace } from "../../../../support/place.ts";

const OPERATOR: OperatorDirectory = {
  path: "/none",
  exists: false,
  settings: defaultSettings(),
  policies: [],
};
const finding = (path: string) => commandsFinding(async () => OPERATOR, path);

test("a workspace that can be shown is said to be, and one that cannot with what stands in the way", async () => {
  const { workspace } = freshPlace();
  expect(await finding(workspace)).toMatchObject({ status: "ok" });
  mkdirSync(Buffer.from(`${workspace}/d\xff`, "latin1"));
  expect(await finding(workspace)).toMatchObject({
    status: "failed",
    detail: expect.stringContaining("not UTF-8"),
  });
  const secrets = freshPlace().workspace;
  for (let index = 0; index <= SANDBOX_MOUNTS_MAX; index += 1) writeFileSync(join(secrets, `.env.${index}`), "");
  expect(await finding(secrets)).toMatchObject({
    status: "failed",
    detail: expect.stringContaining("more mounts"),
  });
  const long = freshPlace().workspace;
  const here = process.cwd();
  try {
    process.chdir(long);
    for (let depth = 0; depth < 25; depth += 1) {
      mkdirSync("y".repeat(200));
      process.chdir("y".repeat(200));
    }
  } finally {
    process.chdir(here);
  }
  expect(await finding(long)).toMatchObject({ status: "failed", detail: expect.stringContaining("too long") });
  expect(await finding(join(workspace, "none"))).toMatchObject({ status: "failed" });
});

test("it says what commands in the workspace write into, and why there is nothing", async () => {
  const { workspace, base } = freshPlace();
  const finding = (views: "auto" | "copy", path = workspace) => {
    const settings = defaultSettings();
    const chosen = { settings: { ...settings, sandbox: { ...settings.sandbox, views } } };
    return viewFinding(async () => chosen, path, { environment: {}, stateDirectory: join(base, "doctor-state") });
  };
  const [overlay, copy, gone] = [await finding("auto"), await finding("copy"), await finding("auto", join(base, "no"))];
  expect([overlay, copy].map(({ status, detail }) => [status, detail])).toEqual([
    ["ok", "commands write into overlays of the workspace"],
    ["ok", "commands write into copies of the workspace"],
  ]);
  expect(gone.status).toBe("failed");
});

test("a directory of another user is named, because commands cannot change what lies there", async () => {
  const { workspace } = freshPlace();
  mkdirSync(join(workspace, "theirs/deeper"), { recursive: true });
  expect(await finding(workspace)).toMatchObject({ status: "ok" });
  if (process.geteuid?.() !== 0) return; // nobody else can give a directory away
  chownSync(join(workspace, "theirs"), 12345, 12345);
  expect(await finding(workspace)).toMatchObject({
    status: "advisory",
    detail: expect.stringMatching(/`theirs` belongs to another/),
  });
});

function packages(count: number): string {
  const { workspace } = freshPlace();
  for (let index = 0; index < count; index += 1) {
    mkdirSync(join(workspace, `p/${index}/node_modules/x`), { recursive: true });
    writeFileSync(join(workspace, `p/${index}/.env`), "");
  }
  return workspace;
}

test("a workspace whose mounts bwrap does not take is said to be one, with the figures and what to do", async () => {
  expect(await finding(packages(1000))).toMatchObject({
    status: "failed",
    detail: expect.stringMatching(/cannot be shown to commands, in 3002 mounts: bwrap .*9006.* 8400; .*`p` \(3001\)/),
  });
  // the control: fewer can, and it is said that each command is slow
  expect(await finding(packages(400))).toMatchObject({
    status: "advisory",
    detail: expect.stringMatching(/can be shown to commands, in 1202 mounts; .*takes seconds/),
  });
});

function emptyPackages(count: number, filled: number): string {
  const { workspace } = freshPlace();
  for (let index = 0; index < count; index += 1)
    mkdirSync(join(workspace, `p/${index}/node_modules`, index < filled ? "x" : ""), { recursive: true });
  return workspace;
}

test("empty directories of packages are named with what removes them where they are the cause, and it does", async () => {
  const workspace = emptyPackages(520, 10);
  const found = await finding(workspace);
  expect(found).toMatchObject({ status: "advisory", detail: expect.stringContaining("510 directories are empty") });
  const [, command = ""] = /^`(find .*)` removes/.exec("fix" in found ? found.fix : "") ?? [];
  execFileSync("sh", ["-c", command]);
  expect([(await finding(workspace)).status, existsSync(join(workspace, "p/0/node_modules/x"))]).toEqual(["ok", true]);
  expect(await finding(emptyPackages(2200, 0))).toMatchObject({
    status: "failed",
    fix: expect.stringMatching(/^`find /),
  });
  // the control: where they are few, they are not the cause
  expect(await finding(emptyPackages(520, 515))).toMatchObject({ fix: expect.stringContaining("secret files") });
});

function addLookalikes(workspace: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    for (const name of ["objects", "refs"]) mkdirSync(join(workspace, `rr/${index}/${name}`), { recursive: true });
    writeFileSync(join(workspace, `rr/${index}/HEAD`), "");
  }
}

test("directories that look like repositories count as commands see them", async () => {
  const { workspace } = freshPlace();
  addLookalikes(workspace, 1000);
  expect(await finding(workspace)).toMatchObject({ status: "failed", detail: expect.stringContaining("bwrap") });
});

test("what the doctor counts is what a command is given", async () => {
  const workspace = packages(20);
  mkdirSync(join(workspace, ".git/hooks"), { recursive: true });
  addLookalikes(workspace, 5);
  writeFileSync(join(workspace, "AGENTS.md"), "");
  const counted = /in (\d+) mounts/.exec((await finding(workspace)).detail)?.[1];
  const { state, config, home } = freshPlace();
  const options = { stateDirectory: state, configDirectory: config, environment: { HOME: home } };
  await using kernel = await createKernel(options);
  const session = await kernel.openSession({ workspace, preset: "dev" });
  const command = "grep -cE ' /workspace[ /]' /proc/self/mountinfo";
  const { result } = await session.call("shell", { command });
  expect(result).toMatchObject({ status: "success", data: { stdout: `${counted}\n` } });
});

test("it says where sessions are refused for a workspace, unless the operator allows it", async () => {
  const allowing = (path: string) => ({
    ...OPERATOR,
    settings: settingsSchema.parse({ workspaces: [{ path, allow_unusual: true }] }),
  });
  const at = (operator: OperatorDirectory) => unusualFindings({ environment: {} }, async () => operator, "/var/lib");
  expect(await at(OPERATOR)).toMatchObject([
    { status: "failed", detail: expect.stringContaining("refused as a workspace") },
  ]);
  expect([await at(allowing("/var/lib")), (await at(allowing("/var/log"))).length]).toEqual([[], 1]);
});
