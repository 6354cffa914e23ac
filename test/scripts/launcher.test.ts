// The launcher as a user meets it: from any directory, through symlinks, set up or not, with a clean standard output.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toyProject } from "./toy-project.ts";

test("the first start sets up on standard error and keeps standard output clean", async () => {
  using toy = toyProject();
  const { code, stdout, stderr } = await toy.run(join(toy.root, "handrail"), ["call", "two words", ""]);
  expect({ code, stdout, calls: toy.npmCalls() }).toEqual({
    code: 0,
    stdout: '["call","two words",""]\n',
    calls: ["ci"],
  });
  expect(stderr).toContain("handrail: installing the packages of the lock file (npm ci)");
});

test("a later start runs no set-up and says nothing", async () => {
  using toy = toyProject();
  await toy.run(join(toy.root, "handrail"));
  toy.program("npm", "#!/bin/sh\nexit 1\n");
  const later = await toy.run(join(toy.root, "handrail"), ["again"]);
  expect(later).toEqual({ code: 0, stdout: '["again"]\n', stderr: "" });
});

test("the launcher finds its project through a chain of relative and absolute symlinks, from another directory", async () => {
  using toy = toyProject();
  mkdirSync(join(toy.root, "elsewhere/deep"));
  symlinkSync("../../handrail", join(toy.root, "elsewhere/deep/one"));
  symlinkSync(join(toy.root, "elsewhere/deep/one"), join(toy.root, "elsewhere/two"));
  symlinkSync("two", join(toy.root, "elsewhere/three"));
  const { code, stdout } = await toy.run("./three", ["here"], join(toy.root, "elsewhere"));
  expect({ code, stdout }).toEqual({ code: 0, stdout: '["here"]\n' });
});

test("a changed lock file sets up again, once", async () => {
  using toy = toyProject();
  await toy.run(join(toy.root, "handrail"));
  rmSync(join(toy.root, "node_modules"), { recursive: true });
  appendFileSync(join(toy.root, "package-lock.json"), " ");
  await toy.run(join(toy.root, "handrail"));
  await toy.run(join(toy.root, "handrail"));
  expect(toy.npmCalls()).toEqual(["ci", "ci"]);
});

test("removed packages are installed again although the stamp is there", async () => {
  using toy = toyProject();
  await toy.run(join(toy.root, "handrail"));
  rmSync(join(toy.root, "node_modules"), { recursive: true });
  const { code } = await toy.run(join(toy.root, "handrail"));
  expect({ code, calls: toy.npmCalls() }).toEqual({ code: 0, calls: ["ci", "ci"] });
});

test("without node it says what to install and exits 1", async () => {
  using toy = toyProject();
  toy.removeProgram("node");
  const { code, stdout, stderr } = await toy.run(join(toy.root, "handrail"));
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("sudo apt-get install -y nodejs npm");
});

test.each([
  ["programs of that name on the PATH are not run", (text: string) => text, []],
  [
    "control: they are, where the launcher takes its tools from there",
    (text: string) => text.replaceAll("PATH=$tools", ":"),
    ["cmp"],
  ],
])("%s", async (_, change, expected) => {
  using toy = toyProject();
  const launcher = join(toy.root, "handrail");
  await toy.run(launcher);
  mkdirSync(join(toy.root, ".toolchain/program"), { recursive: true });
  writeFileSync(join(toy.root, ".toolchain/program/main.js"), "");
  writeFileSync(
    launcher,
    change(readFileSync(launcher, "utf8")).replaceAll(": cmp", "cmp").replaceAll(": readlink", "readlink"),
  );
  const tools = ["cmp", "readlink"];
  for (const name of tools) toy.program(name, `#!/bin/sh\n: >"$TOY_ROOT/ran-${name}"\nexit 1\n`);
  expect(await toy.run(launcher, ["here"])).toMatchObject({ code: 0, stdout: '["here"]\n' });
  expect(tools.filter((name) => existsSync(join(toy.root, `ran-${name}`)))).toEqual(expected);
});
