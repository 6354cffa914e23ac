// Program of the peer: runs `true` by its library as its own documentation shows, as often as each line of standard
// input says, and prints the milliseconds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

if (process.geteuid?.() === 0) throw new Error("the peer runs bubblewrap, which must not be root's");
const { SandboxManager } = await import(pathToFileURL(process.argv[2] ?? "").href);
await SandboxManager.initialize({
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: ["."], denyWrite: [] },
});
process.stdout.write("ready\n");

async function runTrue() {
  const command = await SandboxManager.wrapWithSandbox("true");
  const child = spawn(command, { shell: true, stdio: "ignore" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the command ended with ${code}`);
  SandboxManager.cleanupAfterCommand();
}

for await (const line of createInterface({ input: process.stdin })) {
  const startedMs = performance.now();
  for (let times = Number(line); times > 0; times -= 1) await runTrue();
  process.stdout.write(`${performance.now() - startedMs}\n`);
}
await SandboxManager.reset();
