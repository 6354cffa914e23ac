/**
 * Defines what a tool that asks its client is given for one call.
 *
 * No tool of the product is one: what a tool asks of a model or a person at the client passes no policy. Whoever serves
 * MCP names the tools that may, by `AskingTools`.
 */
import type { JsonObject } from "../../../base/json.ts";
import type { RpcError } from "./rpc-error.ts";

/** The client of one call. */
export interface ClientLink {
  /** What the client says that it can do. */
  readonly capabilities: JsonObject;
  /** What came back with this round: state as it was handed out, and answers by their names. */
  readonly round: { readonly state: unknown; readonly responses: unknown };
  /**
   * Asks while the call runs: in the legacy era, and in the modern one where the call can be a task. Rejects when
   * nobody answers.
   */
  readonly ask: ((method: string, params: JsonObject) => Promise<unknown>) | undefined;
  /** Makes the result of a modern call a question: requests by their names, and state that comes back with answers. */
  readonly require: (requests: JsonObject, state?: string) => void;
  /** Refuses what the round brought, or a client that cannot do what is needed; nothing else is answered. */
  readonly refuse: (error: RpcError) => void;
  /** Sends a log message, if the client wants those of its level. */
  readonly log: (level: string, data: string) => void;
}

/** The tools that ask their clients. */
export interface AskingTools {
  readonly owns: (tool: string) => boolean;
  /** Whether a call with these parameters is a task from its beginning, for clients that know tasks. */
  readonly isTask?: (tool: string, params: JsonObject) => boolean;
  /** A call begins; the tool finds its link by the id of its request. @returns what ends it */
  readonly open: (requestId: string, link: ClientLink) => () => void;
}

/** Levels of log messages, the least first. */
export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
