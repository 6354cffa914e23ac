// What counts as changed where a branch was made from: rights of directories, what was put back, and hostile texts.
import {
  chmodSync,
  chownSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { branchPlace } from "../../../../support/branch-place.ts";

/** A branch of a workspace that `prepare` has filled. */
async function branched(prepare: (at: (path: string) => string) => void) {
  const place = await branchPlace();
  const at = (path: string) => join(place.workspace, path);
  prepare(at);
  const call = await place.session();
  await call("create_branch", { name: "one" });
  const [branch] = await place.kernel.branches.list();
  if (branch === undefined) throw new Error("there is a branch");
  const on = (path: string) => join(place.state, "branches", branch.id, "tree", path);
  return { place, call, at, on, merge: () => place.kernel.branches.merge(branch, "ann"), branch };
}

const rightsOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

test("a directory that a person closed while the branch opened it stays closed: a conflict", async () => {
  const { at, on, merge } = await branched((path) => chmodSync(path("src"), 0o750));
  chmodSync(on("src"), 0o755);
  chmodSync(at("src"), 0o700);
  expect(await merge()).toMatchObject({ kind: "conflict", conflicts: [{ path: "src", why: "changed_on_both" }] });
  expect(rightsOf(at("src"))).toBe("700");
  chmodSync(at("src"), 0o750); // the control: as it was when the branch was made
  expect(await merge()).toMatchObject({ kind: "landed", isLeft: false });
  expect(rightsOf(at("src"))).toBe("755");
});

test("a directory that both opened alike is no conflict, and one that only a person closed stays closed", async () => {
  const { at, merge, call } = await branched(() => undefined);
  await call("write_file", { path: "src/new.ts", content: "new\n" });
  chmodSync(at("src"), 0o700);
  expect(await merge()).toMatchObject({ kind: "landed", isLeft: false });
  expect([rightsOf(at("src")), readFileSync(at("src/new.ts"), "utf8")]).toEqual(["700", "new\n"]);
  const alike = await branched(() => undefined);
  for (const path of [alike.at("src"), alike.on("src")]) chmodSync(path, 0o711);
  writeFileSync(alike.on("n.txt"), "n\n");
  expect(await alike.merge()).toMatchObject({ kind: "landed", isLeft: false });
  expect(rightsOf(alike.at("src"))).toBe("711");
});

test("whoever merges is shown the rights of files and directories before and after", async () => {
  const { place, call, on, branch } = await branched((path) => {
    chmodSync(path("src"), 0o700);
    chmodSync(path("a.txt"), 0o600);
  });
  chmodSync(on("src"), 0o755);
  chmodSync(on("a.txt"), 0o644);
  const { files } = await place.kernel.branches.difference(branch);
  expect(files).toMatchObject([
    { path: "a.txt", change: "mode", mode: "0644", modeBefore: "0600" },
    { path: "src", change: "mode", kind: "directory", mode: "0755", modeBefore: "0700" },
  ]);
  expect((await call("branch_diff", { name: "one" })).data["files"]).toMatchObject([
    { path: "a.txt", mode: "0644", mode_before: "0600" },
    { path: "src", mode: "0755", mode_before: "0700" },
  ]);
});

/** As recovery does it: the same file under the same name again, whose time of change has moved. */
function takenAway(path: string): void {
  renameSync(path, `${path}.aside`);
  renameSync(`${path}.aside`, path);
}

test("what was moved away and put back is not changed: a merge that was taken back can be made again", async () => {
  const { place, call, at, on, merge } = await branched((path) => {
    symlinkSync("a.txt", path("link"));
    writeFileSync(path("data.bin"), Buffer.from([0, 1, 2]));
  });
  await call("write_file", { path: "a.txt", content: "of the branch\n" });
  await call("git", { operation: "COMMIT", args: ["-a", "-m", "On the branch"] });
  writeFileSync(on("data.bin"), Buffer.from([0, 3, 4]));
  rmSync(on("link"));
  for (const path of [".git/index", ".git/refs/heads/work", "a.txt", "data.bin", "link"]) takenAway(at(path));
  expect(await merge()).toMatchObject({ kind: "landed", isLeft: false });
  expect([place.git("log", "--format=%s"), readFileSync(at("data.bin"))[1]]).toEqual(["On the branch\nfirst\n", 3]);
});

const asRoot = process.geteuid?.() === 0;

test.each([
  [
    "wrote it, with the old time",
    (path: string) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, Buffer.from([0, 9, 9]));
      utimesSync(path, atime, mtime);
    },
  ],
  ["gave it other rights", (path: string) => chmodSync(path, 0o600)],
  ["made it run as its owner", (path: string) => chmodSync(path, 0o4644)],
  ["gave it to another user", (path: string) => (asRoot ? chownSync(path, 1234, 1234) : chmodSync(path, 0o640))],
  [
    "put another one with the same bytes there",
    (path: string) => {
      const bytes = readFileSync(path);
      rmSync(path);
      writeFileSync(path, bytes);
    },
  ],
])("a file is another one where a person %s", async (_, change) => {
  const { at, on, merge } = await branched((path) => {
    writeFileSync(path("data.bin"), Buffer.from([0, 1, 2]));
    chmodSync(path("data.bin"), 0o644);
  });
  writeFileSync(on("data.bin"), Buffer.from([0, 3, 4]));
  change(at("data.bin"));
  const bytes = readFileSync(at("data.bin"));
  expect(await merge()).toMatchObject({ kind: "conflict", conflicts: [{ path: "data.bin" }] });
  expect(readFileSync(at("data.bin"))).toEqual(bytes);
});

test("a large file that was put back is in conflict, for nobody knows what it held", async () => {
  const large = Buffer.alloc(1_048_577, "x");
  const { at, on, merge } = await branched((path) => writeFileSync(path("large.txt"), large));
  writeFileSync(on("large.txt"), "small now\n");
  takenAway(at("large.txt"));
  expect(await merge()).toMatchObject({ kind: "conflict", conflicts: [{ path: "large.txt" }] });
});

test("a mebibyte of lines that was turned round on the branch, and got a line elsewhere, is a conflict", async () => {
  const lines = Array.from({ length: 140_000 }, (_, index) => `${index.toString().padStart(6, "0")}\n`);
  const { call, at } = await branched((path) => {
    writeFileSync(path("lines.txt"), lines.join(""));
    writeFileSync(path("other.txt"), lines.slice(0, 1000).join(""));
  });
  await call("write_file", { path: "lines.txt", content: lines.toReversed().join("") });
  await call("write_file", { path: "other.txt", content: `${lines.slice(0, 1000).join("")}of the branch\n` });
  writeFileSync(at("lines.txt"), `first\n${lines.join("")}`);
  writeFileSync(at("other.txt"), `first\n${lines.slice(0, 1000).join("")}`);
  const { kind, message } = await call("merge_branch", { name: "one" });
  expect([kind, message]).toEqual(["error", expect.stringMatching(/lines\.txt/)]);
  expect(message).not.toContain("other.txt");
  writeFileSync(at("lines.txt"), lines.toReversed().join("")); // the control: the other file is merged by its lines
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  expect(readFileSync(at("other.txt"), "utf8")).toBe(`first\n${lines.slice(0, 1000).join("")}of the branch\n`);
});
