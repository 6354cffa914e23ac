/** Commands that fail because of what a sandbox is: each is told what to do instead, and that works. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { secretPlace } from "../../support/secret-place.ts";

async function place() {
  const opened = await secretPlace({}, {}, { preset: "dev" });
  const { workspace } = opened.place;
  const git = (...args: string[]) => execFileSync("git", ["-C", workspace, ...args], { encoding: "utf8" });
  git("init", "-q", "-b", "work");
  git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "first");
  const run = async (command: string) => {
    const outcome = await opened.call("shell", { command });
    if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
    return outcome.data as JsonObject;
  };
  return { ...opened, workspace, git, run };
}

test("git that would write its directory is told of the tools, which do it", async () => {
  const { run, call, workspace, git } = await place();
  writeFileSync(join(workspace, "a.txt"), "a\n");
  for (const command of ["git add a.txt", "git commit --allow-empty -m x", "git checkout -b other", "git fetch ."])
    expect([command, (await run(command))["hint"]]).toEqual([command, expect.stringContaining("`git_commit`")]);
  expect((await call("git_add", { files: ["a.txt"] })).kind).toBe("success");
  expect((await call("git_commit", { message: "add a" })).kind).toBe("success");
  expect(git("log", "--format=%s", "-1")).toBe("add a\n");
});

test.each([
  ["curl -sS https://registry.npmjs.org/x", "network_access"],
  [
    "node -e 'fetch(\"https://a.example\").catch((e) => { console.error(e.cause.message); process.exit(1) })'",
    "network_access",
  ],
  ["python3 -c 'import urllib.request as u; u.urlopen(\"https://a.example\")'", "network_access"],
  ["git ls-remote https://git.example/a.git", "network_access"],
  ["touch /etc/x", "below `/tmp`"],
  ["mkdir /usr/lib/x", "below `/tmp`"],
])("%s", async (command, hint) => {
  const { run } = await place();
  expect((await run(command))["hint"]).toContain(hint);
});

test("what works, and what fails by itself, gets no hint", async () => {
  const { run, workspace } = await place();
  expect((await run("echo ': Read-only file system' >&2"))["hint"]).toBeUndefined();
  expect((await run("cat none.txt"))["hint"]).toBeUndefined();
  await run("echo x > /tmp/x && cp /tmp/x kept.txt");
  expect(readFileSync(join(workspace, "kept.txt"), "utf8")).toBe("x\n");
});
