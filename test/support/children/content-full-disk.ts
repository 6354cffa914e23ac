/**
 * A content store whose disk fills up. Runs in a mount namespace of its own, mounts a small tmpfs at the directory it
 * is given, stores until the disk is full, makes room, stores again, and prints what happened as JSON.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemRandom } from "../../../src/base/ids.ts";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import { openContentStore } from "../../../src/stores/embedded/content/content-store.ts";
import { bytesOf, store } from "../../stores/content-contract.ts";

const [mountPoint = ""] = process.argv.slice(2);
execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m,mode=0700", "tmpfs", mountPoint]);
const stateDirectory = join(mountPoint, "state");
mkdirSync(stateDirectory, { mode: 0o700 });
chmodSync(stateDirectory, 0o700);
const ballast = join(mountPoint, "ballast");
appendFileSync(ballast, Buffer.alloc(2 * 1024 * 1024));
const content = openContentStore({
  stateDirectory,
  instanceId: "ins_full",
  isInstanceAlive: async () => true,
  nowMs: Date.now,
  random: systemRandom,
  onCorrupt: () => undefined,
});
const stored: string[] = [];
const refusals: string[] = [];
for (let round = 0; round < 100 && refusals.length === 0; round += 1) {
  try {
    stored.push((await store(content, Buffer.alloc(700_000, round + 1))).hash);
  } catch (error) {
    refusals.push(error instanceof ToolFailure ? error.code : String(error));
  }
}
const left = readdirSync(join(stateDirectory, "cas", "temporary"));
rmSync(ballast);
const after = await store(content, Buffer.alloc(700_000, 200));
stored.push(after.hash);
let readable = 0;
for (const hash of stored) readable += (await bytesOf(content, hash)).byteLength === 700_000 ? 1 : 0;
process.stdout.write(`${JSON.stringify({ stored: stored.length, refusals, left, readable })}\n`);
await content.close();
