/**
 * Writes to a disk that others need, too. `files-reserve BASE ROOT`. Runs in a mount namespace of its own, mounts a
 * tmpfs over the workspace of a place, and prints what came of each write as JSON.
 */
import { execFileSync } from "node:child_process";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "../../../src/base/bytes.ts";
import { endOf, openPlace } from "../files-fixture.ts";

const [base = "", root = ""] = process.argv.slice(2);
execFileSync("mount", ["-t", "tmpfs", "-o", "size=40m,mode=0700", "tmpfs", root]);
writeFileSync(join(root, "kept.txt"), "as it was");
const place = openPlace(base, root, root, "");
const write = (path: string, bytes: number, mode: "overwrite" | "append" = "overwrite") =>
  endOf(() => place.files.write(path, Buffer.alloc(bytes, "x"), { mode }));
const ends = { fits: await write("large", 30 * MIB), tooMuch: await write("larger", 9 * MIB) };
writeFileSync(join(root, "by a person"), Buffer.alloc(9 * MIB));
const late = {
  new: await write("new", 1),
  appended: await write("kept.txt", 1, "append"),
  sameSize: await write("kept.txt", "as it was".length),
  shorter: await write("kept.txt", 1),
  removed: await endOf(() => place.files.remove("large")),
  after: await write("new", 1),
};
rmSync(join(root, "by a person"));
execFileSync("mount", ["-o", "remount,nr_inodes=1000", root]);
for (let name = 0; ; name += 1) {
  const { ffree } = statfsSync(root);
  if (ffree <= 40) break; // a twentieth of 1000 is reserved, and what was removed may not have been given back yet
  writeFileSync(join(root, `f${name}`), "");
}
const names = { new: await write("one-more", 1), sameSize: await write("new", 1) };
process.stdout.write(`${JSON.stringify({ ...ends, late, names })}\n`);
