/**
 * Runs commands whose views lie on a small disk. `view-full-disk BASE`. Runs in a mount namespace of its own, mounts a
 * small tmpfs at BASE/disk-N for each case, and prints what came of each as JSON.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { runOnDisk } from "../disk-run.ts";
import { own } from "../sandbox-place.ts";

const [base = ""] = process.argv.slice(2);
const NO_BLOCK = "head -c 8000000 /dev/zero >big; echo after >small; true";
const NO_NAME = "for i in $(seq 2000); do : >d/e/f$i || break; done; true";
const EMPTY = { "d/e/old": "" };
const MANY = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, ""]));

interface Case {
  readonly views: "overlay" | "copy";
  readonly files: Readonly<Record<string, string>>;
  readonly command: string;
  readonly inodes?: number;
}

const CASES: Readonly<Record<string, Case>> = {
  "an overlay without blocks": { views: "overlay", files: EMPTY, command: NO_BLOCK },
  "an overlay without names": { views: "overlay", files: EMPTY, command: NO_NAME, inodes: 40 },
  "a copy without blocks": { views: "copy", files: EMPTY, command: NO_BLOCK },
  "a copy without names": { views: "copy", files: EMPTY, command: NO_NAME, inodes: 40 },
  "copying without blocks": { views: "copy", files: { large: "x".repeat(8_000_000) }, command: "true" },
  "copying without names": { views: "copy", files: MANY, command: "true", inodes: 40 },
  "no room for a view": { views: "overlay", files: EMPTY, command: "true", inodes: 2 },
  "what only removes": { views: "overlay", files: EMPTY, command: "rm d/e/old" },
};

function treeOf(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
}

async function attempt({ views, files, command, inodes }: Case, index: number) {
  const size = inodes === undefined ? "size=4m" : `size=4m,nr_inodes=${inodes}`;
  const disk = join(base, `disk-${index}`);
  mkdirSync(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", `${size},mode=0711`, "tmpfs", disk]);
  const root = join(base, `workspace-${index}`);
  mkdirSync(join(root, "d", "e"), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  for (const path of ["", ...treeOf(root)]) own(join(root, path));
  const before = treeOf(root);
  const sandbox = new Sandbox({
    instanceId: `full-${process.pid}-${index}`,
    userId: SANDBOX_USER_ID,
    toolchains: [],
    viewsDirectory: disk,
    views,
  });
  const { hasRun, problem } = await runOnDisk(sandbox, root, command);
  await sandbox.endRuns();
  const left = readdirSync(disk);
  sandbox.close();
  return {
    hasRun,
    problem,
    changed: treeOf(root).length - before.length,
    left,
  };
}

chmodSync(base, 0o755);
const facts: Record<string, unknown> = {};
for (const [index, [name, one]] of Object.entries(CASES).entries()) facts[name] = await attempt(one, index);
process.stdout.write(`${JSON.stringify(facts)}\n`);
