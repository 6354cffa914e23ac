/**
 * Methods of `KernelAdmin` for the people who approve.
 *
 * INVARIANT: nothing of a request is read before its approver's credential has been found right; the admin credential
 * and session tokens never are one. The credential is looked at once more with the decision, which is made in its name.
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import {
  ApprovalSchema,
  type DecideApprovalRequest,
  type KernelAdmin,
} from "../../../gen/handrail/admin/v1/admin_pb.ts";
import type { ApprovalScope } from "../../../model/approval/approval.ts";
import type { AdminApproval, AdminPort } from "./admin-port.ts";
import { bearerToken } from "./bearer.ts";
import { fitted, type Guarded } from "./fitted.ts";

type Methods = Pick<ServiceImpl<typeof KernelAdmin>, "listApprovals" | "getApproval" | "decideApproval">;

/** Names of the methods that want an approver's credential. */
export const APPROVER_METHODS: ReadonlySet<string> = new Set(["ListApprovals", "GetApproval", "DecideApproval"]);

/** The methods. */
export function approvalMethods({ approvals }: Pick<AdminPort, "approvals">, guarded: Guarded): Methods {
  return {
    listApprovals: ({ state, limit }) =>
      guarded(async () => {
        const all = await approvals.list(state === "" ? undefined : state);
        const wanted = limit === 0 ? all : all.slice(0, limit);
        const listed = fitted(
          ApprovalSchema,
          wanted.map((approval) => create(ApprovalSchema, approvalMessage(approval))),
        );
        return { approvals: listed, truncated: listed.length < all.length };
      }),
    getApproval: ({ approvalRef }) =>
      guarded(async () => {
        const approval = await approvals.find(approvalRef);
        if (approval === undefined) throw noSuch();
        return { approval: approvalMessage(approval) };
      }),
    decideApproval: (request, { requestHeader }) =>
      guarded(async () => {
        const { approvalRef, approved, reason } = request;
        const decision = { approved, ...(approved && { scope: scopeIn(request) }), ...(reason !== "" && { reason }) };
        const outcome = await approvals.decide(approvalRef, decision, bearerToken(requestHeader));
        if (outcome === undefined) throw noSuch();
        return { decided: outcome.decided, approval: approvalMessage(outcome.approval) };
      }),
  };
}

function noSuch(): ConnectError {
  return new ConnectError("there is no such request, or more than one; `ListApprovals` lists them", Code.NotFound);
}

function scopeIn({ scope, untilMs }: DecideApprovalRequest): ApprovalScope {
  if (scope === "" || scope === "once") return { kind: "once" };
  if (scope === "session" || scope === "kind") return { kind: scope };
  if ((scope === "until" || scope === "project") && untilMs <= BigInt(Number.MAX_SAFE_INTEGER))
    return { kind: scope, untilMs: Number(untilMs) };
  throw new ConnectError(
    "`scope` must be `once`, `session` or `kind`, or `until` or `project` with a time",
    Code.InvalidArgument,
  );
}

function approvalMessage(approval: AdminApproval): MessageInitShape<typeof ApprovalSchema> {
  const {
    ref,
    state,
    tool,
    userId,
    agentId,
    serviceRoot,
    sessionId,
    createdAtMs,
    expiresAtMs,
    uses,
    decision,
    document,
  } = approval;
  return {
    approvalRef: ref,
    state,
    tool,
    userId,
    agentId,
    workspace: serviceRoot,
    sessionId,
    createdAtMs: BigInt(createdAtMs),
    expiresAtMs: BigInt(expiresAtMs),
    uses: BigInt(uses),
    documentJson: new TextEncoder().encode(document),
    ...(decision && {
      decision: {
        approved: decision.approved,
        by: decision.by,
        channel: decision.channel,
        atMs: BigInt(decision.atMs),
        scope: decision.scope?.kind ?? "",
        ...(decision.scope !== undefined && "untilMs" in decision.scope && { untilMs: BigInt(decision.scope.untilMs) }),
        reason: decision.reason ?? "",
      },
    }),
  };
}
