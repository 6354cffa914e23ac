/**
 * Stopping agents over the administration service: what the command line does, by the admin credential, on the HTTP
 * front door of a real kernel.
 */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import { newAdminCredential } from "../../../../src/server/admin/new-admin-credential.ts";
import { openKernel } from "../../../../src/server/compose.ts";
import { unixAddress } from "../../../../src/server/doors/http-address.ts";
import { serveHttp } from "../../../../src/server/doors/serve-connect.ts";
import { addApprover } from "../../../../src/server/people/approver-credentials.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { clientsOf } from "../../../support/front-door.ts";
import { freshPlace } from "../../../support/place.ts";

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });

async function served() {
  const place = freshPlace();
  place.put("workspace/a.txt", "text\n");
  const options = { environment: {}, stateDirectory: place.state, configDirectory: place.config };
  const kernel = await openKernel(options);
  const socketPath = join(place.base, "front.sock");
  const server = await serveHttp(kernel, [unixAddress(socketPath)]);
  const other = await openKernel(options);
  onTestFinished(async () => {
    await server.close();
    await kernel.close();
    await other.close();
  });
  const wish = { workspace: place.workspace, userId: "ann" } as const;
  const { session, token } = await kernel.administration.createSession({ ...wish, agentId: "agent" });
  const innocent = await kernel.administration.createSession({ ...wish, agentId: "other" });
  let calls = 0;
  /** Reads over the other kernel: what was done in one holds in all. */
  const read = async (secret = token, path = "a.txt") => {
    const submission = {
      kind: "call",
      requestId: `call ${++calls}`,
      sessionToken: secret,
      tool: "read_file",
      arguments: { path },
    } as const;
    const { outcome } = await other.door.execute(submission, new AbortController().signal);
    return outcome.kind === "denied" ? outcome.denial.ruleId : outcome.kind;
  };
  const credential = await newAdminCredential({ HANDRAIL_CONFIG_HOME: place.config }, place.state);
  const { admin } = clientsOf({ socketPath, port: 0 }, "connect/1.1");
  return { place, kernel, session, token, innocent, read, admin, as: bearer(credential) };
}

test("an agent is stopped, looked at and let go on, in every kernel, and each act is recorded as the operator's", async () => {
  const { place, session, innocent, read, admin, as } = await served();
  expect(await read(undefined, ".env")).toBe("ZONE:secret");
  const { freeze } = await admin.kill({ sessionId: session.id, reason: "odd" }, as);
  const target = { scope: "workspace", userId: "ann", agentId: "agent", workspace: place.workspace };
  expect(freeze).toMatchObject({
    target,
    cause: "operator",
    reason: "odd",
    frozenBy: "operator:admin",
    frozenAtMs: expect.any(BigInt),
  });
  expect(await read()).toBe("FREEZE:workspace");
  expect(await read(innocent.token)).toBe("success");
  expect(await admin.listFreezes({}, as)).toMatchObject({ freezes: [{ target }], sessions: [], truncated: false });

  const review = await admin.reviewSession({ sessionId: session.id }, as);
  expect(review).toMatchObject({
    session: { id: session.id },
    freeze: { target },
    liveSessionIds: [session.id],
    truncated: false,
  });
  const parsed = (documents: readonly Uint8Array[]) => documents.map((one) => JSON.parse(Buffer.from(one).toString()));
  expect(parsed(review.violationsJson)).toMatchObject([
    { violation_type: "workspace_blocked_zone", target_path: ".env" },
  ]);
  expect(parsed(review.callsJson)).toMatchObject([
    { tool: "read_file", problem: "workspace_blocked_zone" },
    { problem: "session_frozen" },
  ]);
  expect(
    JSON.stringify(review, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value)),
  ).not.toContain("tokenHash");

  expect(await admin.resumeSession({ sessionId: session.id, reason: "a test" }, as)).toMatchObject({
    session: { id: session.id },
    lifted: { target },
  });
  expect(await read()).toBe("success");
  const acts = (await readEvidence(place.state)).filter(({ entry }) => ["killed", "resumed"].includes(entry.eventType));
  expect(
    acts.map(({ entry, payload }) => [entry.eventType, entry.actor, payload["reason"], payload["severity"]]),
  ).toEqual([
    ["killed", "operator:admin", "odd", "critical"],
    ["resumed", "operator:admin", "a test", "warning"],
  ]);
});

test("everybody is stopped, and a wider freeze is named to whoever resumes less", async () => {
  const { session, innocent, read, admin, as } = await served();
  await admin.kill({ target: { scope: "all" } }, as);
  await admin.freezeSession({ sessionId: session.id }, as);
  expect([await read(), await read(innocent.token)]).toEqual(["SESSION:frozen", "FREEZE:all"]);
  expect(await admin.listFreezes({}, as)).toMatchObject({
    freezes: [{ target: { scope: "all" } }],
    sessions: [{ id: session.id }],
  });
  const resumed = await admin.resumeSession({ sessionId: session.id }, as);
  expect(resumed.lifted).toBeUndefined();
  expect(resumed.remaining).toMatchObject({ target: { scope: "all" } });
  expect(await read()).toBe("FREEZE:all");
  expect((await admin.resume({ target: { scope: "all" } }, as)).lifted).toMatchObject({ target: { scope: "all" } });
  expect([await read(), await read(innocent.token)]).toEqual(["success", "success"]);
  await expect(admin.resume({ target: { scope: "all" } }, as)).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test("a workspace is the same by whatever path it is named", async () => {
  const { place, read, admin, as } = await served();
  const link = join(place.base, "link");
  symlinkSync(place.workspace, link);
  const target = { scope: "workspace", userId: "ann", agentId: "agent", workspace: link };
  await admin.kill({ target }, as);
  expect(await read()).toBe("FREEZE:workspace");
  await admin.resume({ target }, as);
  expect(await read()).toBe("success");
});

test("whoever is not named in full is neither stopped nor resumed", async () => {
  const { session, innocent, read, admin, as } = await served();
  const unclear = [
    {},
    { target: {} },
    { target: { scope: "everybody" } },
    { target: { scope: "all" }, sessionId: session.id },
    { target: { scope: "all", userId: "ann" } },
    { target: { scope: "principal", userId: "ann" } },
    { target: { scope: "principal", userId: "ann", agentId: "agent", workspace: "/" } },
    { target: { scope: "workspace", userId: "ann", agentId: "agent", workspace: "workspace" } },
    { sessionId: "ses_none" },
  ];
  for (const request of unclear) {
    await expect(admin.kill(request, as)).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(admin.resume(request, as)).rejects.toMatchObject({ code: Code.InvalidArgument });
  }
  await expect(admin.kill({ sessionId: session.id, reason: "x".repeat(5000) }, as)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
  for (const method of ["freezeSession", "reviewSession", "resumeSession"] as const)
    await expect(admin[method]({ sessionId: "ses_none" }, as)).rejects.toMatchObject({ code: Code.InvalidArgument });
  expect((await admin.listFreezes({}, as)).freezes).toEqual([]);
  expect([await read(), await read(innocent.token)]).toEqual(["success", "success"]);
});

test("nobody else's credential stops or resumes anybody, and wrong ones are recorded", async () => {
  const { place, kernel, session, token, read, admin } = await served();
  const approver = await addApprover(place.state, "ann", systemRandom);
  for (const wrong of [token, approver, "nonsense"]) {
    const refused = { code: Code.Unauthenticated };
    await expect(admin.kill({ target: { scope: "all" } }, bearer(wrong))).rejects.toMatchObject(refused);
    await expect(admin.resume({ target: { scope: "all" } }, bearer(wrong))).rejects.toMatchObject(refused);
    for (const method of ["freezeSession", "reviewSession", "resumeSession"] as const)
      await expect(admin[method]({ sessionId: session.id }, bearer(wrong))).rejects.toMatchObject(refused);
    await expect(admin.listFreezes({}, bearer(wrong))).rejects.toMatchObject(refused);
  }
  expect(await read()).toBe("success");
  await kernel.door.flush();
  const refusals = (await readEvidence(place.state)).filter(({ payload }) => payload["ruleId"] === "ADMIN:credential");
  expect(refusals.length).toBeGreaterThan(0);
});
