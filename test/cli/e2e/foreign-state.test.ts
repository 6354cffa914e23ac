// A state that is damaged, newer or somebody else's: the next command says so, whichever it is.
import { chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { openApprovalStore } from "../../../src/stores/embedded/approvals/approval-store.ts";
import { lookAtState } from "../../../src/stores/embedded/state/state-look.ts";
import { handrail } from "../../support/command-line.ts";
import { freshPlace, type Place } from "../../support/place.ts";

async function placeWithState(): Promise<Place> {
  const place = freshPlace();
  const made = await handrail(place, ["call", "list_files", "--json", '{"path":"."}', "--workspace", place.workspace]);
  expect([made.code, made.stderr, lookAtState(place.state)]).toEqual([0, "", []]);
  return place;
}

const database = (place: Place, name: string, sql: string): string => {
  const path = join(place.state, name);
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
  const made = new Sqlite(path);
  made.exec(sql);
  made.close();
  return path;
};

test("a store that the command does not need is said when it is damaged, foreign or newer", async () => {
  const place = await placeWithState();
  writeFileSync(join(place.state, "approvals.db"), "no database at all, and longer than one hundred bytes".repeat(4));
  database(place, "budget.db", "PRAGMA user_version = 3; PRAGMA application_id = 7; CREATE TABLE theirs (x)");
  database(
    place,
    "history.db",
    `PRAGMA application_id = ${0x48_48_49_53}; PRAGMA user_version = 99; CREATE TABLE x (y)`,
  );
  const said = [
    /^handrail: `approvals\.db` in the state directory is damaged .*restore a backup$/m,
    /^handrail: `budget\.db` in the state directory is not a database of handrail; use another state directory$/m,
    /^handrail: `history\.db` in the state directory was made by a newer handrail; upgrade handrail, /m,
  ];
  for (const args of [
    ["sessions", "list"],
    ["ledger", "tail"],
  ]) {
    const { code, stderr } = await handrail(place, args);
    expect([args, code]).toEqual([args, 0]);
    for (const warning of said) expect(stderr).toMatch(warning);
  }
  const doctor = await handrail(place, ["doctor"]);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout.match(/^failed +stores of the state /gm)).toHaveLength(3);
});

test("a ledger that was found damaged is said where it is only read, and a state of somebody else is refused", async () => {
  const place = await placeWithState();
  writeFileSync(join(place.state, "ledger.damaged"), "somebody found that\n");
  const tail = await handrail(place, ["ledger", "tail"]);
  expect([tail.code, tail.stderr]).toEqual([
    0,
    expect.stringMatching(/^handrail: `ledger\.db` .*found damaged.*`handrail ledger verify`/),
  ]);
  expect((await handrail(place, ["ledger", "verify"])).stderr).toBe("");

  const file = place.put("no-directory", "");
  const refused = await handrail(place, ["sessions", "list", "--state", file]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("is not a directory; name a directory of your own"),
  ]);
  if (process.geteuid?.() !== 0) return; // nobody else can give a directory away
  const theirs = join(place.base, "theirs");
  mkdirSync(theirs, { mode: 0o700 });
  chownSync(theirs, 12_345, 12_345);
  for (const args of [["ledger", "tail"], ["approvals"]]) {
    const { code, stderr } = await handrail(place, [...args, "--state", theirs]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("belongs to another user; run this as its owner")]);
  }
});

test("a database of another program without a version is not taken over", async () => {
  const place = await placeWithState();
  const path = database(place, "approvals.db", "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  const store = openApprovalStore(place.state);
  await expect(store.list(undefined, 1, 0)).rejects.toThrow("not a database of handrail");
  await store.close();
  const left = new Sqlite(path, { readonly: true });
  expect(left.prepare("SELECT count(*) FROM theirs").pluck().get()).toBe(1);
  expect(left.prepare("SELECT count(*) FROM sqlite_schema").pluck().get()).toBe(1);
  left.close();
});
