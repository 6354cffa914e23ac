// A ledger whose pages were overwritten: what ends a command is said once, in one line that says what to do.
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handrail } from "../../support/command-line.ts";
import { freshPlace, type Place } from "../../support/place.ts";

const PAGE_BYTES = 4096;

/** Overwrites all pages but the first two, which say that it is a database. */
function damage({ state }: Place): void {
  const path = join(state, "ledger.db");
  const file = openSync(path, "r+");
  const garbage = Buffer.alloc(PAGE_BYTES, 0xa5);
  for (let at = 2 * PAGE_BYTES; at < statSync(path).size; at += PAGE_BYTES) writeSync(file, garbage, 0, PAGE_BYTES, at);
  closeSync(file);
}

test("each command that needs it ends with one line for each failure, and none twice", async () => {
  const place = freshPlace();
  const list = ["call", "list_files", "--json", '{"path":"."}', "--workspace", place.workspace];
  expect((await handrail(place, list)).code).toBe(0);
  damage(place);
  const damaged = "handrail: `ledger.db` in the state directory is damaged (SQLITE_CORRUPT); nothing was deleted: ";
  for (const args of [list, ["sessions", "list"], ["mcp", "--workspace", place.workspace]]) {
    const { code, stderr } = await handrail(place, args);
    const lines = stderr.trimEnd().split("\n");
    expect([args[0], code, lines[0]]).toEqual([args[0], 1, expect.stringContaining(damaged)]);
    expect(lines.filter((line) => !/^handrail: .+; .+/.test(line))).toEqual([]);
    expect(new Set(lines).size).toBe(lines.length);
    expect(stderr).not.toContain("    at ");
  }
  // what it says of the way back is true: only a backup helps
  expect((await handrail(place, ["ledger", "accept", "--reason", "x"])).stderr).toContain(damaged);
});
