/**
 * `install_dependencies` through the whole kernel: asked for, approved, run in the sandbox, out through the proxy to a
 * registry, and all of it in the ledger. The internet is the test's own, on loopback; everything else is as it is
 * shipped.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { ApprovalManager, createKernel } from "../../../../../src/index.ts";
import { Internet } from "../../../../support/egress.ts";
import { readEvidence } from "../../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../../support/place.ts";

/** Where npm was installed, unless commands see it anyway. */
const prefix = dirname(dirname(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim()));
const toolchains = prefix.startsWith("/usr") || prefix === "/" ? [] : [prefix];

/** The package `tiny`, packed, with a script of its own. */
function tinyPackage(place: Place): Buffer {
  const scripts = { postinstall: "touch script-ran" };
  place.put(
    "registry/package/package.json",
    JSON.stringify({ name: "tiny", version: "1.0.0", main: "index.js", scripts }),
  );
  place.put("registry/package/index.js", "module.exports = 7;\n");
  return execFileSync("tar", ["-czf", "-", "-C", join(place.base, "registry"), "package"]);
}

/** A service that depends on `tiny`, as its lock file says from `host`. */
function service(place: Place, host: string, tarball: Buffer): void {
  const dependencies = { tiny: "1.0.0" };
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const resolved = `http://${host}/tiny/-/tiny-1.0.0.tgz`;
  const packages = {
    "": { name: "x", version: "1.0.0", dependencies },
    "node_modules/tiny": { version: "1.0.0", resolved, integrity, hasInstallScript: true },
  };
  const lock = { name: "x", version: "1.0.0", lockfileVersion: 3, requires: true, packages };
  const test = "node -e \"process.exit(require('tiny') - 7)\"";
  place.put("workspace/package.json", JSON.stringify({ name: "x", version: "1.0.0", dependencies, scripts: { test } }));
  place.put("workspace/package-lock.json", JSON.stringify(lock));
}

async function opened(scripts = false) {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const settings = {
    sandbox: { toolchains },
    capabilities: { install_dependencies: { allowed_hosts: ["registry.example"] } },
    workspaces: [
      { path: place.workspace, toolchain: { install: { scripts, registries: { npm: ["registry.example:80"] } } } },
    ],
  };
  place.put("config/handrail.yaml", JSON.stringify(settings));
  const asked: string[] = [];
  const approvals = new ApprovalManager();
  approvals.setHandler({ request: async ({ tool }) => asked.push(tool) > 0 });
  const where = { environment: {}, stateDirectory: place.state, configDirectory: place.config };
  const kernel = await createKernel({ ...where, approvals, network: internet.network });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= kernel.close());
  onTestFinished(close);
  const session = await kernel.openSession({ workspace: place.workspace });
  return { place, internet, asked, session, close };
}

const facts = (evidence: Awaited<ReturnType<typeof readEvidence>>, type: string) =>
  evidence.filter(({ entry }) => entry.eventType === type).map(({ payload }) => payload);

test("what the lock file names is installed from the registry, without its scripts, and the tests find it", async () => {
  const { place, internet, asked, session, close } = await opened();
  const tarball = tinyPackage(place);
  const requested: (string | undefined)[] = [];
  await internet.http("registry.example", 80, ({ url }, response) => {
    requested.push(url);
    response.end(tarball);
  });
  service(place, "registry.example", tarball);
  expect((await session.call("run_test", {})).result).toMatchObject({ data: { passed: false } });
  const installed = await session.call("install_dependencies", { manager: "npm" });
  expect(installed.result).toMatchObject({ status: "success", data: { installed: true, exit_code: 0 } });
  expect([asked, requested, existsSync(join(place.workspace, "node_modules/tiny/script-ran"))]).toEqual([
    [],
    ["/tiny/-/tiny-1.0.0.tgz"],
    false,
  ]);
  expect(readFileSync(join(place.workspace, "node_modules/tiny/index.js"), "utf8")).toBe("module.exports = 7;\n");
  expect((await session.call("run_test", {})).result).toMatchObject({ data: { passed: true } });
  expect(asked).toEqual([]);
  await session.call("shell", { command: "true" }); // a registry's words were in the answer, and it reaches nobody
  expect(asked).toEqual([]);
  await session.call("shell", { command: "curl https://registry.example/", network_access: true });
  expect(asked).toEqual(["shell"]);
  await close();

  const evidence = await readEvidence(place.state);
  const [reached] = facts(evidence, "network_reached");
  expect(reached).toMatchObject({
    tool: "install_dependencies",
    host: "registry.example",
    port: 80,
    outcome: "allowed",
  });
  const outcome = facts(evidence, "tool_executed").find(({ tool }) => tool === "install_dependencies");
  expect(outcome).toMatchObject({
    success: true,
    sandbox: { network: "proxy" },
    commands: [{ exitCode: 0 }],
  });
  const accesses = (outcome?.["accesses"] ?? []) as readonly JsonObject[];
  expect(accesses.map(({ kind, line, host, port }) => [kind, line ?? host, port])).toEqual(
    expect.arrayContaining([
      ["command", "npm ci --ignore-scripts --no-audit --no-fund", undefined],
      ["host", "registry.example", 80],
    ]),
  );
});

test("where the operator allows it packages run their scripts", async () => {
  const { place, internet, asked, session } = await opened(true);
  const tarball = tinyPackage(place);
  await internet.http("registry.example", 80, (_, response) => response.end(tarball));
  service(place, "registry.example", tarball);
  expect((await session.call("install_dependencies", { manager: "npm" })).result).toMatchObject({
    data: { command: "npm ci --no-audit --no-fund", installed: true },
  });
  expect([asked, existsSync(join(place.workspace, "node_modules/tiny/script-ran"))]).toEqual([
    ["install_dependencies"],
    true,
  ]);
});

test("a host that only the lock file names is refused before anything runs", async () => {
  const { place, internet, session } = await opened();
  service(place, "evil.example", tinyPackage(place));
  expect((await session.call("install_dependencies", { manager: "npm" })).result).toMatchObject({
    error: {
      code: "NOT_SUPPORTED",
      message: expect.stringContaining("`node_modules/tiny`, which comes from `evil.example`"),
    },
  });
  expect([existsSync(join(place.workspace, "node_modules")), internet.connected, internet.lookedUp]).toEqual([
    false,
    [],
    [],
  ]);
});

test("a host that a registry sends npm to is not reached, and that is in the ledger", async () => {
  const { place, internet, session, close } = await opened();
  const tarball = tinyPackage(place);
  await internet.http("registry.example", 80, (_, response) =>
    response.writeHead(302, { location: "http://evil.example/tiny.tgz" }).end(),
  );
  service(place, "registry.example", tarball);
  const { result } = await session.call("install_dependencies", { manager: "npm" });
  expect(result).toMatchObject({ status: "success", data: { installed: false } });
  expect([existsSync(join(place.workspace, "node_modules/tiny")), internet.lookedUp]).toEqual([
    false,
    ["registry.example"],
  ]);
  await close();
  const evidence = await readEvidence(place.state);
  expect(facts(evidence, "network_blocked")).toMatchObject([
    { host: "evil.example", port: 80, outcome: "refused", severity: "warning" },
  ]);
});

test("packages of the workspace are linked, and get directories of their own where the lock file says so", async () => {
  const { place, internet, session } = await opened();
  const tarball = tinyPackage(place);
  await internet.http("registry.example", 80, (_, response) => response.end(tarball));
  service(place, "registry.example", tarball);
  const lock = JSON.parse(readFileSync(join(place.workspace, "package-lock.json"), "utf8"));
  const tiny = lock.packages["node_modules/tiny"];
  const member = { name: "a", version: "1.0.0", dependencies: { tiny: "1.0.0" }, bin: { a: "cli.js" } };
  const packages = {
    "": { name: "x", version: "1.0.0", workspaces: ["packages/*"] },
    "node_modules/a": { resolved: "packages/a", link: true },
    "packages/a": member,
    "packages/a/node_modules/tiny": tiny,
  };
  place.put("workspace/package.json", JSON.stringify({ name: "x", version: "1.0.0", workspaces: ["packages/*"] }));
  place.put("workspace/packages/a/package.json", JSON.stringify({ ...member, scripts: { prepare: "exit 1" } }));
  place.put("workspace/packages/a/cli.js", "#!/usr/bin/env node\n");
  place.put("workspace/packages/a/.npmrc", "git=/workspace/evil.sh\n");
  place.put("workspace/package-lock.json", JSON.stringify({ ...lock, packages }));
  const { result } = await session.call("install_dependencies", { manager: "npm" });
  expect(result).toMatchObject({ status: "success", data: { installed: true } });
  const at = (path: string) => existsSync(join(place.workspace, path));
  expect([
    at("node_modules/a/package.json"),
    at("packages/a/node_modules/tiny/index.js"),
    at("node_modules/.bin/a"),
  ]).toEqual([true, true, false]);
});
