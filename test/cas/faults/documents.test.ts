/** Documents of evidence under faults: altered rows, a full disk, a log that cannot be brought to disk. */
import { join } from "node:path";
import { geteuid } from "node:process";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { systemRandom } from "../../../src/base/ids.ts";
import { ContentRows } from "../../../src/stores/embedded/content/content-rows.ts";
import { CONTENT_STORE_BYTES_MAX, openContentStore } from "../../../src/stores/embedded/content/content-store.ts";
import { DocumentKeeper } from "../../../src/stores/embedded/content/document-keeper.ts";
import { openDatabase } from "../../../src/stores/embedded/state/database.ts";
import { CONTENT_SCHEMA } from "../../../src/stores/embedded/state/schema.ts";
import { bytesOf, documentOf, NOW_MS } from "../../stores/content-contract.ts";
import { startChild } from "../../support/children/run.ts";
import { freshDirectory } from "../../support/store-place.ts";

const ENTRY = { sessionId: "ses_one", requestId: "r1" };

async function openPlace() {
  const stateDirectory = join(await freshDirectory(), "state");
  const corrupt: string[] = [];
  const content = openContentStore({
    stateDirectory,
    instanceId: "ins_a",
    isInstanceAlive: async () => true,
    nowMs: () => NOW_MS,
    random: systemRandom,
    onCorrupt: (hash) => void corrupt.push(hash),
  });
  onTestFinished(() => content.close());
  return { stateDirectory, content, corrupt };
}

test("a document that was altered in its row is never handed out, is reported once, and is whole once kept again", async () => {
  const { stateDirectory, content, corrupt } = await openPlace();
  const document = documentOf('{"a":1}');
  await content.keepDocuments([document], ENTRY, NOW_MS);
  const database = new Sqlite(join(stateDirectory, "content.db"));
  database.prepare("UPDATE documents SET bytes = ?").run(Buffer.from('{"a":2}'));
  database.close();
  const inventory = await content.maintenance();
  expect(await inventory.inspect(document.hash)).toBe("its bytes do not fit its hash");
  expect(await inventory.bytesOf(document.hash, 1000)).toBeUndefined();
  await expect(bytesOf(content, document.hash)).rejects.toMatchObject({ code: "CONTENT_CORRUPT" });
  await expect(bytesOf(content, document.hash)).rejects.toMatchObject({ code: "CONTENT_CORRUPT" });
  expect(corrupt).toEqual([document.hash]);
  await content.keepDocuments([document], ENTRY, NOW_MS);
  expect((await bytesOf(content, document.hash)).toString()).toBe('{"a":1}');
});

test("documents of which one cannot be kept are kept as none", async () => {
  const { content } = await openPlace();
  const broken = { ...documentOf("b"), bytes: new Proxy(Buffer.from("b"), {}) }; // no database takes it
  await expect(content.keepDocuments([documentOf("a"), broken], ENTRY, NOW_MS)).rejects.toThrow();
  expect(await (await content.maintenance()).sizeOf(documentOf("a").hash)).toBeUndefined();
});

test("a store that is full keeps no document, and says what to do", async () => {
  const { stateDirectory, content } = await openPlace();
  await content.keepDocuments([documentOf("a")], ENTRY, NOW_MS);
  const database = new Sqlite(join(stateDirectory, "content.db"));
  database.prepare("UPDATE totals SET bytes = ?").run(CONTENT_STORE_BYTES_MAX);
  database.close();
  await expect(content.keepDocuments([documentOf("b")], ENTRY, NOW_MS)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("handrail cas gc"),
  });
});

test("after a failed fsync nothing is kept any more: the next one could succeed falsely", async () => {
  const path = join(await freshDirectory(), "content.db");
  const database = await openDatabase(path, CONTENT_SCHEMA, "STORE_UNAVAILABLE");
  onTestFinished(() => void database.close());
  const rows = new ContentRows(database);
  // a path without a log, as if the disk were gone
  const keeper = new DocumentKeeper({ database, path: `${path}.gone`, rows, bytesMax: 1000 });
  keeper.keep([documentOf("a")], ENTRY, NOW_MS);
  const both = await Promise.allSettled([keeper.sync(), keeper.sync()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(() => keeper.keep([documentOf("b")], ENTRY, NOW_MS)).toThrow(/could not be brought to disk/);
  await expect(keeper.sync()).rejects.toThrow(/could not be brought to disk/);
  await keeper.close();
});

test("what a store still has to bring to disk is brought there when it closes, and asked later it has been", async () => {
  const { stateDirectory, content } = await openPlace();
  const kept = await content.keepDocuments([documentOf("a")], ENTRY, NOW_MS);
  await content.close();
  await kept.sync();
  const database = new Sqlite(join(stateDirectory, "content.db"), { readonly: true });
  expect(database.prepare("SELECT count(*) AS count FROM documents").get()).toEqual({ count: 1 });
  database.close();
});

test("a full disk: effects are refused before they happen, nothing is lost, and they go on once there is room", async () => {
  const privately = geteuid?.() === 0 ? ["unshare", "-m"] : ["unshare", "-rm"];
  const child = startChild("documents-full-disk", [await freshDirectory()], privately);
  expect(await child.ended).toBe("0");
  const facts = JSON.parse(child.lines()[0] ?? "");
  expect(facts).toEqual({
    before: "success",
    whileFull: expect.not.stringMatching("success"),
    written: false,
    after: "success",
    intact: true,
  });
});
