/**
 * Makes a view of directories with another owner and holds it until standard input ends.
 *
 * This is a program. In the view the files of the directories' owner belong to another user. It says where the view
 * stands. It runs as root in a mount namespace of its own; see `mapped-view.ts`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, mkdirSync, openSync, readlinkSync, writeFileSync } from "node:fs";
import { getSystemErrorName } from "node:util";
import koffi from "koffi";
import type { Mapping } from "./mapped-view.ts";

interface Wanted extends Mapping {
  readonly sources: readonly string[];
  readonly shown: readonly string[];
}
const { sources, shown, ownerId, groupId, userId } = JSON.parse(process.argv[2] ?? "") as Wanted;

/** A directory that every machine has and no program needs; only this namespace sees what is put upon it. */
const PLACE = "/mnt";

// the same numbers on every architecture
const OPEN_TREE = 428;
const MOVE_MOUNT = 429;
const MOUNT_SETATTR = 442;
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const OPEN_TREE_CLONE = 1;
const OPEN_TREE_CLOEXEC = 0o2000000;
const MOVE_MOUNT_F_EMPTY_PATH = 4;
const MOUNT_ATTR_NOSUID = 0x2n;
const MOUNT_ATTR_NODEV = 0x4n;
const MOUNT_ATTR_IDMAP = 0x00100000n;
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

const libc = koffi.load(null);
const mount = libc.func(
  "int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)",
);
const openTree = libc.func("long syscall(long number, int directory, const char *path, unsigned int flags)");
const prctl = libc.func(
  "int prctl(int option, unsigned long first, unsigned long second, unsigned long third, unsigned long fourth)",
);
const mountSetattr = libc.func(
  "long syscall(long number, int directory, const char *path, unsigned int flags, const void *attributes, size_t size)",
);
const moveMount = libc.func(
  "long syscall(long number, int fromDirectory, const char *from, int toDirectory, const char *to, unsigned int flags)",
);

/** A user namespace whose map says who becomes who; it is only named by, nothing runs in it but what waits. */
async function namespaceOf(): Promise<{ readonly descriptor: number; readonly end: () => void }> {
  const waiting = spawn("unshare", ["--user", "--", "cat"], { stdio: ["pipe", "ignore", "ignore"] });
  const own = readlinkSync("/proc/self/ns/user");
  for (let tries = 0; tries < 1000 && readlinkSync(`/proc/${waiting.pid}/ns/user`) === own; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  writeFileSync(`/proc/${waiting.pid}/uid_map`, `${ownerId} ${userId} 1\n`);
  writeFileSync(`/proc/${waiting.pid}/gid_map`, `${groupId} ${userId} 1\n`);
  return { descriptor: openSync(`/proc/${waiting.pid}/ns/user`, "r"), end: () => waiting.kill("SIGKILL") };
}

function demand(result: number, what: string): number {
  if (result >= 0) return result;
  throw new Error(`${what}: ${getSystemErrorName(-koffi.errno())}`);
}

const namespace = await namespaceOf();
const clone = (source: string): number =>
  demand(
    openTree(OPEN_TREE, AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
    "the directory cannot be mounted again",
  );
const trees = sources.map(clone);
const attributes = BigUint64Array.of(
  MOUNT_ATTR_IDMAP | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
  0n,
  0n,
  BigInt(namespace.descriptor),
);
for (const tree of trees)
  demand(mountSetattr(MOUNT_SETATTR, tree, "", AT_EMPTY_PATH, attributes, 32), "users cannot be mapped here");
demand(mount("none", PLACE, "tmpfs", 0, "size=64k,mode=0755"), "there is no place for the view");
const paths = [...trees, ...shown.map(clone)].map((tree, index) => {
  const path = `${PLACE}/${index}`;
  if (fstatSync(tree).isDirectory()) mkdirSync(path);
  else writeFileSync(path, "");
  demand(moveMount(MOVE_MOUNT, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH), "the view cannot be put in place");
  closeSync(tree);
  return path;
});
namespace.end();
closeSync(namespace.descriptor);
// The view ends with the kernel that asked for it, also when that is killed.
const parent = process.ppid;
demand(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "the view cannot be bound to the kernel");
if (process.ppid !== parent) process.exit(1);
process.stdout.write(`${JSON.stringify({ paths })}\n`, () => {
  // What only waits needs none of Node's memory. Where a program cannot be replaced, Node itself waits.
  if (typeof process.execve === "function") process.execve("/bin/sleep", ["sleep", "infinity"], {});
});
process.stdin.resume();
await once(process.stdin, "end");
