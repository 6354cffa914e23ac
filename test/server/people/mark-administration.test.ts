/** A declassification takes back what the operator decided about, and nothing else. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { STORE_LIST_MAX } from "../../../src/base/limits.ts";
import { INITIAL_MARK } from "../../../src/flow/flow.ts";
import type { MarkOwner, MarkStore } from "../../../src/flow/mark-store.ts";
import type { Mark } from "../../../src/model/outcome/label.ts";
import { MarkAdministration } from "../../../src/server/people/mark-administration.ts";
import { openStateStores } from "../../../src/stores/embedded/sessions/state-stores.ts";
import { MemoryLedger } from "../../support/memory-kernel.ts";

const here = "/srv/here";
const ann: MarkOwner = { userId: "ann", agentId: "agent", serviceRoot: here };
const bob: MarkOwner = { userId: "bob", agentId: "agent", serviceRoot: here };
const SEEN: Mark = { trustLevel: "untrusted", dataClass: "internal" };
const MORE: Mark = { trustLevel: "untrusted", dataClass: "sensitive" };

async function administrationOf(owners: readonly MarkOwner[]) {
  const directory = mkdtempSync(join(tmpdir(), "handrail-marks-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { marks, sessions } = await openStateStores(directory);
  onTestFinished(() => sessions.close());
  for (const owner of owners) await marks.raiseMark(owner, { initial: INITIAL_MARK, seen: SEEN }, 1);
  const ledger = new MemoryLedger();
  const administration = new MarkAdministration({ marks, ledger, clock: { nowMs: () => 7, monotonicMs: () => 7 } });
  return { marks, ledger, administration, directory };
}

/** Raises the mark of `owner` as soon as its declassification was recorded. */
function raiseDuring(ledger: MemoryLedger, marks: MarkStore, owner: MarkOwner): void {
  ledger.before = async ({ type, payload }) => {
    if (type === "declassified" && payload["userId"] === owner.userId)
      await marks.raiseMark(owner, { initial: INITIAL_MARK, seen: MORE }, 2);
  };
}

test("what nobody touches meanwhile is taken back, and recorded as it was", async () => {
  const { marks, ledger, administration } = await administrationOf([ann, bob]);
  const done = await administration.declassify({ serviceRoot: here }, {}, { reason: "read it", by: "eve" });
  expect(done).toHaveLength(2);
  expect(await marks.findMark(ann)).toEqual(INITIAL_MARK);
  expect(
    ledger.events.map(({ type, actor, payload }) => [
      type,
      actor,
      payload["userId"],
      payload["before"],
      payload["after"],
    ]),
  ).toEqual([
    ["declassified", "operator:eve", "ann", SEEN, INITIAL_MARK],
    ["declassified", "operator:eve", "bob", SEEN, INITIAL_MARK],
  ]);
});

test("a mark that rose meanwhile stands, the record says so, and the others are taken back", async () => {
  const { marks, ledger, administration } = await administrationOf([ann, bob]);
  raiseDuring(ledger, marks, ann);
  await expect(administration.declassify({ serviceRoot: here }, {}, { reason: "read it", by: "eve" })).rejects.toThrow(
    "the mark of `ann/agent` changed meanwhile and stands as it is (1 others were taken back); look again with `handrail labels list`",
  );
  expect(await marks.findMark(ann)).toEqual(MORE);
  expect(await marks.findMark(bob)).toEqual(INITIAL_MARK);
  expect(ledger.of("declassification_void").map(({ payload }) => payload)).toEqual([
    { ...ann, before: SEEN, after: INITIAL_MARK, found: MORE, reason: "read it", severity: "warning" },
  ]);
});

test("without a reason, and where nobody is marked, it is refused and nothing is recorded", async () => {
  const { ledger, administration } = await administrationOf([ann]);
  await expect(administration.declassify({ serviceRoot: here }, {}, { reason: " ", by: "eve" })).rejects.toThrow(
    "needs a reason",
  );
  await expect(
    administration.declassify({ serviceRoot: "/elsewhere" }, {}, { reason: "read it", by: "eve" }),
  ).rejects.toThrow("nobody is marked there");
  expect(ledger.events).toEqual([]);
});

test("more marks elsewhere than one listing shows do not hide a workspace's own", async () => {
  const { marks, administration, directory } = await administrationOf([ann]);
  const database = new Database(join(directory, "state.db"));
  onTestFinished(() => void database.close());
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${STORE_LIST_MAX})`;
  database.exec(
    `${numbers} INSERT INTO marks SELECT 'user-' || n, 'agent', '/elsewhere', 'untrusted', 'internal', 9 FROM numbers`,
  );
  // The control: without its workspace it is not among those listed.
  expect((await marks.listMarks({})).some(({ serviceRoot }) => serviceRoot === here)).toBe(false);
  expect(await administration.declassify({ serviceRoot: here }, {}, { reason: "read it", by: "eve" })).toHaveLength(1);
  expect(await marks.findMark(ann)).toEqual(INITIAL_MARK);
  await expect(
    administration.declassify({ serviceRoot: "/elsewhere" }, {}, { reason: "read it", by: "eve" }),
  ).rejects.toThrow("too many are marked there");
  expect(
    await administration.declassify(
      { serviceRoot: "/elsewhere", userId: "user-0" },
      {},
      { reason: "read it", by: "eve" },
    ),
  ).toHaveLength(1);
});
