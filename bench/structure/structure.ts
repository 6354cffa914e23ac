/**
 * `npm run bench -- structure`: `find_usage` and `diagnostics` by TypeScript's language server in a package of 1,000
 * files, cold and warm, and `find_usage` by syntax beside it.
 */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/base/json.ts";
import { createKernel, type KernelSession } from "../../src/server/doors/library.ts";
import { createPlayground, type Playground } from "../playground.ts";
import { thisMachine } from "../table.ts";

const FILES = 1000;
/** Files that use what a file defines. */
const USES = 8;
const QUESTIONS = 200;

/** Measures, and prints one line for each figure. */
export async function runStructure(isQuick: boolean): Promise<void> {
  using playground = createPlayground();
  const figures = {
    by_server: await measured(playground, { isQuick, hasServer: true }),
    by_syntax: await measured(playground, { isQuick, hasServer: false }),
  };
  console.log(JSON.stringify(thisMachine()));
  for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${JSON.stringify(figure)}`);
}

interface Wanted {
  readonly isQuick: boolean;
  readonly hasServer: boolean;
}

async function measured(playground: Playground, { isQuick, hasServer }: Wanted): Promise<JsonObject> {
  const name = hasServer ? "served" : "parsed";
  const workspace = playground.directory(name);
  const files = isQuick ? 100 : FILES;
  for (let file = 0; file < files; file += 1) {
    const directory = join(workspace, "src", `part${file % 20}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file${file}.ts`), sourceOf(file, files));
  }
  const compilerOptions = {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    module: "nodenext",
    types: [],
  };
  writeFileSync(join(workspace, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
  if (hasServer) cpSync("node_modules/typescript", join(workspace, "node_modules/typescript"), { recursive: true });
  const kernel = await createKernel({
    stateDirectory: playground.directory(`${name}-state`),
    environment: playground.environment,
  });
  try {
    const session = await kernel.openSession({ workspace });
    const first = await timed(() => usages(session, 0));
    const times: number[] = [];
    for (let count = 0; count < QUESTIONS; count += 1) {
      const file = (count * 37) % files;
      const { ms, answer } = await timed(() => usages(session, file));
      if (answer["by"] !== (hasServer ? "language-server" : "syntax"))
        throw new Error(JSON.stringify(answer["fallback"]));
      times.push(ms);
    }
    const looks: number[] = [];
    for (let count = 0; hasServer && count < QUESTIONS / 4; count += 1) {
      const path = pathOf((count * 53) % files);
      looks.push((await timed(() => called(session, "diagnostics", { paths: [path] }))).ms);
    }
    return {
      files,
      usages_of_a_name: (first.answer["usages"] as readonly unknown[]).length,
      first_ms: Math.round(first.ms),
      warm_p50_ms: percentile(times, 0.5),
      warm_p95_ms: percentile(times, 0.95),
      ...(hasServer && { diagnostics_p50_ms: percentile(looks, 0.5), diagnostics_p95_ms: percentile(looks, 0.95) }),
    };
  } finally {
    await kernel.close();
  }
}

function pathOf(file: number): string {
  return `src/part${file % 20}/file${file}.ts`;
}

function sourceOf(file: number, files: number): string {
  const used = Array.from({ length: USES }, (_, step) => (file + step * 101 + 1) % files);
  const imports = used.map(
    (other) => `import { work${other}, type Item${other} } from "../part${other % 20}/file${other}.ts";`,
  );
  const calls = used.map(
    (other) =>
      `  const made${other}: Item${other} = work${other}({ name: "x", size: ${other} });\n  sum += made${other}.size;`,
  );
  return `${imports.join("\n")}
export interface Item${file} { name: string; size: number }
/** Works on what it is given. */
export function work${file}(item: Item${file}): Item${file} {
  return { ...item, size: item.size + ${file} };
}
export function all${file}(): number {
  let sum = 0;
${calls.join("\n")}
  return sum;
}
`;
}

async function usages(session: KernelSession, file: number): Promise<JsonObject> {
  return await called(session, "find_usage", { symbol: `work${file}` });
}

async function called(session: KernelSession, tool: string, args: JsonObject): Promise<JsonObject> {
  const { result } = await session.call(tool, args);
  if (result.status !== "success") throw new Error(JSON.stringify(result));
  return result.data as JsonObject;
}

async function timed(work: () => Promise<JsonObject>): Promise<{ readonly ms: number; readonly answer: JsonObject }> {
  const start = performance.now();
  const answer = await work();
  return { ms: performance.now() - start, answer };
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, two) => one - two);
  return Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1));
}
