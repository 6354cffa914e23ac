/** Agents that others wrote, run without a network: they are installed into `integration/clients` by the first test. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { environmentOf } from "./command-line.ts";
import type { Place } from "./place.ts";
import { PROJECT } from "./program.ts";

const HOME = join(PROJECT, "integration", "clients");
const INSTALL_MS_MAX = 10 * 60_000;
/** Milliseconds after which an agent is ended. */
const AGENT_MS_MAX = 180_000;

const PROGRAMS = {
  // its command is what an install script would put in place
  claude: `node_modules/@anthropic-ai/claude-code-linux-${process.arch}/claude`,
  codex: "node_modules/.bin/codex",
  gemini: "node_modules/.bin/gemini",
} as const;

/** Installs all of them unless they are there. @throws Error with npm's output */
export function installAgents(): void {
  if (Object.values(PROGRAMS).every((path) => existsSync(join(HOME, path)))) return;
  const { status, stdout, stderr, error } = spawnSync("npm", ["ci", "--ignore-scripts"], {
    cwd: HOME,
    encoding: "utf8",
    timeout: INSTALL_MS_MAX,
  });
  if (status !== 0) throw new Error(`the agents were not installed: ${error?.message ?? `${stdout}${stderr}`}`);
}

/** Runs an agent in a place's workspace to its end, and returns what it printed. */
export async function runAgent(
  place: Place,
  agent: keyof typeof PROGRAMS,
  { args, environment }: { readonly args: readonly string[]; readonly environment: Readonly<Record<string, string>> },
): Promise<string> {
  const child = spawn(join(HOME, PROGRAMS[agent]), [...args], {
    cwd: place.workspace,
    env: environmentOf(place, environment),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const timer = setTimeout(() => child.kill("SIGKILL"), AGENT_MS_MAX);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  await once(child, "close");
  clearTimeout(timer);
  return output;
}
