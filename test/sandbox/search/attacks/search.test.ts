// Ways out of the workspace and into hidden places through a search. Each has a control that shows what a search
// without the defence would find.
import { type ChildProcess, execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endOf, newPlace, type Place } from "../../../support/files-fixture.ts";
import { count, find, searchIn, shortly } from "../../../support/search-fixture.ts";
import { endSwapper, startSwapper } from "../../../support/swapper.ts";

const SECRET = "outside secret";

let place: Place;
afterEach(() => place.close());

/** What a search finds that walks by paths and follows whatever it meets. */
function carelessly(directory: string, depth = 8): readonly string[] {
  if (depth === 0) return [];
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    try {
      return statSync(path).isDirectory() ? carelessly(path, depth - 1) : [readFileSync(path, "utf8")];
    } catch {
      return [];
    }
  });
}

describe("links out of the workspace", () => {
  beforeEach(() => {
    place = newPlace();
    writeFileSync(join(place.outside, "data.txt"), SECRET);
    symlinkSync(join(place.outside, "data.txt"), join(place.root, "file"));
    symlinkSync("../outside", join(place.root, "directory"));
  });

  test("control: a careless search finds what lies outside", () => {
    expect(carelessly(place.root)).toContain(SECRET);
  });

  test("lead a search nowhere, by any name", async () => {
    symlinkSync("/proc/self/fd", join(place.root, "magic"));
    const search = searchIn(place);
    expect(await count(search, ".", "secret")).toMatchObject({ total: 0, filesSearched: 0 });
    for (const path of ["file", "directory", "directory/data.txt", "magic"]) {
      expect(await endOf(() => count(search, path, "secret")), path).toBe("workspace_symlink_escape");
    }
    expect(await endOf(() => count(search, "../outside", "secret"))).toBe("workspace_path_traversal");
    expect(await endOf(() => count(search, place.outside, "secret"))).toBe("workspace_path_escape");
  });
});

describe("hidden places", () => {
  test("links to secret files inside are judged by where they lead", async () => {
    place = newPlace();
    mkdirSync(join(place.root, "secrets"));
    writeFileSync(join(place.root, "secrets/key"), SECRET);
    symlinkSync("secrets", join(place.root, "open"));
    symlinkSync("secrets/key", join(place.root, "key"));
    expect(carelessly(place.root)).toContain(SECRET); // control
    const search = searchIn(place);
    expect(await count(search, ".", "secret")).toMatchObject({ total: 0, filesSearched: 0 });
    for (const path of ["open", "open/key", "key"])
      expect(await endOf(() => count(search, path, "secret"))).toBe("workspace_blocked_zone");
  });

  test("a sibling service does not exist", async () => {
    place = newPlace("services/one");
    const sibling = join(place.base, "project/services/two");
    mkdirSync(sibling);
    writeFileSync(join(sibling, "data.txt"), SECRET);
    symlinkSync("../two", join(place.root, "two"));
    expect(carelessly(place.root)).toContain(SECRET); // control
    const search = searchIn(place, { isolationLevel: "SHARED" });
    expect(await count(search, ".", "secret")).toMatchObject({ total: 0, filesSearched: 0 });
    expect(await endOf(() => count(search, "two", "secret"))).toBe("workspace_symlink_escape");
    expect(await endOf(() => count(search, sibling, "secret"))).toBe("workspace_path_escape");
  });
});

describe("what is no regular file", () => {
  test("a FIFO neither blocks a search nor notices it, and a socket or device is passed over", async () => {
    place = newPlace();
    writeFileSync(join(place.root, "a.txt"), "secret");
    execFileSync("mkfifo", [join(place.root, "fifo")]);
    symlinkSync("/dev/zero", join(place.root, "zero"));
    expect(await count(searchIn(place), ".", "secret")).toMatchObject({ total: 1, filesSearched: 1 });
    expect(await endOf(() => count(searchIn(place), "fifo", "secret"))).toBe("NOT_A_FILE");
  });
});

describe("a directory and a file that are exchanged for links while searches run", () => {
  const ROUNDS_MAX = 3000;
  const TIME_MAX_MS = 2_000;
  let swapper: ChildProcess;

  beforeEach(async () => {
    place = newPlace();
    swapper = await startSwapper(place, "inside secret", SECRET);
  });
  afterEach(async () => {
    await endSwapper(swapper);
  });

  /** A search that looks whether a name is a link, and opens it later. */
  function checkingFirst(): readonly string[] {
    const found: string[] = [];
    for (const path of ["dir", "file"]) {
      try {
        const names = readdirSync(place.root, { withFileTypes: true });
        const entry = names.find(({ name }) => name === path);
        if (entry === undefined || entry.isSymbolicLink()) continue;
        found.push(readFileSync(join(place.root, path === "dir" ? "dir/data.txt" : "file"), "utf8"));
      } catch {
        // It was exchanged between the two steps and is now neither.
      }
    }
    return found;
  }

  test("control: a search that checks before it opens finds what lies outside", () => {
    const endMs = performance.now() + 10_000;
    let escaped = false;
    for (let round = 0; round < 200_000 && !escaped && performance.now() < endMs; round += 1)
      escaped = checkingFirst().includes(SECRET);
    expect(escaped).toBe(true);
  });

  test("no search shows what lies outside", async () => {
    const search = searchIn(place);
    const seen = new Set<string>();
    const ends = new Set<string>();
    const endMs = performance.now() + TIME_MAX_MS;
    let rounds = 0;
    for (; rounds < ROUNDS_MAX && performance.now() < endMs; rounds += 1) {
      const path = [".", "dir", "file"][rounds % 3] ?? ".";
      ends.add(
        await endOf(async () => {
          for (const line of shortly(await find(search, path, ".*"))) seen.add(line.replace(/^.*:1:1:/, ""));
        }),
      );
    }
    expect(rounds).toBeGreaterThan(30);
    expect([...seen]).toEqual(["inside secret"]);
    expect(ends).toContain("workspace_symlink_escape"); // the race was really run
  });
});
