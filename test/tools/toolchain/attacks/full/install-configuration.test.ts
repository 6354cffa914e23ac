/**
 * Configuration of a package manager as an attack: files of the workspace that make `install_dependencies` run a
 * program of the agent's while the registry can be reached. Each attack works without the defence: npm itself shows
 * that first, in the test's own directory.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ApprovalManager, createKernel } from "../../../../../src/index.ts";
import { Internet } from "../../../../support/egress.ts";
import { freshPlace, type Place } from "../../../../support/place.ts";

/** Where npm was installed, unless commands see it anyway. */
const prefix = dirname(dirname(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim()));
const toolchains = prefix.startsWith("/usr") || prefix === "/" ? [] : [prefix];

/**
 * A kernel over a workspace, with an internet of its own that answers for the one registry. `meanwhile` happens while a
 * person decides.
 */
async function opened(meanwhile: () => void = () => undefined, scripts = false, backend = "bwrap") {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const toolchain = { install: { scripts, registries: { npm: ["registry.example:80"] } } };
  place.put(
    "config/handrail.yaml",
    JSON.stringify({ sandbox: { backend, toolchains }, workspaces: [{ path: place.workspace, toolchain }] }),
  );
  const approvals = new ApprovalManager();
  approvals.setHandler({
    request: async () => {
      meanwhile();
      return true;
    },
  });
  const where = { environment: {}, stateDirectory: place.state, configDirectory: place.config };
  const kernel = await createKernel({ ...where, approvals, network: internet.network });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace });
  const install = async () => (await session.call("install_dependencies", { manager: "npm" })).result;
  return { place, internet, install };
}

/**
 * A project with a dependency from git that its lock file keeps quiet about, and a program that stands for git if
 * anybody obeys `.npmrc`.
 */
function plantGit(place: Place): { readonly ran: string } {
  const dependencies = { x: "git+ssh://git@host.example/x.git" };
  place.put("workspace/package.json", JSON.stringify({ name: "p", version: "1.0.0", dependencies }));
  const packages = { "": { name: "p", version: "1.0.0", dependencies } };
  place.put(
    "workspace/package-lock.json",
    JSON.stringify({ name: "p", version: "1.0.0", lockfileVersion: 3, requires: true, packages }),
  );
  return { ran: plantProgram(place) };
}

/** A program that leaves a trace beside it, whose path this is. */
function plantProgram(place: Place): string {
  place.put("workspace/evil.sh", '#!/bin/sh\ntouch "$(dirname "$0")/ran"\nexit 1\n');
  chmodSync(join(place.workspace, "evil.sh"), 0o755);
  return join(place.workspace, "ran");
}

/** npm as it is without a kernel before it, as the kernel once started it; says whether it ran the program. */
function npmAlone(place: Place, ran: string, configuration: string, ...options: readonly string[]): boolean {
  place.put("workspace/.npmrc", configuration.replaceAll("/workspace", place.workspace));
  const env = {
    PATH: process.env["PATH"],
    HOME: place.base,
    npm_config_registry: "http://127.0.0.1:9",
    npm_config_fetch_retries: "0",
  };
  try {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund", ...options], { cwd: place.workspace, env, stdio: "ignore" });
  } catch {
    // what it comes to does not matter: whether it ran the program does
  }
  const hasRun = existsSync(ran);
  for (const left of [ran, join(place.workspace, ".npmrc"), join(place.workspace, "node_modules")])
    rmSync(left, { recursive: true, force: true });
  return hasRun;
}

const GIT = "git=/workspace/evil.sh\n";

test("a `.npmrc` that names a program for git refuses the installation, and says which setting does", async () => {
  const { place, install, internet } = await opened();
  const { ran } = plantGit(place);
  expect(npmAlone(place, ran, GIT, "--ignore-scripts"), "the attack works where npm obeys the file").toBe(true);
  place.put("workspace/.npmrc", GIT);
  expect(await install()).toMatchObject({
    error: {
      code: "NOT_SUPPORTED",
      message: "`.npmrc` sets `git` in line 1, which no installation obeys here; nothing was installed",
    },
  });
  expect([existsSync(ran), internet.connected]).toEqual([false, []]);
});

test.each(["bwrap", "container"])(
  "%s: a `.npmrc` that appears once the files were judged is not obeyed, and nothing stands for git",
  async (backend) => {
    const { place, install } = await opened(() => void place.put("workspace/.npmrc", GIT), false, backend);
    const { ran } = plantGit(place);
    expect(npmAlone(place, ran, GIT, "--ignore-scripts")).toBe(true);
    expect(await install()).toMatchObject({ status: "success", data: { installed: false } });
    expect([existsSync(join(place.workspace, ".npmrc")), existsSync(ran)]).toEqual([true, false]);
  },
);

test("a lock file that changes while a person decides takes the approval away", async () => {
  const { place, install, internet } = await opened(
    () => void place.put("workspace/package-lock.json", '{"lockfileVersion":3,"packages":{}}'),
  );
  plantGit(place);
  expect(await install()).toMatchObject({
    error: { code: expect.stringMatching(/APPROVAL|DENIED/), rule_id: expect.stringContaining("APPROVAL") },
  });
  expect(internet.connected).toEqual([]);
});

test("where the operator allows packages their scripts, the project's own still do not run", async () => {
  const { place, install } = await opened(() => undefined, true);
  const ran = plantProgram(place);
  const [name, version] = ["p", "1.0.0"];
  const scripts = { preinstall: "sh ./evil.sh", install: "sh /workspace/evil.sh", prepare: "sh ./evil.sh" };
  place.put("workspace/package.json", JSON.stringify({ name, version, scripts }));
  const packages = { "": { name, version, hasInstallScript: true } };
  place.put(
    "workspace/package-lock.json",
    JSON.stringify({ name, version, lockfileVersion: 3, requires: true, packages }),
  );
  expect(npmAlone(place, ran, "")).toBe(true);
  expect(await install()).toMatchObject({ status: "success", data: { installed: true } });
  expect(existsSync(ran)).toBe(false);
});

test("files of the workspace that are not judged do not exist for the installation", async () => {
  const { place, install } = await opened(() => undefined, true);
  const ran = plantProgram(place);
  // Where it is seen, it is built by its own commands.
  place.put("workspace/binding.gyp", '{"targets":[{"target_name":"<!(sh evil.sh)"}]}');
  place.put("workspace/yarn.lock", 'x@*:\n  version "1.0.0"\n  resolved "https://evil.example/x.tgz"\n');
  place.put("workspace/package.json", JSON.stringify({ name: "p", version: "1.0.0", packageManager: "yarn@99.0.0" }));
  const packages = { "": { name: "p", version: "1.0.0" } };
  place.put(
    "workspace/package-lock.json",
    JSON.stringify({ name: "p", version: "1.0.0", lockfileVersion: 3, requires: true, packages }),
  );
  expect(await install()).toMatchObject({ status: "success", data: { installed: true } });
  expect(existsSync(ran)).toBe(false);
});
