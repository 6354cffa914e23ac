// Files whose names are addresses with a login: nothing that is shown or recorded has the password; in the state
// directory it stands only where a change is brought back, or a file in the making removed, by its true path.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leftOf, PASSWORD } from "../../support/addresses.ts";
import { handrail } from "../../support/command-line.ts";
import { undoPlace } from "../../support/undo-place.ts";

const NAMES = ["https:bob:PW@host", "https:\\bob:PW@host", "ht\ttps:bob:PW@host", "in/https:/bob:PW@host/file"].map(
  (name) => name.replace("PW", PASSWORD),
);
/** Where paths are exact: only their owner reads them. */
const EXACT = /^(?:history\.db(?:-wal|-shm)?|new-files\/ins_[\w-]{22})$/;

/** Files below the state directory that hold the password, and whether anybody but their owner may read them. */
function holding(state: string): readonly [path: string, others: number][] {
  return readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => leftOf(`${path}\n${readFileSync(path, "latin1")}`).length > 0)
    .map((path) => [path.slice(state.length + 1), statSync(path).mode & 0o077]);
}

test("what is shown of them is redacted, and what has to be exact is their owner's", async () => {
  const { place, call, tried, person, undo } = await undoPlace();
  const ids: string[] = [];
  for (const path of NAMES) {
    ids.push(await call("write_file", { path, content: "x" }));
    await call("write_file", { path, content: "y" });
    expect(leftOf(JSON.stringify(await tried("read_file", { path })))).toEqual([]);
  }
  const lines = await person.undo.history(place.workspace, ".", 20);
  expect(lines.length).toBeGreaterThanOrEqual(2 * NAMES.length);
  const [, , , id = ""] = ids;
  const shown = [
    lines,
    await undo(id, { dryRun: true }),
    await person.undo.history(place.workspace, NAMES[0] ?? "", 5),
  ];
  for (const args of [
    ["history", ".", "--workspace", place.workspace],
    ["history", ".", "--workspace", place.workspace, "--json"],
    ["undo", ids[0] ?? "", "--dry-run"],
    ["ledger", "tail", "--json"],
    ["doctor", "--workspace", place.workspace],
  ]) {
    const { stdout, stderr } = await handrail(place, args);
    shown.push([stdout, stderr] as never);
  }
  expect(leftOf(JSON.stringify(shown))).toEqual([]);
  expect(JSON.stringify(shown)).toContain("https:bob:[REDACTED:url-password]@host");
  const kept = holding(place.state);
  expect(kept.filter(([path, others]) => !EXACT.test(path) || others !== 0)).toEqual([]);
  expect(kept.map(([path]) => path.split("/")[0])).toContain("history.db-wal"); // the control
});

test("an undo of them brings back the true path, and is recorded without the password", async () => {
  const { place, call, undo, tree } = await undoPlace();
  const before = tree();
  for (const path of NAMES) {
    const id = await call("write_file", { path, content: "x" });
    expect(tree()).not.toEqual(before);
    expect(leftOf(JSON.stringify(await undo(id)))).toEqual([]);
    expect(tree().filter((line) => line.includes("@host ") && !line.includes(" 755 "))).toEqual([]);
  }
  expect(holding(place.state).filter(([path]) => !EXACT.test(path))).toEqual([]);
});
