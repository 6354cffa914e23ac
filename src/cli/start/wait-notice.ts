/** Says on standard error that a call waits for a person, what for, and how to answer. */
import type { AskedCall } from "../../model/approval/approval.ts";
import { shortRef } from "../../model/approval/prompt-lines.ts";
import { say, visible } from "../terminal/output.ts";
import type { KernelFlags } from "./kernel-options.ts";

/** Milliseconds that a call may wait unannounced: whoever answers at once is not disturbed. */
const SILENT_MS = 1000;

/** The notice of one call. */
export class WaitNotice {
  readonly #flags: KernelFlags;
  #timer: NodeJS.Timeout | undefined;

  /** @param flags those with which the call was made, which the answer needs as well */
  constructor(flags: KernelFlags) {
    this.#flags = flags;
  }

  /** The call may wait from now on. */
  readonly begin = ({ ref, summary }: AskedCall): void => {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      say(`handrail: waiting for a person's approval: ${visible(summary)}`);
      say(`handrail: in another terminal: ${this.#command(ref)}`);
    }, SILENT_MS);
  };

  /** The call waits no longer. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #command(ref: string): string {
    const { state, config } = this.#flags;
    const named = Object.entries({ state, config }).flatMap(([name, path]) =>
      path === undefined ? [] : [`--${name} ${quoted(path)}`],
    );
    return ["handrail approve", shortRef(ref), ...named].join(" ");
  }
}

function quoted(path: string): string {
  return `'${visible(path).replaceAll("'", "'\\''")}'`;
}
