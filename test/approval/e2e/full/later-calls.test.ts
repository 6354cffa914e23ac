/**
 * Approvals that come when a call is over, or its session, and permits that are written while kernels run.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import { UNRESTRICTED_SCOPE } from "../../../../src/model/people/lease.ts";
import { type OpenKernel, openKernel } from "../../../../src/server/compose.ts";
import type { SessionWish } from "../../../../src/server/people/administration.ts";
import { addApprover, saveApproverToken } from "../../../../src/server/people/approver-credentials.ts";
import { collect, handrail, linesOf, oneJsonLine, startHandrail, until } from "../../../support/command-line.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

interface Result {
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string; readonly approval_ref?: string };
}

async function placeWithApprover(settings = "approvals: { wait_seconds: 0 }\n"): Promise<Place> {
  const place = freshPlace();
  place.put("config/handrail.yaml", settings);
  await saveApproverToken(place.config, await addApprover(place.state, "ada", systemRandom));
  return place;
}

const writing = (content: string) => JSON.stringify({ path: "CLAUDE.md", content });

async function call(place: Place): Promise<Result> {
  const args = ["call", "write_file", "--json", writing("be careful\n"), "--workspace", place.workspace];
  return oneJsonLine<Result>((await handrail(place, args)).stdout);
}

/** What came of a call: `kind` where it was made, the rest where it was refused. */
interface Answer {
  readonly kind?: string;
  readonly reason?: string;
  readonly approvalRef?: string;
}

async function kernelOf(place: Place): Promise<OpenKernel> {
  const kernel = await openKernel({ environment: {}, stateDirectory: place.state, configDirectory: place.config });
  onTestFinished(() => kernel.close());
  return kernel;
}

async function sessionOf(kernel: OpenKernel, place: Place, wish: Partial<SessionWish> = {}) {
  const made = { workspace: place.workspace, userId: "ann", agentId: "agent", ...wish };
  const { session, token } = await kernel.administration.createSession(made);
  let count = 0;
  return {
    session,
    async write(content: string, path = "CLAUDE.md"): Promise<Answer> {
      count += 1;
      const { outcome } = await kernel.door.execute(
        {
          kind: "call",
          requestId: `${session.id}-${count}`,
          sessionToken: token,
          tool: "write_file",
          arguments: { path, content },
        },
        new AbortController().signal,
      );
      return outcome.kind === "denied" ? outcome.denial : { kind: outcome.kind };
    },
  };
}

/** What `handrail call` does: a session for one call, which ends with it. */
async function oneCall(kernel: OpenKernel, place: Place, wish: Partial<SessionWish> = {}, content = "be careful\n") {
  const { session, write } = await sessionOf(kernel, place, { isOneCall: true, ...wish });
  const answer = await write(content);
  await kernel.administration.endSession(session);
  return answer;
}

/** The agent has seen as much as it will: approvals are bound to that, too. */
async function seen(kernel: OpenKernel, place: Place): Promise<void> {
  const { write } = await sessionOf(kernel, place);
  expect(await write("text\n", "notes.md")).toEqual({ kind: "success" });
}

test("an approval that comes when `handrail call` is over lets the same call through", async () => {
  const place = await placeWithApprover();
  const asked = await call(place);
  const ref = asked.error?.approval_ref ?? "";
  const short = ref.slice("blake3:".length, "blake3:".length + 12);
  expect(asked.error).toMatchObject({
    code: "TOOL_APPROVAL_REQUIRED",
    message: expect.stringContaining(`\`handrail approve ${short}\``),
  });
  const listed = linesOf((await handrail(place, ["approvals"])).stdout);
  expect(listed).toHaveLength(2);
  expect(listed[1]).toMatch(new RegExp(`^${short}  \\S+/cli  .*CLAUDE\\.md +${place.workspace}  pending, `));

  const unconfirmed = await handrail(place, ["approve", short]);
  expect([unconfirmed.code, unconfirmed.stdout, unconfirmed.stderr]).toEqual([
    64,
    expect.stringContaining("+be careful"),
    expect.stringContaining(`handrail approve ${short} --yes`),
  ]);
  expect((await handrail(place, ["approve", short, "--yes"])).code).toBe(0);
  expect((await call(place)).status).toBe("success");
  expect(readFileSync(join(place.workspace, "CLAUDE.md"), "utf8")).toBe("be careful\n");
});

test("it is bound to all that the ended session decided with, and to one execution", async () => {
  const place = await placeWithApprover();
  const credential = await addApprover(place.state, "grace", systemRandom);
  const kernel = await kernelOf(place);
  const { approvalRef = "" } = await oneCall(kernel, place);
  const session = kernel.approvals.decide(approvalRef, { approved: true, scope: { kind: "session" } }, credential);
  await expect(session).rejects.toThrow("made for this one call");
  expect(await oneCall(kernel, place)).toMatchObject({ reason: "tool_approval_required", approvalRef }); // it waits still
  expect(await kernel.approvals.decide(approvalRef, { approved: true }, credential)).toMatchObject({ kind: "decided" });
  const narrower = { ...UNRESTRICTED_SCOPE, tools: [["write_file"]] };
  for (const wish of [
    { userId: "bob" },
    { agentId: "other" },
    { preset: "meao" },
    { projectRoot: place.base },
    { isOneCall: false },
    { scope: narrower },
    { branch: "aside" },
  ])
    expect([wish, await oneCall(kernel, place, wish)]).toMatchObject([wish, { reason: "tool_approval_required" }]);
  expect(await oneCall(kernel, place, {}, "be careless\n")).toMatchObject({ reason: "tool_approval_required" });
  // of several at once one goes on
  const both = await Promise.all([oneCall(kernel, place), oneCall(await kernelOf(place), place)]);
  expect(both.filter(({ kind }) => kind === "success")).toHaveLength(1);
  rmSync(join(place.workspace, "CLAUDE.md"));
  expect(await oneCall(kernel, place)).toMatchObject({ reason: "tool_approval_required" });
});

test("an approval until a time covers the same call until then, and a decision file's for the session one", async () => {
  const place = await placeWithApprover();
  const credential = await addApprover(place.state, "grace", systemRandom);
  const kernel = await kernelOf(place);
  const again = async (content?: string) => {
    rmSync(join(place.workspace, "CLAUDE.md"), { force: true });
    return (await oneCall(kernel, place, {}, content)).kind ?? "denied";
  };
  await seen(kernel, place);
  const { approvalRef = "" } = await oneCall(kernel, place);
  const scope = { kind: "until", untilMs: Date.now() + 600_000 } as const;
  await kernel.approvals.decide(approvalRef, { approved: true, scope }, credential);
  expect([await again(), await again()]).toEqual(["success", "success"]);
  await kernel.approvals.revoke(approvalRef, credential);
  expect(await again()).toBe("denied");

  const asked = await oneCall(kernel, place, {}, "by file\n");
  const hash = asked.approvalRef?.slice("blake3:".length) ?? "";
  const { code } = JSON.parse(readFileSync(join(place.state, "approvals", `${hash}.json`), "utf8")) as { code: string };
  const decision = {
    schema: "handrail.tool_approval.v1",
    approval_ref: asked.approvalRef,
    approved: true,
    code,
    by: "ada",
    scope: { kind: "session" },
  };
  const file = join(place.state, "approvals", `${hash}.approved.json`);
  writeFileSync(file, JSON.stringify(decision), { mode: 0o600 });
  expect([await again("by file\n"), await again("by file\n")]).toEqual(["success", "denied"]);
});

test("requests of ended sessions wait for nobody, and those of one call do", async () => {
  const place = await placeWithApprover();
  const kernel = await kernelOf(place);
  const { session, write } = await sessionOf(kernel, place);
  const denied = await write("one\n");
  const ofCall = await oneCall(kernel, place, {}, "two\n");
  const pending = async () => (await kernel.approvals.list({ state: "pending" })).map(({ ref }) => ref);
  expect(new Set(await pending())).toEqual(new Set([denied.approvalRef, ofCall.approvalRef]));
  await kernel.administration.endSession(session);
  expect(await pending()).toEqual([ofCall.approvalRef]);
  expect(await kernel.approvals.find(denied.approvalRef ?? "")).toMatchObject({ approval: { state: "void" } });
  const credential = await addApprover(place.state, "grace", systemRandom);
  const late = await kernel.approvals.decide(denied.approvalRef ?? "", { approved: true }, credential);
  expect(late).toMatchObject({ kind: "stands", approval: { state: "void" } });
});

test("a call that waits says so, what for and how to approve it, on standard error", async () => {
  const place = await placeWithApprover("{}\n");
  const args = ["call", "write_file", "--json", writing("now\n"), "--workspace", place.workspace];
  const child = startHandrail(place, args);
  const output = collect(child);
  await until(() => output().stderr.includes("handrail approve "));
  expect(output().stderr).toContain("waiting for a person's approval: `write_file`: write 1 protected file");
  const [, ref = ""] = /handrail approve ([0-9a-f]+)/.exec(output().stderr) ?? [];
  expect((await handrail(place, ["approve", ref, "--yes"])).code).toBe(0);
  await until(() => child.exitCode !== null);
  expect([child.exitCode, oneJsonLine<Result>(output().stdout).status]).toEqual([0, "success"]);
});

describe("what is allowed for good", () => {
  test("holds for the next call of every running kernel, and without it each asks", async () => {
    const place = await placeWithApprover();
    const [left, right] = [await kernelOf(place), await kernelOf(place)];
    const [one, two] = [await sessionOf(left, place), await sessionOf(right, place)];
    const asked = await one.write("a\n");
    expect(await two.write("b\n")).toMatchObject({ reason: "tool_approval_required" });
    const ref = asked.approvalRef ?? "";
    expect((await handrail(place, ["approvals", "always", ref])).code).toBe(0);
    expect(await two.write("c\n")).toMatchObject({ reason: "tool_approval_required" }); // a proposal changes nothing
    expect((await handrail(place, ["approvals", "always", ref, "--write"])).code).toBe(0);
    expect([await two.write("d\n"), await one.write("e\n")]).toMatchObject([{ kind: "success" }, { kind: "success" }]);
  });
});
