/**
 * meao's way to ask: a handler of the embedding program, on a real kernel; whatever is no answer lets nothing through.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ApprovalManager, type ApprovalRequest, createKernel, ToolExecutor } from "../../src/index.ts";
import { readEvidence } from "../support/evidence.ts";
import { freshPlace, type Place } from "../support/place.ts";

const ARGS = { path: "CLAUDE.md", content: "be careful\n" };

/** A kernel whose calls that ask are answered by `answer`. */
async function answered(
  answer: (request: ApprovalRequest) => unknown,
  settings = "",
): Promise<{ place: Place; call: () => Promise<object> }> {
  const place = freshPlace();
  if (settings !== "") place.put("config/handrail.yaml", settings);
  const approvals = new ApprovalManager();
  approvals.setHandler({ request: answer as (request: ApprovalRequest) => Promise<boolean> });
  const kernel = await createKernel({
    environment: {},
    stateDirectory: place.state,
    configDirectory: place.config,
    approvals,
    onInternalError: () => undefined,
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace });
  return {
    place,
    async call() {
      const { outcome } = (await session.call("write_file", ARGS)).response;
      return outcome.kind === "denied" ? outcome.denial : outcome;
    },
  };
}

test("the handler is asked once, with meao's shape and the facts, and its `true` lets the call through", async () => {
  const asked: ApprovalRequest[] = [];
  const { place, call } = await answered(async (request) => asked.push(request) > 0);
  expect(await call()).toMatchObject({ kind: "success" });
  expect(asked).toMatchObject([
    {
      id: "write_file:execute",
      tool: "write_file",
      action: "execute",
      summary: expect.any(String),
      risks: expect.any(Array),
      details: {},
    },
  ]);
  expect(existsSync(join(place.workspace, ARGS.path))).toBe(true);
});

test("its `false` denies, and the same call is not asked about again", async () => {
  let asked = 0;
  const { call } = await answered(async () => {
    asked += 1;
    return false;
  });
  for (const _ of [1, 2]) expect(await call()).toMatchObject({ reason: "tool_approval_denied" });
  expect(asked).toBe(1);
});

const NO_ANSWERS: readonly (readonly [string, (request: ApprovalRequest) => unknown])[] = [
  ["rejects", () => Promise.reject(new Error("the window was closed"))],
  [
    "throws",
    () => {
      throw new Error("the window was closed");
    },
  ],
  ["answers a text", async () => "true"],
  ["answers a number", async () => 1],
  ["answers nothing", async () => undefined],
  ["answers an object", async () => ({ approved: true })],
];

test.each(NO_ANSWERS)("a handler that %s lets nothing through, and the request stays for others", async (_, answer) => {
  const { place, call } = await answered(answer);
  const denial = await call();
  expect(denial).toMatchObject({
    layer: "approval",
    reason: "tool_approval_request_failed",
    approvalRef: expect.stringMatching(/^blake3:/),
  });
  expect(existsSync(join(place.workspace, ARGS.path))).toBe(false);
});

test("a handler that never answers keeps nobody longer than the settings say", async () => {
  const { call } = await answered(() => new Promise(() => undefined), "approvals: { wait_seconds: 1 }\n");
  expect(await call()).toMatchObject({
    reason: "tool_approval_required",
    approvalRef: expect.stringMatching(/^blake3:/),
  });
});

test("who answered, and over which channel, is recorded", async () => {
  const { place, call } = await answered(async () => true);
  await call();
  const decided = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "tool_approval_decided");
  expect(decided).toMatchObject([
    { payload: { approved: true, by: "handler", channel: "handler", scope: { kind: "once" }, holds: true } },
  ]);
});

describe("meao's executor", () => {
  test("a call that is refused is `success: false` with a text", async () => {
    const place = freshPlace();
    const approvals = new ApprovalManager();
    approvals.setHandler({ request: async () => false });
    await using kernel = await createKernel({
      environment: {},
      stateDirectory: place.state,
      configDirectory: place.config,
      approvals,
    });
    const executor = new ToolExecutor(await kernel.openSession({ workspace: place.workspace }));
    expect(await executor.execute("write_file", ARGS)).toMatchObject({
      success: false,
      output: expect.stringContaining("refused"),
    });
  });

  test("a manager without a handler asks nobody", async () => {
    const request: ApprovalRequest = { id: "a:execute", tool: "a", action: "execute", summary: "", risks: [] };
    await expect(new ApprovalManager().request(request)).rejects.toThrow("No approval handler set");
    const place = freshPlace();
    await using kernel = await createKernel({
      environment: {},
      stateDirectory: place.state,
      configDirectory: place.config,
      approvals: new ApprovalManager(),
    });
    const session = await kernel.openSession({ workspace: place.workspace });
    expect((await session.call("write_file", ARGS)).response.outcome).toMatchObject({
      denial: { reason: "tool_approval_required" },
    });
  });
});
