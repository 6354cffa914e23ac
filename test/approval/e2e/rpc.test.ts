/**
 * Approvals over the administration service: approvers with credentials of their own, on the HTTP front door of a real
 * kernel.
 */
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { systemRandom } from "../../../src/base/ids.ts";
import { newAdminCredential } from "../../../src/server/admin/new-admin-credential.ts";
import { openKernel } from "../../../src/server/compose.ts";
import { unixAddress } from "../../../src/server/doors/http-address.ts";
import { serveHttp } from "../../../src/server/doors/serve-connect.ts";
import { addApprover } from "../../../src/server/people/approver-credentials.ts";
import { clientsOf } from "../../support/front-door.ts";
import { freshPlace } from "../../support/place.ts";

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });

test("an approver lists, looks at and decides requests; nobody else's credential does, and nobody decides by part of a reference", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", "approvals: { wait_seconds: 0 }\n");
  const kernel = await openKernel({ environment: {}, stateDirectory: place.state, configDirectory: place.config });
  const socketPath = join(place.base, "front.sock");
  const server = await serveHttp(kernel, [unixAddress(socketPath)]);
  onTestFinished(async () => {
    await server.close();
    await kernel.close();
  });
  const { session, token } = await kernel.administration.createSession({
    workspace: place.workspace,
    userId: "ann",
    agentId: "agent",
  });
  const call = async (requestId: string) => {
    const args = { path: "CLAUDE.md", content: "x" };
    const submission = { kind: "call", requestId, sessionToken: token, tool: "write_file", arguments: args } as const;
    return (await kernel.door.execute(submission, new AbortController().signal)).outcome;
  };
  const asked = await call("one");
  const approvalRef = asked.kind === "denied" ? (asked.denial.approvalRef ?? "") : "";
  const admin = await newAdminCredential({ HANDRAIL_CONFIG_HOME: place.config }, place.state);
  const ann = await addApprover(place.state, "ann", systemRandom);
  const client = clientsOf({ socketPath, port: 0 }, "connect/1.1").admin;

  for (const wrong of [admin, token, "nonsense"]) {
    const refused = { code: Code.Unauthenticated, message: expect.stringContaining("approver's credential") };
    await expect(client.listApprovals({}, bearer(wrong))).rejects.toMatchObject(refused);
    await expect(client.decideApproval({ approvalRef, approved: true }, bearer(wrong))).rejects.toMatchObject(refused);
  }
  await expect(client.listSessions({}, bearer(ann))).rejects.toMatchObject({ code: Code.Unauthenticated });

  const { approvals } = await client.listApprovals({ state: "pending" }, bearer(ann));
  expect(approvals).toMatchObject([
    { approvalRef, state: "pending", tool: "write_file", userId: "ann", sessionId: session.id, uses: 0n },
  ]);
  const { approval } = await client.getApproval({ approvalRef: approvalRef.slice(0, 20) }, bearer(ann));
  expect(JSON.parse(Buffer.from(approval?.documentJson ?? []).toString())).toMatchObject({
    tool: "write_file",
    action: "execute",
  });
  expect(Buffer.from(approval?.documentJson ?? []).includes("code")).toBe(false);
  await expect(
    client.decideApproval({ approvalRef: approvalRef.slice(0, 20), approved: true }, bearer(ann)),
  ).rejects.toMatchObject({
    code: Code.NotFound,
  });
  await expect(
    client.decideApproval({ approvalRef, approved: true, scope: "forever" }, bearer(ann)),
  ).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
  await expect(client.listApprovals({ state: "odd" }, bearer(ann))).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });

  const decided = await client.decideApproval({ approvalRef, approved: true, reason: "fine" }, bearer(ann));
  expect(decided).toMatchObject({
    decided: true,
    approval: {
      state: "approved",
      decision: { approved: true, by: "ann", channel: "rpc", scope: "once", reason: "fine" },
    },
  });
  expect((await call("two")).kind).toBe("success");
  expect(await client.decideApproval({ approvalRef, approved: false }, bearer(ann))).toMatchObject({
    decided: false,
    approval: { state: "consumed", uses: 1n },
  });
});
