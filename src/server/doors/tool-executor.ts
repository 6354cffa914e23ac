/**
 * meao's executor: `execute` answers `{success, output, label, truncated, executionTime}`.
 *
 * It stands on a session, or, as in meao, on an approval manager: then the session is the one of that kernel which the
 * context names. It decides nothing; every call goes through the kernel's door.
 */
import type { ApprovalManager } from "../../approval/handler.ts";
import { usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { type ExecutorResult, executorResult } from "../plugins/executor-result.ts";
import type { CallOptions } from "./call-options.ts";

export type { ExecutorResult } from "../plugins/executor-result.ts";

/** A session, as far as an executor needs one. */
interface CallingSession {
  readonly call: (
    tool: string,
    args: JsonObject,
    options?: CallOptions,
  ) => Promise<{ readonly response: CallResponse }>;
}

/** Which session calls, where the executor stands on an approval manager. */
export interface ExecutorContext extends CallOptions {
  readonly sessionId?: string;
}

/** The sessions of each kernel that was opened with an approval manager, by their ids. */
const sessionsOf = new WeakMap<ApprovalManager, Map<string, CallingSession>>();

/** Notes a session of the kernel that `manager` answers for. @returns what forgets it */
export function noteSession(manager: ApprovalManager, id: string, session: CallingSession): () => void {
  const sessions = sessionsOf.get(manager) ?? new Map<string, CallingSession>();
  sessionsOf.set(manager, sessions);
  sessions.set(id, session);
  return () => sessions.delete(id);
}

/** Executes tools of the kernel. */
export class ToolExecutor {
  readonly #on: CallingSession | ApprovalManager;

  /** @param on the session, or the approval manager of a kernel */
  constructor(on: CallingSession | ApprovalManager) {
    this.#on = on;
  }

  /**
   * Makes one governed call; a refused or failed one is `success: false`, and never rejects.
   * @throws KernelError USAGE where the context names no session of the approval manager's kernel
   */
  async execute(
    tool: string | Pick<Tool, "name">,
    args: JsonObject,
    { sessionId, ...options }: ExecutorContext = {},
  ): Promise<ExecutorResult> {
    const session = this.#session(sessionId);
    const { response } = await session.call(typeof tool === "string" ? tool : tool.name, args, options);
    return executorResult(response);
  }

  #session(id: string | undefined): CallingSession {
    const on = this.#on;
    if ("call" in on) return on;
    const sessions = sessionsOf.get(on);
    const found = id === undefined ? undefined : sessions?.get(id);
    if (found !== undefined) return found;
    throw usageError(
      sessions === undefined
        ? "no kernel was opened with this approval manager; open one with `createKernel({ approvals })`"
        : "the context names no open session of this kernel; give `sessionId` of one that `openSession` made",
    );
  }
}
