/** Describes this server and what it offers, the same in every revision. */

import type { JsonObject } from "../../../base/json.ts";
import type { McpFeatures } from "./features.ts";
import type { McpOptions } from "./options.ts";

/**
 * Milliseconds for which an MCP client may keep a list: tools change with the version alone, so it is old after an
 * update for this long.
 */
const LIST_FRESH_MS = 300_000;

/** The extension of tasks, by its name among capabilities. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** What `initialize` and `server/discover` tell. */
export interface ServerIdentity {
  readonly serverInfo: { readonly name: string; readonly title: string; readonly version: string };
  /** Tools, and what is offered beside them. */
  readonly capabilities: JsonObject;
  readonly instructions: string;
}

/** The identity of a server with these options. */
export function serverIdentity({ version, instructions, features }: McpOptions): ServerIdentity {
  const capabilities = {
    tools: { listChanged: true },
    ...offered(features ?? {}),
    extensions: { [TASKS_EXTENSION]: {} },
  };
  return { serverInfo: { name: "handrail", title: "Handrail", version }, capabilities, instructions };
}

function offered({ resources, prompts, complete, logs }: McpFeatures): JsonObject {
  return {
    ...(resources !== undefined && {
      resources: {
        ...(resources.subscribe === true && { subscribe: true }),
        ...(resources.watchList !== undefined && { listChanged: true }),
      },
    }),
    ...(prompts !== undefined && { prompts: {} }),
    ...(complete !== undefined && { completions: {} }),
    ...(logs === true && { logging: {} }),
  };
}

/** How long results of the modern era stay fresh, and for whom: another session may be shown something else. */
export const CACHE_HINT = { ttlMs: LIST_FRESH_MS, cacheScope: "private" } as const;
