/**
 * Methods of `KernelAdmin` that stop agents, look at what they did, and let them go on.
 *
 * INVARIANT: whom a request means is said in full; one that leaves it open, or says it twice, freezes and resumes
 * nobody.
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import {
  FreezeSchema,
  type FreezeTarget as FreezeTargetMessage,
  type KernelAdmin,
  SessionSchema,
} from "../../../gen/handrail/admin/v1/admin_pb.ts";
import { sessionMessage } from "./admin-messages.ts";
import type { AdminFreeze, AdminFreezes, AdminFreezeTarget, AdminPort } from "./admin-port.ts";
import { fitted, type Guarded, RPC_LIST_BYTES_MAX } from "./fitted.ts";

type Methods = Pick<
  ServiceImpl<typeof KernelAdmin>,
  "kill" | "resume" | "listFreezes" | "freezeSession" | "reviewSession" | "resumeSession"
>;

/** The methods. */
export function freezeMethods({ freezes }: Pick<AdminPort, "freezes">, guarded: Guarded): Methods {
  let reviewing = false;
  return {
    kill: (request) =>
      guarded(async () => ({
        freeze: freezeMessage(await freezes.kill(await targetOf(freezes, request), request.reason)),
      })),
    resume: (request) =>
      guarded(async () => ({
        lifted: freezeMessage(await freezes.resume(await targetOf(freezes, request), request.reason)),
      })),
    listFreezes: () =>
      guarded(async () => {
        const found = await freezes.list();
        const held = fitted(
          FreezeSchema,
          found.freezes.map((freeze) => create(FreezeSchema, freezeMessage(freeze))),
        );
        const sessions = fitted(
          SessionSchema,
          found.sessions.map((session) => create(SessionSchema, sessionMessage(session))),
        );
        return {
          freezes: held,
          sessions,
          truncated: held.length < found.freezes.length || sessions.length < found.sessions.length,
        };
      }),
    freezeSession: ({ sessionId, reason }) =>
      guarded(async () => ({ session: sessionMessage(await freezes.freezeSession(sessionId, reason)) })),
    reviewSession: ({ sessionId }) =>
      guarded(async () => {
        if (reviewing) throw new ConnectError("a review is being made; wait for it to end", Code.ResourceExhausted);
        reviewing = true;
        try {
          return await review(freezes, sessionId);
        } finally {
          reviewing = false;
        }
      }),
    resumeSession: ({ sessionId, reason }) =>
      guarded(async () => {
        const { session, lifted, remaining } = await freezes.resumeSession(sessionId, reason);
        return {
          session: sessionMessage(session),
          ...(lifted && { lifted: freezeMessage(lifted) }),
          ...(remaining && { remaining: freezeMessage(remaining) }),
        };
      }),
  };
}

async function review(freezes: AdminFreezes, sessionId: string) {
  const { session, freeze, mark, liveSessions, violations, calls, entriesRead } = await freezes.review(sessionId);
  const shown = [violations, calls].map((found) =>
    latestFitting(found.map((one) => new TextEncoder().encode(JSON.stringify(one)))),
  );
  const [violationsJson = [], callsJson = []] = shown;
  return {
    session: sessionMessage(session),
    ...(freeze && { freeze: freezeMessage(freeze) }),
    trustLevel: mark?.trustLevel ?? "",
    dataClass: mark?.dataClass ?? "",
    liveSessionIds: [...liveSessions],
    violationsJson,
    callsJson,
    entriesRead: BigInt(entriesRead),
    truncated: violationsJson.length < violations.length || callsJson.length < calls.length,
  };
}

/** As many as a third of an answer holds, the latest of them. */
function latestFitting(documents: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer>[] {
  let left = RPC_LIST_BYTES_MAX / 3;
  const fitting: Uint8Array<ArrayBuffer>[] = [];
  for (const document of [...documents].reverse()) {
    left -= document.byteLength;
    if (left < 0) break;
    fitting.unshift(document);
  }
  return fitting;
}

interface Meant {
  readonly target?: FreezeTargetMessage | undefined;
  readonly sessionId: string;
}

async function targetOf(freezes: AdminFreezes, { target, sessionId }: Meant): Promise<AdminFreezeTarget> {
  if ((target === undefined) === (sessionId === "")) throw unclear("say whom: either `target` or `session_id`");
  if (target === undefined) return freezes.targetOf(sessionId);
  const { scope, userId, agentId, workspace } = target;
  const isNamed = userId !== "" && agentId !== "";
  if (scope === "all" && userId === "" && agentId === "" && workspace === "") return { scope };
  if (scope === "principal" && isNamed && workspace === "") return { scope, userId, agentId };
  if (scope === "workspace" && isNamed && workspace.startsWith("/"))
    return { scope, userId, agentId, serviceRoot: workspace };
  throw unclear(
    "`target` is `all` alone, `principal` with a user and an agent, or `workspace` with both and an absolute path",
  );
}

function unclear(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}

function freezeMessage({ target, cause, reason, by, atMs }: AdminFreeze): MessageInitShape<typeof FreezeSchema> {
  const {
    scope,
    userId = "",
    agentId = "",
    serviceRoot = "",
  } = { userId: "", agentId: "", serviceRoot: "", ...target };
  return {
    target: { scope, userId, agentId, workspace: serviceRoot },
    cause,
    reason,
    frozenBy: by,
    frozenAtMs: BigInt(atMs),
  };
}
