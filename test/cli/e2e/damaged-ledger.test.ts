// A ledger whose pages were overwritten: what ends a command is said once, in one line that says what to do.
import { once } from "node:events";
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collect, handrail, startHandrail, until } from "../../support/command-line.ts";
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

test("each command that needs it ends with one line", async () => {
  const place = freshPlace();
  const here = ["--workspace", place.workspace];
  const list = ["call", "list_files", "--json", '{"path":"."}', ...here];
  expect((await handrail(place, list)).code).toBe(0);
  damage(place);
  const damaged = "handrail: `ledger.db` in the state directory is damaged (";
  for (const args of [list, ["sessions", "list"], ["mcp", ...here], ["branches", "list", ...here], ["serve"]]) {
    const { code, stderr } = await handrail(place, args);
    expect([args[0], code]).toEqual([args[0], 1]);
    expect(stderr).toMatch(/^handrail: .+; nothing was deleted: stop every kernel.+ restore a backup.*\n$/);
    expect(stderr).toContain(damaged);
  }
  // what it says of the way back is true: only a backup helps
  expect((await handrail(place, ["ledger", "accept", "--reason", "x"])).stderr).toContain(`${damaged}SQLITE_CORRUPT)`);
});

test("control: on a sound ledger `serve` listens", async () => {
  const place = freshPlace();
  const child = startHandrail(place, ["serve"]);
  const output = collect(child);
  await until(() => output().stderr.includes("listening on"));
  child.kill("SIGTERM");
  await once(child, "close");
  expect(child.exitCode).toBe(0);
});
