/**
 * Writes to a disk that is full, and across a mount. Runs in a mount namespace of its own: mounts a small tmpfs over
 * the workspace of a place, another one inside it, and prints what happened as JSON.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endOf, namesBelow, openPlace } from "../files-fixture.ts";

const [base = "", root = ""] = process.argv.slice(2);
execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", root]);
mkdirSync(join(root, "mounted"));
execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", join(root, "mounted")]);
writeFileSync(join(root, "mounted", "other.txt"), "on another file system");
writeFileSync(join(root, "kept.txt"), "as it was");
const place = openPlace(base, root, root, "");
const tooMuch = Buffer.alloc(2 << 20, "x");
const before = namesBelow(root);
const ends = [];
for (const mode of ["overwrite", "append"] as const)
  ends.push(await endOf(() => place.files.write("kept.txt", tooMuch, { mode })));
ends.push(await endOf(() => place.files.transform("kept.txt", 1 << 20, () => tooMuch)));
ends.push(await endOf(() => place.files.write("new/dir/file.txt", tooMuch, { mode: "create_only" })));
const facts = {
  ends,
  kept: readFileSync(join(root, "kept.txt"), "utf8"),
  left: namesBelow(root).filter((name) => !before.includes(name)),
  control: readFileSync(join(root, "mounted", "other.txt"), "utf8"),
  mounted: [
    await endOf(() => place.files.read("mounted/other.txt", { bytesMax: 100 })),
    await endOf(() => place.files.write("mounted/new.txt", Buffer.from("x"), { mode: "overwrite" })),
  ],
  listed: (await place.files.list(".", { depthMax: 3, entriesMax: 100 })).entries.map((entry) => entry.path),
  small: await endOf(() => place.files.write("kept.txt", Buffer.from("room again"), { mode: "overwrite" })),
};
rmSync(join(root, "kept.txt"));
process.stdout.write(`${JSON.stringify(facts)}\n`);
