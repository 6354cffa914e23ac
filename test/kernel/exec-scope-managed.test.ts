// Who may write what is installed: the commands of installations alone, where the lease lets them, and never a repository.
import { expect, onTestFinished, test } from "vitest";
import { INITIAL_MARK } from "../../src/flow/flow.ts";
import { execScope } from "../../src/kernel/exec-scope.ts";
import { beginTrail } from "../../src/kernel/trail.ts";
import { NO_GATES } from "../../src/model/gates.ts";
import type { LeaseScope } from "../../src/model/lease.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../src/model/zone.ts";
import { openWorkspaceRoots } from "../../src/sandbox/files/files.ts";
import { toolchainTools } from "../../src/tools/toolchain/toolchain-tools.ts";
import { memoryKernel } from "../support/memory-kernel.ts";

/** What commands of the tool may do with each path. */
async function reaches(name: string, scope: Partial<LeaseScope>, paths: readonly string[]): Promise<readonly string[]> {
  const { session, lease, policy, root, time } = await memoryKernel({ tools: toolchainTools, preset: "open", scope });
  const tool = toolchainTools.find((one) => one.name === name);
  const workspace = { serviceRoot: root, projectRoot: root, sharedPaths: [], zones: compileZones(BUILT_IN_ZONE_RULES, "") };
  const roots = openWorkspaceRoots(workspace);
  onTestFinished(() => roots.close());
  const place = { workspace, roots, disabledTools: new Set<string>(), volumeId: "1" };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => 0 };
  const trail = {
    ...beginTrail(clock),
    caller: { session, lease, place, mark: INITIAL_MARK, armed: false, gates: NO_GATES },
    ...(tool && { tool }),
  };
  const judge = execScope(trail, await policy.current(), time.nowMs);
  return paths.map((path) => judge.entry(path, true));
}

const PATHS = ["node_modules", "node_modules/a/.git/x", "web/node_modules", ".git", ".git/node_modules", "src", ".env"];

test("only installations write node_modules", async () => {
  expect(await reaches("install_dependencies", {}, PATHS)).toEqual(["write", "write", "write", "read", "read", "write", "hidden"]);
  for (const name of ["run_test", "run_lint"])
    expect(await reaches(name, {}, PATHS)).toEqual(["read", "read", "read", "read", "read", "write", "hidden"]);
});

test("a lease that does not let node_modules be written holds for installations too", async () => {
  expect(await reaches("install_dependencies", { writePaths: [["src/**", "src"]] }, ["node_modules", "src"])).toEqual(["read", "write"]);
  expect(
    await reaches("install_dependencies", { writePaths: [["**/node_modules", "**/node_modules/**"]] }, ["node_modules", "src"]),
  ).toEqual(["write", "read"]);
});
