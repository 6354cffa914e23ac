// A kernel that is killed: between a change and the word that it was made, the change can be undone all the same; and
// an undo that was killed half-way is taken back as a whole by whoever comes next.
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { handrail, spawnHandrail, until } from "../../../../support/command-line.ts";
import { statesOf, undoPlace } from "../../../../support/undo-place.ts";

test.each([
  ["made", "after\n", "ready", "before\n"],
  ["not made", "before\n", "done", "before\n"],
])("a change of which nobody said that it was %s", async (_word, now, state, then) => {
  const { place, call, undo, person } = await undoPlace();
  place.put("workspace/a.txt", "before\n");
  const id = await call("write_file", { path: "a.txt", content: "after\n" });
  // what a kernel leaves that is killed right before or right after the renaming
  const database = new Sqlite(join(place.state, "history.db"));
  database.prepare("UPDATE entries SET made = 0").run();
  database.close();
  place.put("workspace/a.txt", now);
  if (now === "after\n") await call("write_file", { path: "a.txt", content: "after\n" });
  chmodSync(join(place.workspace, "a.txt"), 0o600);
  const [line] = (await person.undo.history(place.workspace, "a.txt", 5)).toReversed();
  expect(line?.change.isMade).toBe(false);
  expect(statesOf(await undo(id))).toEqual({ "a.txt": state });
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe(then);
});

const FILES = 3000;

function unlock(state: string): void {
  const locks = new Sqlite(join(state, "locks.db"));
  locks.prepare("DELETE FROM locks").run();
  locks.close();
}

test("an undo that is killed half-way leaves all of it or nothing", async () => {
  const { place, call } = await undoPlace();
  const names = Array.from({ length: FILES }, (_, index) => `f${index}`);
  for (const name of names) place.put(`workspace/${name}`, "before\n");
  const id = await call("shell", { command: `for i in $(seq 0 ${FILES - 1}); do echo after > f$i; done` });
  const textOf = (name: string) => readFileSync(join(place.workspace, name), "utf8");
  const count = () => names.filter((name) => textOf(name) === "before\n").length;
  expect(count()).toBe(0);
  const child = spawnHandrail(place, ["undo", id]);
  child.stdin.end();
  const ended = new Promise((resolve) => child.once("close", resolve));
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until(() => isOver || names.some((name) => textOf(name) === "before\n"));
  child.kill("SIGKILL");
  await ended;
  // whoever opens a kernel next takes back what was begun
  const { code } = await handrail(place, ["history", ".", "--workspace", place.workspace, "--json", "--limit", "1"]);
  expect(code).toBe(0);
  expect([0, FILES]).toContain(count());
  unlock(place.state); // the locks of whoever was killed last half a minute
  const again = await handrail(place, ["undo", id]);
  expect([again.code, count()]).toEqual([0, FILES]);
});
