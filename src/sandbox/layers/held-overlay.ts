/**
 * Holds an overlay in a waiting process, for a runtime that runs as root and enters it.
 *
 * Root itself could mount no overlay whose files belong to the user of the run.
 *
 * INVARIANT: the holder ends with the run, and with the kernel, however that ends.
 */
import { spawn } from "node:child_process";

import { ToolFailure } from "../../model/outcome/failure.ts";
import { type Layers, overlayPrefix } from "./overlay.ts";

/** Milliseconds that a view of a workspace may take to be made, on a busy machine too: a start of Node and mounts. */
export const SANDBOX_VIEW_MS = 60_000;

/** What stands before a program of root's that is to see the overlay, and the end of it. */
export interface HeldOverlay {
  readonly enter: readonly string[];
  readonly end: () => void;
}

/** Says that everything stands, and waits for the end of what it reads. */
const WAIT = ["/bin/sh", "-c", 'echo "$$"; exec cat >/dev/null'];

/**
 * Mounts `layers` as the user that `prefix` makes of a program.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when the machine cannot
 */
export async function holdOverlay(prefix: readonly string[], layers: Layers): Promise<HeldOverlay> {
  const [program = "", ...rest] = [...prefix, ...overlayPrefix(layers), ...WAIT];
  const holder = spawn(program, rest, {
    cwd: "/",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true, // what a terminal sends ends the run, which ends it
  });
  holder.stdin.on("error", () => undefined); // it ended; whoever enters is told
  const said = await new Promise<string>((resolve) => {
    let complaint = "";
    const late = setTimeout(() => resolve("no answer"), SANDBOX_VIEW_MS);
    const settle = (text: string): void => {
      clearTimeout(late);
      resolve(text);
    };
    holder.stderr.on("data", (data: Buffer) => {
      complaint = (complaint + data.toString("latin1")).slice(0, 200);
    });
    holder.stdout.once("data", () => settle(""));
    holder.once("error", (error) => settle(error.message));
    holder.once("close", () => settle(complaint || "it ended"));
  });
  if (said === "" && holder.pid !== undefined) {
    return { enter: ["nsenter", `--mount=/proc/${holder.pid}/ns/mnt`, "--"], end: () => void holder.kill("SIGKILL") };
  }
  holder.kill("SIGKILL");
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `the view of the workspace could not be made: ${said.replace(/[^\x20-\x7e]+/g, " ").trim()}; the command did not run`,
    "ask the operator to look at `handrail doctor`",
  );
}
