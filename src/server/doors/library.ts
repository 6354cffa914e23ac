/**
 * The library's front door: the same kernel, without a process between. A session holds its token; a call answers with
 * the same result document as every other front door.
 */
import { usageError } from "../../base/errors.ts";
import { newId, systemRandom } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Fetched, UploadAnnouncement } from "../../kernel/index.ts";
import type { Session } from "../../model/people/session.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import type { ToolResult } from "../../model/tool/tool-result.ts";
import { toToolResult } from "../../wire/index.ts";
import { type KernelOptions, type OpenKernel, openKernel } from "../compose.ts";
import type { SessionWish } from "../people/administration.ts";
import { OperatorProof } from "../people/operator-proof.ts";
import { ToolRegistry } from "../plugins/tool-registry.ts";
import type { CallOptions } from "./call-options.ts";
import { noteSession, ToolExecutor } from "./tool-executor.ts";

export type { CallOptions } from "./call-options.ts";
export { toToolResult };

/** What came of a call: the response with everything known about it, and the result document that agents see. */
export interface CallResult {
  readonly response: CallResponse;
  readonly result: ToolResult;
}

/** A session of an embedded kernel; `await using` ends it. */
export interface KernelSession extends AsyncDisposable {
  readonly session: Session;
  /** Authenticates other front doors as this session; keep it secret. */
  readonly token: string;
  /** Makes one governed call. Never rejects for a denied or failed call. */
  readonly call: (tool: string, args: JsonObject, options?: CallOptions) => Promise<CallResult>;
  /**
   * Stores content under its BLAKE3-256 and answers `{content_hash, size_bytes}`; a hash that is announced is checked.
   * Never rejects for a denied or failed upload.
   */
  readonly putContent: (
    content: Uint8Array | AsyncIterable<Uint8Array>,
    announced?: UploadAnnouncement,
    options?: Pick<CallOptions, "signal">,
  ) => Promise<CallResult>;
  /** Verified bytes of stored content, or why there are none. */
  readonly getContent: (
    hash: Uint8Array,
    range?: ContentRange,
    options?: Pick<CallOptions, "signal">,
  ) => Promise<Fetched>;
  /** Revokes the session. */
  readonly end: () => Promise<void>;
}

/** What a session is wanted for; the operator of an embedded kernel is the embedding program. */
export type SessionOptions = Partial<Omit<SessionWish, "operator" | "workspace">> &
  Pick<SessionWish, "workspace"> & {
    /** Hears that the agent has ended its turn with `done`, and its summary. */
    readonly onDone?: (summary: string) => void;
  };

/** A part of content, in bytes; `limit` absent or 0 reads to the end. */
export interface ContentRange {
  readonly offset?: number;
  readonly limit?: number;
}

/** An embedded kernel; `await using` closes it. */
export interface Kernel
  extends AsyncDisposable,
    Pick<
      OpenKernel,
      "administration" | "approvals" | "freezes" | "health" | "stateDirectory" | "instanceId" | "close"
    > {
  readonly tools: OpenKernel["door"]["tools"];
  readonly openSession: (options: SessionOptions) => Promise<KernelSession>;
}

/**
 * Opens a kernel in this process.
 * @throws KernelError CONFIG_INVALID, STORE_UNAVAILABLE or STORE_CORRUPT, saying what to do
 */
export async function createKernel(options: Partial<KernelOptions> = {}): Promise<Kernel> {
  const open = await openKernel({ environment: process.env, ...options });
  const { administration, approvals, freezes, health, stateDirectory, instanceId, close, door } = open;
  return {
    administration,
    approvals,
    freezes,
    health,
    stateDirectory,
    instanceId,
    close,
    tools: door.tools,
    openSession: (wish) => openSession(open, wish, options),
    [Symbol.asyncDispose]: close,
  };
}

async function openSession(
  open: OpenKernel,
  { onDone, ...wish }: SessionOptions,
  { approvals, registry }: Pick<Partial<KernelOptions>, "approvals" | "registry">,
): Promise<KernelSession> {
  const { session, token } = await open.administration.createSession({
    userId: "library",
    agentId: "library",
    ...wish,
    operator: OperatorProof.ofEmbeddingProgram(),
  });
  const end = async () => {
    forget?.();
    await open.administration.revokeSession(session.id);
  };
  const who = () => ({ requestId: newId("req", systemRandom), sessionToken: token });
  const opened: KernelSession = {
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
        { listener: options.onProgress },
      );
      if (tool === "done" && response.outcome.kind === "success") onDone?.(String(response.outcome.data["summary"]));
      return { response, result: toToolResult(response) };
    },
    async putContent(content, announced = {}, { signal } = {}) {
      const chunks = content instanceof Uint8Array ? once(content) : content;
      const response = await open.door.putContent(
        { who: who(), announced, chunks },
        signal ?? new AbortController().signal,
      );
      return { response, result: toToolResult(response) };
    },
    async getContent(hash, range = {}, { signal } = {}) {
      if (!(hash instanceof Uint8Array))
        throw usageError('the hash of content is bytes; give `Buffer.from(hash, "hex")`');
      return open.door.getContent({ ...who(), hash, ...range }, signal ?? new AbortController().signal);
    },
    end,
    [Symbol.asyncDispose]: end,
  };
  const forget = approvals && noteSession(approvals, session.id, opened);
  if (registry instanceof ToolRegistry) registry.bind((name, args) => new ToolExecutor(opened).execute(name, args));
  return opened;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
