// What calls changed in files is brought back: by file tools, by commands, by git; all of it or nothing; and an undo is
// undone in turn.
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { readEvidence } from "../../../support/evidence.ts";
import { plainGit } from "../../../support/git-place.ts";
import { statesOf, treeOf, undoPlace } from "../../../support/undo-place.ts";

describe("file tools", () => {
  test("what was written, appended, edited, made and deleted comes back, and goes again with the undo's undo", async () => {
    const { place, call, undo, tree } = await undoPlace();
    place.put("workspace/a.txt", "one\n");
    place.put("workspace/gone.bin", Uint8Array.of(0, 255, 10, 13, 128));
    chmodSync(join(place.workspace, "gone.bin"), 0o640);
    const states = [tree()];
    const calls: string[] = [];
    const doing = async (tool: string, args: object) => {
      calls.push(await call(tool, args));
      states.push(tree());
    };
    await doing("write_file", { path: "a.txt", content: "two\n" });
    await doing("write_file", { path: "a.txt", content: "three\n", append: true });
    const edits = [{ operation: "replace", match_mode: "exact", spec: "three", content: "drei" }];
    await doing("edit_file", { path: "a.txt", edits });
    await doing("write_file", { path: "new/deep/b.txt", content: "b\n" });
    await doing("delete_file", { path: "gone.bin" });
    for (let at = calls.length - 1; at >= 0; at -= 1) {
      const { isUndone, undoId = "" } = await undo(calls[at] ?? "");
      expect([isUndone, tree()]).toEqual([true, states[at]]);
      const again = await undo(undoId);
      expect([again.isUndone, tree()]).toEqual([true, states[at + 1]]);
      expect((await undo(again.undoId ?? "")).isUndone).toBe(true);
    }
    expect(tree()).toEqual(states[0]);
  });

  test("an edit of several files comes back as one", async () => {
    const { place, call, undo, tree } = await undoPlace();
    for (const name of ["a.txt", "b.txt"]) place.put(`workspace/${name}`, "one\n");
    const before = tree();
    const edits = [{ operation: "replace", match_mode: "exact", spec: "one", content: "two" }];
    const id = await call("edit_file", { files: ["a.txt", "b.txt"].map((path) => ({ path, edits })) });
    expect(tree()).not.toEqual(before);
    const report = await undo(id);
    expect([statesOf(report), report.isUndone]).toEqual([{ "a.txt": "ready", "b.txt": "ready" }, true]);
    expect(tree()).toEqual(before);
  });

  test("an undo that was done already changes nothing", async () => {
    const { place, call, undo, tree } = await undoPlace();
    place.put("workspace/a.txt", "one\n");
    const id = await call("write_file", { path: "a.txt", content: "two\n" });
    await undo(id);
    const after = tree();
    const again = await undo(id);
    expect([statesOf(again), again.isUndone, tree()]).toEqual([{ "a.txt": "done" }, false, after]);
  });

  test("a directory that a call made stays while others have put something into it", async () => {
    const { place, call, undo, tree } = await undoPlace();
    const id = await call("write_file", { path: "new/b.txt", content: "b\n" });
    place.put("workspace/new/mine.txt", "mine\n");
    const report = await undo(id);
    expect([statesOf(report), report.isUndone]).toEqual([{ new: "left", "new/b.txt": "ready" }, true]);
    expect(tree().map((line) => line.split(" ")[0])).toEqual(["new", "new/mine.txt"]);
  });
});

const LARGE = 3 * 2 ** 20 + 17;

test("what a command did to files, links, rights and directories of every kind comes back, and goes again", async () => {
  const { place, call, undo, tree } = await undoPlace();
  const at = (path: string) => join(place.workspace, path);
  place.put("workspace/large.bin", Buffer.alloc(LARGE, "x\0y"));
  place.put("workspace/dir/in/deep.txt", "deep\n");
  place.put("workspace/dir/script.sh", "echo\n");
  place.put("workspace/becomes-directory", "file\n");
  place.put("workspace/becomes-file/inside", "inside\n");
  place.put("workspace/closed/a", "a\n");
  symlinkSync("large.bin", at("link"));
  symlinkSync("nowhere", at("turned"));
  const before = tree();
  const command = [
    "printf changed >> large.bin; rm -r dir/in; chmod 755 dir/script.sh; mkdir made made/deep; echo m > made/deep/m",
    "rm becomes-directory; mkdir becomes-directory; echo x > becomes-directory/x",
    "rm -r becomes-file; echo now > becomes-file; rm link; ln -s dir link2; ln -sf elsewhere turned; chmod 750 closed",
  ].join("; ");
  const id = await call("shell", { command });
  const changed = tree();
  expect(changed).not.toEqual(before);
  const dry = await undo(id, { dryRun: true });
  expect([new Set(Object.values(statesOf(dry))), tree()]).toEqual([new Set(["ready"]), changed]);
  const { isUndone, undoId = "" } = await undo(id);
  expect([isUndone, tree()]).toEqual([true, before]);
  expect([(await undo(undoId)).isUndone, tree()]).toEqual([true, changed]);
});

test("git that landed is undone with its branch, and its own objects stay", async () => {
  const { place, call, undo, tree } = await undoPlace();
  const { git, commit, tried } = plainGit(place.workspace);
  git("init", "-q", "-b", "main");
  commit("one", { "a.txt": "main\n", "only.txt": "only\n" });
  git("checkout", "-q", "-b", "other");
  commit("two", { "a.txt": "other\n", "more.txt": "more\n" });
  git("checkout", "-q", "main");
  const before = tree();
  const id = await call("git_checkout", { branch: "other" });
  expect([git("branch", "--show-current").trim(), readFileSync(join(place.workspace, "a.txt"), "utf8")]).toEqual([
    "other",
    "other\n",
  ]);
  expect(tried("diff-index", "--quiet", "HEAD", "--").code).toBe(0);
  expect((await undo(id)).isUndone).toBe(true);
  expect([git("branch", "--show-current").trim(), git("status", "--porcelain"), tree()]).toEqual(["main", "", before]);
  git("fsck", "--strict");
});

describe("what has changed since", () => {
  test("keeps everything from being undone, unless paths are named that have not", async () => {
    const { place, call, undo, tree } = await undoPlace();
    for (const name of ["a", "b"]) place.put(`workspace/${name}.txt`, "before\n");
    const id = await call("shell", { command: "echo after > a.txt; echo after > b.txt; mkdir d; echo c > d/c" });
    place.put("workspace/a.txt", "mine\n");
    const changed = tree();
    const report = await undo(id);
    expect([statesOf(report), report.isUndone, tree()]).toEqual([
      { "a.txt": "changed", "b.txt": "ready", d: "ready", "d/c": "ready" },
      false,
      changed,
    ]);
    const named = await undo(id, { paths: ["b.txt", "d"] });
    expect([statesOf(named), named.isUndone]).toEqual([{ "b.txt": "ready", d: "ready", "d/c": "ready" }, true]);
    expect(tree()).toEqual([
      expect.stringMatching(/^a.txt \d+ mine\n$/),
      expect.stringMatching(/^b.txt \d+ before\n$/),
    ]);
    await expect(undo(id, { paths: ["elsewhere"] })).rejects.toThrow(/nothing of what/);
  });

  test("counts where only the rights differ, and where the file is gone", async () => {
    const { place, call, undo } = await undoPlace();
    for (const name of ["a", "b"]) place.put(`workspace/${name}.txt`, "before\n");
    const first = await call("write_file", { path: "a.txt", content: "after\n" });
    const second = await call("delete_file", { path: "b.txt" });
    chmodSync(join(place.workspace, "a.txt"), 0o755);
    mkdirSync(join(place.workspace, "b.txt"));
    expect([statesOf(await undo(first)), statesOf(await undo(second))]).toEqual([
      { "a.txt": "changed" },
      { "b.txt": "changed" },
    ]);
  });

  test("a file in a directory that a command removed brings the directory along", async () => {
    const { place, call, undo, tree } = await undoPlace();
    place.put("workspace/d/e/one", "1\n");
    place.put("workspace/d/two", "2\n");
    const id = await call("shell", { command: "rm -r d" });
    expect((await undo(id, { paths: ["d/e/one"] })).isUndone).toBe(true);
    expect(tree().map((line) => line.split(" ")[0])).toEqual(["d", "d/e", "d/e/one"]);
  });
});

describe("what is not kept", () => {
  test("is too large: it lands, and the history says so", async () => {
    const { place, call, undo, person } = await undoPlace("undo: { file_mb: 1 }\n");
    place.put("workspace/large.bin", Buffer.alloc(LARGE));
    place.put("workspace/small.txt", "small\n");
    const id = await call("shell", { command: "echo x >> large.bin; echo y >> small.txt" });
    const lines = await person.undo.history(place.workspace, ".", 10);
    expect(lines.map(({ change }) => [change.path, change.unkept])).toEqual(
      expect.arrayContaining([
        ["large.bin", "too_large"],
        ["small.txt", undefined],
      ]),
    );
    const report = await undo(id);
    expect([statesOf(report), report.isUndone]).toEqual([{ "large.bin": "unkept", "small.txt": "ready" }, false]);
    expect((await undo(id, { paths: ["small.txt"] })).isUndone).toBe(true);
  });

  test("lies in `node_modules`: the tree alone is named", async () => {
    const { place, person } = await undoPlace();
    const { keepableOf } = await import("../../../../src/kernel/index.ts");
    const { BUILT_IN_ZONE_RULES, compileZones } = await import("../../../../src/model/place/zone.ts");
    const zones = compileZones(BUILT_IN_ZONE_RULES, "");
    const keepable = (path: string) => keepableOf(zones, { root: "service", path });
    expect([
      keepable("a/node_modules/x/y.js"),
      keepable("a/.env"),
      keepable(".git/objects/ab/cd"),
      keepable(".git/HEAD"),
      keepable("src/a.ts"),
    ]).toEqual([{ tree: "a/node_modules" }, "secret", "passed", "content", "content"]);
    expect(await person.undo.history(place.workspace, ".", 10)).toEqual([]);
  });

  test("lies where secrets lie by now: it comes back, and nothing of what it replaces is kept", async () => {
    const { place, call, undo, person } = await undoPlace();
    place.put("workspace/conf/key.txt", "before\n");
    const id = await call("write_file", { path: "conf/key.txt", content: "after\n" });
    writeFileSync(join(place.config, "handrail.yaml"), 'preset: open\nfiles: { secret: ["conf/**"] }\n');
    await expect.poll(() => person.operator.settings.files.secret, { timeout: 60_000 }).toEqual(["conf/**"]);
    expect((await undo(id)).isUndone).toBe(true);
    const [line] = await person.undo.history(place.workspace, "conf/key.txt", 1);
    expect([line?.change.unkept, line?.change.before?.content, line?.change.after?.content]).toEqual([
      "secret",
      undefined,
      undefined,
    ]);
    expect(readFileSync(join(place.workspace, "conf/key.txt"), "utf8")).toBe("before\n");
  });

  test("is nothing at all where the operator wants nothing kept", async () => {
    const { place, call, person } = await undoPlace("undo: { keep_days: 0 }\n");
    await call("write_file", { path: "a.txt", content: "a\n" });
    expect([await person.undo.history(place.workspace, ".", 10), existsSync(join(place.state, "history.db"))]).toEqual([
      [],
      false,
    ]);
  });

  test("could not be stored: it lands, and the history says so; without a note nothing is changed", async () => {
    const { place, call, undo, tried, person } = await undoPlace();
    place.put("workspace/a.txt", "before\n");
    place.put("state/cas/before", "in the way of a directory");
    const id = await call("write_file", { path: "a.txt", content: "after\n" });
    const [line] = await person.undo.history(place.workspace, "a.txt", 1);
    expect([line?.change.unkept, statesOf(await undo(id))]).toEqual(["not_stored", { "a.txt": "unkept" }]);
    const other = await undoPlace();
    other.place.put("workspace/a.txt", "before\n");
    other.place.put("state/history.db/in-the-way", "");
    expect(await other.tried("write_file", { path: "a.txt", content: "after\n" })).toMatchObject({
      kind: "error",
      code: "STORE_UNAVAILABLE",
    });
    expect(other.tree()).toEqual([expect.stringMatching(/^a.txt \d+ before\n$/)]);
    expect(await tried("write_file", { path: "b.txt", content: "b\n" })).toMatchObject({ kind: "success" });
  });

  test("is too old: it is not known any more, and its content leaves", async () => {
    const { place, call, undo, person } = await undoPlace();
    place.put("workspace/a.txt", "old secret of mine\n");
    const id = await call("write_file", { path: "a.txt", content: "a\n" });
    const [line] = await person.undo.history(place.workspace, "a.txt", 1);
    const content = line?.change.before?.content ?? "";
    const file = join(place.state, "cas", "before", content.slice(0, 2), content);
    expect(readFileSync(file, "utf8")).toBe("old secret of mine\n");
    const database = new Sqlite(join(place.state, "history.db"));
    database.prepare("UPDATE entries SET at_ms = at_ms - ?").run(7 * 24 * 3_600_000);
    database.close();
    await expect(undo(id)).rejects.toThrow(/nothing is known of a call/);
    utimesSync(file, 1, 1);
    await person.undo.sweep();
    expect([existsSync(file), await person.undo.history(place.workspace, "a.txt", 1)]).toEqual([false, []]);
  });
});

test("an undo is recorded before it happens and after, in the person's name, a dry run never", async () => {
  const { place, call, undo, person } = await undoPlace();
  place.put("workspace/a.txt", "one\n");
  const id = await call("write_file", { path: "a.txt", content: "two\n" });
  await undo(id, { dryRun: true });
  const { undoId } = await undo(id);
  const acts = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType.startsWith("undo_"));
  const facts = { call: id, workspace: place.workspace, undo: undoId };
  expect(acts.map(({ entry, payload }) => [entry.eventType, entry.actor, payload])).toEqual([
    ["undo_begun", "operator:ada", expect.objectContaining({ ...facts, files: 1, paths: ["a.txt"] })],
    ["undo_ended", "operator:ada", expect.objectContaining({ ...facts, isUndone: true })],
  ]);
  const [line] = await person.undo.history(place.workspace, "a.txt", 1);
  expect([line?.entry.actor, line?.entry.tool, line?.entry.callId]).toEqual(["operator:ada", "undo", undoId]);
});

test("redaction does not alter what comes back", async () => {
  const { place, call, undo } = await undoPlace();
  const secret = `token = "ghp_${"a1B2".repeat(9)}"\nrest\n`;
  place.put("workspace/a.txt", secret);
  const id = await call("write_file", { path: "a.txt", content: "clean\n" });
  await undo(id);
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe(secret);
  expect(treeOf(place.workspace)).toHaveLength(1);
});
