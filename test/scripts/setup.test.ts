// The set-up under bad conditions: missing programs, no network, an interrupted or concurrent run.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isSupported } from "../../scripts/setup/choose-node.mjs";
import { packagesMatch } from "../../scripts/setup/packages.mjs";
import { LONG_NPM, toyProject } from "./toy-project.ts";

const NOT_ROOT = "#!/bin/sh\necho 1000\n";
const ROOT = "#!/bin/sh\necho 0\n";
const REFUSES = "#!/bin/sh\nexit 1\n";
const NEVER_CALLED = '#!/bin/sh\necho called >>"$TOY_ROOT/apt-calls"\nexit 1\n';

test("without root, a missing program prints the exact apt-get line and exits 1", async () => {
  using toy = toyProject();
  toy.removeProgram("git");
  toy.program("id", NOT_ROOT);
  toy.program("sudo", REFUSES);
  toy.program("apt-get", NEVER_CALLED);
  const { code, stdout, stderr } = await toy.run("node", ["scripts/setup.mjs"]);
  expect({ code, stdout, calls: toy.npmCalls(), apt: existsSync(join(toy.root, "apt-calls")) }).toEqual({
    code: 1,
    stdout: "",
    calls: [],
    apt: false,
  });
  expect(stderr.split("\n")).toContain("  sudo apt-get install -y git");
});

test("as root, a missing program is installed, after refreshing the package lists when they are stale", async () => {
  using toy = toyProject();
  toy.removeProgram("git");
  toy.program("id", ROOT);
  // The first `install` fails as on a machine whose lists are empty; after `update` it works.
  toy.program(
    "apt-get",
    '#!/bin/sh\nwhile [ "$1" = -o ]; do shift 2; done\necho "$1" >>"$TOY_ROOT/apt-calls"\n' +
      '[ "$1" = update ] && : >"$TOY_ROOT/updated"\n[ -e "$TOY_ROOT/updated" ] || exit 100\n' +
      'if [ "$1" = install ]; then : >"$TOY_ROOT/bin/git"; chmod 755 "$TOY_ROOT/bin/git"; fi\n',
  );
  const { code } = await toy.run("node", ["scripts/setup.mjs"]);
  const { stdout } = await toy.run("cat", ["apt-calls"]);
  expect({ code, apt: stdout }).toEqual({ code: 0, apt: "install\nupdate\ninstall\n" });
});

test("set-ups at the same time take turns and install once", async () => {
  using toy = toyProject();
  const outcomes = await Promise.all([1, 2, 3].map(() => toy.run("node", ["scripts/setup.mjs"])));
  expect({ codes: outcomes.map(({ code }) => code), calls: toy.npmCalls() }).toEqual({
    codes: [0, 0, 0],
    calls: ["ci"],
  });
  expect(outcomes.map(({ stderr }) => stderr).join("")).toContain("waiting for it to end");
});

test("control: without the lock, set-ups at the same time overlap", async () => {
  using toy = toyProject();
  toy.program("npm", LONG_NPM);
  await Promise.all([1, 2, 3].map(() => toy.run("node", ["scripts/setup.mjs", "--locked"])));
  expect(toy.npmCalls()).toContain("overlap");
});

test("an interrupted installation leaves no stamp, and the next run completes it", async () => {
  using toy = toyProject();
  toy.program("npm", '#!/bin/sh\nmkdir -p node_modules/half\nkill -9 "$PPID"\n');
  const first = await toy.run("node", ["scripts/setup.mjs"]);
  const stamped = existsSync(join(toy.root, ".toolchain/ready"));
  toy.program("npm", "#!/bin/sh\nmkdir -p node_modules\necho '{\"packages\":{}}' >node_modules/.package-lock.json\n");
  const second = await toy.run("node", ["scripts/setup.mjs"]);
  expect({ first: first.code === 0, stamped, second: second.code }).toEqual({
    first: false,
    stamped: false,
    second: 0,
  });
  expect(existsSync(join(toy.root, ".toolchain/ready"))).toBe(true);
});

test("without a network it says what was tried and what to do next", async () => {
  using toy = toyProject();
  toy.program("npm", '#!/bin/sh\necho "npm error code ENOTFOUND" >&2\nexit 1\n');
  const { code, stdout, stderr } = await toy.run(join(toy.root, "handrail"));
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  for (const part of ["`npm ci --ignore-scripts", "npm error code ENOTFOUND", "check the network"])
    expect(stderr).toContain(part);
});

test("an npm script runs its command after the set-up and passes the arguments and the exit code on", async () => {
  using toy = toyProject();
  writeFileSync(
    join(toy.root, "src/cli/main.ts"),
    "console.log(process.argv.slice(2).join());\nprocess.exitCode = 7;\n",
  );
  const { code, stdout } = await toy.run("node", ["scripts/run.mjs", "start", "--once"]);
  expect({ code, stdout: stdout.trim().split(",").at(-1) }).toEqual({ code: 7, stdout: "--once" });
  expect((await toy.run("node", ["scripts/run.mjs", "toString"])).code).toBe(2);
});

test("the long tests choose a seed and tell it, or take the one that they are given; the others have none", async () => {
  using toy = toyProject();
  const python = `HANDRAIL_TEST_PYTHON=${join(toy.root, "bin/python")}`;
  toy.program("python", "#!/bin/sh\n");
  mkdirSync(join(toy.root, "node_modules/vitest"), { recursive: true });
  writeFileSync(
    join(toy.root, "node_modules/vitest/vitest.mjs"),
    'console.log("full", process.env.HANDRAIL_FULL, "seed", process.env.HANDRAIL_SEED + ".");\n',
  );
  const run = (script: string, ...given: string[]) =>
    toy.run("env", [python, ...given, "node", "scripts/run.mjs", script]);
  const told = (seed: string) =>
    `random tests start from seed ${seed}; run them again with \`HANDRAIL_SEED=${seed} npm run test:full\``;
  const first = await run("test:full");
  const second = await run("test:full");
  const [, seed = ""] = /full 1 seed (\d+)\./.exec(first.stdout) ?? [];
  expect(first.stderr).toContain(told(seed));
  expect(second.stdout).not.toContain(`seed ${seed}.`);
  const again = await run("test:full", `HANDRAIL_SEED=${seed}`);
  expect([again.stdout.includes(`full 1 seed ${seed}.`), again.stderr.includes(told(seed))]).toEqual([true, true]);
  expect((await run("test")).stdout).toContain("full undefined seed undefined.");
});

test("Node 22.18 is the oldest that is accepted", () => {
  const versions = ["v18.19.0", "v20.20.2", "v22.17.9", "v22.18.0", "v23.0.0", "v24.1.0"];
  expect(versions.filter(isSupported)).toEqual(["v22.18.0", "v23.0.0", "v24.1.0"]);
});

test("packages match only when each has the locked version and hash, and none is missing or additional", () => {
  using toy = toyProject();
  const write = (file: string, packages: object) => writeFileSync(join(toy.root, file), JSON.stringify({ packages }));
  const a = { version: "1.0.0", integrity: "sha512-a" };
  const foreign = { version: "1.0.0", integrity: "sha512-f", optional: true };
  mkdirSync(join(toy.root, "node_modules"));
  write("package-lock.json", { "": {}, "node_modules/a": a, "node_modules/foreign": foreign });
  const matches = (packages: object) => {
    write("node_modules/.package-lock.json", packages);
    return packagesMatch(toy.root);
  };
  expect(matches({ "node_modules/a": a })).toBe(true);
  expect(matches({ "node_modules/a": a, "node_modules/foreign": foreign })).toBe(true);
  expect(matches({})).toBe(false);
  expect(matches({ "node_modules/a": { ...a, version: "1.0.1" } })).toBe(false);
  expect(matches({ "node_modules/a": { ...a, integrity: "sha512-b" } })).toBe(false);
  expect(matches({ "node_modules/a": a, "node_modules/extra": a })).toBe(false);
});

test("what only the tests need is asked for by the tests alone, with the exact apt-get line", async () => {
  using toy = toyProject();
  toy.program("id", NOT_ROOT);
  toy.program("sudo", REFUSES);
  toy.program("apt-get", NEVER_CALLED);
  toy.program("python", REFUSES);
  for (const name of ["runc", "newuidmap", "rg"]) toy.program(name, "#!/bin/sh\n");
  const python = `HANDRAIL_TEST_PYTHON=${join(toy.root, "bin/python")}`;
  const tested = await toy.run("env", [python, "node", "scripts/run.mjs", "test"]);
  expect(tested.code).toBe(1);
  expect(tested.stderr.split("\n")).toContain("  sudo apt-get install -y python3-grpcio");
  expect((await toy.run("env", [python, "node", "scripts/run.mjs", "start"])).code).toBe(0);
});

test("as root, what only the tests need is installed before they run", async () => {
  using toy = toyProject();
  toy.program("id", ROOT);
  toy.program("python", '#!/bin/sh\n[ -e "$TOY_ROOT/grpc" ]\n');
  for (const name of ["runc", "newuidmap", "rg"]) toy.program(name, "#!/bin/sh\n");
  toy.program("apt-get", '#!/bin/sh\necho "$@" >>"$TOY_ROOT/apt-calls"\n: >"$TOY_ROOT/grpc"\n');
  mkdirSync(join(toy.root, "node_modules/vitest"), { recursive: true });
  writeFileSync(join(toy.root, "node_modules/vitest/vitest.mjs"), 'console.log("tests run");\n');
  const { code, stdout } = await toy.run("env", [
    `HANDRAIL_TEST_PYTHON=${join(toy.root, "bin/python")}`,
    "node",
    "scripts/run.mjs",
    "test",
  ]);
  expect([code, stdout.includes("tests run")]).toEqual([0, true]);
  expect((await toy.run("cat", ["apt-calls"])).stdout).toMatch(/install -y --no-install-recommends python3-grpcio\n$/);
});
