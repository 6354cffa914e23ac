/** A workspace and a sandbox for the figures of commands, and the same command in plain `bwrap` as the peer. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, openSync } from "node:fs";
import { bwrapArguments, DESCRIPTORS } from "../../src/sandbox/bwrap/bwrap-arguments.ts";
import { systemView } from "../../src/sandbox/host/system-view.ts";
import { SANDBOX_USER_ID } from "../../src/sandbox/identity/identity.ts";
import { memoryFileOf } from "../../src/sandbox/native/memory-file.ts";
import { descriptorOf } from "../../src/sandbox/native/pipes.ts";
import { planSandbox, type SandboxPlan } from "../../src/sandbox/plan/plan.ts";
import { settingFiles } from "../../src/sandbox/plan/setting-files.ts";
import type { Processor } from "../../src/sandbox/plan/syscall-numbers.ts";
import { Sandbox, type SandboxLimits, type ScopeJudge } from "../../src/sandbox/sandbox.ts";
import type { Playground } from "../playground.ts";

const LIMITS: SandboxLimits = {
  timeoutMs: 120_000,
  outputBytesMax: 2 ** 34,
  processesMax: 100,
  memoryBytesMax: 512 * 2 ** 20,
  processors: 2,
  fileBytesMax: 2 ** 30,
  openFilesMax: 1024,
  temporaryBytesMax: 2 ** 26,
};
const ALL: ScopeJudge = { entry: () => "write", below: () => "write", isWhole: () => false };

/** Runs commands both ways. */
export interface ExecPlace extends Disposable {
  /** The sandbox, from the call to its outcome, with a view and its landing; bytes of output. */
  readonly contained: (...command: readonly [string, ...string[]]) => Promise<number>;
  /** The same namespaces, mounts, filter and limits by bwrap alone. */
  readonly raw: (...command: readonly [string, ...string[]]) => Promise<void>;
  /** The user that commands belong to, where that is not who runs the benchmark. */
  readonly userId: number | undefined;
  /** A directory of that user's, for a peer. */
  readonly peerDirectory: string;
}

/** Makes the place. */
export function createExecPlace(playground: Playground): ExecPlace {
  const root = playground.directory("exec");
  const userId = process.geteuid?.() === 0 ? SANDBOX_USER_ID : undefined;
  const peerDirectory = playground.directory("exec-peer");
  if (userId !== undefined) for (const path of [playground.root, root, peerDirectory]) chownSync(path, userId, userId);
  const viewsDirectory = playground.directory("views");
  const sandbox = new Sandbox({
    instanceId: `bench-${process.pid}`,
    userId: SANDBOX_USER_ID,
    toolchains: [],
    viewsDirectory,
  });
  const { mounts, path } = systemView([]);
  const wanted = { workDir: "/workspace", environment: { PATH: path.join(":") }, limits: LIMITS };
  const planned = (command: readonly [string, ...string[]]) =>
    planSandbox(
      { ...wanted, command, system: mounts, workspace: [{ kind: "writable", source: root, target: "/workspace" }] },
      process.arch as Processor,
    );
  return {
    userId,
    peerDirectory,
    async contained(...command) {
      let bytes = 0;
      const output = {
        stdout: (piece: Uint8Array) => {
          bytes += piece.length;
        },
        stderr: () => undefined,
      };
      const landing = { newFiles: { nameIn: () => ".handrail-new-bench", noteMade: () => undefined } };
      const run = { root, judge: ALL, landing, command, ...wanted, environment: {} };
      const { exitCode } = await sandbox.run(run, output, new AbortController().signal);
      if (exitCode !== 0) throw new Error(`the command ended with ${exitCode}`);
      return bytes;
    },
    async raw(...command) {
      const [code] = await once(startRaw(planned(command), userId), "exit");
      if (code !== 0) throw new Error(`bwrap ended with ${code}`);
    },
    [Symbol.dispose]: () => sandbox.close(),
  };
}

/** bwrap with what the plan says, its gate open from the beginning. */
function startRaw(plan: SandboxPlan, userId: number | undefined): ChildProcess {
  const accounts = settingFiles();
  const { line, options } = bwrapArguments(plan);
  const nowhere = openSync("/dev/null", "r+");
  const carried: Record<keyof typeof DESCRIPTORS, number> = {
    seccomp: descriptorOf(plan.seccomp.bytes),
    status: nowhere,
    gate: descriptorOf(Buffer.from("\n")),
    ready: nowhere,
    passwd: descriptorOf(Buffer.from(accounts.passwd)),
    group: descriptorOf(Buffer.from(accounts.group)),
    hosts: descriptorOf(Buffer.from(accounts.hosts)),
    options: memoryFileOf(options),
  };
  const inOrder = Object.entries(DESCRIPTORS)
    .sort(([, left], [, right]) => left - right)
    .map(([name]) => carried[name as keyof typeof DESCRIPTORS]);
  const child = spawn("/usr/bin/bwrap", [...line], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["ignore", "ignore", "inherit", ...inOrder],
    ...(userId !== undefined && { uid: userId, gid: userId }),
  });
  for (const descriptor of new Set(Object.values(carried))) closeSync(descriptor);
  return child;
}
