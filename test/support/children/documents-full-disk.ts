/**
 * A kernel whose state lies on a disk that fills up. Runs in a mount namespace of its own, mounts a small tmpfs at the
 * directory it is given, fills it, calls, makes room, calls again, and prints what happened as JSON.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel } from "../../../src/server/doors/library.ts";
import { verifyContent } from "../../../src/server/ledger/content-verification.ts";

const [mountPoint = ""] = process.argv.slice(2);
execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", mountPoint]);
const elsewhere = mkdtempSync(join(tmpdir(), "handrail-full-"));
const [workspace, configDirectory] = ["workspace", "config"].map((name) => join(elsewhere, name)) as [string, string];
mkdirSync(workspace);
mkdirSync(configDirectory, { mode: 0o700 });
const stateDirectory = join(mountPoint, "state");
const ballast = join(mountPoint, "ballast");
const kernel = await createKernel({
  stateDirectory,
  configDirectory,
  environment: { HOME: elsewhere },
  onWarning: () => undefined,
  onInternalError: () => undefined,
});
const session = await kernel.openSession({ workspace });
const write = async (path: string) => {
  const { result } = await session.call("write_file", { path, content: "text" });
  return result.status === "success" ? "success" : result.error.code;
};
const before = await write("before.txt");
try {
  for (let round = 0; round < 2000; round += 1) appendFileSync(ballast, Buffer.alloc(4096));
} catch {
  // full, which is what was wanted
}
const whileFull = await write("full.txt");
const written = existsSync(join(workspace, "full.txt"));
rmSync(ballast);
let after = "";
for (let attempt = 0; attempt < 100 && after !== "success"; attempt += 1) {
  after = await write("after.txt");
  if (after !== "success") await new Promise((resolve) => setTimeout(resolve, 100));
}
await kernel.close();
const { ok: intact } = await verifyContent(stateDirectory);
process.stdout.write(`${JSON.stringify({ before, whileFull, written, after, intact })}\n`);
rmSync(elsewhere, { recursive: true, force: true });
