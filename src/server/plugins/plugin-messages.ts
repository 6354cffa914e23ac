/** Defines the messages between the kernel and the thread that runs a plugin's module. */
import type { JsonObject } from "../../base/json.ts";
import type { PluginAuditFacts, PluginCapability } from "../../tools/plugin/plugin.ts";

/** What a thread is started with. */
export interface PluginWorkerData {
  /** The module's address, `file:` and all. */
  readonly module: string;
}

/** A plugin as its thread describes it. */
export interface DescribedPlugin {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly schema: JsonObject;
  readonly capability: PluginCapability;
  /** Whether it says what it will touch, which a thread cannot be asked. */
  readonly isAnalysed: boolean;
}

/** Facts of a call that its plugin may know. */
export interface PluginCallFacts {
  readonly requestId: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly agentId: string;
  readonly role: string;
  readonly workDir: string;
  readonly serviceRoot: string;
  readonly projectRoot: string;
  readonly approvals: readonly string[];
  readonly allowedCommands: readonly string[];
  readonly accessToken: string;
}

/** A call, for the thread. */
export interface PluginCall {
  readonly name: string;
  readonly args: unknown;
  readonly facts: PluginCallFacts;
}

/** What a thread says; anything else ends it. */
export type PluginReply =
  | { readonly kind: "plugins"; readonly plugins: readonly DescribedPlugin[] }
  | { readonly kind: "broken"; readonly problem: string }
  | { readonly kind: "note"; readonly category: string; readonly event: string; readonly facts: PluginAuditFacts }
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "failed"; readonly problem: string };
