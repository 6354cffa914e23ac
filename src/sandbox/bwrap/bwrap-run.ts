/**
 * One run of `bwrap`: started, watched, ended.
 *
 * It trusts bwrap's status, not its exit code: a run whose command ended is one for which bwrap says so. INVARIANTS: nothing of the kernel's
 * environment or descriptors goes in; the command does not begin before everything that bounds it stands; when the promise is settled, no
 * process of the run is left.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, readFileSync, writeSync } from "node:fs";
import type { Readable } from "node:stream";
import { assert } from "../../base/errors.ts";
import { KILL_GRACE_MS, SANDBOX_MESSAGE_BYTES_MAX, SANDBOX_STATUS_CHARACTERS_MAX } from "../../base/limits.ts";
import { ToolFailure } from "../../model/failure.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import { memoryFileOf } from "../run/memory-file.ts";
import { descriptorOf, keepDescriptors, openOutputPipe, openPipe } from "../run/pipes.ts";
import { beginningOf, childrenOf, isAlone, kill, terminate } from "../run/process-tree.ts";
import { bwrapArguments, DESCRIPTORS, settingFiles } from "./bwrap-arguments.ts";
import { mountProblem } from "./mount-check.ts";

/** Why a run was ended from outside. */
export type EndedBy = "timeout" | "output" | "cancelled";

/** What came of a run whose command was started. */
export interface RunEnd {
  /** The command's; 128 and a signal's number where a signal ended it. */
  readonly exitCode: number | undefined;
  readonly endedBy: EndedBy | undefined;
  readonly durationMs: number;
}

/** Where the command's output goes; must not throw. */
export interface RunOutput {
  readonly stdout: (piece: Uint8Array) => void;
  readonly stderr: (piece: Uint8Array) => void;
}

/** How bwrap is started on this machine. */
export interface BwrapLaunch {
  readonly program: string;
  /** Put before the program: how another view of the file system is entered. */
  readonly prefix: readonly string[];
  /** The user that bwrap runs as, where that is not the kernel's own. */
  readonly runAs: { readonly userId: number; readonly groupId: number } | undefined;
}

/** Called with the numbers of the processes before the command begins; what it throws ends the run. */
export type Confine = (processes: readonly number[]) => Promise<void>;

/**
 * Runs the plan.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when the sandbox could not be made; the command did not run
 */
export async function runBwrap(
  plan: SandboxPlan,
  launch: BwrapLaunch,
  output: RunOutput,
  signal: AbortSignal,
  confine: Confine,
): Promise<RunEnd> {
  signal.throwIfAborted();
  const run = new BwrapRun(plan, output);
  const abort = () => run.end("cancelled");
  try {
    run.start(launch, confine);
    signal.addEventListener("abort", abort, { once: true });
    return await run.ended;
  } finally {
    signal.removeEventListener("abort", abort);
    run.dispose();
  }
}

class BwrapRun {
  readonly #plan: SandboxPlan;
  readonly #output: RunOutput;
  readonly #settled = Promise.withResolvers<RunEnd>();
  readonly #startedMs = performance.now();
  readonly #timers: NodeJS.Timeout[] = [];
  #child: ChildProcess | undefined;
  #innerId: number | undefined;
  #innerBeginning: string | undefined;
  /** The first process goes into its group while mounts are made: it takes the machine about as long. */
  #confining: Promise<void> | undefined;
  #status = "";
  #message = "";
  #outputBytes = 0;
  #lines = 0;
  #gateIsOpen = false;
  #gateIsClosed = false;
  #endedBy: EndedBy | undefined;
  #isKilled = false;
  #problem: unknown;
  /** Child and both streams. */
  #open = 3;

  constructor(plan: SandboxPlan, output: RunOutput) {
    this.#plan = plan;
    this.#output = output;
  }

  get ended(): Promise<RunEnd> {
    return this.#settled.promise;
  }

  start(launch: BwrapLaunch, confine: Confine): void {
    const { runAs } = launch;
    const files = settingFiles();
    const told = bwrapArguments(this.#plan);
    const handedOn: number[] = [];
    const keep = (descriptor: number): number => {
      handedOn.push(descriptor);
      return descriptor;
    };
    try {
      const stdout = openOutputPipe(runAs);
      keep(stdout.write);
      const stderr = openOutputPipe(runAs);
      keep(stderr.write);
      const [gateRead, gateWrite] = openPipe();
      const inherited = [
        keep(descriptorOf(this.#plan.seccomp.bytes)),
        "pipe" as const,
        keep(gateRead),
        "pipe" as const,
        keep(descriptorOf(Buffer.from(files.passwd))),
        keep(descriptorOf(Buffer.from(files.group))),
        keep(descriptorOf(Buffer.from(files.hosts))),
        keep(memoryFileOf(told.options)),
      ];
      const [program = launch.program, ...rest] = [...launch.prefix, launch.program, ...told.line];
      keepDescriptors();
      const child = spawn(program, rest, {
        cwd: "/",
        env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
        stdio: ["ignore", stdout.write, stderr.write, ...inherited],
        ...(runAs && launch.prefix.length === 0 && { uid: runAs.userId, gid: runAs.groupId }),
      });
      this.#child = child;
      child.once("error", (error) => this.#failed(error));
      child.once("exit", () => this.#closed());
      this.#listen(stdout.reader, this.#output.stdout);
      this.#listen(stderr.reader, (piece) => this.#onStderr(piece));
      const streams = child.stdio as unknown as readonly Readable[];
      streams[DESCRIPTORS.status]?.on("data", (data: Buffer) => this.#onStatus(data, confine));
      streams[DESCRIPTORS.ready]?.on("data", (data: Buffer) => this.#onReady(data, () => void this.#release(gateWrite, confine)));
      streams[DESCRIPTORS.ready]?.once("close", () => this.#closeGate(gateWrite));
    } finally {
      for (const descriptor of handedOn) closeSync(descriptor);
    }
  }

  /** Ends the run: asks, and kills after a moment. Too much output is killed at once. */
  end(by: EndedBy): void {
    if (this.#endedBy !== undefined || this.#open === 0) return;
    this.#endedBy = by;
    const processes = this.#processes();
    if (processes === undefined) return;
    if (by === "output") {
      this.#kill();
      return;
    }
    terminate(processes);
    this.#timers.push(setTimeout(() => this.#kill(), KILL_GRACE_MS));
  }

  dispose(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #processes() {
    const outerId = this.#child?.pid;
    return outerId === undefined || this.#child?.exitCode !== null || this.#child.signalCode !== null
      ? undefined
      : { outerId, innerId: this.#innerId };
  }

  #kill(): void {
    const processes = this.#processes();
    if (processes === undefined) return;
    this.#isKilled = true;
    kill(processes);
  }

  #listen(reader: Readable, take: (piece: Uint8Array) => void): void {
    reader.on("data", (piece: Buffer) => {
      this.#outputBytes += piece.length;
      if (this.#outputBytes > this.#plan.limits.outputBytesMax) this.end("output");
      take(piece);
    });
    reader.once("error", (error) => this.#failed(error));
    reader.once("close", () => this.#closed());
  }

  #onStderr(piece: Uint8Array): void {
    // if the command does not come to run, it is bwrap that speaks
    if (this.#message.length < SANDBOX_MESSAGE_BYTES_MAX) this.#message += Buffer.from(piece).toString("latin1");
    if (this.#gateIsOpen) this.#output.stderr(piece);
  }

  #onStatus(data: Buffer, confine: Confine): void {
    if (this.#status.length > SANDBOX_STATUS_CHARACTERS_MAX) return;
    this.#status += data.toString("latin1");
    const found = /"child-pid"\s*:\s*(\d+)/.exec(this.#status)?.[1];
    if (found === undefined || this.#innerId !== undefined) return;
    this.#innerId = Number(found);
    this.#innerBeginning = beginningOf(this.#innerId);
    this.#confining = confine([this.#innerId]);
    this.#confining.catch(() => undefined); // told to whoever waits for it, before the command begins
  }

  /** The first line says that everything stands, the second that the command begins under its limits. */
  #onReady(data: Buffer, release: () => void): void {
    const before = this.#lines;
    this.#lines += data.toString("latin1").split("\n").length - 1;
    if (before === 0 && this.#lines > 0) release();
  }

  /** Everything that bounds the command stands: it may begin. */
  async #release(gate: number, confine: Confine): Promise<void> {
    try {
      const inner = this.#innerId;
      assert(inner !== undefined, "bwrap names its first process before that speaks");
      const problem = mountProblem(this.#plan, readFileSync(`/proc/${inner}/mountinfo`, "utf8"));
      if (problem !== undefined) throw changedMeanwhile(problem);
      await this.#confining;
      await confine(childrenOf(inner)); // what was started before its parent was in
    } catch (error) {
      this.#failed(error);
      this.#closeGate(gate);
      return;
    }
    if (this.#gateIsClosed) return; // it ended meanwhile
    this.#gateIsOpen = true;
    this.#timers.push(setTimeout(() => this.end("timeout"), this.#plan.limits.timeoutMs));
    if (this.#endedBy === undefined) writeSync(gate, "\n");
    else this.#kill();
    this.#closeGate(gate);
  }

  #closeGate(gate: number): void {
    if (this.#gateIsClosed) return;
    this.#gateIsClosed = true;
    closeSync(gate);
  }

  #failed(error: unknown): void {
    this.#problem ??= error;
    this.#kill();
    if (this.#child?.pid === undefined) this.#closed();
  }

  #closed(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#whenNothingIsLeft().then(
      () => this.#settle(),
      (error: unknown) => this.#settled.reject(error),
    );
  }

  /** bwrap says that the command has ended before the last processes of the namespace have. */
  async #whenNothingIsLeft(): Promise<void> {
    const inner = this.#innerId;
    if (inner === undefined || this.#innerBeginning === undefined || (await isAlone(inner, this.#innerBeginning))) return;
    this.#problem ??= LEFT;
  }

  #settle(): void {
    const durationMs = performance.now() - this.#startedMs;
    // Of a command that was killed bwrap may or may not come to say something.
    const exitCode = this.#isKilled ? undefined : /"exit-code"\s*:\s*(\d+)/.exec(this.#status)?.[1];
    const isEnded = (exitCode !== undefined && this.#lines > 1) || this.#endedBy !== undefined;
    if (this.#problem !== undefined) this.#settled.reject(this.#problem instanceof ToolFailure ? this.#problem : this.#unavailable());
    else if (!isEnded) this.#settled.reject(this.#child?.signalCode ? KILLED : this.#unavailable());
    else this.#settled.resolve({ exitCode: exitCode === undefined ? undefined : Number(exitCode), endedBy: this.#endedBy, durationMs });
  }

  #unavailable(): ToolFailure {
    const said = this.#message.replace(/[^\x20-\x7e]+/g, " ").trim();
    return new ToolFailure(
      "SANDBOX_UNAVAILABLE",
      `the sandbox could not be made${said === "" ? "" : `: ${said}`}; the command did not run`,
      "ask the operator to look at `handrail doctor`",
      undefined,
      this.#problem,
    );
  }
}

const LEFT = new ToolFailure(
  "OUTCOME_UNKNOWN",
  "the command has ended, but something that it started has not",
  "tell the operator; look at the state of the workspace before trying again",
);

const KILLED = new ToolFailure(
  "OUTCOME_UNKNOWN",
  "the sandbox was killed from outside, perhaps because the machine ran out of memory",
  "look at the state of the workspace before trying again",
);

function changedMeanwhile(problem: string): ToolFailure {
  return new ToolFailure(
    "RESOURCE_BUSY",
    `the workspace changed while the sandbox was made (${problem}); the command did not run`,
    "try again once nothing else moves files there",
    { afterMs: 100 },
  );
}
