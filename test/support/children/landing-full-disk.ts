/**
 * Lands what a command changed on a disk that is full to some pages. `landing-full-disk BASE PLACE`, where views lie
 * `beside` the workspace on the full disk, or `elsewhere`. Runs in a mount namespace of its own, mounts a small tmpfs
 * at BASE/disk, tries it with ever more free pages until it lands, and prints what came of each as JSON.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, statfsSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { unnotedNames } from "../files-fixture.ts";
import { makeFiles } from "../landing-fixture.ts";
import { EVERYTHING, LIMITS, own } from "../sandbox-place.ts";

const [base = "", views = ""] = process.argv.slice(2);
const PAGE = Buffer.alloc(4096, 1);
/** Free pages with which it lands at the latest. */
const PAGES_MAX = 40;
const disk = join(base, "disk");
const root = join(disk, "workspace");
execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,mode=0755", "tmpfs", disk]);
mkdirSync(root);
makeFiles(root, { locked: "old", gone: "G", "d/x": "X" });
for (const path of ["", "locked", "gone", "d", "d/x"]) own(join(root, path));
const viewsDirectory = views === "beside" ? join(disk, "views") : join(base, "views");
mkdirSync(viewsDirectory, { recursive: true });
chmodSync(viewsDirectory, 0o711);
const ballast = join(disk, "ballast");

function fill(freePages: number): void {
  const file = openSync(ballast, "w");
  for (let left = statfsSync(disk).bfree - freePages; left > 0; left -= 1) writeSync(file, PAGE);
  closeSync(file);
}

function treeOf(): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => path.slice(root.length + 1))
    .sort();
}

const sandbox = new Sandbox({
  instanceId: `full-${process.pid}`,
  userId: SANDBOX_USER_ID,
  toolchains: [],
  viewsDirectory,
});

async function attempt(freePages: number) {
  let isFilled = false;
  const end = await sandbox.run(
    {
      root,
      judge: EVERYTHING,
      landing: { newFiles: unnotedNames, lockOf: (path) => (path === "locked" ? `${path}.lock` : undefined) },
      command: [
        "bash",
        "-c",
        "echo new >locked; rm -r gone d; mkdir n; head -c 30000 /dev/zero | tr '\\0' x >n/big; echo done; sleep 1",
      ],
      workDir: "/workspace",
      environment: {},
      limits: LIMITS,
    },
    {
      stdout() {
        if (!isFilled) fill(freePages);
        isFilled = true;
      },
      stderr: () => undefined,
    },
    new AbortController().signal,
  );
  await rm(ballast);
  const { problem, landed, exitCode } = end;
  const isWithoutEffect = problem?.constructor.name === "FailureWithoutEffect";
  return { exitCode, problem: problem && [problem.code, problem.message, isWithoutEffect], landed, tree: treeOf() };
}

const before = { tree: treeOf(), locked: readFileSync(join(root, "locked"), "utf8") };
const attempts = [];
for (let pages = 0; pages < PAGES_MAX; pages += 1) {
  const one = await attempt(pages);
  attempts.push(one);
  if (one.problem === undefined) break;
}
await sandbox.endRuns();
sandbox.close();
process.stdout.write(`${JSON.stringify({ before, attempts, left: readdirSync(viewsDirectory) })}\n`);
