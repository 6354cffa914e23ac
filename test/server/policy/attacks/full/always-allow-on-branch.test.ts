/**
 * What a person allows for good of a call on a branch, which can be thrown away, must not run unasked in the workspace
 * itself.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newId, systemRandom } from "../../../../../src/base/ids.ts";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { narrowestPermit } from "../../../../../src/policy/explain.ts";
import { openKernel } from "../../../../../src/server/compose.ts";
import { until } from "../../../../support/command-line.ts";
import { freshPlace } from "../../../../support/place.ts";

const ASKED = "tool_approval_required";
/** What a command that was allowed comes to: nothing runs. */
const ALLOWED = "SANDBOX_UNAVAILABLE";

async function openPlace() {
  const place = freshPlace();
  place.put("config/handrail.yaml", "sandbox: { backend: none }\napprovals: { wait_seconds: 0 }\n");
  place.put("workspace/docs/x.md", "precious");
  const kernel = await openKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home },
    onWarning: () => undefined,
  });
  onTestFinished(() => kernel.close());
  const session = async (wish: { readonly branch?: string } = {}) => {
    const who = { workspace: place.workspace, userId: "bob", agentId: "helper", ...wish };
    const { token } = await kernel.administration.createSession(who);
    return async (tool: string, args: JsonObject) => {
      const requestId = newId("req", systemRandom);
      const submission = { kind: "call", requestId, sessionToken: token, tool, arguments: args } as const;
      const { outcome } = await kernel.door.execute(submission, new AbortController().signal);
      return outcome.kind === "denied" ? outcome.denial.reason : outcome.kind === "error" ? outcome.code : outcome.kind;
    };
  };
  const asked = async () => {
    const [found] = await kernel.approvals.list();
    if (found === undefined) throw new Error("nothing was asked");
    return found;
  };
  return { place, kernel, session, asked };
}

const npmrc = (content: string): JsonObject => ({ path: ".npmrc", content });
const removing: JsonObject = { command: "rm -rf docs" };

test.each([
  ["write_file", npmrc("a"), npmrc("script-shell=./evil"), "success"],
  ["shell", removing, removing, ALLOWED],
] as const)("an always for %s on a nested branch holds on branches, and asks in the workspace", async (...given) => {
  const [tool, allowed, later, done] = given;
  const { place, kernel, session, asked } = await openPlace();
  const call = await session();
  expect(await call("create_branch", { name: "outer" })).toBe("success");
  expect(await call("create_branch", { name: "inner" })).toBe("success");
  expect(await call(tool, allowed)).toBe(ASKED);
  const request = await asked();
  expect(await call("drop_branch", { name: "inner" })).toBe("success");
  expect(await call("drop_branch", { name: "outer" })).toBe("success");

  // proposed when the session is in the workspace again: where the call was counts
  const proposal = await kernel.alwaysAllow.propose(request);
  expect(proposal).toMatchObject({
    kind: "proposed",
    onBranches: true,
    text: expect.stringContaining("onBranch"),
    past: { changed: { obligations: 1 } },
  });
  const file = await kernel.alwaysAllow.write(request, "carol");
  expect(readFileSync(join(place.config, file), "utf8")).toMatch(/&& context\.onBranch && /);
  const bound = await session({ branch: "of-its-own" });
  await until(async () => (await bound(tool, allowed)) === done);

  expect(await call(tool, later)).toBe(ASKED);
  expect(await (await session())(tool, later)).toBe(ASKED);
  expect(existsSync(join(place.workspace, ".npmrc"))).toBe(false);
  expect(await call("create_branch", { name: "again" })).toBe("success");
  expect(await call(tool, allowed)).toBe(done);
});

test("an always for a call in the workspace itself says nothing of branches, also when its session is on one", async () => {
  const { kernel, session, asked } = await openPlace();
  const call = await session();
  expect(await call("write_file", npmrc("a"))).toBe(ASKED);
  const request = await asked();
  expect(await call("create_branch", { name: "later" })).toBe("success");
  const proposal = await kernel.alwaysAllow.propose(request);
  expect(proposal).toMatchObject({ kind: "proposed", onBranches: false });
  expect(JSON.stringify(proposal)).not.toContain("context.onBranch");
  await kernel.alwaysAllow.write(request, "carol");
  await until(async () => (await call("write_file", npmrc("a"))) === "success");
  expect(await (await session())("write_file", npmrc("b"))).toBe("success");
});

test("there is no always for what a merge brings", async () => {
  const { kernel, session, asked } = await openPlace();
  const call = await session();
  expect(await call("create_branch", { name: "one" })).toBe("success");
  expect(await call("write_file", { path: "new.txt", content: "x" })).toBe("success");
  expect(await call("merge_branch", { name: "one" })).toBe(ASKED);
  expect(await kernel.alwaysAllow.propose(await asked())).toEqual({
    kind: "impossible",
    why: expect.stringMatching(/^it is about what a merge brings/),
  });
});

test("explaining a call on a branch proposes a permit for branches", async () => {
  const { kernel, place } = await openPlace();
  const who = { workspace: place.workspace, userId: "bob", agentId: "helper" };
  const permits = async (wish: { readonly branch?: string; readonly preset?: string }) => {
    const imagined = await kernel.administration.imagineSession({ ...who, ...wish });
    const { accesses } = await kernel.door.explain({ who: imagined, tool: "write_file", args: npmrc("a") });
    return accesses.map(({ request }) => narrowestPermit(request)?.includes("context.onBranch && ") === true);
  };
  expect(await permits({})).toEqual([false]);
  expect(await permits({ branch: "any" })).toEqual([true]);
  expect(await permits({ preset: "autonomous" })).toEqual([true]);
});
