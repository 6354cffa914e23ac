/**
 * What views cost: until a command in one begins, a whole command that changes nothing, the landing of 1,000 changed
 * files and of a replaced `node_modules`, how long the thread stands meanwhile, and a build of a real package.
 */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { interleave, type Row, type Subject } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { measureBuild } from "./build.ts";
import { longestTurnMs } from "./longest-turn.ts";
import { createExecPlace } from "./place.ts";
import { FILES_PER_DIRECTORY, ViewPlace } from "./view-place.ts";

const run = promisify(execFile);
const MODULES_ENTRIES = 15_000;
const CHANGED_FILES = 1000;
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
    await measureBuild(playground, rounds, isQuick ? "base" : ""),
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
