// Program: runs one command in a sandbox and prints what came of it. `sandbox-run ROOT COMMAND [TIMES] [own]`; with
// TIMES so often, several at once, and then what of this process is left over.
import { readdirSync } from "node:fs";
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { EVERYTHING, LIMITS, testedBackend } from "../sandbox-place.ts";

const [root = "", command = "", times = "0", own] = process.argv.slice(2);
const sandbox = new Sandbox({
  instanceId: `child-${process.pid}`,
  userId: SANDBOX_USER_ID,
  toolchains: [],
  backend: testedBackend(),
  allowsUnsandboxed: true,
  ownsProcess: own === "own",
});

async function once(): Promise<string> {
  let stdout = "";
  const output = {
    stdout: (piece: Uint8Array) => {
      stdout += Buffer.from(piece).toString();
      if (times === "0") process.stdout.write(`said ${Buffer.from(piece).toString().trim()}\n`);
    },
    stderr: () => undefined,
  };
  const run = {
    root,
    judge: EVERYTHING,
    command: ["sh", "-c", command] as const,
    workDir: "/workspace",
    environment: {},
    limits: LIMITS,
  };
  const { exitCode, enforced, problem } = await sandbox.run(run, output, new AbortController().signal);
  if (problem !== undefined) throw problem;
  return `${exitCode} ${stdout.trim()} as ${enforced.userId}`;
}

/** Descriptors and children of this process, and what waits for events. */
function held(): string {
  const children = readdirSync("/proc").filter((id) => {
    const { readFileSync } = process.getBuiltinModule("node:fs");
    try {
      return (
        /^\d+$/.test(id) && new RegExp(`^PPid:\\t${process.pid}$`, "m").test(readFileSync(`/proc/${id}/status`, "utf8"))
      );
    } catch {
      return false;
    }
  });
  return `descriptors ${readdirSync("/proc/self/fd").length}, children ${children.length}, waiting ${process.getActiveResourcesInfo().filter((kind) => kind !== "Immediate").length}`;
}

try {
  process.stdout.write(`ended ${await once()}\n`);
  if (times !== "0") {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = held();
    for (let done = 0; done < Number(times); done += 8) await Promise.all(Array.from({ length: 8 }, once));
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.stdout.write(`before ${before}\nafter ${held()}\n`);
  }
} catch (error) {
  const { code, message, suggestion = "" } = error as { code?: string; message: string; suggestion?: string };
  process.stdout.write(`failed ${code} ${message}\n${suggestion}\n`);
}
sandbox.close();
