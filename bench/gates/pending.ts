/** What calls that wait for people cost, and how soon they go on once somebody has answered in another process. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { systemRandom } from "../../src/base/ids.ts";
import { type OpenKernel, openKernel } from "../../src/server/compose.ts";
import { addApprover } from "../../src/server/people/approver-credentials.ts";
import { interleave, type Row, rowOf } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const PROGRAM = fileURLToPath(new URL("./waiting-kernel.ts", import.meta.url));
const ANSWER_MS_MAX = 300_000;
/** As many as may wait in one state directory. */
const REQUESTS = { full: 10_000, quick: 60 } as const;
const WAITING = { full: 2000, quick: 60 } as const;

/** The figures. */
export async function measurePending(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const size = effort.rounds > 1 ? "full" : "quick";
  return [
    await memory(playground, REQUESTS[size]),
    await processorTime(playground, effort, WAITING[size]),
    await resuming(playground, effort),
  ];
}

interface Look {
  readonly processorMs: number;
  readonly memoryMiB: number;
}

async function memory(playground: Playground, count: number): Promise<Row> {
  await using asking = new WaitingKernel(playground, "pending-memory", 0);
  await using plain = new WaitingKernel(playground, "plain-memory", 0);
  await asking.answer(`fill ${count}`);
  await plain.answer(`plain ${count}`);
  const { memoryMiB } = await asking.look(" collected");
  const { memoryMiB: plainMiB } = await plain.look(" collected");
  const subject = {
    id: "pending-memory",
    what: `memory of a kernel after asking ${count.toLocaleString("en")} times, all of it unanswered`,
    peer: "a kernel after as many writes that nobody is asked about",
    unit: "MiB",
    better: "lower",
  } as const;
  return rowOf(subject, [{ our: memoryMiB, their: plainMiB }]);
}

async function processorTime(playground: Playground, effort: Effort, count: number): Promise<Row> {
  await using waiting = new WaitingKernel(playground, "pending-time", 45);
  await using idle = new WaitingKernel(playground, "pending-idle", 45);
  await waiting.answer(`wait ${count}`);
  await idle.answer("wait 0");
  const each = (kernel: WaitingKernel) => async () => {
    const before = await kernel.look();
    const started = performance.now();
    await pause(effort.turnMs);
    const { processorMs } = await kernel.look();
    return ((processorMs - before.processorMs) * 1000) / (performance.now() - started);
  };
  const subject = {
    id: "pending-time",
    what: `processor time of a kernel in which ${count.toLocaleString("en")} calls wait for people`,
    peer: "a kernel in which none does",
    unit: "ms/s",
    better: "lower",
  } as const;
  return await interleave(subject, effort.rounds, each(waiting), each(idle));
}

async function resuming(playground: Playground, effort: Effort): Promise<Row> {
  await using waiting = new WaitingKernel(playground, "pending-resume", 45);
  const credential = await addApprover(waiting.stateDirectory, "bench", systemRandom);
  const own = await openKernel({
    environment: {},
    stateDirectory: waiting.stateDirectory,
    configDirectory: waiting.configDirectory,
  });
  try {
    const ours = () => approveOne(waiting, own, credential);
    const theirs = async () => {
      const heard = waiting.answer("ring");
      await waiting.next();
      const started = process.hrtime.bigint();
      writeFileSync(join(waiting.bellDirectory, "ring"), "!");
      return millisecondsSince(started, await heard);
    };
    await ours();
    const subject = {
      id: "pending-resume",
      what: "from a person's approval to the end of the write that waited in another process",
      peer: "one process noticing that another has written a file",
      unit: "ms",
      better: "lower",
    } as const;
    return await interleave(subject, effort.rounds, ours, theirs);
  } finally {
    await own.close();
  }
}

async function approveOne(waiting: WaitingKernel, own: OpenKernel, credential: string): Promise<number> {
  const ended = waiting.answer("one");
  let ref: string | undefined;
  while (ref === undefined) {
    await pause(5);
    ref = (await own.approvals.list({ state: "pending" }))[0]?.ref;
  }
  // until the call waits for the answer as well
  await pause(50);
  const started = process.hrtime.bigint();
  await own.approvals.decide(ref, { approved: true }, credential);
  const [at = "", kind = ""] = (await ended).split(" ");
  if (kind !== "success") throw new Error(`the approved call ended as ${kind}`);
  return millisecondsSince(started, at);
}

function millisecondsSince(started: bigint, ended: string): number {
  return Number(BigInt(ended) - started) / 1e6;
}

/** The program with a state directory of its own. */
class WaitingKernel implements AsyncDisposable {
  readonly stateDirectory: string;
  readonly configDirectory: string;
  readonly bellDirectory: string;
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  constructor(playground: Playground, name: string, waitSeconds: number) {
    const { path } = playground.workspace(name, 1);
    this.stateDirectory = playground.directory(`state-${name}`);
    this.configDirectory = playground.directory(`config-${name}`);
    this.bellDirectory = playground.directory(`bell-${name}`);
    writeFileSync(join(this.configDirectory, "handrail.yaml"), `approvals: { wait_seconds: ${waitSeconds} }\n`, {
      mode: 0o600,
    });
    const args = [this.stateDirectory, this.configDirectory, path, this.bellDirectory];
    this.#child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", PROGRAM, ...args], {
      env: playground.environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#lines = createInterface({ input: this.#child.stdout as NonNullable<ChildProcess["stdout"]> });
    this.#lines.setMaxListeners(0);
  }

  /** Sends a line and resolves with the next one that is not `ready`. */
  async answer(line: string): Promise<string> {
    const answered = this.next((each) => each !== "ready");
    this.#child.stdin?.write(`${line}\n`);
    return answered;
  }

  /** The next line. */
  next(isWanted: (line: string) => boolean = () => true): Promise<string> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(late);
        this.#lines.off("line", take);
        this.#child.off("exit", gone);
      };
      const take = (line: string): void => {
        if (!isWanted(line)) return;
        done();
        resolve(line);
      };
      const gone = (): void => {
        done();
        reject(new Error("the kernel ended"));
      };
      const late = setTimeout(() => {
        done();
        reject(new Error("the kernel does not answer"));
      }, ANSWER_MS_MAX);
      this.#lines.on("line", take);
      this.#child.once("exit", gone);
    });
  }

  async look(after: "" | " collected" = ""): Promise<Look> {
    return JSON.parse(await this.answer(`look${after}`)) as Look;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.kill("SIGKILL");
    await gone;
  }
}
