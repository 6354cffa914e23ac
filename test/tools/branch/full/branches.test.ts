// Branches through real calls: what a session on one sees and changes, and what comes of merging and dropping it.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { branchPlace, type Call } from "../../../support/branch-place.ts";

const append = (text: string, path = "a.txt") => ({ command: `echo ${text} >> ${path}` });

async function texts(call: Call, ...paths: readonly string[]): Promise<readonly unknown[]> {
  const read = await Promise.all(paths.map((path) => call("read_file", { path })));
  return read.map(({ data, code }) => (code === "" ? data["content"] : code));
}

test("files, searches, commands and git of a session see and change its branch alone", async () => {
  const place = await branchPlace();
  const [call, other] = [await place.session(), await place.session()];
  expect(await call("create_branch", { name: "try/one" })).toMatchObject({
    kind: "success",
    data: { name: "try/one", current: true, state: "ready" },
  });
  expect((await call("write_file", { path: "src/new.ts", content: "needle\n" })).kind).toBe("success");
  expect((await call("shell", append("six"))).kind).toBe("success");
  expect((await call("git", { operation: "ADD", args: ["src/new.ts"] })).kind).toBe("success");
  expect((await call("git", { operation: "COMMIT", args: ["-m", "Add a file"] })).kind).toBe("success");
  expect(JSON.stringify((await call("search_file", { path: ".", regex: "needle" })).data)).toContain("src/new.ts");
  expect(JSON.stringify((await call("shell", { command: "cat src/new.ts; tail -1 a.txt" })).data)).toContain(
    "needle\\nsix",
  );
  expect(await texts(call, join(place.workspace, "src/new.ts"), "/workspace/src/new.ts")).toEqual([
    "needle\n",
    "needle\n",
  ]);

  expect(existsSync(join(place.workspace, "src/new.ts"))).toBe(false);
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).not.toContain("six");
  expect(place.git("log", "--format=%s")).toBe("first\n");
  expect(await texts(other, "src/new.ts")).toEqual(["FILE_NOT_FOUND"]);
  expect((await call("read_file", { path: ".env" })).kind).toBe("denied");
  const [branch] = await place.kernel.branches.list();
  expect(statSync(join(place.state, "branches", branch?.id ?? "", "tree", ".env")).size).toBe(0);
});

test("a merge shows the whole difference once, lands as a whole, and takes commits along", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await call("write_file", { path: "src/new.ts", content: "new\n" });
  await call("shell", {
    command:
      "mv src/x.ts src/y.ts && chmod 755 a.txt && ln -s a.txt link && mkdir -p d/e && head -c 3000 /dev/zero > d/e/zeros",
  });
  await call("git", { operation: "ADD", args: ["--all"] });
  expect((await call("git", { operation: "COMMIT", args: ["-m", "Change much"] })).kind).toBe("success");
  const { data } = await call("branch_diff", { name: "one" });
  const files = data["files"] as readonly { readonly path: string; readonly change: string }[];
  expect(Object.fromEntries(files.map(({ path, ...file }) => [path, file]))).toMatchObject({
    "a.txt": { change: "mode", mode: "0755" },
    "src/new.ts": { change: "create", diff: expect.stringContaining("+new") },
    "src/y.ts": { change: "rename", from: "src/x.ts" },
    link: { change: "create", kind: "link" },
    d: { change: "create", kind: "directory" },
    "d/e/zeros": { change: "create", binary: true },
  });
  expect(place.asked).toHaveLength(0);
  expect(await call("merge_branch", { name: "one" })).toMatchObject({
    kind: "success",
    data: { into: "the workspace" },
  });
  expect(place.asked).toHaveLength(1);
  expect(JSON.stringify(place.asked[0]?.details)).toContain("src/new.ts");
  expect(place.git("log", "--format=%s")).toBe("Change much\nfirst\n");
  expect(place.git("status", "--short").trim()).toBe("?? .env");
  expect(readFileSync(join(place.workspace, ".env"), "utf8")).toBe("KEY=not-for-agents\n");
  expect(statSync(join(place.workspace, "a.txt")).mode & 0o777).toBe(0o755);
  expect(await call("list_branches")).toMatchObject({ data: { branches: [] } });
  expect(readdirSync(join(place.state, "branches"))).toEqual([]);
  expect((await call("write_file", { path: "after.txt", content: "in the workspace\n" })).kind).toBe("success");
  expect(existsSync(join(place.workspace, "after.txt"))).toBe(true);
});

test("what a person refuses does not land, and stays on the branch", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await call("write_file", { path: "n.txt", content: "n\n" });
  place.answers = false;
  expect(await call("merge_branch", { name: "one" })).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(existsSync(join(place.workspace, "n.txt"))).toBe(false);
  expect(await texts(call, "n.txt")).toEqual(["n\n"]);
});

test("of a file that changed on both sides in the same lines nothing is merged; the first to land wins", async () => {
  const place = await branchPlace();
  const [first, second] = [await place.session(), await place.session()];
  await first("create_branch", { name: "first" });
  await second("create_branch", { name: "second" });
  await first("shell", { command: "sed -i s/one/ONE/ a.txt; echo 1 > one.txt" });
  await second("shell", { command: "sed -i s/one/uno/ a.txt; echo 2 > two.txt" });
  expect((await first("merge_branch", { name: "first" })).kind).toBe("success");
  const late = await second("merge_branch", { name: "second" });
  expect(late).toMatchObject({
    code: "FILE_CHANGED",
    message: expect.stringContaining("`a.txt` (changed on both sides)"),
  });
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toContain("ONE");
  expect(existsSync(join(place.workspace, "two.txt"))).toBe(false);
  // the same on both sides is no conflict
  await second("write_file", { path: "a.txt", content: readFileSync(join(place.workspace, "a.txt"), "utf8") });
  expect((await second("merge_branch", { name: "second" })).kind).toBe("success");
  expect(existsSync(join(place.workspace, "two.txt"))).toBe(true);
});

test("changes of other lines of one file are both taken, where it is kept what the file was", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await call("shell", { command: "sed -i s/one/ONE/ a.txt" });
  place.put("workspace/a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  expect(JSON.stringify(place.asked[0]?.details)).toContain("-one\\n+ONE");
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("ONE\ntwo\nthree\nfour\nFIVE\n");
});

test("a person's own changes are conflicts, never overwritten or removed", async () => {
  const place = await branchPlace();
  const call = await place.session();
  place.put("workspace/gone/one", "1\n");
  await call("create_branch", { name: "one" });
  await call("shell", { command: "rm -r gone; echo mine > made; sed -i s/x/z/ src/x.ts" });
  place.put("workspace/gone/person", "a person's\n");
  place.put("workspace/made", "a person's\n");
  writeFileSync(join(place.workspace, "src/x.ts"), "a person's\n");
  const { code, message } = await call("merge_branch", { name: "one" });
  expect([code, message.includes("`made`"), message.includes("`src/x.ts`")]).toEqual(["FILE_CHANGED", true, true]);
  rmSync(join(place.workspace, "made"));
  await call("shell", { command: "rm made; cp /dev/null src/x.ts" });
  await call("write_file", { path: "src/x.ts", content: "a person's\n" });
  expect(await call("merge_branch", { name: "one" })).toMatchObject({ kind: "error" });
  expect(readFileSync(join(place.workspace, "gone/person"), "utf8")).toBe("a person's\n");
  expect(existsSync(join(place.workspace, "gone/one"))).toBe(true);
});

test("branches nest, and one that others were made from stays until they are gone", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "outer" });
  await call("write_file", { path: "outer.txt", content: "outer\n" });
  expect(await call("create_branch", { name: "inner" })).toMatchObject({ data: { parent: "outer", current: true } });
  await call("write_file", { path: "inner.txt", content: "inner\n" });
  expect(await call("drop_branch", { name: "outer" })).toMatchObject({ code: "NOT_SUPPORTED" });
  expect(await call("merge_branch", { name: "inner" })).toMatchObject({ kind: "success", data: { into: "outer" } });
  expect(await texts(call, "inner.txt", "outer.txt")).toEqual(["inner\n", "outer\n"]);
  expect(existsSync(join(place.workspace, "inner.txt"))).toBe(false);
  expect((await call("drop_branch", { name: "outer" })).kind).toBe("success");
  expect(await texts(call, "outer.txt", "a.txt")).toEqual(["FILE_NOT_FOUND", expect.stringContaining("one")]);
});

test("a session of `autonomous` works on a branch of its own, and neither merges, drops nor leaves it", async () => {
  const place = await branchPlace();
  const call = await place.session({ preset: "autonomous", agentId: "night shift" });
  expect((await call("write_file", { path: "n.txt", content: "n\n" })).kind).toBe("success");
  expect((await call("shell", append("six"))).kind).toBe("success");
  expect((await call("git", { operation: "ADD", args: ["n.txt"] })).kind).toBe("success");
  expect((await call("git", { operation: "COMMIT", args: ["-m", "Work at night"] })).kind).toBe("success");
  expect(existsSync(join(place.workspace, "n.txt"))).toBe(false);
  const [branch] = await place.kernel.branches.list();
  expect(branch?.name).toMatch(/^night-shift\//);
  expect((await call("merge_branch", { name: branch?.name ?? "" })).kind).toBe("denied");
  expect(await call("drop_branch", { name: branch?.name ?? "" })).toMatchObject({ code: "NOT_SUPPORTED" });
  expect(await call("create_branch", { name: "other" })).toMatchObject({ code: "NOT_SUPPORTED" });
  expect((await call("shell", { command: "curl http://127.0.0.1:1/" })).kind).not.toBe("denied");
  expect(place.asked).toHaveLength(0);
  if (branch === undefined) throw new Error("there is a branch");
  const { references } = await place.kernel.branches.difference(branch);
  expect(references).toMatchObject([
    {
      name: "refs/heads/work",
      before: place.git("rev-parse", "HEAD").trim(),
      after: expect.stringMatching(/^[0-9a-f]{40}$/),
    },
  ]);
  expect(await place.kernel.branches.merge(branch, "ann")).toMatchObject({ kind: "landed", isLeft: false });
  expect(readFileSync(join(place.workspace, "n.txt"), "utf8")).toBe("n\n");
  const [past] = await place.kernel.undo.history(place.workspace, "n.txt", 1);
  expect(past).toMatchObject({ entry: { tool: "merge_branch", actor: "operator:ann" }, change: { path: "n.txt" } });
  expect(place.git("log", "-1", "--format=%s")).toBe("Work at night\n");
  expect(await call("read_file", { path: "n.txt" })).toMatchObject({ code: "session_invalid" });
});
