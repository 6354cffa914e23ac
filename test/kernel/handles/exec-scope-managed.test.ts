// Who may write what is installed: the commands of installations alone, where the lease lets them, and never a
// repository.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { INITIAL_MARK } from "../../../src/flow/flow.ts";
import { Holdings, type UsedApproval } from "../../../src/kernel/call/holdings.ts";
import { ApprovedTargets } from "../../../src/kernel/call/pre-image.ts";
import { arrive, type Granted } from "../../../src/kernel/call/stages.ts";
import { execScope } from "../../../src/kernel/handles/exec-scope.ts";
import { NO_GATES } from "../../../src/model/people/gates.ts";
import type { LeaseScope } from "../../../src/model/people/lease.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../../src/model/place/zone.ts";
import { openWorkspaceRoots } from "../../../src/sandbox/files/files.ts";
import type { ScopeJudge } from "../../../src/sandbox/sandbox.ts";
import { toolchainTools } from "../../../src/tools/toolchain/toolchain-tools.ts";
import { memoryKernel } from "../../support/memory-kernel.ts";
import { newSandboxPlace } from "../../support/sandbox-place.ts";

/** The judge of commands of the tool. */
async function judgeOf(
  name: string,
  scope: Partial<LeaseScope>,
  approval?: UsedApproval,
  { mark = INITIAL_MARK, policies }: { readonly mark?: typeof INITIAL_MARK; readonly policies?: string } = {},
): Promise<ScopeJudge> {
  const { session, lease, policy, root, time } = await memoryKernel({
    tools: toolchainTools,
    preset: mark === INITIAL_MARK ? "open" : "dev",
    scope,
    ...(policies !== undefined && { policies }),
  });
  const tool = toolchainTools.find((one) => one.name === name);
  const workspace = {
    serviceRoot: root,
    projectRoot: root,
    sharedPaths: [],
    zones: compileZones(BUILT_IN_ZONE_RULES, ""),
  };
  const roots = openWorkspaceRoots(workspace);
  onTestFinished(() => roots.close());
  const place = { workspace, roots, disabledTools: new Set<string>(), volumeId: "1" };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => 0 };
  const holdings = new Holdings();
  if (approval !== undefined) holdings.takeApproval(approval);
  const granted = {
    ...arrive(clock),
    caller: { session, lease, place, mark, armed: false, gates: NO_GATES },
    call: { arguments: {} },
    accesses: [],
    policy: await policy.current(),
    tool,
    holdings,
  } as unknown as Granted;
  return execScope(granted, { hides: () => false }, { hasReached: () => false, isLost: () => false });
}

/** What commands of the tool may do with each path. */
async function reaches(name: string, scope: Partial<LeaseScope>, paths: readonly string[]): Promise<readonly string[]> {
  const judge = await judgeOf(name, scope);
  return paths.map((path) => judge.entry(path, true));
}

const PATHS = ["node_modules", "node_modules/a/.git/x", "web/node_modules", ".git", ".git/node_modules", "src", ".env"];

test("only installations write node_modules", async () => {
  expect(await reaches("install_dependencies", {}, PATHS)).toEqual([
    "write",
    "write",
    "write",
    "read",
    "read",
    "write",
    "hidden",
  ]);
  for (const name of ["run_test", "run_lint"])
    expect(await reaches(name, {}, PATHS)).toEqual(["read", "read", "read", "read", "read", "write", "hidden"]);
});

test("who agreed to an installation after untrusted content agreed to each file of it, and nobody else did", async () => {
  const asked = async (...rules: readonly string[]) => {
    const approval = {
      ref: "r",
      id: "install_dependencies:execute",
      rules: new Set(rules),
      targets: new ApprovedTargets(new Map(), new Uint8Array(32)),
    };
    const judge = await judgeOf("install_dependencies", {}, approval, {
      mark: { ...INITIAL_MARK, trustLevel: "untrusted" },
    });
    return [
      judge.entry("src", true),
      judge.entry("package.json", false),
      judge.entry("CLAUDE.md", false),
      judge.entry(".env", false),
    ];
  };
  expect(await asked("FC-3")).toEqual(["write", "write", "read", "hidden"]);
  expect(await asked("dev.install-scripts")).toEqual(["read", "hidden", "hidden", "hidden"]);
});

test("a lease that does not let node_modules be written holds for installations too", async () => {
  expect(await reaches("install_dependencies", { writePaths: [["src/**", "src"]] }, ["node_modules", "src"])).toEqual([
    "read",
    "write",
  ]);
  expect(
    await reaches("install_dependencies", { writePaths: [["**/node_modules", "**/node_modules/**"]] }, [
      "node_modules",
      "src",
    ]),
  ).toEqual(["write", "read"]);
});

test("npm replaces node_modules, made before or not, and all of it is kept; tests only read it", async () => {
  const place = newSandboxPlace();
  onTestFinished(() => place.close());
  const described = { name: "x", version: "1.0.0", dependencies: { "its-own": "file:its-own" } };
  const lock = {
    name: "x",
    version: "1.0.0",
    lockfileVersion: 3,
    requires: true,
    packages: {
      "": described,
      "its-own": { version: "1.0.0" },
      "node_modules/its-own": { resolved: "its-own", link: true },
    },
  };
  mkdirSync(join(place.root, "its-own"));
  writeFileSync(join(place.root, "its-own/package.json"), JSON.stringify({ name: "its-own", version: "1.0.0" }));
  writeFileSync(join(place.root, "package.json"), JSON.stringify(described));
  writeFileSync(join(place.root, "package-lock.json"), JSON.stringify(lock));
  const judge = await judgeOf("install_dependencies", {});
  for (const round of ["new", "replaced"]) {
    const { end, stderr } = await place.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], { judge });
    expect([round, end.exitCode, end.landed?.notKept, stderr]).toEqual([round, 0, [], ""]);
    expect(readdirSync(join(place.root, "node_modules"))).toEqual([".package-lock.json", "its-own"]);
    expect((await place.run("touch node_modules/old", { judge })).end.exitCode).toBe(0);
  }
  const tests = await place.run("touch node_modules/new", { judge: await judgeOf("run_test", {}) });
  expect(tests.stderr).toContain("Read-only file system");
});

test("a link is not made where a rule may name what lies behind it", async () => {
  const judge = await judgeOf("run_test", { writePaths: [["*", "sub/**"]] });
  const paths = ["plain", "sub/link", ".yarn", "sub/mise", ".kube"];
  expect(paths.filter((path) => judge.allowsLink?.(path))).toEqual(["plain", "sub/link"]);
});

test("a link is not made where policy would not let a new file be written behind it", async () => {
  const forbid = `@id("no.vault") forbid (principal, action, resource is Handrail::File)
    when { context.effect == "write" && resource.path like "vault/*" };`;
  const allowed = async (policies?: string) => {
    const judge = await judgeOf("run_test", {}, undefined, policies === undefined ? {} : { policies });
    return ["vault", "plain"].filter((path) => judge.allowsLink?.(path));
  };
  expect(await allowed(forbid)).toEqual(["plain"]);
  expect(await allowed()).toEqual(["vault", "plain"]); // the control
});
