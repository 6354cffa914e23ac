/** Defines the options with which a caller serves one MCP client. */
import type { KernelDoor } from "../../../kernel/index.ts";
import type { AskingTools } from "./client-link.ts";
import type { McpFeatures } from "./features.ts";

/** What a served client is bound to. */
export interface McpOptions {
  readonly door: KernelDoor;
  readonly sessionToken: string;
  readonly version: string;
  readonly instructions: string;
  /** A new id for each request, unique in the ledger. */
  readonly newRequestId: () => string;
  /** Called once the tools were first listed: now is the time to prepare for calls. */
  readonly onListed: () => void;
  readonly onError: (error: Error) => void;
  /** What is offered beside tools. */
  readonly features?: McpFeatures;
  /** The tools that ask their clients; none without it. */
  readonly asking?: AskingTools;
  /** Milliseconds after which a call of a client without tasks is held. */
  readonly heldAfterMs?: number;
  /** Called once, with the first name that the client gives itself, and awaited before its first call. */
  readonly onClient?: (name: string) => Promise<void>;
}
