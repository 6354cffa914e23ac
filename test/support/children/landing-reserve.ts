/**
 * Runs commands that fill the disk on which workspace and views lie. `landing-reserve BASE`. Runs in a mount namespace
 * of its own, mounts a tmpfs at BASE/disk, and prints what came of each as JSON.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { unnotedNames } from "../files-fixture.ts";
import { makeFiles } from "../landing-fixture.ts";
import { EVERYTHING, LIMITS, own } from "../sandbox-place.ts";

const [base = ""] = process.argv.slice(2);
const disk = join(base, "disk");
const root = join(disk, "workspace");
execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m,mode=0755", "tmpfs", disk]);
mkdirSync(root);
makeFiles(root, { gone: "G" });
for (const path of ["", "gone"]) own(join(root, path));
const viewsDirectory = join(disk, "views");
mkdirSync(viewsDirectory);
chmodSync(viewsDirectory, 0o711);
const sandbox = new Sandbox({
  instanceId: `reserve-${process.pid}`,
  userId: SANDBOX_USER_ID,
  toolchains: [],
  viewsDirectory,
});

async function attempt(command: string) {
  const run = {
    root,
    judge: EVERYTHING,
    landing: { newFiles: unnotedNames },
    command: ["bash", "-c", command],
    workDir: "/workspace",
    environment: {},
    limits: LIMITS,
  } as const;
  const output = { stdout: () => undefined, stderr: () => undefined };
  const { problem } = await sandbox.run(run, output, new AbortController().signal);
  while (readdirSync(viewsDirectory).length > 0) await setTimeout(10); // views are removed in the background
  const { bavail, bsize } = statfsSync(disk);
  return {
    problem: problem && [problem.code, problem.message, problem.constructor.name === "FailureWithoutEffect"],
    names: ["most", "all", "gone", "small"].filter((name) => existsSync(join(root, name))),
    freeBytes: bavail * bsize,
  };
}

const MOST = "head -c 60000000 /dev/zero >most";
const ALL = "head -c $(($(df --output=avail -k . | tail -1) * 1024 - 8192)) /dev/zero >all";
const attempts = [];
for (const command of [MOST, ALL, "rm gone", "echo small >small"]) attempts.push(await attempt(command));
await sandbox.endRuns();
sandbox.close();
process.stdout.write(`${JSON.stringify(attempts)}\n`);
