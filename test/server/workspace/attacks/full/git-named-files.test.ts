// Files that a person's git runs because the repository's own configuration names them, written by an agent.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { branchPlace } from "../../../../support/branch-place.ts";

/** A hook that an agent writes, and whether a person's commit runs it. */
async function hooked(configure: (git: (...args: readonly string[]) => string) => void) {
  const place = await branchPlace();
  configure(place.git);
  place.answers = false;
  const call = await place.session();
  const ran = join(place.base, "ran");
  const content = `#!/bin/sh\ntouch ${ran}\n`;
  const written = await call("write_file", { path: "tools/hooks/pre-commit", content });
  const moded = await call("shell", {
    command: `mkdir -p tools/hooks; printf '%s' '${content}' > tools/hooks/pre-commit; chmod +x tools/hooks/pre-commit`,
  });
  writeFileSync(join(place.workspace, "a.txt"), "another\n");
  execFileSync("git", ["-C", place.workspace, "-c", "user.name=p", "-c", "user.email=p@p", "commit", "-qam", "two"]);
  return { place, written, moded, hasRun: existsSync(ran) };
}

test("a hook where `core.hooksPath` leads asks, and does not land unasked", async () => {
  const { place, written, moded, hasRun } = await hooked((git) => git("config", "core.hooksPath", "tools/hooks"));
  expect(written).toMatchObject({ kind: "denied" });
  expect(moded.data["not_kept"]).toMatchObject([{ path: "tools/hooks", reason: "not_approved" }]);
  expect(place.asked.length).toBeGreaterThan(0);
  expect(hasRun).toBe(false);
});

test("the control: where git does not look, it is a file like others", async () => {
  const { written, hasRun } = await hooked(() => undefined);
  expect([written.kind, hasRun]).toEqual(["success", false]);
});

test("what hooks lead to, what interpreters run and what a repository below runs asks, also of commands", async () => {
  const place = await branchPlace();
  const ran = join(place.base, "ran");
  const hook = `#!/bin/sh\necho ran >> ${ran}\n`;
  place.put("workspace/scripts/pre-commit", "#!/bin/sh\n");
  place.put("workspace/clean.py", "import sys\nsys.stdout.write(sys.stdin.read())\n");
  symlinkSync("../../scripts/pre-commit", join(place.workspace, ".git/hooks/pre-commit"));
  place.git("config", "filter.t.clean", "python3 clean.py");
  mkdirSync(join(place.workspace, "sub"));
  place.git("-C", "sub", "init", "-q");
  place.git("-C", "sub", "config", "core.hooksPath", ".myhooks");
  place.put("workspace/sub/.myhooks/pre-commit", "#!/bin/sh\n");
  execFileSync("chmod", ["+x", "scripts/pre-commit", "sub/.myhooks/pre-commit"], { cwd: place.workspace });
  place.answers = false;
  const call = await place.session();
  const programs = ["scripts/pre-commit", "clean.py", "sub/.myhooks/pre-commit"];
  for (const path of programs)
    expect([path, (await call("write_file", { path, content: hook })).kind]).toEqual([path, "denied"]);
  // the control: what git does not run stays free
  for (const path of ["scripts/other", "other.py", "sub/hooks/pre-commit"])
    expect([path, (await call("write_file", { path, content: hook })).kind]).toEqual([path, "success"]);
  const written = await call("shell", {
    command: [...programs, "scripts/third"].map((path) => `printf '%s' '${hook}' > ${path}`).join("; "),
  });
  expect(written).toMatchObject({
    kind: "success",
    data: { not_kept: programs.toSorted().map((path) => ({ path, reason: "not_approved" })) },
  });
  expect(existsSync(join(place.workspace, "scripts/third"))).toBe(true);
  const commit = (directory: string) => place.git("-C", directory, "commit", "-q", "--allow-empty", "-m", "two");
  for (const directory of [".", "sub"]) commit(directory);
  expect(existsSync(ran)).toBe(false);
  // the control: git would have run them
  for (const path of programs) place.put(`workspace/${path}`, hook);
  for (const directory of [".", "sub"]) commit(directory);
  expect(existsSync(ran)).toBe(true);
});

test("a setting that a person makes while the workspace is open holds soon", async () => {
  const place = await branchPlace();
  place.answers = false;
  const call = await place.session();
  expect(await call("write_file", { path: "settings", content: "[core]\n" })).toMatchObject({ kind: "success" });
  place.git("config", "include.path", "../settings");
  await expect
    .poll(async () => (await call("write_file", { path: "settings", content: "[alias]\n" })).kind, { timeout: 60_000 })
    .toBe("denied");
});
