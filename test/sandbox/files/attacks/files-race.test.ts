// Links swapped in while calls run: a second process exchanges a directory and a file for links that lead out, as fast
// as it can. The control reads in the ordinary "check, then open" way and does escape.
import type { ChildProcess } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endOf, namesBelow, newPlace, type Place } from "../../../support/files-fixture.ts";
import { endSwapper, startSwapper } from "../../../support/swapper.ts";

const SECRET = "outside secret";
const ROUNDS_MAX = 20_000;
const TIME_MAX_MS = 2_000;
const ENDS = ["ok", "workspace_symlink_escape", "FILE_NOT_FOUND", "FILE_CHANGED", "RESOURCE_BUSY", "NOT_A_DIRECTORY"];

let place: Place;
let swapper: ChildProcess;
beforeEach(async () => {
  place = newPlace();
  swapper = await startSwapper(place, "inside", SECRET);
});
afterEach(async () => {
  await endSwapper(swapper);
  place.close();
});

/** Runs `round` until it says stop, at most so often and so long; the number of rounds. */
async function repeat(round: (index: number) => Promise<boolean>, timeMaxMs = TIME_MAX_MS): Promise<number> {
  const endMs = performance.now() + timeMaxMs;
  let rounds = 0;
  while (rounds < ROUNDS_MAX && performance.now() < endMs && !(await round(rounds))) rounds += 1;
  return rounds;
}

function checkThenOpen(path: string): string {
  try {
    const real = realpathSync(join(place.root, path));
    return real.startsWith(`${place.root}/`) ? readFileSync(join(place.root, path), "utf8") : "refused";
  } catch {
    return "not there";
  }
}

test("control: check-then-open escapes", async () => {
  let escaped = false;
  await repeat(async (index) => {
    escaped = checkThenOpen(index % 2 === 0 ? "dir/data.txt" : "file") === SECRET;
    return escaped;
  }, 60_000);
  expect(escaped).toBe(true);
});

test("no read shows what lies outside", async () => {
  const seen = new Set<string>();
  const ends = new Set<string>();
  const rounds = await repeat(async (index) => {
    const path = index % 2 === 0 ? "dir/data.txt" : "file";
    ends.add(
      await endOf(async () => {
        const { bytes } = await place.files.read(path, { bytesMax: 1000 });
        seen.add(Buffer.from(bytes).toString());
      }),
    );
    return false;
  });
  expect(rounds).toBeGreaterThan(100);
  expect([...seen]).toEqual(["inside"]);
  expect([...ends].filter((end) => !ENDS.includes(end))).toEqual([]);
  expect(ends).toContain("workspace_symlink_escape"); // the race was really run
});

test("no write, edit or listing reaches outside", async () => {
  const ends = new Set<string>();
  const listed = new Set<string>();
  await repeat(async (index) => {
    ends.add(
      await endOf(() => place.files.write(`dir/new-${index % 7}.txt`, Buffer.from("mine"), { mode: "overwrite" })),
    );
    ends.add(await endOf(() => place.files.transform("dir/data.txt", 1000, () => Buffer.from(`changed ${index}`))));
    ends.add(
      await endOf(async () => {
        for (const entry of (await place.files.list("dir", { depthMax: 2, entriesMax: 50 })).entries)
          listed.add(entry.path);
      }),
    );
    return false;
  });
  expect(namesBelow(place.outside)).toEqual(["dir", "dir/data.txt", "file"]);
  expect(readFileSync(join(place.outside, "dir/data.txt"), "utf8")).toBe(SECRET);
  expect([...ends].filter((end) => !ENDS.includes(end))).toEqual([]);
  expect([...listed].filter((path) => !/^(data|new-\d)\.txt$/.test(path))).toEqual([]);
  expect(namesBelow(place.root).filter((name) => name.includes(".handrail-new-"))).toEqual([]);
});
