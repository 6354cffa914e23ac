/**
 * Offers a session's stored content as resources, prompts for common work, and completions of their paths.
 *
 * What is read or listed for them is read by calls of the session's own tools, so that every rule holds and everything
 * is in evidence. Their parts are loaded with the first use.
 */
import type { JsonObject } from "../../../base/json.ts";
import { CONTENT_URI } from "../../../model/work/content.ts";
import type { McpFeatures } from "../protocol/features.ts";
import type { McpOptions } from "../protocol/options.ts";
import { SESSION_TOOLS_URI } from "../protocol/session-uri.ts";

/** Links that a session is shown again when it lists its resources. */
const LINKS_MAX = 64;

/** What one session is offered beside tools. */
export function sessionFeatures(options: Pick<McpOptions, "door" | "sessionToken" | "newRequestId">): McpFeatures {
  const links = new Map<string, JsonObject>();
  const listeners = new Set<() => void>();
  return {
    resources: {
      subscribe: true,
      list: async () => [(await import("./session-tools.ts")).SESSION_TOOLS, ...links.values()],
      templates: async () => (await import("./stored-content.ts")).CONTENT_TEMPLATES,
      read: async (uri, signal) =>
        uri === SESSION_TOOLS_URI
          ? (await import("./session-tools.ts")).readSessionTools(options)
          : (await import("./stored-content.ts")).readStored(options, uri, signal),
      // What an address by its hash stands for never changes.
      changesWith(uri) {
        if (uri === SESSION_TOOLS_URI) return "tools";
        return uri.startsWith(CONTENT_URI) ? "never" : undefined;
      },
      watchList(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    prompts: {
      list: async () => (await import("./common-prompts.ts")).listPrompts(),
      get: async (name, args) => (await import("./common-prompts.ts")).getPrompt(name, args),
    },
    complete: async (completing) => (await import("./completed-path.ts")).completePath(options, completing),
    onLink(link) {
      const isNew = !links.delete(String(link["uri"]));
      links.set(String(link["uri"]), link);
      const [oldest] = links.keys();
      if (links.size > LINKS_MAX && oldest !== undefined) links.delete(oldest);
      if (isNew) for (const listener of listeners) listener();
    },
  };
}
