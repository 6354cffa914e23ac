// Deleting: one regular file, the one that was judged, under its lock; nothing else goes, whatever is swapped in.
import { chmodSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LockStore } from "../../../src/sandbox/ports/lock-store.ts";
import { endOf, namesBelow, newPlace, type Place } from "../../support/files-fixture.ts";

let place: Place;
beforeEach(() => {
  place = newPlace();
  mkdirSync(join(place.root, "d"));
  writeFileSync(join(place.root, "d/a.txt"), "content");
  writeFileSync(join(place.outside, "a.txt"), "outside");
});
afterEach(() => place.close());

const at = (path: string) => join(place.root, path);
const remove = (path: string, files = place.files) => endOf(() => files.remove(path));

test("a regular file is deleted and nothing else", async () => {
  expect(await place.files.remove("d/a.txt")).toEqual({ path: "d/a.txt", sizeBytes: 7 });
  expect(namesBelow(place.root)).toEqual(["contracts", "d"]);
  expect(await remove("d/a.txt")).toBe("FILE_NOT_FOUND");
});

describe("what is refused", () => {
  test("directories, also empty ones, and the root", async () => {
    for (const path of ["d", "contracts", "."]) expect(await remove(path), path).toBe("NOT_A_FILE");
    expect(namesBelow(place.root)).toEqual(["contracts", "d", "d/a.txt"]);
  });

  test("missing files, without making their directories", async () => {
    for (const path of ["none", "none/none.txt"]) expect(await remove(path)).toBe("FILE_NOT_FOUND");
    expect(await remove("d/a.txt/b")).toBe("NOT_A_DIRECTORY");
    expect(existsSync(at("none"))).toBe(false);
  });

  test("symbolic links: neither they nor what they lead to", async () => {
    symlinkSync("d/a.txt", at("link"));
    symlinkSync(join(place.outside, "a.txt"), at("out"));
    symlinkSync("nowhere", at("dangling"));
    expect(await remove("link")).toBe("NOT_A_FILE");
    expect(await remove("out")).toBe("workspace_symlink_escape");
    expect(await remove("dangling")).toBe("FILE_NOT_FOUND");
    expect(namesBelow(place.base).filter((name) => /a\.txt$|link$|out$|dangling$/.test(name))).toEqual([
      "outside/a.txt",
      "project/d/a.txt",
      "project/dangling",
      "project/link",
      "project/out",
    ]);
  });

  test("files with a second name, and files closed to writing", async () => {
    linkSync(at("d/a.txt"), at("second"));
    expect(await remove("second")).toBe("workspace_hard_link");
    rmSync(at("second"));
    chmodSync(at("d/a.txt"), 0o444);
    // Root may write everything.
    expect(await remove("d/a.txt")).toBe(process.getuid?.() === 0 ? "ok" : "PERMISSION_DENIED");
  });

  test("secret files behind a link to their directory; an honest link on the way is followed", async () => {
    mkdirSync(at("secrets"));
    writeFileSync(at("secrets/key"), "key");
    symlinkSync("secrets", at("open"));
    symlinkSync("d", at("e"));
    expect(await remove("open/key")).toBe("workspace_blocked_zone");
    expect(existsSync(at("secrets/key"))).toBe(true);
    expect(await place.files.remove("e/a.txt")).toEqual({ path: "d/a.txt", sizeBytes: 7 });
    expect(existsSync(at("d/a.txt"))).toBe(false);
  });
});

describe("a change between the look and the deletion", () => {
  /** Locks that let something happen right before they are held. */
  const meanwhile = (happens: () => void): LockStore => ({
    ...place.locks,
    async acquire(request) {
      happens();
      return place.locks.acquire(request);
    },
  });

  test("a directory that is exchanged for a link leads nowhere else", async () => {
    const locks = meanwhile(() => {
      renameSync(at("d"), at("moved"));
      symlinkSync(place.outside, at("d"));
    });
    expect(await remove("d/a.txt", place.access({ locks }))).toBe("FILE_CHANGED");
    expect(existsSync(join(place.outside, "a.txt"))).toBe(true);
    expect(existsSync(at("moved/a.txt"))).toBe(true);
  });

  test("a link or directory that takes the file's place stays", async () => {
    const link = meanwhile(() => {
      rmSync(at("d/a.txt"));
      symlinkSync(join(place.outside, "a.txt"), at("d/a.txt"));
    });
    expect(await remove("d/a.txt", place.access({ locks: link }))).toBe("FILE_CHANGED");
    expect(existsSync(join(place.outside, "a.txt"))).toBe(true);
    rmSync(at("d/a.txt"));
    writeFileSync(at("d/a.txt"), "again");
    const directory = meanwhile(() => {
      rmSync(at("d/a.txt"));
      mkdirSync(at("d/a.txt"));
    });
    expect(await remove("d/a.txt", place.access({ locks: directory }))).toBe("NOT_A_FILE");
    expect(existsSync(at("d/a.txt"))).toBe(true);
  });

  test("whoever holds the file's lock is waited for, and a denial meanwhile is heeded", async () => {
    const recheck = async () =>
      ({ layer: "authenticate", reason: "session_revoked", ruleId: "SESSION", message: "the session ended" }) as const;
    let asked = 0;
    const locks: LockStore = {
      ...place.locks,
      async acquire(request) {
        asked += 1;
        return asked === 1 ? { kind: "busy", owner: "other", sinceMs: 0 } : place.locks.acquire(request);
      },
    };
    expect(await remove("d/a.txt", place.access({ locks, recheck }))).toBe("session_revoked");
    expect(existsSync(at("d/a.txt"))).toBe(true);
  });
});
