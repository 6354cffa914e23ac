/** A file that is given as an index and is none: it is refused, and the index stays as it was. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { indexChunks } from "../../../../../src/knowledge/index-chunks.ts";
import { openKnowledgeStore } from "../../../../../src/stores/embedded/knowledge/knowledge-store.ts";

const TRIGGER = "CREATE TRIGGER planted AFTER INSERT ON files BEGIN DELETE FROM chunks; END";

async function store(name: string, text: string) {
  const directory = mkdtempSync(join(tmpdir(), "handrail-index-"));
  const opened = await openKnowledgeStore(join(directory, "store"));
  onTestFinished(async () => {
    await opened.close();
    rmSync(directory, { recursive: true });
  });
  put(opened, name, text);
  return { opened, file: join(directory, "exported") };
}

function put(opened: Awaited<ReturnType<typeof openKnowledgeStore>>, path: string, text: string) {
  const chunks = indexChunks(path, text, undefined);
  opened.put([{ path, sha256: "0".repeat(64), sizeBytes: text.length, changedMs: 1, chunks }]);
}

test("an exported index takes the place of another, and is not written over one", async () => {
  const one = await store("okapi.md", "okapi\n");
  const two = await store("zebra.md", "zebra\n");
  await one.opened.exportTo(one.file);
  const before = two.opened.version();
  await two.opened.importFrom(one.file);
  expect(two.opened.files().map(({ path }) => path)).toEqual(["okapi.md"]);
  expect(two.opened.find(["okapi"], 5)).toMatchObject([{ path: "okapi.md" }]);
  expect(two.opened.find(["zebra"], 5)).toEqual([]);
  expect(two.opened.version()).not.toBe(before);
  await expect(one.opened.exportTo(one.file)).rejects.toThrow("exists already");
});

test.each([
  ["no database", (file: string) => writeFileSync(file, "words"), "no index"],
  ["half of one", (file: string) => truncateSync(file, 9000), "damaged"],
  ["one with a trigger", (file: string) => run(file, TRIGGER), "no index of this version"],
  ["one with another table", (file: string) => run(file, "CREATE TABLE more (a)"), "no index of this version"],
  ["one of another version", (file: string) => run(file, "PRAGMA user_version = 99"), "no index of this version"],
])("a file that is %s is refused", async (_, spoil, words) => {
  const { opened, file } = await store("okapi.md", `okapi\n${"word ".repeat(5000)}`);
  await opened.exportTo(file);
  spoil(file);
  await expect(opened.importFrom(file)).rejects.toThrow(words);
  expect(opened.find(["okapi"], 5)).toMatchObject([{ path: "okapi.md" }]);
});

test("control: a trigger of a file that is taken as it is does its work", async () => {
  const { opened, file } = await store("okapi.md", "okapi\n");
  await opened.exportTo(file);
  run(file, TRIGGER);
  run(file, "INSERT INTO files (path, sha256, size, changed_ms) VALUES ('a', 'b', 1, 1)");
  const database = new Sqlite(file);
  onTestFinished(() => void database.close());
  expect(database.prepare("SELECT count(*) AS count FROM chunks").get()).toEqual({ count: 0 });
});

function run(file: string, sql: string): void {
  const database = new Sqlite(file);
  database.exec(sql);
  database.close();
}
