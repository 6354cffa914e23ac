// An undo cannot be led out of the workspace, neither by links that somebody put there meanwhile nor by what is stored;
// and no agent reads what was kept of another, or of its own. Each control shows the attack working without the
// defence.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { lockOf } from "../../../../support/file-lock.ts";
import { statesOf, type UndoPlace, undoPlace } from "../../../../support/undo-place.ts";

/** A file that a call has changed, and what stood there before. */
async function changed(): Promise<UndoPlace & { readonly id: string; readonly at: (path: string) => string }> {
  const opened = await undoPlace();
  opened.place.put("workspace/d/a.txt", "before\n");
  opened.place.put("outside/a.txt", "after\n");
  const id = await opened.call("write_file", { path: "d/a.txt", content: "after\n" });
  return { ...opened, id, at: (path) => join(opened.place.base, path) };
}

describe("a link that leads out of the workspace", () => {
  test("in the file's place: nothing is undone, nothing outside changes", async () => {
    const { id, at, undo } = await changed();
    renameSync(at("workspace/d/a.txt"), at("workspace/d/old"));
    symlinkSync(at("outside/a.txt"), at("workspace/d/a.txt"));
    const report = await undo(id);
    expect([statesOf(report), report.isUndone]).toEqual([{ "d/a.txt": "changed" }, false]);
    expect(readFileSync(at("outside/a.txt"), "utf8")).toBe("after\n");
    writeFileSync(at("workspace/d/a.txt"), "before\n"); // the control: writing by the path
    expect(readFileSync(at("outside/a.txt"), "utf8")).toBe("before\n");
  });

  test("in its directory's place, with a file as the call left it behind: the same", async () => {
    const { id, at, undo } = await changed();
    renameSync(at("workspace/d"), at("workspace/old"));
    symlinkSync(at("outside"), at("workspace/d"));
    const report = await undo(id);
    expect([statesOf(report), report.isUndone]).toEqual([{ "d/a.txt": "changed" }, false]);
    expect(readFileSync(at("outside/a.txt"), "utf8")).toBe("after\n");
    writeFileSync(at("workspace/d/a.txt"), "before\n"); // the control
    expect(readFileSync(at("outside/a.txt"), "utf8")).toBe("before\n");
  });

  test("in the workspace's place: it is refused", async () => {
    const { id, at, undo } = await changed();
    renameSync(at("workspace"), at("moved"));
    mkdirSync(at("outside/d"));
    writeFileSync(at("outside/d/a.txt"), "after\n");
    symlinkSync(at("outside"), at("workspace"));
    await expect(undo(id)).rejects.toThrow(/is not there any more/);
    expect(readFileSync(at("outside/d/a.txt"), "utf8")).toBe("after\n");
  });
});

describe("what is stored", () => {
  test.each(["../outside/a.txt", "d/../../outside/a.txt", "./d/a.txt", "d//a.txt"])(
    "as the path `%s` is not followed",
    async (path) => {
      const { id, at, place, undo } = await changed();
      const database = new Sqlite(join(place.state, "history.db"));
      database.prepare("UPDATE changes SET file = ?").run(`${place.workspace}/${path}`);
      database.close();
      const report = await undo(id);
      expect([Object.values(statesOf(report)), report.isUndone]).toEqual([["changed"], false]);
      expect(readFileSync(at("outside/a.txt"), "utf8")).toBe("after\n");
      expect(existsSync(join(place.workspace, path))).toBe(true); // the control: as a path it leads there
    },
  );

  test("as content that somebody altered does not come back", async () => {
    const { id, at, place, undo } = await changed();
    const before = join(place.state, "cas", "before");
    const [shard = ""] = readdirSync(before);
    const [name = ""] = readdirSync(join(before, shard));
    renameSync(join(before, shard, name), join(before, shard, "old"));
    writeFileSync(join(before, shard, name), "forged\n");
    await expect(undo(id)).rejects.toThrow(/does not fit|altered|damaged|corrupt|hash/i);
    expect(readFileSync(at("workspace/d/a.txt"), "utf8")).toBe("after\n");
  });
});

test("no agent reads what was kept, neither by its hash nor by a tool; the person at the desk can", async () => {
  const { place, person, tried } = await changed();
  const [line] = await person.undo.history(place.workspace, "d/a.txt", 1);
  const content = line?.change.before?.content ?? "";
  expect(await tried("artifact_fetch", { content_hash: content })).toMatchObject({
    kind: "error",
    code: "CONTENT_NOT_FOUND",
  });
  for (const tool of ["undo", "history"])
    expect(await tried(tool, { call: line?.entry.callId ?? "" })).toMatchObject({ kind: "denied" });
  // the control: the content is there
  expect(readFileSync(join(place.state, "cas", "before", content.slice(0, 2), content), "utf8")).toBe("before\n");
});

test("an undo waits for whoever holds a file's lock, and does nothing while they do", async () => {
  const { id, at, place, undo } = await changed();
  const release = await lockOf(place, "d/a.txt"); // as file tools hold it
  await expect(undo(id)).rejects.toMatchObject({ code: "RESOURCE_BUSY" });
  expect(readFileSync(at("workspace/d/a.txt"), "utf8")).toBe("after\n");
  await release();
  expect((await undo(id)).isUndone).toBe(true);
});
