/**
 * Lists the tools that a session is offered as MCP's objects.
 *
 * Grants, plugins and components change while a client is served, so that the list is asked for again after a moment.
 * INVARIANT: as long as nothing changed, it is the very same list.
 */
import { canonicalJson, type JsonObject } from "../../../base/json.ts";
import type { McpOptions } from "../protocol/options.ts";
import { describeTool } from "./tool-list.ts";

/** Milliseconds for which a list is taken for what it is. */
export const LIST_KEPT_MS = 1_000;

/** The session's tools as MCP's objects; the first look at them says that calls will follow. */
export function toolList({
  door,
  sessionToken,
  onListed,
  onError,
}: Pick<McpOptions, "door" | "sessionToken" | "onListed" | "onError">): () => Promise<readonly JsonObject[]> {
  let known: { readonly tools: readonly JsonObject[]; readonly text: string } | undefined;
  let asked: { readonly atMs: number; readonly list: Promise<readonly JsonObject[]> } | undefined;
  const list = async (): Promise<readonly JsonObject[]> => {
    const offered = await door.offered(sessionToken).catch((error: unknown) => {
      // The calls will say what is wrong; until then nothing is known to be refused.
      onError(error instanceof Error ? error : new Error(String(error)));
      return door.tools();
    });
    // Two turns later: the answer itself leaves in the next one, and preparing keeps the thread busy for a while.
    if (known === undefined) setImmediate(() => setImmediate(onListed));
    const tools = offered.map(describeTool);
    const text = canonicalJson(tools);
    if (known?.text !== text) known = { tools, text };
    return known.tools;
  };
  return () => {
    const nowMs = performance.now();
    if (asked === undefined || nowMs - asked.atMs > LIST_KEPT_MS) asked = { atMs: nowMs, list: list() };
    return asked.list;
  };
}
