/**
 * The service `KernelAdmin`: what an operator asks of a running kernel.
 *
 * INVARIANT: nothing of a request is read before its credential has been found right, that of an approver for approvals
 * and the admin credential for everything else; a session token never is one.
 */
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { LEDGER_READ_ROWS_MAX } from "../../../base/limits.ts";
import {
  type KernelAdmin,
  LeaseSchema,
  LedgerRecordSchema,
  SessionSchema,
} from "../../../gen/handrail/admin/v1/admin_pb.ts";
import { faultOf } from "../wire/faults.ts";
import { armingMessage, budgetOf, leaseMessage, milliseconds, scopeOf, sessionMessage } from "./admin-messages.ts";
import type { AdminPort } from "./admin-port.ts";
import { APPROVER_METHODS, approvalMethods } from "./approval-methods.ts";
import { bearerToken } from "./bearer.ts";
import { fitted, type Guarded } from "./fitted.ts";
import { freezeMethods } from "./freeze-methods.ts";
import { checkedId } from "./request-id.ts";

/** Refuses a caller without the method's credential before anything of the request is read. */
export function adminGate(
  port: Pick<AdminPort, "authenticate" | "authenticateApprover">,
  onError: (error: unknown) => void,
): (context: HandlerContext) => Promise<void> {
  return async ({ method, requestHeader }) => {
    const token = bearerToken(requestHeader);
    const approves = APPROVER_METHODS.has(method.name);
    const right = await (approves ? port.authenticateApprover(token) : port.authenticate(token)).catch(
      (error: unknown) => {
        // Whoever asks is nobody yet, and the error may name files.
        onError(error);
        throw new ConnectError("the kernel cannot check credentials now; tell the operator", Code.Unavailable);
      },
    );
    if (!right) {
      const [what, how] = approves
        ? ["no approver's credential", "handrail approvers add NAME"]
        : ["not the admin credential", "handrail admin token"];
      throw new ConnectError(`this is ${what}; make one with \`${how}\``, Code.Unauthenticated);
    }
  };
}

/** The service of a kernel. */
export function adminService(port: AdminPort, onError: (error: unknown) => void): ServiceImpl<typeof KernelAdmin> {
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw faultOf(error, onError);
    }
  };
  let verifying = false;
  return {
    ...sessionMethods(port, guarded),
    ...leaseMethods(port, guarded),
    ...approvalMethods(port, guarded),
    ...freezeMethods(port, guarded),
    ...armingMethods(port, guarded),
    listEntries: ({ fromSequence, count }) =>
      guarded(async () => {
        const wanted = Math.min(count === 0 ? LEDGER_READ_ROWS_MAX : count, LEDGER_READ_ROWS_MAX);
        const from = fromSequence > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(fromSequence);
        const { records, head } = await port.entries(from, wanted);
        const messages = records.map(({ entry, hash, payload }) =>
          create(LedgerRecordSchema, { entry, hash, ...(payload !== undefined && { payloadJson: payload }) }),
        );
        // Of the last entries the last ones matter, of a range the first.
        const fitting =
          from === 0 ? fitted(LedgerRecordSchema, messages.reverse()).reverse() : fitted(LedgerRecordSchema, messages);
        return { records: fitting, headSequence: BigInt(head) };
      }),
    verifyLedger: (_, { signal }) =>
      guarded(async () => {
        if (verifying) throw new ConnectError("a verification is running; wait for it to end", Code.ResourceExhausted);
        verifying = true;
        try {
          const { entries, pruned, problems, ...rest } = await port.verifyLedger(signal);
          const listed = problems.map(({ sequence, problem }) => ({ sequence: BigInt(sequence), problem }));
          return { ...rest, entries: BigInt(entries), pruned: BigInt(pruned), problems: listed };
        } finally {
          verifying = false;
        }
      }),
    checkPolicy: ({ preset }) =>
      guarded(async () => {
        const { ok, presets } = await port.checkPolicy(preset === "" ? undefined : preset);
        return { ok, presets: presets.map((found) => ({ ...found, problems: [...found.problems] })) };
      }),
    getHealth: () =>
      guarded(async () => {
        const { version, instanceId, ledger, tools, stalls, telemetryDropped } = port.health();
        const { writable, problem = "", waiting } = ledger;
        const stood = { stalls: BigInt(stalls.count), longestStallMs: BigInt(Math.round(stalls.longestMs)) };
        return {
          version,
          instanceId,
          ledgerWritable: writable,
          ledgerProblem: problem,
          ledgerWaiting: BigInt(waiting),
          tools,
          telemetryDropped: BigInt(telemetryDropped),
          ...stood,
        };
      }),
  };
}

type Methods = ServiceImpl<typeof KernelAdmin>;

function sessionMethods(
  port: AdminPort,
  guarded: Guarded,
): Pick<Methods, "createSession" | "listSessions" | "revokeSession"> {
  return {
    createSession: ({ workspace, projectRoot, role, preset, mode, skill, dialect, ...request }, { requestHeader }) =>
      guarded(async () => {
        const { userId, agentId, lifetimeMs, leaseId, scope, budget } = request;
        if (!workspace.startsWith("/")) {
          throw new ConnectError("`workspace` must be an absolute path on the kernel's machine", Code.InvalidArgument);
        }
        const wish = {
          workspace,
          userId: checkedId(userId, "`user_id`") || "operator",
          agentId: checkedId(agentId, "`agent_id`") || "agent",
          scope: scopeOf(scope),
          budget: budgetOf(budget),
          ...(projectRoot !== "" && { projectRoot }),
          ...(role !== "" && { role }),
          ...(preset !== "" && { preset }),
          ...(mode !== "" && { mode }),
          ...(skill !== "" && { skill }),
          ...(dialect !== "" && { dialect }),
          ...(lifetimeMs !== 0n && { lifetimeMs: milliseconds(lifetimeMs) }),
          ...(leaseId !== "" && { leaseId }),
        };
        const { session, token } = await port.createSession(wish, bearerToken(requestHeader));
        return { session: sessionMessage(session), token };
      }),
    listSessions: ({ limit }) =>
      guarded(async () => {
        const all = await port.listSessions();
        const sessions = fitted(
          SessionSchema,
          asked(all, limit).map((session) => create(SessionSchema, sessionMessage(session))),
        );
        return { sessions, truncated: sessions.length < all.length };
      }),
    revokeSession: ({ sessionId }) =>
      guarded(async () => ({ session: sessionMessage(await port.revokeSession(sessionId)) })),
  };
}

function armingMethods(port: AdminPort, guarded: Guarded): Pick<Methods, "arm" | "disarm"> {
  const named = (sessionId: string) => (sessionId === "" ? undefined : sessionId);
  return {
    arm: ({ sessionId, durationMs }) =>
      guarded(async () => ({ arming: armingMessage(await port.arm(named(sessionId), milliseconds(durationMs))) })),
    disarm: ({ sessionId }) =>
      guarded(async () => ({ armings: (await port.disarm(named(sessionId))).map(armingMessage) })),
  };
}

function leaseMethods(
  port: AdminPort,
  guarded: Guarded,
): Pick<Methods, "createLease" | "deriveLease" | "listLeases" | "renewLease" | "releaseLease"> {
  return {
    createLease: ({ scope, lifetimeMs, budget }) =>
      guarded(async () => ({
        lease: leaseMessage(await port.createLease(scopeOf(scope), milliseconds(lifetimeMs), budgetOf(budget))),
      })),
    deriveLease: ({ parentId, scope, lifetimeMs, budget }) =>
      guarded(async () => ({
        lease: leaseMessage(
          await port.deriveLease(parentId, {
            scope: scopeOf(scope),
            lifetimeMs: milliseconds(lifetimeMs),
            budget: budgetOf(budget),
          }),
        ),
      })),
    listLeases: ({ limit }) =>
      guarded(async () => {
        const all = await port.listLeases();
        const leases = fitted(
          LeaseSchema,
          asked(all, limit).map((lease) => create(LeaseSchema, leaseMessage(lease))),
        );
        return { leases, truncated: leases.length < all.length };
      }),
    renewLease: ({ leaseId, lifetimeMs }) =>
      guarded(async () => ({ lease: leaseMessage(await port.renewLease(leaseId, milliseconds(lifetimeMs))) })),
    releaseLease: ({ leaseId }) => guarded(async () => ({ lease: leaseMessage(await port.releaseLease(leaseId)) })),
  };
}

function asked<T>(all: readonly T[], limit: number): readonly T[] {
  return limit === 0 ? all : all.slice(0, limit);
}
