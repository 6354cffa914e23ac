/** A workspace whose commands run in views, for the figures of views. */
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SANDBOX_USER_ID } from "../../src/sandbox/identity/identity.ts";
import { Sandbox, type ScopeJudge } from "../../src/sandbox/sandbox.ts";
import type { Playground } from "../playground.ts";

/** Files of each directory that the figures make. */
export const FILES_PER_DIRECTORY = 100;
const LIMITS = {
  timeoutMs: 120_000,
  outputBytesMax: 2 ** 20,
  processesMax: 100,
  memoryBytesMax: 2 ** 31,
  processors: 2,
  fileBytesMax: 2 ** 30,
  openFilesMax: 1024,
  temporaryBytesMax: 2 ** 26,
};
const JUDGE: ScopeJudge = { entry: () => "write", below: () => "write", isWhole: (path) => path === "node_modules" };

/** From the call until the command said something, and from the last that it said until all had landed. */
export interface Times {
  readonly beganMs: number;
  readonly landedMs: number;
}

/** The workspace; disposing ends its sandbox. */
export class ViewPlace implements Disposable {
  readonly root: string;
  readonly #sandbox: Sandbox;

  /** @param files how many small files lie in it */
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
      landing: { newFiles: { nameIn: () => ".handrail-new-bench", noteMade: () => undefined } },
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
