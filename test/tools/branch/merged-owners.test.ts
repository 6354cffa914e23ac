// Whose files are that a merge brings back, and whom their access lists name.
import { execFileSync } from "node:child_process";
import { chownSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { branchPlace } from "../../support/branch-place.ts";

const own = process.geteuid?.() ?? 0;
/** As root somebody else's, else the own user's. */
const OTHER = own === 0 ? 61_237 : own;

const python = (program: string, ...args: readonly string[]) =>
  execFileSync("python3", ["-c", `import os, sys; ${program}`, ...args], { encoding: "utf8" }).trim();

function entry(tag: number, rights: number, id = 0xffffffff): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(tag, 0);
  bytes.writeUInt16LE(rights, 2);
  bytes.writeUInt32LE(id, 4);
  return bytes;
}

/** One user may write, the group nothing; what the machine shows as the group's rights is the bound of both. */
const LIST = Buffer.concat([
  Buffer.of(2, 0, 0, 0),
  ...[entry(1, 6), entry(2, 6, 1700), entry(4, 0), entry(16, 6), entry(32, 0)],
]).toString("hex");

test("a merge and a file tool keep whose a file is, and its access list", async () => {
  const place = await branchPlace();
  const call = await place.session();
  const at = join(place.workspace, "a.txt");
  chownSync(at, OTHER, statSync(at).gid);
  python("os.setxattr(sys.argv[1], 'system.posix_acl_access', bytes.fromhex(sys.argv[2]))", at, LIST);
  const facts = () => [
    statSync(at).uid,
    (statSync(at).mode & 0o777).toString(8),
    python("print(os.getxattr(sys.argv[1], 'system.posix_acl_access').hex() if os.listxattr(sys.argv[1]) else '')", at),
  ];
  expect(facts()).toEqual([OTHER, "660", LIST]);
  await call("write_file", { path: "a.txt", content: "by a tool\n" });
  expect([readFileSync(at, "utf8"), ...facts()]).toEqual(["by a tool\n", OTHER, "660", LIST]);
  await call("create_branch", { name: "one" });
  await call("write_file", { path: "a.txt", content: "on a branch\n" });
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  expect([readFileSync(at, "utf8"), ...facts()]).toEqual(["on a branch\n", OTHER, "660", LIST]);
});
