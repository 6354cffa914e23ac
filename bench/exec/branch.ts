/**
 * What views cost: until a command in one begins, a whole command that changes nothing, the landing of 1,000 changed
 * files and of a replaced `node_modules`, and how long the thread stands meanwhile.
 */
import { execFile } from "node:child_process";
import { chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { SANDBOX_USER_ID } from "../../src/sandbox/identity/identity.ts";
import { Sandbox, type ScopeJudge } from "../../src/sandbox/sandbox.ts";
import { interleave, type Row, type Subject } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { longestTurnMs } from "./longest-turn.ts";
import { createExecPlace } from "./place.ts";

const run = promisify(execFile);
const FILES_PER_DIRECTORY = 100;
const MODULES_ENTRIES = 15_000;
const CHANGED_FILES = 1000;
const LIMITS = {
  timeoutMs: 120_000,
  outputBytesMax: 2 ** 20,
  processesMax: 100,
  memoryBytesMax: 512 * 2 ** 20,
  processors: 2,
  fileBytesMax: 2 ** 30,
  openFilesMax: 1024,
  temporaryBytesMax: 2 ** 26,
};
const JUDGE: ScopeJudge = { entry: () => "write", below: () => "write", isWhole: (path) => path === "node_modules" };

/** From the call until the command said something, and from the last that it said until all had landed. */
interface Times {
  readonly beganMs: number;
  readonly landedMs: number;
}

class ViewPlace implements Disposable {
  readonly root: string;
  readonly #sandbox: Sandbox;

  constructor(playground: Playground, name: string, files: number) {
    this.root = playground.directory(name);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) chownSync(playground.root, SANDBOX_USER_ID, SANDBOX_USER_ID);
    makeFiles(this.root, files);
    const viewsDirectory = playground.directory(`${name}-views`);
    const instanceId = `bench-${name}-${process.pid}`;
    this.#sandbox = new Sandbox({ instanceId, userId: SANDBOX_USER_ID, toolchains: [], viewsDirectory });
  }

  /** Runs a text of the shell that says `ready` and, in the end, `done`. */
  async times(text: string): Promise<Times> {
    const startedMs = performance.now();
    let [first, last] = [Number.NaN, Number.NaN];
    const output = {
      stdout() {
        last = performance.now();
        if (Number.isNaN(first)) first = last;
      },
      stderr: (piece: Uint8Array) => process.stderr.write(piece),
    };
    const wanted = {
      root: this.root,
      judge: JUDGE,
      landing: { newFiles: { nameIn: () => ".handrail-new-bench" } },
      command: ["bash", "--noprofile", "--norc", "-c", text] as const,
      workDir: "/workspace",
      environment: {},
      limits: LIMITS,
    };
    const { exitCode, problem, landed } = await this.#sandbox.run(wanted, output, new AbortController().signal);
    if (exitCode !== 0 || problem !== undefined || landed?.notKept.length !== 0)
      throw new Error(`the command ended with ${exitCode}, ${problem?.message ?? JSON.stringify(landed?.notKept)}`);
    return { beganMs: first - startedMs, landedMs: performance.now() - last };
  }

  [Symbol.dispose](): void {
    this.#sandbox.close();
  }
}

function makeFiles(root: string, count: number): void {
  const isRoot = process.geteuid?.() === 0;
  const own = (path: string) => isRoot && chownSync(path, SANDBOX_USER_ID, SANDBOX_USER_ID);
  own(root);
  for (let index = 0; index < count; index += 1) {
    const directory = join(root, `part${Math.floor(index / FILES_PER_DIRECTORY)}`);
    if (index % FILES_PER_DIRECTORY === 0) {
      mkdirSync(directory, { recursive: true });
      own(directory);
    }
    const path = join(directory, `file${index}.ts`);
    writeFileSync(path, "export const value = 1;\n");
    own(path);
  }
}

/** Writes files into directories of a hundred, as the command of a view or of its peer. */
const writing = (directory: string, count: number, text: string) =>
  `python3 -c 'import os
for i in range(${count}):
  d = f"${directory}{i // ${FILES_PER_DIRECTORY}}"
  if i % ${FILES_PER_DIRECTORY} == 0: os.makedirs(d, exist_ok=True)
  open(f"{d}/file{i}.ts", "w").write("${text} " * 40)'`;

const MS = { unit: "ms", better: "lower" } as const;

/** The figures of views. */
export async function measureBranches(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const isQuick = effort.rounds === 1;
  const scale = isQuick ? 100 : 1;
  const rounds = isQuick ? 1 : 5;
  using small = new ViewPlace(playground, "branch-small", 100);
  using large = new ViewPlace(playground, "branch-large", 100_000 / scale);
  using place = createExecPlace(playground);
  const copies = playground.directory("branch-copies");
  const copied = async (from: string, name: string): Promise<number> => {
    const to = join(copies, name);
    await run("rm", ["-rf", to]);
    const startedMs = performance.now();
    await run("cp", ["-a", from, to]);
    await run("sync", ["-f", to]);
    return performance.now() - startedMs;
  };
  const ready = (view: ViewPlace, what: string) => {
    const files = view === small ? 100 : 100_000 / scale;
    const subject: Subject = {
      id: `branch-ready-${what}`,
      what: `a view of ${files} files until its command begins`,
      peer: "cp -a of the files, and sync",
      ...MS,
    };
    return interleave(
      subject,
      rounds,
      async () => (await view.times("echo ready")).beganMs,
      () => copied(view.root, what),
    );
  };
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedMs = performance.now();
    await work();
    return performance.now() - startedMs;
  };
  await small.times("echo ready");
  await large.times("echo ready");
  await place.contained("true");
  await place.raw("true");
  return [
    await ready(small, "small"),
    await ready(large, "large"),
    await interleave(
      { id: "branch-true", what: "`true` in a view, with its landing", peer: "bwrap, same mounts", ...MS },
      effort.rounds,
      () => timed(() => place.contained("true")),
      () => timed(() => place.raw("true")),
    ),
    ...(await measureLandings({ view: small, copied, rounds, scale })),
  ];
}

interface LandingTurns {
  readonly view: ViewPlace;
  readonly copied: (from: string, name: string) => Promise<number>;
  readonly rounds: number;
  readonly scale: number;
}

async function measureLandings({ view, copied, rounds, scale }: LandingTurns): Promise<readonly Row[]> {
  const changed = CHANGED_FILES / scale;
  const entries = MODULES_ENTRIES / scale;
  const peer = "cp -a of the same files, and sync";
  let turn = 0;
  const change = () => {
    turn += 1;
    return view.times(`${writing("changed/part", changed, `turn${turn}`)}; echo done`);
  };
  const replace = () => {
    turn += 1;
    return view.times(`rm -rf node_modules; ${writing("node_modules/part", entries, `turn${turn}`)}; echo done`);
  };
  await change();
  await replace();
  const nothing = () =>
    longestTurnMs(async () => void readdirSync(view.root, { recursive: true, withFileTypes: true }));
  const stands = "reading the names of all files in one turn";
  return [
    await interleave(
      { id: "branch-land", what: `${changed} changed files land`, peer, ...MS },
      rounds,
      async () => (await change()).landedMs,
      () => copied(join(view.root, "changed"), "changed"),
    ),
    await interleave(
      { id: "branch-modules", what: `a replaced node_modules of ${entries} files lands`, peer, ...MS },
      rounds,
      async () => (await replace()).landedMs,
      () => copied(join(view.root, "node_modules"), "node_modules"),
    ),
    await interleave(
      { id: "branch-turn-land", what: `longest turn of the thread while ${changed} files land`, peer: stands, ...MS },
      rounds,
      () => longestTurnMs(change),
      nothing,
    ),
    await interleave(
      { id: "branch-turn-modules", what: "longest turn of the thread while it lands", peer: stands, ...MS },
      rounds,
      () => longestTurnMs(replace),
      nothing,
    ),
  ];
}
