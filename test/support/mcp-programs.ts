/** MCP clients that others wrote, run as programs: the Inspector's command line, and its `mcpdo`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { environmentOf } from "./command-line.ts";
import type { Place } from "./place.ts";
import { MAIN } from "./program.ts";

/** The command of `handrail mcp` for a place's workspace. */
export function serverCommand(place: Place): readonly [string, ...string[]] {
  return [process.execPath, "--disable-warning=ExperimentalWarning", MAIN, "mcp", "--workspace", place.workspace];
}

/**
 * Runs the Inspector's command line against `handrail mcp`; resolves with the JSON it prints, rejects when it fails.
 */
export async function inspect(place: Place, more: readonly string[]): Promise<unknown> {
  const { stdout } = await run(place, "launcher/build/index.js", ["--cli", ...serverCommand(place), ...more]);
  return JSON.parse(stdout) as unknown;
}

/** Runs `mcpdo`, whose daemon and connections live in the place's home and end with the test. */
export function mcpdo(place: Place): (...args: readonly string[]) => Promise<string> {
  const start = async (...args: readonly string[]): Promise<string> =>
    (await run(place, "mcpdo/build/mcp-bin.js", args)).stdout;
  onTestFinished(async () => void (await start("daemon", "stop")));
  return start;
}

async function run(place: Place, program: string, args: readonly string[]): Promise<{ readonly stdout: string }> {
  const path = fileURLToPath(
    new URL(`../../node_modules/@modelcontextprotocol/inspector/clients/${program}`, import.meta.url),
  );
  const child = spawn(process.execPath, [path, ...args], {
    env: environmentOf(place, { MCP_INSPECTOR_SECRET_STORE: "memory" }),
    cwd: place.workspace,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${stderr}${stdout}`);
  return { stdout };
}
