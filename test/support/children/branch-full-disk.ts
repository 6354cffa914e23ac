/**
 * Makes and merges branches on a full disk. `branch-full-disk BASE` runs in a mount namespace of its own, mounts small
 * disks below BASE, and prints what came of each as one line of JSON.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/base/clock.ts";
import { systemRandom } from "../../../src/base/ids.ts";
import type { Branch } from "../../../src/model/place/branch.ts";
import { Branches } from "../../../src/sandbox/branches/branches.ts";
import { ViewDirectories } from "../../../src/sandbox/layers/view-directories.ts";
import { unnotedNames } from "../files-fixture.ts";
import { EVERYTHING } from "../sandbox-place.ts";

const [base = ""] = process.argv.slice(2);
const FILES = 400;
const workspace = join(base, "workspace");
const disk = join(base, "disk");
const views = join(base, "views");
mkdirSync(workspace);
mkdirSync(views, { mode: 0o711 });
const nobody = new AbortController().signal;
// of no bytes, so that nothing is counted beforehand
for (let file = 0; file < FILES; file += 1) writeFileSync(join(workspace, `${"n".repeat(100)}-${file}`), "");

const viewDirectories = new ViewDirectories(views);
const stored = new Map<string, Branch>();
const branches = new Branches({
  directory: disk,
  store: {
    insertBranch: async (branch) => (stored.set(branch.id, branch).has(branch.id) ? undefined : "taken"),
    findBranch: async (id) => stored.get(id),
    listBranches: async () => [...stored.values()],
    changeBranch: async (id, { from: _before, to, fromInstanceId: _other, ...patch }) => {
      const known = stored.get(id);
      if (known === undefined) return undefined;
      const changed = { ...known, ...patch, state: to };
      stored.set(id, changed);
      return changed;
    },
    removeBranch: async (id) => stored.delete(id),
    sessionsOn: async () => [],
  },
  views: async () => viewDirectories,
  instanceId: "full",
  isAlive: async () => true,
  clock: systemClock,
  random: systemRandom,
});

/** Works on a disk of that size and of so many files, and says what came of it. */
async function onDisk(at: string, options: string, work: () => Promise<unknown>) {
  mkdirSync(at, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `${options},mode=0711`, "tmpfs", at]);
  const problem = await work().then(
    () => undefined,
    (error: { readonly code?: unknown; readonly message: string }) => [error.code, error.message],
  );
  await viewDirectories.settled();
  const left = readdirSync(at);
  const known = stored.size;
  execFileSync("umount", ["-l", at]);
  return { problem, left, known };
}

async function make(name: string): Promise<Branch> {
  const root = openSync(workspace, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const who = { serviceRoot: workspace, userId: "u", agentId: "a", maker: "person" } as const;
    const wish = { ...who, name, root, isHidden: () => false };
    return await branches.create(wish, nobody);
  } finally {
    closeSync(root);
  }
}

/** Makes a branch, changes it, and merges it where there is no room to put the merge together. */
async function mergeWith(room: string) {
  const branch = await make("merged");
  for (const [name, bytes] of [
    ["small", 10],
    ["large", 3 * 2 ** 20],
  ] as const)
    writeFileSync(join(branches.treeOf(branch.id), name), Buffer.alloc(bytes, 1));
  const parent = openSync(workspace, constants.O_RDONLY | constants.O_DIRECTORY);
  const terms = { judge: EVERYTHING, newFiles: unnotedNames };
  const wish = { branch, parent, parentPath: workspace, isLeftOut: () => false, terms };
  try {
    const full = await onDisk(views, room, () => branches.merge(wish, nobody));
    const merged = { ...full, landed: readdirSync(workspace).filter((name) => !name.startsWith("n")) };
    const state = stored.get(branch.id)?.state;
    return { ...merged, state, again: (await branches.merge(wish, nobody)).kind };
  } finally {
    closeSync(parent);
  }
}

const facts = {
  inodes: await onDisk(disk, "size=64m,nr_inodes=100", () => make("inodes")),
  record: await onDisk(disk, "size=48k", () => make("record")),
  room: await onDisk(disk, "size=64m", async () => {
    writeFileSync(join(workspace, "n-bytes"), "some");
    await make("room").finally(() => rmSync(join(workspace, "n-bytes")));
  }),
  merge: await (async () => {
    mkdirSync(disk, { recursive: true });
    return await mergeWith("size=1m");
  })(),
  size: statSync(join(workspace, "large")).size,
  small: readFileSync(join(workspace, "small")).length,
};
process.stdout.write(`${JSON.stringify(facts)}\n`);
