/**
 * What a sandboxed command costs: `true` from the call to its outcome, twenty of them at once, a gigabyte of output,
 * and 100,000 files beside it; next to bwrap with the same namespaces, mounts, filter and limits, and to another
 * library that runs it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { measureManyFiles } from "./many-files.ts";
import { createExecPlace } from "./place.ts";
import { startRuntimePeer } from "./runtime-peer.ts";

const AT_ONCE = 20;
const RAW = "bwrap, same namespaces, mounts, filter and limits";

/** The figures of commands. */
export async function measureCommands(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  using place = createExecPlace(playground);
  const isQuick = effort.rounds === 1;
  const runs = isQuick ? 2 : 12;
  const each = async (run: () => Promise<unknown>): Promise<number> => {
    const startedMs = performance.now();
    for (let index = 0; index < runs; index += 1) await run();
    return (performance.now() - startedMs) / runs;
  };
  const together = async (run: () => Promise<unknown>): Promise<number> => {
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, run));
    return performance.now() - startedMs;
  };
  await each(() => place.contained("true"));
  await using peer = await startRuntimePeer(place.peerDirectory, place.userId);
  await peer.run(runs);
  const contained = () => place.contained("true");
  const raw = () => place.raw("true");
  const one = { id: "exec-true", what: "sandboxed `true`", peer: RAW, unit: "ms", better: "lower" } as const;
  const library = { ...one, id: "exec-library", peer: "@anthropic-ai/sandbox-runtime as a library" } as const;
  const many = {
    id: "exec-twenty",
    what: `${AT_ONCE} sandboxed \`true\` at once`,
    peer: RAW,
    unit: "ms",
    better: "lower",
  } as const;
  return [
    await interleave(
      one,
      effort.rounds,
      () => each(contained),
      () => each(raw),
    ),
    await interleave(
      library,
      effort.rounds,
      () => each(contained),
      async () => (await peer.run(runs)) / runs,
    ),
    await interleave(
      many,
      effort.rounds,
      () => together(contained),
      () => together(raw),
    ),
    ...(await measureOutput(place.contained, isQuick)),
    await measureManyFiles(playground, effort),
  ];
}

const OUTPUT_BYTES = 2 ** 30;
const COMMAND = ["head", "-c"] as const;

/**
 * Megabytes of output each second, beside a plain child's into a reader that throws them away, and what memory grew by.
 */
async function measureOutput(
  contained: (...command: [string, ...string[]]) => Promise<number>,
  isQuick: boolean,
): Promise<readonly Row[]> {
  const wanted = isQuick ? OUTPUT_BYTES / 64 : OUTPUT_BYTES;
  const program = [...COMMAND, String(wanted), "/dev/zero"] as [string, ...string[]];
  const growth: number[] = [];
  const perSecond = async (run: () => Promise<number>): Promise<number> => {
    const before = process.memoryUsage.rss();
    const startedMs = performance.now();
    const bytes = await run();
    if (bytes !== wanted) throw new Error(`${bytes} bytes came of ${wanted}`);
    const rate = bytes / 1e3 / (performance.now() - startedMs);
    growth.push((process.memoryUsage.rss() - before) / 2 ** 20);
    return rate;
  };
  const plain = async (): Promise<number> => {
    const [first, ...rest] = program;
    const child = spawn(first, rest, { stdio: ["ignore", "pipe", "ignore"] });
    let bytes = 0;
    child.stdout.on("data", (piece: Buffer) => {
      bytes += piece.length;
    });
    await once(child, "close");
    return bytes;
  };
  const rounds = isQuick ? 1 : 3;
  const rate = {
    id: "exec-output",
    what: "output drained",
    peer: "a plain child of Node, uncontained",
    unit: "MB/s",
    better: "higher",
  } as const;
  const row = await interleave(
    rate,
    rounds,
    () => perSecond(() => contained(...program)),
    () => perSecond(plain),
  );
  const [ours, theirs] = [growth.filter((_, index) => index % 2 === 0), growth.filter((_, index) => index % 2 === 1)];
  const grown = {
    id: "exec-memory",
    what: "memory grown while draining",
    peer: rate.peer,
    unit: "MiB",
    better: "lower",
  } as const;
  return [
    row,
    await interleave(
      grown,
      rounds,
      (round) => Math.max(1, ours[round] ?? 0),
      (round) => Math.max(1, theirs[round] ?? 0),
    ),
  ];
}
