/**
 * Approvals over processes: a call waits in one, a person answers in another; requests outlive the kernels that made
 * them.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type OpenKernel, openKernel } from "../../../src/server/compose.ts";
import { dataIn, handrail } from "../../support/command-line.ts";
import { readEvidence } from "../../support/evidence.ts";
import { freshPlace, type Place } from "../../support/place.ts";

const ARGS = { path: "CLAUDE.md", content: "be careful\n" };

async function kernelOf(place: Place): Promise<OpenKernel> {
  const kernel = await openKernel({ environment: {}, stateDirectory: place.state, configDirectory: place.config });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= kernel.close();
    return closing;
  };
  onTestFinished(close);
  return { ...kernel, close };
}

/** A session whose calls are made by hand, so that another kernel can make them too. */
async function callerOf(kernel: OpenKernel, place: Place) {
  const { session, token } = await kernel.administration.createSession({
    workspace: place.workspace,
    userId: "ann",
    agentId: "agent",
  });
  let count = 0;
  const call = async (by: OpenKernel = kernel, args = ARGS) => {
    count += 1;
    const submission = {
      kind: "call",
      requestId: `r-${count}`,
      sessionToken: token,
      tool: "write_file",
      arguments: args,
    } as const;
    const { outcome } = await by.door.execute(submission, new AbortController().signal);
    return outcome.kind === "denied" ? outcome.denial : outcome;
  };
  return { session, token, call };
}

async function approver(place: Place, name: string): Promise<string> {
  const { code, stdout } = await handrail(place, ["approvers", "add", name, "--json"]);
  expect(code).toBe(0);
  return dataIn<{ token: string }>(stdout).token;
}

const waiting = (kernel: OpenKernel) =>
  vi.waitFor(
    async () => {
      const [approval] = await kernel.approvals.list({ state: "pending" });
      if (approval === undefined) throw new Error("nobody asks");
      return approval;
    },
    { timeout: 120_000, interval: 10 },
  );

test("a call that waits in one process goes on when a person approves in another", async () => {
  const place = freshPlace();
  const kernel = await kernelOf(place);
  const credential = await approver(place, "ann");
  const { call } = await callerOf(kernel, place);
  const calling = call();
  const { ref } = await waiting(kernel);
  const environment = { HANDRAIL_APPROVER_TOKEN: credential };
  const approved = await handrail(place, ["approve", ref.slice(0, 20), "--yes", "--json"], { environment });
  expect([approved.code, approved.stderr]).toEqual([0, ""]);
  expect(await calling).toMatchObject({ kind: "success" });
  expect(readFileSync(join(place.workspace, ARGS.path), "utf8")).toBe(ARGS.content);
  await kernel.close();
  const decided = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "tool_approval_decided");
  expect(decided).toMatchObject([
    { entry: { actor: "approver:ann" }, payload: { by: "ann", channel: "cli", approved: true, holds: true } },
  ]);
});

test("a request outlives its kernel: the next one knows it, and a call there uses what was approved meanwhile, once over all kernels", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", "approvals: { wait_seconds: 0 }\n");
  const first = await kernelOf(place);
  const { call } = await callerOf(first, place);
  const { approvalRef = "" } = (await call()) as { approvalRef?: string };
  await first.close();
  const credential = await approver(place, "ann");
  const [left, right] = [await kernelOf(place), await kernelOf(place)];
  expect(await left.approvals.find(approvalRef)).toMatchObject({ kind: "found", approval: { state: "pending" } });
  expect(await left.approvals.decide(approvalRef, { approved: true }, credential)).toMatchObject({
    kind: "decided",
    by: "ann",
  });
  const outcomes = await Promise.all(Array.from({ length: 16 }, (_, index) => call(index % 2 === 0 ? left : right)));
  // Those that come after it was used ask anew.
  expect(outcomes.filter((outcome) => "kind" in outcome && outcome.kind === "success")).toHaveLength(1);
  expect(await left.approvals.find(approvalRef)).toMatchObject({ approval: { state: "consumed" } });
});

describe("who may decide", () => {
  test("an approver's credential decides; a session token, the admin credential and a removed approver's decide nothing", async () => {
    const place = freshPlace();
    const kernel = await kernelOf(place);
    const { call, token } = await callerOf(kernel, place);
    const { approvalRef = "" } = (await call()) as { approvalRef?: string };
    const { newAdminCredential } = await import("../../../src/server/admin/new-admin-credential.ts");
    const admin = await newAdminCredential({ HANDRAIL_CONFIG_HOME: place.config }, place.state);
    const gone = await approver(place, "gone");
    await handrail(place, ["approvers", "remove", "gone"]);
    const credential = await approver(place, "ann");
    const wrong = [
      token,
      admin,
      gone,
      "",
      "apr_ann",
      `${credential}x`,
      credential.replace("apr_ann", "apr_bob"),
      "apr_../../x.y",
    ];
    for (const each of wrong) {
      expect(await kernel.approvals.decide(approvalRef, { approved: true }, each)).toEqual({
        kind: "wrong_credential",
      });
    }
    expect(await kernel.approvals.find(approvalRef)).toMatchObject({ approval: { state: "pending" } });
    expect(await kernel.approvals.decide(approvalRef, { approved: true }, credential)).toMatchObject({
      kind: "decided",
      by: "ann",
    });
  });

  test("a credential is shown once and only its hash is kept; a saved one is for its owner alone", async () => {
    const place = freshPlace();
    const token = await approver(place, "ann");
    const path = join(place.state, "approvers", "ann.hash");
    expect(readFileSync(path, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    expect([statSync(path).mode & 0o777, statSync(join(place.state, "approvers")).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect(token).toMatch(/^apr_ann\.[A-Za-z0-9_-]{43}$/);
    expect((await handrail(place, ["approvers", "add", "ann"])).stderr).toContain("there is an approver `ann` already");
    const saved = await handrail(place, ["approvers", "add", "bob", "--save"]);
    expect([saved.code, saved.stdout.includes("apr_")]).toEqual([0, false]);
    expect(statSync(join(place.config, "approver.token")).mode & 0o777).toBe(0o600);
    const listed = await handrail(place, ["approvers", "list", "--json"]);
    expect(dataIn(listed.stdout)).toMatchObject([{ name: "ann" }, { name: "bob" }]);
    expect((await handrail(place, ["approvers", "add", "../x"])).code).toBe(64);
  });

  test("a name that is taken, and a credential that cannot be saved, leave no approver behind and no record of one", async () => {
    const place = freshPlace();
    const { newApprover, approversOf } = await import("../../../src/server/admin/change-approvers.ts");
    const directories = { stateDirectory: place.state, configDirectory: place.config };
    const add = (name: string) => newApprover({}, directories, { name, save: true });
    expect(await add("ann")).toEqual({ savedAs: join(place.config, "approver.token") });
    await expect(add("ann")).rejects.toThrow("there is an approver `ann` already");
    await expect(add("bob")).rejects.toThrow("holds a credential already; remove the file first");
    expect(await approversOf({}, directories)).toMatchObject([{ name: "ann" }]);
    const recorded = (await readEvidence(place.state)).flatMap(({ entry, payload }) =>
      entry.eventType.startsWith("approver_") ? [[entry.eventType, payload?.["approver"]]] : [],
    );
    expect(recorded).toEqual([
      ["approver_added", "ann"],
      ["approver_added", "bob"],
      ["approver_removed", "bob"],
    ]);
  });

  test("without a credential the command line approves nothing and says how to get one", async () => {
    const place = freshPlace();
    const kernel = await kernelOf(place);
    const { call } = await callerOf(kernel, place);
    const { approvalRef = "" } = (await call()) as { approvalRef?: string };
    const tried = await handrail(place, ["approve", approvalRef, "--yes"]);
    expect([tried.code, tried.stderr]).toEqual([64, expect.stringContaining("handrail approvers add NAME --save")]);
    expect(existsSync(join(place.workspace, ARGS.path))).toBe(false);
  });
});

test("an agent's tools reach neither the requests and their codes, nor the approvers", async () => {
  const place = freshPlace();
  const state = join(place.workspace, "inside", "state");
  const kernel = await openKernel({ environment: {}, stateDirectory: state, configDirectory: place.config });
  onTestFinished(() => kernel.close());
  const { call, token } = await callerOf(kernel, place);
  const { approvalRef = "" } = (await call()) as { approvalRef?: string };
  const request = `inside/state/approvals/${approvalRef.slice(7)}.json`;
  expect(existsSync(join(place.workspace, request))).toBe(true);
  const read = {
    kind: "call",
    requestId: "read",
    sessionToken: token,
    tool: "read_file",
    arguments: { path: request },
  } as const;
  expect((await kernel.door.execute(read, new AbortController().signal)).outcome).toMatchObject({
    denial: { layer: "workspace", reason: "workspace_blocked_zone" },
  });
  const forge = { path: request.replace(/\.json$/, ".approved.json"), content: "{}" };
  expect(await call(kernel, forge)).toMatchObject({ layer: "workspace", reason: "workspace_blocked_zone" });
});
