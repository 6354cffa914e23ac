/** Records what a running tool does: whether it began and returned, what it changed, and how its commands ended. */
import type { JsonObject } from "../../base/json.ts";
import { Changes } from "./changes.ts";

/** The record of one run. */
export class RunRecord {
  /** What the tool changed through its handles. */
  readonly changes = new Changes();
  readonly #commands: JsonObject[] = [];
  #sandbox: JsonObject | undefined;
  #hasBegun = false;
  #hasReturned = false;
  #leftNothing = false;

  /** The tool was started: from then on an effect may stand. */
  get hasBegun(): boolean {
    return this.#hasBegun;
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

  begin(): void {
    this.#hasBegun = true;
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
