/**
 * Runs one program outside of the sandbox: the only place that does so for a tool.
 *
 * It trusts that the program was listed by the operator and looked at (`trusted-program.ts`). INVARIANTS: no shell;
 * nothing of the kernel's environment, descriptors or terminal goes in; nothing can be asked, because there is no
 * input; output is handed on and never kept here; when the promise is settled the command has ended, or it is said that
 * it could not be ended.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { userInfo } from "node:os";
import type { Readable } from "node:stream";

import { ToolFailure } from "../../model/outcome/failure.ts";
import { keepDescriptors } from "../native/pipes.ts";
import type { EndedBy, RunOutput } from "../run/launch.ts";
import { ProcessGroup } from "./process-group.ts";

/**
 * Milliseconds between asking a host command to end and killing it: package managers put their state in order first.
 */
const HOST_COMMAND_GRACE_MS = 3000;
/**
 * Milliseconds that are waited for output after a killed host command: what became a process of its own may hold its
 * pipes.
 */
const HOST_COMMAND_DRAIN_MS = 500;

/** A program and what it gets. */
export interface HostCommand {
  /** An absolute path first. */
  readonly argv: readonly [string, ...string[]];
  /** Besides what every host command gets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** How it ended. */
export interface HostEnd {
  /** Absent when a signal ended it, or the kernel did. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly endedBy: EndedBy | undefined;
  readonly durationMs: number;
}

/** Where programs of the machine find each other. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** All that a host command finds in its environment, besides what its tool gives it. */
function environmentOf(given: Readonly<Record<string, string>>): Record<string, string> {
  const { username, homedir } = userInfo(); // of the machine's table of users, not of the kernel's environment
  return { PATH, LANG: "C.UTF-8", LC_ALL: "C.UTF-8", HOME: homedir, USER: username, LOGNAME: username, ...given };
}

/**
 * Runs `command` to its end.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when it could not be started; OUTCOME_UNKNOWN when it goes on although it
 * should not
 */
export async function runHostCommand(command: HostCommand, output: RunOutput, signal: AbortSignal): Promise<HostEnd> {
  signal.throwIfAborted();
  const running = new RunningCommand(command, output);
  const abort = () => running.end("cancelled");
  try {
    signal.addEventListener("abort", abort, { once: true });
    return await running.ended;
  } finally {
    signal.removeEventListener("abort", abort);
    running.dispose();
  }
}

class RunningCommand {
  readonly #settled = Promise.withResolvers<HostEnd>();
  readonly #startedMs = performance.now();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #child: ChildProcess;
  readonly #group: ProcessGroup | undefined;
  #endedBy: EndedBy | undefined;
  /** Something of it may not be signalled. */
  #isForeign = false;
  #exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;

  constructor({ argv: [program, ...rest], environment, timeoutMs }: HostCommand, output: RunOutput) {
    keepDescriptors();
    this.#child = spawn(program, rest, {
      cwd: "/",
      env: environmentOf(environment),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a session of its own: no terminal to ask at, and one number to signal all of it by
    });
    const { pid } = this.#child;
    this.#group = pid === undefined ? undefined : new ProcessGroup(pid);
    this.#listen(this.#child.stdout, output.stdout);
    this.#listen(this.#child.stderr, output.stderr);
    this.#child.once("error", (error) => this.#settled.reject(notStarted(program, error)));
    this.#child.once("exit", (code, by) => this.#exited(code, by));
    this.#child.once("close", () => this.#settle());
    this.#timers.push(setTimeout(() => this.end("timeout"), timeoutMs));
  }

  get ended(): Promise<HostEnd> {
    return this.#settled.promise;
  }

  /** Asks the command to end, and kills what is left of it after a moment. */
  end(by: EndedBy): void {
    if (this.#endedBy !== undefined || this.#exit !== undefined || this.#group === undefined) return;
    this.#endedBy = by;
    this.#isForeign = !this.#group.signal("SIGTERM");
    this.#timers.push(setTimeout(() => this.#kill(), HOST_COMMAND_GRACE_MS));
  }

  dispose(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref(); // one that goes on does not keep the kernel from ending
  }

  #listen(stream: Readable | null, take: (piece: Uint8Array) => void): void {
    stream?.on("data", (piece: Buffer) => take(piece));
    stream?.once("error", (error) => this.#settled.reject(error));
  }

  #kill(): void {
    if (this.#group?.signal("SIGKILL") === false) this.#isForeign = true;
    // Whoever cannot be ended holds the pipes; so does what has become a process of its own.
    this.#timers.push(setTimeout(() => this.#settle(), HOST_COMMAND_DRAIN_MS));
  }

  #exited(code: number | null, by: NodeJS.Signals | null): void {
    this.#exit = { code, signal: by };
    // Of a command that was told to end, nothing may go on; a service that an installation has started may, and may
    // hold the pipes.
    if (this.#endedBy !== undefined) this.#kill();
    else this.#timers.push(setTimeout(() => this.#settle(), HOST_COMMAND_DRAIN_MS));
  }

  #settle(): void {
    const exit = this.#exit;
    if (exit === undefined) {
      this.#settled.reject(this.#isForeign ? NOT_ENDED : NOT_GONE);
      return;
    }
    if (this.#isForeign) {
      this.#settled.reject(NOT_ENDED);
      return;
    }
    this.#settled.resolve({
      exitCode: this.#endedBy === undefined ? (exit.code ?? undefined) : undefined,
      signal: exit.signal ?? undefined,
      endedBy: this.#endedBy,
      durationMs: performance.now() - this.#startedMs,
    });
  }
}

function notStarted(program: string, cause: Error): ToolFailure {
  return new ToolFailure("SANDBOX_UNAVAILABLE", `\`${program}\` could not be started`, {
    suggestion: "ask the operator to look at `system` in handrail.yaml and at the program",
    cause,
  });
}

const NOT_ENDED = new ToolFailure(
  "OUTCOME_UNKNOWN",
  "the command was told to end, but it runs with the rights of root, which the kernel does not have, and may go on",
  "look at the machine before trying again; the operator can bound such commands with `command_timeout` in sudoers",
);

const NOT_GONE = new ToolFailure(
  "OUTCOME_UNKNOWN",
  "the command was killed and has not ended yet",
  "look at the machine before trying again",
);
