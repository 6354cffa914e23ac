/** Records what a running tool does: whether it began and returned, what it changed, and how its commands ended. */
import type { JsonObject } from "../../base/json.ts";
import type { Consumed } from "../../model/tool/tool.ts";
import { Changes } from "./changes.ts";

/** The record of one run. */
export class RunRecord {
  /** What the tool changed through its handles. */
  readonly changes = new Changes();
  readonly #commands: JsonObject[] = [];
  #sandbox: JsonObject | undefined;
  #begunMs: number | undefined;
  #bytesOut = 0;
  #consumed: Consumed = {};
  #hasReturned = false;
  #leftNothing = false;

  /** The tool was started: from then on an effect may stand. */
  get hasBegun(): boolean {
    return this.#begunMs !== undefined;
  }

  /** When the tool was started, on the monotonic clock. */
  get begunMs(): number | undefined {
    return this.#begunMs;
  }

  /** What was handed out, and what the tool says that it spent. */
  get spent(): { readonly bytesOut: number; readonly consumed: Consumed } {
    return { bytesOut: this.#bytesOut, consumed: this.#consumed };
  }

  /** The tool returned: its effect stands, whatever becomes of its result. */
  get hasReturned(): boolean {
    return this.#hasReturned;
  }

  /** The tool failed, and nothing stands of what it tried. */
  get leftNothing(): boolean {
    return this.#leftNothing;
  }

  /** What contained the commands of the call. */
  get sandbox(): JsonObject | undefined {
    return this.#sandbox;
  }

  /** How its commands ended and what they used, in the order in which they ended. */
  get commands(): readonly JsonObject[] {
    return this.#commands;
  }

  /** @param nowMs on the monotonic clock */
  begin(nowMs: number): void {
    this.#begunMs = nowMs;
  }

  noteSpent(bytesOut: number, consumed: Consumed): void {
    this.#bytesOut = bytesOut;
    this.#consumed = consumed;
  }

  noteReturn(): void {
    this.#hasReturned = true;
  }

  noteNothingLeft(): void {
    this.#leftNothing = true;
  }

  noteSandbox(sandbox: JsonObject): void {
    this.#sandbox = sandbox;
  }

  noteCommand(command: JsonObject): void {
    this.#commands.push(command);
  }
}
