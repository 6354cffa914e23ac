/**
 * One run, started by a backend: watched, bounded in time and output, ended.
 *
 * It trusts what the backend's program says of the command's end, not that program's exit code. INVARIANTS: nothing of
 * the kernel's environment or descriptors goes in; the command does not begin before everything that bounds it stands;
 * when the promise is settled, no process of the run is left.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, writeSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { KIB } from "../../base/bytes.ts";
import { errorCode } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { keepDescriptors, openInputPipe, openOutputPipe, openPipe } from "../native/pipes.ts";
import type { SandboxLimits } from "../plan/plan.ts";
import type { Carried, Confine, EndedBy, Launch, RunEnd, RunOutput } from "./launch.ts";
import { type MemoryWatch, watchMemory } from "./memory-watch.ts";
import { collect } from "./orphans.ts";
import { beginningOf, childrenOf, isAlone, killFirst } from "./process-tree.ts";
import { neverRan, tooManyArguments } from "./refusals.ts";

/** Milliseconds between asking the processes of a sandbox to end and killing them. */
const KILL_GRACE_MS = 500;
/** Bytes of what the sandbox program says when it fails. */
const SANDBOX_MESSAGE_BYTES_MAX = 2 * KIB;
/** Characters of what it says of its state: two records. */
const SANDBOX_STATUS_CHARACTERS_MAX = 4 * KIB;
/** Milliseconds between two looks at output whose command has ended. */
const SANDBOX_OUTPUT_LOOK_MS = 50;
/**
 * Looks after which output that somebody else still holds open is over: what waits in a pipe is read between two of
 * them.
 */
const SANDBOX_OUTPUT_LOOKS = 20;

/** What bounds a run from outside. */
export interface Supervision {
  readonly limits: Pick<SandboxLimits, "timeoutMs" | "outputBytesMax">;
  readonly output: RunOutput;
  readonly signal: AbortSignal;
  readonly confine: Confine;
  /** Takes what the command reads from, once it is started; it reads nothing when absent. */
  readonly input?: ((writer: Writable) => void) | undefined;
  /** Called when all stands, before the command begins, with the number of the started program. */
  readonly onStanding?: ((outerId: number) => void) | undefined;
  /** Bytes of memory of all processes together, where they are to be watched. */
  readonly watchedBytesMax?: number;
}

/**
 * Runs what `launch` starts.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when the sandbox could not be made, CANCELLED where nobody waits any more,
 * NOT_SUPPORTED for too many arguments; the command did not run
 */
export async function superviseRun(launch: Launch, supervision: Supervision): Promise<RunEnd> {
  const { signal } = supervision;
  if (signal.aborted) throw neverRan();
  const run = new SupervisedRun(launch, supervision);
  const abort = () => run.end("cancelled");
  try {
    run.start();
    signal.addEventListener("abort", abort, { once: true });
    return await run.ended;
  } finally {
    signal.removeEventListener("abort", abort);
    run.dispose();
  }
}

/** What cannot be started for its length has not begun: there is one machine's limit for all arguments together. */
function startedOrRefused(...wanted: Parameters<typeof spawn>): ChildProcess {
  try {
    return spawn(...wanted);
  } catch (error) {
    throw errorCode(error) === "E2BIG" ? tooManyArguments() : error;
  }
}

class SupervisedRun {
  readonly #launch: Launch;
  readonly #bounds: Supervision;
  readonly #settled = Promise.withResolvers<RunEnd>();
  readonly #startedMs = performance.now();
  readonly #timers: NodeJS.Timeout[] = [];
  #child: ChildProcess | undefined;
  #watch: MemoryWatch | undefined;
  #innerId: number | undefined;
  #innerBeginning: string | undefined;
  /** The first process goes into its group while mounts are made: it takes the machine about as long. */
  #confining: Promise<void> | undefined;
  #said = { status: "", ready: "" };
  #message = "";
  #outputBytes = 0;
  #isReleased = false;
  #gateIsOpen = false;
  /** Ends of pipes that the run waits at or lives by. */
  #gate: number | undefined;
  #held: number | undefined;
  #input: Writable | undefined;
  #endedBy: EndedBy | undefined;
  #isKilled = false;
  #problem: unknown;
  readonly #readers: Readable[] = [];
  /** Child and both streams. */
  #open = 3;

  constructor(launch: Launch, bounds: Supervision) {
    this.#launch = launch;
    this.#bounds = bounds;
  }

  get ended(): Promise<RunEnd> {
    return this.#settled.promise;
  }

  start(): void {
    const { command, owner, runAs, descriptors, workDir = "/", endsWithReady = false } = this.#launch;
    const handedOn: number[] = [];
    const keep = (descriptor: number): number => {
      handedOn.push(descriptor);
      return descriptor;
    };
    try {
      const stdout = openOutputPipe(owner);
      keep(stdout.write);
      const stderr = openOutputPipe(owner);
      keep(stderr.write);
      const stdin = this.#bounds.input === undefined ? undefined : openInputPipe();
      if (stdin !== undefined) keep(stdin.read);
      this.#input = stdin?.writer;
      const inherited = descriptors.map((carried) => {
        if (carried === "status" || carried === "ready") return "pipe" as const;
        if (typeof carried === "object") return keep(carried.opened());
        const [read, write] = openPipe();
        if (carried === "gate") this.#gate = write;
        else this.#held = write;
        return keep(read);
      });
      keepDescriptors();
      const [program, ...rest] = command;
      const child = startedOrRefused(program, rest, {
        cwd: workDir,
        detached: true, // nothing that a terminal sends reaches it: whoever waits ends it in order
        env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
        stdio: [stdin?.read ?? "ignore", stdout.write, stderr.write, ...inherited],
        ...(runAs && { uid: runAs.userId, gid: runAs.groupId }),
      });
      this.#child = child;
      if (stdin !== undefined) this.#bounds.input?.(stdin.writer);
      child.once("error", (error) => this.#failed(error));
      child.once("exit", () => this.#onExit());
      this.#listen(stdout.reader, this.#bounds.output.stdout);
      this.#listen(stderr.reader, (piece) => this.#onStderr(piece));
      const stream = (carried: Carried) =>
        (child.stdio as unknown as readonly Readable[])[3 + descriptors.indexOf(carried)];
      stream("ready")?.once("close", () => (endsWithReady ? this.#letGo() : this.#closeGate()));
      for (const name of ["status", "ready"] as const) {
        if (descriptors.includes(name)) stream(name)?.on("data", (data: Buffer) => this.#onSaid(name, data));
      }
    } finally {
      for (const descriptor of handedOn) closeSync(descriptor);
    }
  }

  /** Ends the run: asks, and kills after a moment. Too much output and memory are killed at once. */
  end(by: EndedBy): void {
    const processes = this.#processes();
    if (this.#endedBy !== undefined || processes === undefined) return;
    this.#endedBy = by;
    if (by === "output" || by === "memory") {
      this.#kill();
      return;
    }
    this.#launch.terminate(processes);
    this.#timers.push(setTimeout(() => this.#kill(), KILL_GRACE_MS));
  }

  dispose(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#watch?.end();
    this.#input?.destroy();
    this.#letGo();
    this.#launch.dispose?.();
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
    this.#launch.kill(processes);
    this.#letGo();
  }

  #listen(reader: Readable, take: (piece: Uint8Array) => void): void {
    const { outputBytesMax } = this.#bounds.limits;
    reader.on("data", (piece: Buffer) => {
      if (this.#outputBytes > outputBytesMax) return; // what comes until it is dead is not wanted
      this.#outputBytes += piece.length;
      if (this.#outputBytes > outputBytesMax) this.end("output");
      take(piece);
    });
    this.#readers.push(reader);
    reader.once("error", (error) => this.#failed(error));
    reader.once("close", () => this.#closed());
  }

  #onStderr(piece: Uint8Array): void {
    // if the command does not come to run, it is the backend's program that speaks
    if (this.#message.length < SANDBOX_MESSAGE_BYTES_MAX) this.#message += Buffer.from(piece).toString("latin1");
    if (this.#gateIsOpen) this.#bounds.output.stderr(piece);
  }

  #onSaid(name: "status" | "ready", data: Buffer): void {
    if (this.#said[name].length > SANDBOX_STATUS_CHARACTERS_MAX) return;
    this.#said[name] += data.toString("latin1");
    this.#meetFirstProcess();
    // The first line says that everything stands, the second that the command begins under its limits.
    if (this.#isReleased || this.#innerId === undefined || !this.#said.ready.includes("\n")) return;
    this.#isReleased = true;
    void this.#release(this.#innerId);
  }

  #meetFirstProcess(): void {
    const outerId = this.#child?.pid;
    if (this.#innerId !== undefined || outerId === undefined) return;
    this.#innerId = this.#launch.firstProcess(this.#said, outerId);
    if (this.#innerId === undefined) return;
    this.#innerBeginning = beginningOf(this.#innerId);
    this.#confining = this.#bounds.confine([this.#innerId]);
    this.#confining.catch(() => undefined); // told to whoever waits for it, before the command begins
  }

  /** Everything that bounds the command stands: it may begin. */
  async #release(first: number): Promise<void> {
    try {
      const problem = this.#launch.problem(first);
      if (problem !== undefined) throw changedMeanwhile(problem);
      await this.#confining;
      await this.#bounds.confine(childrenOf(first)); // what was started before its parent was in
      if (this.#child?.pid !== undefined) this.#bounds.onStanding?.(this.#child.pid);
    } catch (error) {
      this.#failed(error);
      this.#letGo();
      return;
    }
    if (this.#gate === undefined) return; // it ended meanwhile
    this.#gateIsOpen = true;
    this.#timers.push(setTimeout(() => this.end("timeout"), this.#bounds.limits.timeoutMs));
    const { watchedBytesMax } = this.#bounds;
    const { processes } = this.#launch;
    const whose = processes === undefined ? { innerId: first } : { processes: () => processes(first) };
    if (watchedBytesMax !== undefined) this.#watch = watchMemory(whose, watchedBytesMax, () => this.end("memory"));
    if (this.#endedBy === undefined) writeSync(this.#gate, "\n");
    else this.#kill();
    this.#closeGate();
  }

  #closeGate(): void {
    if (this.#gate !== undefined) closeSync(this.#gate);
    this.#gate = undefined;
  }

  /** Nobody waits at the gate any more, and nothing needs to go on. */
  #letGo(): void {
    this.#closeGate();
    if (this.#held !== undefined) closeSync(this.#held);
    this.#held = undefined;
  }

  /** Whatever ended the started program: what it held ends with it. */
  #onExit(): void {
    if (
      this.#innerId !== undefined &&
      this.#innerBeginning !== undefined &&
      beginningOf(this.#innerId) === this.#innerBeginning
    ) {
      killFirst({ innerId: this.#innerId });
    }
    this.#letGo();
    this.#endOutput(SANDBOX_OUTPUT_LOOKS);
    const { pid } = this.#child ?? {};
    if (pid === undefined || this.#launch.ended === undefined) this.#closed();
    else this.#endRest(this.#launch.ended(pid));
  }

  /**
   * What the pipes hold is read in some turns of the event loop; whoever holds on to them after that is no process of
   * the run, but another command that was given them over a socket in the workspace.
   */
  #endOutput(looks: number): void {
    const next = () => {
      if (looks > 0) this.#endOutput(looks - 1);
      else for (const reader of this.#readers) reader.destroy();
    };
    this.#timers.push(setTimeout(next, SANDBOX_OUTPUT_LOOK_MS));
  }

  /** What is left may hold on to the output: that it closes is not waited for in vain. */
  #endRest(ending: Promise<boolean>): void {
    ending.then(
      (isEnded) => (isEnded ? this.#closed() : this.#settled.reject(LEFT)),
      (error: unknown) => this.#settled.reject(error),
    );
  }

  /** What fails in a run that is being ended fails because of that. */
  #failed(error: unknown): void {
    if (this.#endedBy === undefined) this.#problem ??= error;
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

  /** The backend says that the command has ended before the last processes of the namespace have. */
  async #whenNothingIsLeft(): Promise<void> {
    const inner = this.#innerId;
    if (inner === undefined || this.#innerBeginning === undefined || (await isAlone(inner, this.#innerBeginning)))
      return;
    this.#problem ??= LEFT;
  }

  #settle(): void {
    if (this.#innerId !== undefined && this.#innerBeginning !== undefined) collect(this.#innerId, this.#innerBeginning);
    const durationMs = performance.now() - this.#startedMs;
    const { exitCode: code = null, signalCode: signal = null } = this.#child ?? {};
    // Of a command that was killed the backend may or may not come to say something.
    const exitCode = this.#isKilled ? undefined : this.#launch.exitCode(this.#said, { code, signal });
    const hasBegun = this.#said.ready.split("\n").length > 2;
    const isEnded = (exitCode !== undefined && hasBegun) || this.#endedBy !== undefined;
    if (this.#problem !== undefined)
      this.#settled.reject(this.#problem instanceof ToolFailure ? this.#problem : this.#unavailable());
    else if (!isEnded) this.#settled.reject(hasBegun || signal ? KILLED : this.#unavailable());
    else this.#settled.resolve({ exitCode, endedBy: this.#endedBy, durationMs });
  }

  #unavailable(): ToolFailure {
    const said = this.#message.replace(/[^\x20-\x7e]+/g, " ").trim();
    return new ToolFailure(
      "SANDBOX_UNAVAILABLE",
      `the sandbox could not be made${said === "" ? "" : `: ${said}`}; the command did not run`,
      { suggestion: this.#launch.advice ?? "ask the operator to look at `handrail doctor`", cause: this.#problem },
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
    { suggestion: "try again once nothing else moves files there", retryAfterMs: 100 },
  );
}
