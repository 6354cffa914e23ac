/**
 * Holds a program of Handrail's own that runs in another process.
 *
 * INVARIANTS: it gets nothing of the kernel's environment, and what it writes to its output goes nowhere. It is heard
 * to have ended at most once. Where it is not held, it keeps no kernel alive.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** How a program is started. */
export interface ForkOptions {
  readonly args?: readonly string[];
  /** Mebibytes of its heap; Node's own limit where none is given. */
  readonly heapMib?: number;
}

/** Who hears a program. */
export interface Listener<Reply> {
  readonly reply: (reply: Reply) => void;
  /** It has ended by itself, or cannot be told any more. */
  readonly ended: (problem: string) => void;
}

/** A process that takes requests and gives replies. */
export class ForkedProgram<Request extends object, Reply extends object> {
  readonly #child: ChildProcess;
  #listener: Listener<Reply> | undefined;
  #isEnded = false;

  /** Starts `program`, held. */
  constructor(program: URL, { args = [], heapMib }: ForkOptions) {
    const heap = heapMib === undefined ? [] : [`--max-old-space-size=${heapMib}`];
    this.#child = fork(fileURLToPath(program), [...args], {
      env: {},
      cwd: "/",
      execArgv: [...heap, "--disable-warning=ExperimentalWarning"],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child.on("message", (reply) => {
      if (typeof reply === "object" && reply !== null && !this.#isEnded) this.#listener?.reply(reply as Reply);
    });
    this.#child.on("error", (error) => this.#lost(error.message));
    this.#child.on("exit", (code, signal) => this.#lost(`its process ended with ${code ?? signal}`));
  }

  /** Whether it has not ended, as far as is known. */
  get isRunning(): boolean {
    return !this.#isEnded;
  }

  /** Sets who hears it from now on, in place of who did. */
  listen(listener: Listener<Reply>): void {
    this.#listener = listener;
  }

  /** Tells it something; one that cannot be told has ended. */
  send(request: Request): void {
    this.#child.send(request, (error) => {
      if (error) this.#lost("it takes no request");
    });
  }

  /** Whether the kernel's process stays open for it. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#child.ref();
    else this.#child.unref();
    if (isHeld) this.#child.channel?.ref();
    else this.#child.channel?.unref();
  }

  /** Ends it; who listens does not hear of it. */
  end(): void {
    this.#isEnded = true;
    this.#child.kill("SIGKILL");
  }

  #lost(problem: string): void {
    if (this.#isEnded) return;
    this.end();
    this.#listener?.ended(problem);
  }
}
