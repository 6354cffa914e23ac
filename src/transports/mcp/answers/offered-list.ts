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
const LIST_KEPT_MS = 200;

/** Milliseconds between two looks at a list of which somebody wants to hear changes. */
const LIST_WATCH_MS = 400;

/** A session's tools as MCP's objects. */
export interface ToolListing {
  readonly tools: () => Promise<readonly JsonObject[]>;
  /**
   * Calls `listener` after each change, until the returned function is called. It looks by itself, while `isAwake`:
   * grants are changed by other processes, too.
   */
  readonly watch: (listener: () => void, isAwake?: () => boolean) => () => void;
}

/** The session's tools as MCP's objects; the first look at them says that calls will follow. */
export function toolList({
  door,
  sessionToken,
  onListed,
  onError,
}: Pick<McpOptions, "door" | "sessionToken" | "onListed" | "onError">): ToolListing {
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
  const tools = () => {
    const nowMs = performance.now();
    if (asked === undefined || nowMs - asked.atMs > LIST_KEPT_MS) asked = { atMs: nowMs, list: list() };
    return asked.list;
  };
  const watch = new Watch(tools);
  return { tools, watch: (listener, isAwake = () => true) => watch.add(listener, isAwake) };
}

/** Looks at the list for all that want to hear of changes, in one place: many of them cost no more than one. */
class Watch {
  readonly #tools: ToolListing["tools"];
  readonly #watchers = new Set<{ readonly listener: () => void; readonly isAwake: () => boolean }>();
  #last: readonly JsonObject[] | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(tools: ToolListing["tools"]) {
    this.#tools = tools;
  }

  add(listener: () => void, isAwake: () => boolean): () => void {
    const watcher = { listener, isAwake };
    if (this.#watchers.size === 0) this.#begin();
    this.#watchers.add(watcher);
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
      clearInterval(this.#looking);
      this.#last = undefined;
    };
  }

  #begin(): void {
    void this.#look();
    this.#looking = setInterval(() => {
      if ([...this.#watchers].some(({ isAwake }) => isAwake())) void this.#look();
    }, LIST_WATCH_MS).unref();
  }

  async #look(): Promise<void> {
    const now = await this.#tools();
    const isChanged = this.#last !== undefined && this.#last !== now;
    this.#last = now;
    if (isChanged) for (const { listener } of [...this.#watchers]) listener();
  }
}
