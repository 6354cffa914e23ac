/**
 * Logs for the redaction figures, written by the tools that set-up brings along, as chatty as they get. What they say
 * differs from run to run by times, ports and process ids; what they do does not. Nothing leaves the machine: the
 * package registry is an empty one on loopback.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Playground } from "../playground.ts";

/** What one tool wrote. */
export interface Log {
  readonly tool: string;
  readonly text: string;
}

/** Characters of one log. */
const LOG_CHARACTERS_MAX = 4_000_000;
const TOOL_MS_MAX = 120_000;
const COMMITS = 150;
const ROOT = new URL("../..", import.meta.url).pathname;

/** The logs; with `quick` only those that cost little. */
export async function makeLogs(playground: Playground, quick: boolean): Promise<readonly Log[]> {
  const run = runnerIn(playground);
  return [
    ...(await gitLogs(playground, run)),
    await nodeLog(playground, run),
    await run("npm ls", ROOT, "npm", ["ls", "--all", "--loglevel", "silly"]),
    ...(quick
      ? []
      : [await npmLog(playground, run), ...(await checkLogs(playground, run)), ...(await testLogs(playground, run))]),
  ];
}

type Run = (
  tool: string,
  cwd: string,
  command: string,
  args: readonly string[],
  more?: NodeJS.ProcessEnv,
) => Promise<Log>;

/**
 * Runs a tool to its end and takes what it wrote, whatever it exits with. @throws when it cannot be started or takes
 * too long
 */
function runnerIn({ environment }: Playground): Run {
  return async (tool, cwd, command, args, more = {}) => {
    const signal = AbortSignal.timeout(TOOL_MS_MAX);
    const child = spawn(command, args, {
      cwd,
      env: { ...environment, ...more },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (piece: string) => {
        if (text.length < LOG_CHARACTERS_MAX) text += piece;
      });
    }
    await once(child, "close");
    if (text === "") throw new Error(`\`${command} ${args.join(" ")}\` wrote nothing; run \`npm test\` once to set up`);
    return { tool, text: text.slice(0, LOG_CHARACTERS_MAX) };
  };
}

/** A made repository: its history with patches, and what a clone of it says under trace. */
async function gitLogs(playground: Playground, run: Run): Promise<readonly Log[]> {
  const repository = playground.directory("logs-repository");
  const git = (tool: string, args: readonly string[], more?: NodeJS.ProcessEnv) =>
    run(tool, repository, "git", args, { ...IDENTITY, ...more });
  await git("git init", ["init", "--initial-branch=main"]);
  for (let commit = 0; commit < COMMITS; commit += 1) {
    writeFileSync(
      join(repository, `part-${commit % 7}.ts`),
      `export const version = "1.${commit}.0";\nexport const build = ${commit * 7919};\n`,
    );
    await git("git add", ["-c", "advice.addEmptyPathspec=false", "add", "--verbose", "."]);
    await git("git commit", [
      "commit",
      "--message",
      `part ${commit % 7}: raise the version to 1.${commit}.0 (#${1000 + commit})`,
    ]);
  }
  const trace = { GIT_TRACE: "1", GIT_TRACE_PACKET: "1", GIT_TRACE_PERFORMANCE: "1", GIT_TRACE_SETUP: "1" };
  return [
    await git("git log", ["log", "--patch", "--stat", "--pretty=raw"]),
    await git("git clone", ["clone", "--no-local", ".", "../logs-clone"], trace),
  ];
}

const IDENTITY = {
  GIT_AUTHOR_NAME: "A U Thor",
  GIT_AUTHOR_EMAIL: "author@example.org",
  GIT_COMMITTER_NAME: "A U Thor",
  GIT_COMMITTER_EMAIL: "author@example.org",
  GIT_CONFIG_NOSYSTEM: "1",
};

/** Warnings with their traces, and what Node says of modules, sockets and HTTP while it serves itself. */
function nodeLog(playground: Playground, run: Run): Promise<Log> {
  const script = `
    const http = require("node:http");
    process.emitWarning("the old way", "DeprecationWarning", "DEP9999");
    new Buffer(3);
    Promise.reject(new Error("nobody waits for this")).catch((error) => console.error(error));
    const server = http.createServer((request, response) => response.end(JSON.stringify(request.headers)));
    server.listen(0, "127.0.0.1", async () => {
      const address = "http://127.0.0.1:" + server.address().port + "/";
      for (let turn = 0; turn < 40; turn += 1) await new Promise((done) => http.get(address + "items/" + turn, (answer) => answer.resume().on("end", done)));
      server.close();
    });`;
  const args = ["--trace-warnings", "--trace-deprecation", "--trace-exit", "-e", script];
  return run("node", playground.directory("logs-node"), process.execPath, args, {
    NODE_DEBUG: "module,http,net,stream,timer",
  });
}

/** An installation from an empty registry, which fails for every package. */
async function npmLog(playground: Playground, run: Run): Promise<Log> {
  const project = playground.directory("logs-npm");
  const dependencies = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`missing-package-${index}`, `^${index}.0.0`]),
  );
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "made", version: "1.0.0", dependencies }));
  const registry = createServer((_, response) =>
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":"not_found"}'),
  );
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
  try {
    const address = registry.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const cache = playground.directory("logs-npm-cache");
    const args = [
      "install",
      "--loglevel",
      "silly",
      "--registry",
      `http://127.0.0.1:${port}/`,
      "--cache",
      cache,
      "--fetch-retries",
      "0",
    ];
    return await run("npm install", project, "npm", [...args, "--no-audit", "--no-fund", "--ignore-scripts"]);
  } finally {
    registry.close();
  }
}

/** A project with mistakes, looked at by the compiler, which says how it finds every module, and by the linter. */
async function checkLogs(playground: Playground, run: Run): Promise<readonly Log[]> {
  const project = playground.directory("logs-check");
  mkdirSync(join(project, "src"), { recursive: true });
  for (let file = 0; file < 30; file += 1) {
    const text = `import { z } from "zod";\nimport { gone } from "./missing-${file}.ts";\nvar unused = z.strng();\nexport const total: number = "part ${file}";\nif (total == gone) debugger;\n`;
    writeFileSync(join(project, "src", `part-${file}.ts`), text);
  }
  const bin = (name: string) => join(ROOT, "node_modules/.bin", name);
  const options = [
    "--noEmit",
    "--pretty",
    "--traceResolution",
    "--extendedDiagnostics",
    "--listFiles",
    "--module",
    "nodenext",
    "--allowImportingTsExtensions",
  ];
  const files = [
    join(ROOT, "src/policy/policy.ts"),
    join(ROOT, "src/redact/redact.ts"),
    ...Array.from({ length: 30 }, (_, file) => join(project, "src", `part-${file}.ts`)),
  ];
  return [
    await run("tsc", ROOT, bin("tsc"), [
      ...options,
      "--ignoreConfig",
      "--typeRoots",
      join(ROOT, "node_modules/@types"),
      ...files,
    ]),
    await run("biome", project, bin("biome"), [
      "check",
      "--verbose",
      "--max-diagnostics",
      "none",
      "--log-level",
      "debug",
      "--log-kind",
      "json",
      "src",
    ]),
  ];
}

/** Tests of the project as its reporter prints them, and a few that fail. */
async function testLogs(playground: Playground, run: Run): Promise<readonly Log[]> {
  const made = playground.directory("logs-test");
  const library = JSON.stringify(join(ROOT, "node_modules/vitest/dist/index.js"));
  const failing = Array.from(
    { length: 40 },
    (_, test) =>
      `test("part ${test}", () => expect({ part: ${test}, of: [1, 2] }).toEqual({ part: ${test + 1}, of: [2] }));`,
  );
  writeFileSync(join(made, "failing.test.mjs"), `import { expect, test } from ${library};\n${failing.join("\n")}\n`);
  const vitest = join(ROOT, "node_modules/.bin/vitest");
  const loud = { DEBUG: "vite:*" };
  return [
    await run(
      "vitest",
      ROOT,
      vitest,
      // tests of the redactor name made-up secrets, and so would a log of them
      ["run", "--reporter", "verbose", "test/policy", "test/validate", "test/names", "test/text", "test/wire"],
      loud,
    ),
    await run("vitest", made, vitest, ["run", "--reporter", "verbose", "--root", made], loud),
  ];
}
