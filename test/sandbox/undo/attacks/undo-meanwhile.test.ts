// Whatever somebody does to the workspace between the comparison and the landing of an undo: what they did stays, and
// nothing is undone. The controls show the same undo with nobody there, and what would have been written where.
import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFiles } from "../../../support/landing-fixture.ts";
import { type Changed, type UndoFixture, undoFixture } from "../../../support/undo-fixture.ts";

const CHANGED: Changed = {
  "a/one.txt": { before: "1\n", after: "eins\n" },
  "d/two.txt": { before: "2\n", after: "zwei\n" },
  "d/made.txt": { after: "made\n" },
  "z.txt": { before: "gone\n" },
};

const read = (root: string, path: string) => readFileSync(join(root, path), "utf8");

/** What somebody does, and the path that is named for it. */
const MEANWHILE: Readonly<Record<string, (place: UndoFixture) => void>> = {
  "a link out of the workspace takes the file's place": ({ root, outside }) => {
    makeFiles(outside, { "two.txt": "zwei\n" });
    unlinkSync(join(root, "d/two.txt"));
    symlinkSync(join(outside, "two.txt"), join(root, "d/two.txt"));
  },
  "a link out of the workspace takes the directory's place": ({ root, outside }) => {
    makeFiles(outside, { "two.txt": "zwei\n", "made.txt": "made\n" });
    renameSync(join(root, "d"), join(root, "old"));
    symlinkSync(outside, join(root, "d"));
  },
  "another directory takes the directory's place": ({ root }) => {
    renameSync(join(root, "d"), join(root, "old"));
    mkdirSync(join(root, "d"));
    makeFiles(root, { "d/two.txt": "zwei\n", "d/made.txt": "made\n" });
  },
  "somebody writes the file, with as many bytes": ({ root }) => writeFileSync(join(root, "d/two.txt"), "drei\n"),
  "somebody makes what is to come back": ({ root }) => writeFileSync(join(root, "z.txt"), "mine\n"),
};

test("the control: with nobody there all of it is undone", async () => {
  const { root, undo } = await undoFixture(CHANGED);
  const { isUndone, meanwhile } = await undo();
  expect([isUndone, meanwhile]).toEqual([true, []]);
  expect([read(root, "a/one.txt"), read(root, "d/two.txt"), read(root, "z.txt")]).toEqual(["1\n", "2\n", "gone\n"]);
  expect(() => read(root, "d/made.txt")).toThrow("ENOENT");
});

for (const views of ["beside", "/dev/shm"])
  test.each(Object.keys(MEANWHILE))(`%s, the view lying ${views}`, async (name) => {
    const place = await undoFixture(CHANGED, views === "beside" ? undefined : `${views}/handrail-undo-${process.pid}`);
    const { root, outside, undo } = place;
    const { isUndone, meanwhile } = await undo({ before: async () => MEANWHILE[name]?.(place) });
    expect([isUndone, meanwhile.length > 0]).toEqual([false, true]);
    expect(read(root, "a/one.txt")).toBe("eins\n");
    if (name.includes("link")) expect(read(outside, "two.txt")).toBe("zwei\n");
    if (name.includes("writes")) expect(read(root, "d/two.txt")).toBe("drei\n");
    if (name.includes("makes")) expect(read(root, "z.txt")).toBe("mine\n");
  });

test("content that is not what was kept is found before anything is moved", async () => {
  const { root, undo } = await undoFixture(CHANGED);
  const altered = (content: string): Iterable<Uint8Array> => {
    throw new Error(`altered: ${content}`);
  };
  await expect(undo({ read: altered })).rejects.toThrow("altered");
  expect([read(root, "a/one.txt"), read(root, "d/two.txt")]).toEqual(["eins\n", "zwei\n"]);
});
