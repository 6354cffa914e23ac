// "Always allow": as narrow as the call that asked, tried before it is proposed, written and recorded only when told
// to.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newId, systemRandom } from "../../../src/base/ids.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { openKernel } from "../../../src/server/compose.ts";
import { until } from "../../support/command-line.ts";
import { readEvidence } from "../../support/evidence.ts";
import { testTool } from "../../support/memory-kernel.ts";
import { freshPlace, type Place } from "../../support/place.ts";

const RULES = ["CAPABILITY:odd", "dev.foreign-tools"];

/** A kernel without anybody who could answer: what asks is refused at once, with a reference. */
async function asking(place: Place, agentId = "helper") {
  const odd = testTool("odd", () => ({ kind: "data", data: {} }));
  const asks = {
    ...odd,
    capability: { ...odd.capability, approval: { level: "ask" }, audit: { logArgs: true } },
    analyse: () => [],
  } as const;
  const kernel = await openKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home },
    tools: [asks],
    onWarning: () => undefined,
  });
  onTestFinished(() => kernel.close());
  const session = async (agent: string, workspace: string) => {
    const { token } = await kernel.administration.createSession({ workspace, userId: "bob", agentId: agent });
    return async (tool: string, args: JsonObject) => {
      const submission = {
        kind: "call",
        requestId: newId("req", systemRandom),
        sessionToken: token,
        tool,
        arguments: args,
      } as const;
      const { outcome } = await kernel.door.execute(submission, new AbortController().signal);
      return outcome.kind === "denied" ? outcome.denial.reason : outcome.kind;
    };
  };
  const call = await session(agentId, place.workspace);
  const request = async () => {
    const [found] = await kernel.approvals.list();
    if (found === undefined) throw new Error("nothing was asked");
    return found;
  };
  return { kernel, call, session, request };
}

const FILE = /^policy\/always-allow\.[0-9a-f]{12}\.cedar$/;
const args = { path: "AGENTS.md", content: "x" };

test("holds for this user, agent, workspace, tool and resource, and for nothing beside", async () => {
  const place = freshPlace();
  const { kernel, call, session, request } = await asking(place);
  expect(await call("write_file", args)).toBe("tool_approval_required");
  const asked = await request();
  const proposal = await kernel.alwaysAllow.propose(asked);
  expect(proposal).toMatchObject({
    kind: "proposed",
    file: expect.stringMatching(FILE),
    waives: ["dev.write-protected"],
    role: "dev",
  });
  expect(readdirSync(place.config)).toEqual([]);

  const file = await kernel.alwaysAllow.write(asked, "carol\n// not a rule");
  expect(readFileSync(join(place.config, file), "utf8")).toMatch(
    /^\/\/ Allowed without asking by carol____not_a_rule at /,
  );
  await until(async () => (await call("write_file", args)) === "success");
  expect(await call("write_file", { path: "CLAUDE.md", content: "x" })).toBe("tool_approval_required");
  expect(await call("delete_file", { path: "AGENTS.md" })).not.toBe("success");
  expect(await (await session("other", place.workspace))("write_file", args)).toBe("tool_approval_required");
  expect(await (await session("helper", place.outside))("write_file", args)).toBe("tool_approval_required");
  await expect(kernel.alwaysAllow.write(asked, "carol")).rejects.toMatchObject({ code: "USAGE" });
});

test("is recorded with who did it, before it takes effect", async () => {
  const place = freshPlace();
  const { kernel, call, request } = await asking(place);
  await call("write_file", args);
  const { ref } = await request();
  const file = await kernel.alwaysAllow.write(await request(), "carol");
  const [recorded] = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "always_allowed");
  expect(recorded).toMatchObject({
    entry: { actor: "operator:carol" },
    payload: {
      approvalRef: ref,
      approval_ref: ref,
      file,
      waives: ["dev.write-protected"],
      permit: expect.stringContaining("@waives"),
      severity: "warning",
    },
  });
});

test("lifts what a tool asks for itself as well, and lists the calls that would have gone through", async () => {
  const place = freshPlace();
  const { kernel, call, request } = await asking(place);
  expect(await call("odd", { path: "a" })).toBe("tool_approval_required");
  expect(await kernel.alwaysAllow.propose(await request())).toMatchObject({
    kind: "proposed",
    waives: RULES,
    past: {
      changed: { obligations: 1 },
      changes: [{ tool: "odd", recorded: { obligations: RULES.map((rule) => `ask ${rule}`) } }],
    },
  });
  await kernel.alwaysAllow.write(await request(), "carol");
  await until(async () => (await call("odd", { path: "a" })) === "success");
  expect(await call("odd", { path: "b" })).toBe("tool_approval_required");
});

test("is not proposed for a call that a person is not shown in full", async () => {
  const place = freshPlace();
  const { kernel, call, request } = await asking(place);
  expect(await call("odd", { path: "a".repeat(3000) })).toBe("tool_approval_required");
  expect(await kernel.alwaysAllow.propose(await request())).toEqual({
    kind: "impossible",
    why: expect.stringMatching(/^no permit could name the call: it is too long/),
  });
});

test("is not proposed against an example beside the policies, nor for an altered request", async () => {
  const place = freshPlace();
  const example = (agent: string) =>
    `- allow: write_file\n  user: bob\n  agent: ${agent}\n  workspace: ${place.workspace}\n  arguments: { path: AGENTS.md, content: x }\n  obligations: [ask dev.write-protected]\n`;
  place.put("config/policy/own.cedar", "");
  place.put("config/policy/own.test.yaml", example("helper"));
  const { kernel, call, session, request } = await asking(place);
  await call("write_file", args);
  const asked = await request();
  expect(await kernel.alwaysAllow.propose(asked)).toEqual({
    kind: "impossible",
    why: expect.stringMatching(/^an example beside the policies stands against it: policy\/own\.test\.yaml:1/),
  });
  await expect(kernel.alwaysAllow.write(asked, "carol")).rejects.toMatchObject({ code: "USAGE" });
  expect(readdirSync(join(place.config, "policy"))).toEqual(["own.cedar", "own.test.yaml"]);
  await (await session("other", place.workspace))("write_file", args);
  expect(await kernel.alwaysAllow.propose(await request())).toMatchObject({ kind: "proposed" });
  const altered = { ...asked, document: asked.document.replaceAll("AGENTS.md", "CLAUDE.md") };
  expect(await kernel.alwaysAllow.propose(altered)).toEqual({ kind: "impossible", why: "the request cannot be read" });
});

test("is not proposed for an installation: what it fetches stands in files that may change", async () => {
  const place = freshPlace();
  const settings = { workspaces: [{ path: place.workspace, toolchain: { install: { scripts: true } } }] };
  place.put("config/handrail.yaml", JSON.stringify(settings));
  const { kernel, call, request } = await asking(place);
  place.put("workspace/package.json", "{}");
  place.put("workspace/package-lock.json", '{ "lockfileVersion": 3, "packages": {} }');
  expect(await call("install_dependencies", { manager: "npm" })).toBe("tool_approval_required");
  expect(await kernel.alwaysAllow.propose(await request())).toEqual({
    kind: "impossible",
    why: expect.stringMatching(/^what the call fetches stands in files of the workspace/),
  });
  await expect(kernel.alwaysAllow.write(await request(), "carol")).rejects.toMatchObject({ code: "USAGE" });
  expect(readdirSync(place.config)).toEqual(["handrail.yaml"]);
});

test("is no answer to what a command has changed", async () => {
  const place = freshPlace();
  const { kernel, call, request } = await asking(place);
  expect(await call("shell", { command: "echo obey > AGENTS.md" })).toBe("tool_approval_required");
  expect(await kernel.alwaysAllow.propose(await request())).toMatchObject({
    kind: "impossible",
    why: expect.stringContaining("what a command has changed"),
  });
});
