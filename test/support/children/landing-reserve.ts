/**
 * Runs commands that fill the disk on which workspace and views lie. `landing-reserve BASE`. Runs in a mount namespace
 * of its own, mounts a tmpfs at BASE/disk, and prints what came of each as JSON.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { runOnDisk } from "../disk-run.ts";
import { makeFiles } from "../landing-fixture.ts";
import { own } from "../sandbox-place.ts";

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
  const { problem } = await runOnDisk(sandbox, root, command);
  while (readdirSync(viewsDirectory).length > 0) await setTimeout(10); // views are removed in the background
  const { bavail, bsize } = statfsSync(disk);
  return {
    problem,
    names: ["most", "all", "gone", "small"].filter((name) => existsSync(join(root, name))),
    freeBytes: bavail * bsize,
  };
}

const MOST = "head -c 60000000 /dev/zero >most";
const ALL = "head -c $(($(df --output=avail -k . | tail -1) * 1024 - 2621440)) /dev/zero >all";
const attempts = [];
for (const command of [MOST, ALL, "rm gone", "echo small >small"]) attempts.push(await attempt(command));

/** A command fills the disk beside another one that writes little, and would go on. */
async function beside() {
  rmSync(join(root, "most"));
  const begun = Promise.withResolvers<void>();
  const leaving = new AbortController();
  let hasEnded = false;
  const little = runOnDisk(sandbox, root, "echo little >little; echo up; exec sleep 86399", {
    signal: leaving.signal,
    onOutput: () => begun.resolve(),
  });
  void little.finally(() => {
    hasEnded = true;
  });
  await begun.promise;
  const left = "head -c $(($(df --output=avail -k . | tail -1) * 1024 - 2621440)) /dev/zero >most2";
  const { endedBy, problem } = await runOnDisk(sandbox, root, `${left}; exec sleep 86399`);
  const wentOn = !hasEnded;
  leaving.abort();
  await little;
  return { endedBy, problem, wentOn };
}

const running = await beside();
await sandbox.endRuns();
sandbox.close();

/** The same disk with few names: a command that makes files beside one that makes few, and what is free afterwards. */
async function names() {
  const few = join(base, "few");
  mkdirSync(few);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m,nr_inodes=4000,mode=0755", "tmpfs", few]);
  const [place, views] = [join(few, "workspace"), join(few, "views")];
  mkdirSync(place);
  own(place);
  mkdirSync(views);
  chmodSync(views, 0o711);
  const own4000 = new Sandbox({
    instanceId: `names-${process.pid}`,
    userId: SANDBOX_USER_ID,
    toolchains: [],
    viewsDirectory: views,
  });
  const make = (count: number) => `for i in $(seq ${count}); do : >f$i || break; done`;
  const many = await runOnDisk(own4000, place, `${make(10_000)}; exec sleep 86399`);
  while (readdirSync(views).length > 0) await setTimeout(10);
  const some = await runOnDisk(own4000, place, make(300));
  const { ffree } = statfsSync(few);
  await own4000.endRuns();
  own4000.close();
  return { many: { endedBy: many.endedBy, problem: many.problem?.[0] }, some: some.problem ?? "landed", ffree };
}

process.stdout.write(`${JSON.stringify({ attempts, running, names: await names() })}\n`);
