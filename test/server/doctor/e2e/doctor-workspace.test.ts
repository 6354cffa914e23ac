// What `handrail doctor --workspace` says of a workspace in which no command can run, and of one in which all is well.
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultSettings } from "../../../../src/config/config.ts";
import { SANDBOX_MOUNTS_MAX } from "../../../../src/sandbox/plan/workspace-mounts.ts";
import { commandsFinding } from "../../../../src/server/doctor/doctor-commands.ts";
import { viewFinding } from "../../../../src/server/doctor/doctor-sandbox.ts";
import { freshPlace } from "../../../support/place.ts";

test("a workspace that can be shown is said to be, and one that cannot with what stands in the way", async () => {
  const { workspace } = freshPlace();
  expect(await commandsFinding(workspace)).toMatchObject({ status: "ok" });
  mkdirSync(Buffer.from(`${workspace}/d\xff`, "latin1"));
  expect(await commandsFinding(workspace)).toMatchObject({
    status: "failed",
    detail: expect.stringContaining("not UTF-8"),
  });
  const secrets = freshPlace().workspace;
  for (let index = 0; index <= SANDBOX_MOUNTS_MAX; index += 1) writeFileSync(join(secrets, `.env.${index}`), "");
  expect(await commandsFinding(secrets)).toMatchObject({
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
  expect(await commandsFinding(long)).toMatchObject({ status: "failed", detail: expect.stringContaining("too long") });
  expect(await commandsFinding(join(workspace, "none"))).toMatchObject({ status: "failed" });
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
  expect(await commandsFinding(workspace)).toMatchObject({ status: "ok" });
  if (process.geteuid?.() !== 0) return; // nobody else can give a directory away
  chownSync(join(workspace, "theirs"), 12345, 12345);
  expect(await commandsFinding(workspace)).toMatchObject({
    status: "advisory",
    detail: expect.stringMatching(/`theirs` belongs to another/),
  });
});
