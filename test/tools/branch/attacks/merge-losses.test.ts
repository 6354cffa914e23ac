// What a merge must not lose or break: a person's files in directories that go, commits made beside it, odd names.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type BranchPlace, branchPlace } from "../../../support/branch-place.ts";

async function onlyBranch(place: BranchPlace) {
  const [branch] = await place.kernel.branches.list();
  if (branch === undefined) throw new Error("there is a branch");
  return { branch, tree: join(place.state, "branches", branch.id, "tree") };
}

/** A branch of a workspace with an empty directory and a full one, on which `change` is done. */
async function branched(change: (tree: string) => void) {
  const place = await branchPlace();
  const at = (path: string) => join(place.workspace, path);
  mkdirSync(at("data"));
  place.put("workspace/full/one.txt", "1\n");
  place.put("workspace/full/in/two.txt", "2\n");
  await place.session({ branch: "one" });
  const { branch, tree } = await onlyBranch(place);
  change(tree);
  const merge = () => place.kernel.branches.merge(branch, "ann");
  return { place, at, merge, branch };
}

const replaced = (path: string) => (tree: string) => {
  rmSync(join(tree, path), { recursive: true });
  writeFileSync(join(tree, path), "a file now\n");
};
const removed = (path: string) => (tree: string) => rmSync(join(tree, path), { recursive: true });

test.each([
  ["was empty, and is a file on the branch", "data", replaced("data")],
  ["was empty, and is gone on the branch", "data", removed("data")],
  ["was full, and is a file on the branch", "full", replaced("full")],
  ["was full, and is gone on the branch", "full", removed("full")],
])("what a person puts into a directory that %s stays, and the merge is a conflict", async (_, path, change) => {
  const { place, at, merge } = await branched(change);
  place.put(`workspace/${path}/deep/person.txt`, "a person's\n");
  expect(await merge()).toMatchObject({ kind: "conflict", conflicts: [{ path }] });
  expect(readFileSync(at(`${path}/deep/person.txt`), "utf8")).toBe("a person's\n");
  rmSync(at(`${path}/deep`), { recursive: true }); // the control: without it the merge takes the directory away
  expect(await merge()).toMatchObject({ kind: "landed", isLeft: false });
  expect(existsSync(at(`${path}/in`))).toBe(false);
});

test("a secret file in a directory that goes on the branch, which never saw it, keeps it", async () => {
  const { place, at, merge } = await branched(() => undefined);
  place.put("workspace/full/.env", "KEY=a person's\n");
  const later = await branched((tree) => removed("full")(tree));
  later.place.put("workspace/full/.env", "KEY=a person's\n");
  expect(await later.merge()).toMatchObject({ kind: "conflict" });
  expect(readFileSync(later.at("full/.env"), "utf8")).toBe("KEY=a person's\n");
  expect(await merge()).toMatchObject({ kind: "landed" });
  expect(existsSync(at("full/.env"))).toBe(true);
});

test.each(["a\u2028b.txt", "a\u2029b.txt", "a\rb.txt", "a\u0085b.txt", 'a"\\b.txt'])(
  "a file called %j keeps no branch from being shown and merged",
  async (name) => {
    const place = await branchPlace();
    place.put(`workspace/${name}`, "odd\n");
    await place.session({ branch: "one" });
    const { branch, tree } = await onlyBranch(place);
    writeFileSync(join(tree, "n.txt"), "n\n");
    expect((await place.kernel.branches.difference(branch)).files).toMatchObject([{ path: "n.txt" }]);
    expect(await place.kernel.branches.merge(branch, "ann")).toMatchObject({ kind: "landed", isLeft: false });
    expect(existsSync(join(place.workspace, "n.txt"))).toBe(true);
  },
);

/** A branch with a commit of `a.txt`. */
async function committed() {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await call("write_file", { path: "a.txt", content: "of the branch\n" });
  await call("git", { operation: "ADD", args: ["a.txt"] });
  await call("git", { operation: "COMMIT", args: ["-m", "On the branch"] });
  const { branch } = await onlyBranch(place);
  return { place, call, branch, at: (path: string) => join(place.workspace, path) };
}

test.each(["index", "refs/heads/work"])(
  "whoever holds git's lock of %s keeps a merge with commits from landing, and finds all as it was",
  async (name) => {
    const { place, branch, at } = await committed();
    writeFileSync(at(`.git/${name}.lock`), "");
    const first = await place.kernel.branches.merge(branch, "ann");
    expect(first).toMatchObject({ kind: "landed", isLeft: true, landed: { created: 0, changed: 0, removed: 0 } });
    expect(place.git("log", "--format=%s")).toBe("first\n");
    expect(readFileSync(at("a.txt"), "utf8")).not.toBe("of the branch\n");
    expect(existsSync(at(`.git/${name}.lock`))).toBe(true);
    rmSync(at(`.git/${name}.lock`));
    expect(await place.kernel.branches.merge(branch, "ann")).toMatchObject({ kind: "landed", isLeft: false });
    expect([place.git("log", "--format=%s"), place.git("status", "--porcelain", "--untracked-files=no")]).toEqual([
      "On the branch\nfirst\n",
      "",
    ]);
    expect(readdirSync(at(".git")).filter((one) => one.endsWith(".lock"))).toEqual([]);
  },
);

test("a branch that the store does not know stays, and the next kernel says where it lies", async () => {
  const { place, branch } = await branched((tree) => writeFileSync(join(tree, "n.txt"), "a week of work\n"));
  const directory = join(place.state, "branches");
  renameSync(join(directory, branch.id), join(place.state, "kept"));
  await place.kernel.branches.drop(branch, "ann"); // as if an older store had been put back
  renameSync(join(place.state, "kept"), join(directory, branch.id));
  mkdirSync(join(directory, "bra_halfmade")); // the control: of this one nothing is whole
  const told: string[] = [];
  const next = await place.another((message) => told.push(message));
  await next.close();
  expect(told).toEqual([expect.stringMatching(new RegExp(`${branch.id}.*knows nothing.*then remove it`))]);
  expect(readFileSync(join(directory, branch.id, "tree/n.txt"), "utf8")).toBe("a week of work\n");
  expect(existsSync(join(directory, "bra_halfmade"))).toBe(false);
});
