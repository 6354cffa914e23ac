/**
 * How fast a workspace is indexed and asked: 10,000 files with ten declarations each, 100,000 chunks in all.
 *
 * The lines are those of Handrail's own sources, drawn by a fixed sequence, so that words are as frequent as in code.
 */
import { appendFileSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "../../src/base/json.ts";
import { createKernel, type KernelSession } from "../../src/server/doors/library.ts";
import type { Playground } from "../playground.ts";

const FILES = 10_000;
const DECLARATIONS = 10;
/** Lines of one: more than neighbours may have that share a chunk. */
const LINES = 31;
const QUESTIONS = 300;
const DELTAS = 30;
const MEMORY_MS = 100;

/** Measures. @param isQuick with few files, which proves nothing about speed */
export async function measureKnowledgeSpeed(playground: Playground, isQuick: boolean): Promise<JsonObject> {
  const workspace = playground.directory("indexed");
  const draw = drawing();
  const lines = sourceLines();
  const files = isQuick ? 200 : FILES;
  for (let file = 0; file < files; file += 1) {
    const directory = join(workspace, "src", `part${Math.floor(file / 100)}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file${file}.ts`), sourceOf(file, lines, draw));
  }
  const stateDirectory = playground.directory("indexed-state");
  const kernel = await createKernel({ stateDirectory, environment: playground.environment });
  try {
    const session = await kernel.openSession({ workspace });
    let memory = 0;
    const timer = setInterval(() => {
      memory = Math.max(memory, residentMiB());
    }, MEMORY_MS);
    const began = performance.now();
    while ((await ask(session, "anything"))["state"] !== "ready") await pause(50);
    const indexMs = performance.now() - began;
    clearInterval(timer);
    const times: number[] = [];
    for (let count = 0; count < QUESTIONS; count += 1) {
      const words = Array.from({ length: 4 }, () => wordOf(lines, draw)).join(" ");
      const start = performance.now();
      await ask(session, words);
      times.push(performance.now() - start);
    }
    const deltas: number[] = [];
    for (let count = 0; count < DELTAS; count += 1) {
      const word = `okapi${"abcdefghijklmnopqrstuvwxyzABCD"[count]}zebra`;
      const start = performance.now();
      appendFileSync(join(workspace, "src/part0", `file${count}.ts`), `export const ${word} = 1;\n`);
      for (;;) {
        const { results } = await ask(session, word);
        if (Array.isArray(results) && results.length > 0) break;
        await pause(1);
      }
      deltas.push(performance.now() - start);
    }
    return {
      files,
      chunks: await chunksIn(stateDirectory),
      first_index_s: Number((indexMs / 1000).toFixed(1)),
      peak_memory_mib: Math.round(memory),
      question_p50_ms: percentile(times, 0.5),
      question_p95_ms: percentile(times, 0.95),
      delta_p50_ms: percentile(deltas, 0.5),
    };
  } finally {
    await kernel.close();
  }
}

async function chunksIn(stateDirectory: string): Promise<number> {
  const { openKnowledgeStore } = await import("../../src/stores/embedded/knowledge/knowledge-store.ts");
  const [name = ""] = readdirSync(join(stateDirectory, "knowledge"));
  const store = await openKnowledgeStore(join(stateDirectory, "knowledge", name));
  const { chunks } = store.counts();
  await store.close();
  return chunks;
}

async function ask(session: KernelSession, query: string): Promise<JsonObject> {
  const { result } = await session.call("search_knowledge", { query });
  if (result.status !== "success") throw new Error(JSON.stringify(result));
  return result.data as JsonObject;
}

/** Memory of this process, in which the kernel and its threads are, and of the program that outlines code. */
function residentMiB(): number {
  let bytes = process.memoryUsage.rss();
  for (const child of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${child}/status`, "utf8");
      if (Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) !== process.pid) continue;
      bytes += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
    } catch {
      // it has ended meanwhile
    }
  }
  return bytes / 2 ** 20;
}

function sourceLines(): readonly string[] {
  const root = new URL("../../src/", import.meta.url).pathname;
  return globSync("**/*.ts", { cwd: root })
    .sort()
    .slice(0, 400)
    .flatMap((file) => readFileSync(join(root, file), "utf8").split("\n"))
    .filter((line) => /\w/.test(line) && !/[{}`]|\*\/|\/\*|^import/.test(line));
}

function sourceOf(file: number, lines: readonly string[], draw: () => number): string {
  let text = "";
  for (let each = 0; each < DECLARATIONS; each += 1) {
    text += `export function part${file}Step${each}() {\n`;
    for (let line = 2; line < LINES; line += 1) text += `  // ${(lines[draw() % lines.length] ?? "").trim()}\n`;
    text += "}\n";
  }
  return text;
}

function wordOf(lines: readonly string[], draw: () => number): string {
  const words = (lines[draw() % lines.length] ?? "").match(/[A-Za-z]{4,}/g) ?? ["value"];
  return words[draw() % words.length] ?? "value";
}

/** A fixed sequence of numbers (a linear congruential generator). */
function drawing(): () => number {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 8;
  };
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return Number((sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(1));
}
