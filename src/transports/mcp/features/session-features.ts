/**
 * Offers a session's stored content as resources, prompts for common work, and completions of their paths.
 *
 * What is read or listed for them is read by calls of the session's own tools, so that every rule holds and everything
 * is in evidence. Their parts are loaded with the first use.
 */
import type { JsonObject } from "../../../base/json.ts";
import type { McpFeatures } from "../protocol/features.ts";
import type { McpOptions } from "../protocol/options.ts";

/** Links that a session is shown again when it lists its resources. */
const LINKS_MAX = 64;

/** What one session is offered beside tools. */
export function sessionFeatures(options: Pick<McpOptions, "door" | "sessionToken" | "newRequestId">): McpFeatures {
  const links = new Map<string, JsonObject>();
  return {
    resources: {
      list: async () => [...links.values()],
      templates: async () => (await import("./stored-content.ts")).CONTENT_TEMPLATES,
      read: async (uri, signal) => (await import("./stored-content.ts")).readStored(options, uri, signal),
    },
    prompts: {
      list: async () => (await import("./common-prompts.ts")).listPrompts(),
      get: async (name, args) => (await import("./common-prompts.ts")).getPrompt(name, args),
    },
    complete: async (completing) => (await import("./completed-path.ts")).completePath(options, completing),
    onLink(link) {
      links.delete(String(link["uri"]));
      links.set(String(link["uri"]), link);
      const [oldest] = links.keys();
      if (links.size > LINKS_MAX && oldest !== undefined) links.delete(oldest);
    },
  };
}
