/**
 * Tells the kernel who a client says that it is, before its first call.
 *
 * INVARIANTS: the first name counts, and a call without one before it counts as nameless: a client that changes its
 * name
 * stays whom it was. A call whose client could not be named is not made.
 */
import { isJsonObject } from "../../base/json.ts";
import type { McpOptions } from "./protocol/options.ts";

/** The client of one connection, as far as it has said who it is. */
export class MetClient {
  readonly #options: Pick<McpOptions, "onClient" | "onError">;
  #naming: Promise<void> | undefined;
  #isSettled: boolean;

  constructor(options: Pick<McpOptions, "onClient" | "onError">) {
    this.#options = options;
    this.#isSettled = options.onClient === undefined;
  }

  /** The client says who it is. */
  introduce(clientInfo: unknown): void {
    if (this.#isSettled || this.#naming !== undefined) return;
    const name = isJsonObject(clientInfo) ? clientInfo["name"] : undefined;
    if (typeof name !== "string" || name === "") return;
    this.#naming = this.#options.onClient?.(name);
    this.#naming?.catch(() => undefined); // every call is told
  }

  /** What a call has to wait for; it rejects when the client could not be named. */
  ready(): Promise<void> | undefined {
    if (this.#isSettled) return undefined;
    this.#naming ??= Promise.resolve();
    return this.#naming.then(() => {
      this.#isSettled = true;
    });
  }
}
