/**
 * Runs the command line as its users do, as child processes with an environment of their own, and never leaves one
 * behind.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Launch, launchAs } from "./other-user.ts";
import type { Place } from "./place.ts";
import { ENTRY, PROJECT, SOURCE_ENTRY } from "./program.ts";
import { STUCK_MS } from "./waiting.ts";

/** What a finished command left. `code` is the exit code, or the signal that ended it. */
export interface Finished {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run a command. */
export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** For a test that reaches into modules of the sources, which the compiled program does not load. */
  readonly fromSources?: true;
}

/** The whole environment of a child: nothing of the developer's own configuration reaches it. */
export function environmentOf(place: Place, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: place.home,
    TMPDIR: place.base,
    HANDRAIL_CONFIG_HOME: place.config,
    HANDRAIL_STATE_HOME: place.state,
    NODE_COMPILE_CACHE: join(tmpdir(), "handrail-e2e-compile-cache"),
    ...more,
  };
}

/** Runs `handrail` to its end; one that does not end by itself is killed after a while. */
export async function handrail(place: Place, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = spawnHandrail(place, args, options);
  const output = collect(child);
  child.stdin.on("error", () => undefined); // a command that does not read its input may be gone already
  child.stdin.end(options.input ?? "");
  const deadline = setTimeout(() => child.kill("SIGKILL"), STUCK_MS);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  clearTimeout(deadline);
  return { code: signal ?? code ?? -1, ...output() };
}

/** Starts `handrail` and leaves it running; it is killed when the test ends. */
export function startHandrail(
  place: Place,
  args: readonly string[],
  options: RunOptions = {},
): ChildProcessWithoutNullStreams {
  const child = spawnHandrail(place, args, options);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Starts `handrail` for a caller that ends it, and for a whole file of tests. */
export function spawnHandrail(
  place: Place,
  args: readonly string[],
  options: RunOptions = {},
): ChildProcessWithoutNullStreams {
  const {
    command,
    args: all,
    environment,
  } = launchOf(place, args, options.fromSources === true ? SOURCE_ENTRY : ENTRY);
  return spawn(command, all, {
    env: environmentOf(place, { ...environment, ...options.environment }),
    cwd: options.directory ?? place.workspace,
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** How `handrail` is started as the user of the place. */
export function launchOf(place: Place, args: readonly string[], entry = ENTRY): Launch {
  if (place.user !== undefined) return launchAs(place.user, place, entry, args);
  const all = ["--disable-warning=ExperimentalWarning", join(PROJECT, entry), ...args];
  return { command: process.execPath, args: all, environment: {} };
}

/** Everything that a child writes, so far. */
export function collect(
  child: ChildProcessWithoutNullStreams,
): () => { readonly stdout: string; readonly stderr: string } {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (bytes: Buffer) => stdout.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => stderr.push(bytes));
  return () => ({ stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
}

/** Resolves once `condition` holds. The test's own time limit bounds the wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((done) => setTimeout(done, 10));
}

/** The lines of a text that are not empty. */
export function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** The one JSON value that a text holds on its one line, in the shape that the test goes on to check. */
export function oneJsonLine<Shape = unknown>(text: string): Shape {
  const [line, ...more] = linesOf(text);
  if (line === undefined || more.length > 0 || text !== `${line}\n`)
    throw new Error(`not exactly one line: ${JSON.stringify(text)}`);
  return JSON.parse(line) as Shape;
}

/** What the one line of JSON that a command printed holds under `data`. */
export function dataIn<Shape = unknown>(text: string): Shape {
  return oneJsonLine<{ readonly data: Shape }>(text).data;
}
