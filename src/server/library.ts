/**
 * The library's front door: the same kernel, without a process between. A session holds its token; a call answers with
 * the same result document as every other front door.
 */
import { newId, systemRandom } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import type { CallResponse } from "../model/call.ts";
import type { ProgressListener } from "../model/progress.ts";
import type { Session } from "../model/session.ts";
import { toToolResult } from "../wire/index.ts";
import type { SessionWish } from "./administration.ts";
import { type KernelOptions, type OpenKernel, openKernel } from "./compose.ts";

export { toToolResult };

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** At most 256 characters; a random one when absent. */
  readonly requestId?: string;
  readonly dedupeKey?: string;
  /** Hears what the tool reports while it runs. */
  readonly onProgress?: ProgressListener;
}

/** What came of a call: the response with everything known about it, and the result document that agents see. */
export interface CallResult {
  readonly response: CallResponse;
  readonly result: JsonObject;
}

/** A session of an embedded kernel. */
export interface KernelSession {
  readonly session: Session;
  /** Authenticates other front doors as this session; keep it secret. */
  readonly token: string;
  /** Makes one governed call. Never rejects for a denied or failed call. */
  readonly call: (tool: string, args: JsonObject, options?: CallOptions) => Promise<CallResult>;
  /** Revokes the session. */
  readonly end: () => Promise<void>;
}

/** What a session is wanted for; the operator of an embedded kernel is the embedding program. */
export type SessionOptions = Partial<Omit<SessionWish, "askedBy" | "workspace">> & Pick<SessionWish, "workspace">;

/** An embedded kernel. */
export interface Kernel extends Pick<OpenKernel, "administration" | "health" | "stateDirectory" | "instanceId" | "close"> {
  readonly tools: OpenKernel["door"]["tools"];
  readonly openSession: (options: SessionOptions) => Promise<KernelSession>;
}

/**
 * Opens a kernel in this process.
 * @throws KernelError CONFIG_INVALID, STORE_UNAVAILABLE or STORE_CORRUPT, saying what to do
 */
export async function createKernel(options: Partial<KernelOptions> = {}): Promise<Kernel> {
  const open = await openKernel({ environment: process.env, ...options });
  const { administration, health, stateDirectory, instanceId, close, door } = open;
  return { administration, health, stateDirectory, instanceId, close, tools: door.tools, openSession: (wish) => openSession(open, wish) };
}

async function openSession(open: OpenKernel, wish: SessionOptions): Promise<KernelSession> {
  const { session, token } = await open.administration.createSession({
    userId: "library",
    agentId: "library",
    ...wish,
    askedBy: "operator",
  });
  return {
    session,
    token,
    async call(tool, args, options = {}) {
      const response = await open.door.execute(
        {
          kind: "call",
          requestId: options.requestId ?? newId("req", systemRandom),
          sessionToken: token,
          tool,
          arguments: args,
          ...(options.dedupeKey !== undefined && { dedupeKey: options.dedupeKey }),
        },
        options.signal ?? new AbortController().signal,
        options.onProgress,
      );
      return { response, result: toToolResult(response) };
    },
    end: async () => void (await open.administration.revokeSession(session.id)),
  };
}
