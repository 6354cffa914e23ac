/** Servers in processes of their own that a measurement starts and ends, and sessions of them. */
import { spawn, spawnSync } from "node:child_process";
import type { Playground } from "./playground.ts";
import { HANDRAIL } from "./servers.ts";

/** Milliseconds that a start, or an end, may take before it counts as stuck. */
const START_MS_MAX = 30_000;

/** A server that listens. */
export interface ServerProcess extends AsyncDisposable {
  /** The last of what it wrote to standard error. */
  readonly said: () => string;
  readonly pid: number;
}

/** Starts `program` and waits until it says that it is listening; disposing ends it. */
export async function startServer(
  playground: Playground,
  [program, ...args]: readonly [string, ...string[]],
): Promise<ServerProcess> {
  const child = spawn(program, args, { env: playground.environment, stdio: ["ignore", "inherit", "pipe"] });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the server did not listen: ${said}`)), START_MS_MAX);
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000);
      if (!said.includes("listening")) return;
      clearTimeout(late);
      resolve();
    });
    child.once("exit", () => reject(new Error(`the server ended: ${said}`)));
  });
  return {
    said: () => said,
    pid: child.pid ?? -1,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), START_MS_MAX);
      await gone;
      clearTimeout(late);
    },
  };
}

/** The token of a new session of `workspace`, by the command line. */
export function makeSession(playground: Playground, workspace: string, state: string): string {
  const args = [...HANDRAIL, "sessions", "create", "--json", "--workspace", workspace, "--state", state];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    env: playground.environment,
    encoding: "utf8",
    timeout: START_MS_MAX,
  });
  const token = /ses_[\w-]{22}\.[\w-]+/.exec(stdout)?.[0];
  if (token === undefined) throw new Error(`no session was made: ${stderr}`);
  return token;
}
