/**
 * The peer of sandboxed commands as a library: `@anthropic-ai/sandbox-runtime`, in the version of `bench/package.json`,
 * in a process of its own. It runs bubblewrap as the user who calls it, which must never be root: so that process is
 * another user's where the benchmark is root's.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "../reference-server.ts";

const BENCH = dirname(dirname(fileURLToPath(import.meta.url)));
const ENTRY = join(BENCH, "node_modules/@anthropic-ai/sandbox-runtime/dist/index.js");
const END_MS_MAX = 10_000;
const NODE = dirname(process.execPath);

/** The running peer. */
export interface RuntimePeer extends AsyncDisposable {
  /** Milliseconds that `true` took so many times, one after the other. */
  readonly run: (times: number) => Promise<number>;
}

/**
 * Starts it.
 * @param place a directory of its user's
 * @param userId whose it is, where that is not who runs the benchmark
 */
export async function startRuntimePeer(place: string, userId: number | undefined): Promise<RuntimePeer> {
  ensureInstalled(ENTRY);
  const child = userId === undefined ? start(process.execPath, [PROGRAM, ENTRY], place) : startAs(userId, place);
  const lines = createInterface({ input: child.stdout });
  let failure = "";
  child.stderr.on("data", (data: Buffer) => {
    failure = (failure + data.toString("utf8")).slice(-2000);
  });
  const ended = once(child, "close").then(() => {
    throw new Error(`the peer ended: ${failure}`);
  });
  ended.catch(() => undefined); // told to whoever waits for it
  const next = async (): Promise<string> => {
    const [line] = (await Promise.race([once(lines, "line"), ended])) as [string];
    return line;
  };
  const ready = await next();
  if (ready !== "ready") throw new Error(`the peer is not ready: ${ready}`);
  return {
    async run(times) {
      child.stdin.write(`${times}\n`);
      return Number(await next());
    },
    // The end of its input lets it end the programs that it started, too.
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await Promise.race([ended.catch(() => undefined), setTimeout(END_MS_MAX, undefined, { ref: false })]);
      child.kill("SIGKILL");
    },
  };
}

const PROGRAM = join(BENCH, "exec/runtime-program.mjs");

type Peer = ChildProcessByStdio<Writable, Readable, Readable>;

function start(command: string, args: readonly string[], place: string): Peer {
  return spawn(command, [...args], {
    cwd: place,
    env: { PATH: `${NODE}:/usr/bin:/bin`, HOME: place, TMPDIR: place },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** The other user sees the peer and Node through a view of its own, wherever they lie. */
function startAs(userId: number, place: string): Peer {
  for (const name of ["bench", "node"]) mkdirSync(join(place, name));
  const entry = join(place, "bench", ENTRY.slice(BENCH.length + 1));
  const program = join(place, "bench", PROGRAM.slice(BENCH.length + 1));
  const args = [
    "--mount",
    "--propagation",
    "private",
    "--",
    "sh",
    "-c",
    BECOME,
    "sh",
    BENCH,
    NODE,
    place,
    String(userId),
    program,
    entry,
  ];
  return start("unshare", args, place);
}

const BECOME = `bench=$1 node=$2 place=$3 user=$4; shift 4
mount --bind "$bench" "$place/bench" && mount --bind "$node" "$place/node" || exit
export PATH="$place/node:/usr/bin:/bin"
exec setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all -- "$place/node/node" "$@"`;
