/** A database is cut while it is open: what would be committed to the rest of it is refused. */
import { stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { filesOf, immediately, openDatabase, type Schema } from "../../../src/stores/embedded/state/database.ts";
import { freshDirectory } from "../../support/store-place.ts";

const SCHEMA: Schema = { applicationId: 0x74657374, migrations: ["CREATE TABLE notes (text TEXT) STRICT"] };

async function opened() {
  const path = join(await freshDirectory(), "notes.db");
  const database = await openDatabase(path, SCHEMA, "STORE_UNAVAILABLE");
  onTestFinished(() => void database.close());
  const note = (text: string) => database.prepare("INSERT INTO notes VALUES (?)").run(text).changes;
  for (let index = 0; index < 50; index += 1) note("x".repeat(1000));
  database.pragma("wal_checkpoint(PASSIVE)");
  filesOf(database).check();
  return { path, database, write: () => immediately(database, () => note("more")) };
}

test("a file that lost its last page is written no more, though it is the one that was opened", async () => {
  const { path, database, write } = await opened();
  const { size } = await stat(path);
  await truncate(path, size - 4096);
  expect(write).toThrow(expect.objectContaining({ code: "STORE_UNAVAILABLE" }));
  expect(() => filesOf(database).check()).toThrow(/removed, replaced or cut/);
  expect(filesOf(database).inPlace()).toBe(false);
});

test("the control: a file that only grew is written", async () => {
  const { database, write } = await opened();
  expect(write()).toBe(1);
  database.pragma("wal_checkpoint(PASSIVE)");
  expect(write()).toBe(1);
  expect(filesOf(database).inPlace()).toBe(true);
});
