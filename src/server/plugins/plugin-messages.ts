/** Defines the messages between the kernel and the program that runs a plugin's module. */
import type { JsonObject } from "../../base/json.ts";
import type { PluginAuditFacts, PluginCapability } from "../../tools/plugin/plugin.ts";

/** A plugin as its program describes it. */
export interface DescribedPlugin {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly schema: JsonObject;
  readonly capability: PluginCapability;
  /** Whether it says what it will touch, which a program cannot be asked. */
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

/** A call, for the program. */
export interface PluginCall {
  readonly name: string;
  readonly args: unknown;
  readonly facts: PluginCallFacts;
}

/** What a program says; anything else ends it. */
export type PluginReply =
  | { readonly kind: "plugins"; readonly plugins: readonly DescribedPlugin[] }
  | { readonly kind: "broken"; readonly problem: string }
  | { readonly kind: "note"; readonly category: string; readonly event: string; readonly facts: PluginAuditFacts }
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "failed"; readonly problem: string };
