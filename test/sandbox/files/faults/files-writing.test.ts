// What can go wrong while files are written: others write too, the disk is full, permission is missing, the call is
// cancelled.
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { geteuid } from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { blake3Hex } from "../../../../src/base/hash.ts";
import { FILE_LOCK_STALE_MS } from "../../../../src/sandbox/files/lock.ts";
import type { LockStore } from "../../../../src/sandbox/ports/lock-store.ts";
import { startChild } from "../../../support/children/run.ts";
import { endOf, memoryLocks, namesBelow, newPlace, type Place, textOf } from "../../../support/files-fixture.ts";
import { freshDirectory } from "../../../support/store-place.ts";

const root = () => geteuid?.() === 0;
const bytes = (text: string) => Buffer.from(text);
const addLine = (line: string) => (original: Uint8Array) => Buffer.concat([original, bytes(`${line}\n`)]);

let place: Place;
beforeEach(() => {
  place = newPlace();
});
afterEach(() => place.close());

const path = (name: string) => join(place.root, name);
const temporaryFiles = () => namesBelow(place.root).filter((name) => name.includes(".handrail-new-"));

describe("many writers", () => {
  const EDITS = 64;
  const names = Array.from({ length: EDITS }, (_, index) => `edit-${index}`);

  test("control: reading, changing and writing without a lock loses edits", async () => {
    writeFileSync(path("shared.txt"), "");
    await Promise.all(
      names.map(async (name) => writeFile(path("shared.txt"), addLine(name)(await readFile(path("shared.txt"))))),
    );
    expect(readFileSync(path("shared.txt"), "utf8").trim().split("\n").length).toBeLessThan(EDITS);
  });

  test("64 concurrent edits of one file in one process all survive, in the order they came", async () => {
    writeFileSync(path("shared.txt"), "");
    await Promise.all(names.map((name) => place.access({}).transform("shared.txt", 1 << 20, addLine(name))));
    expect(readFileSync(path("shared.txt"), "utf8").trim().split("\n")).toEqual(names);
    expect(temporaryFiles()).toEqual([]);
  });

  test("64 concurrent edits of one file from four processes all survive", async () => {
    writeFileSync(path("shared.txt"), "");
    const stateDirectory = await freshDirectory();
    const children = ["a", "b", "c", "d"].map((name) =>
      startChild("files-edit", [place.base, place.root, stateDirectory, name, "16"]),
    );
    await Promise.all(children.map((child) => child.printed("ready")));
    for (const child of children) child.process.stdin?.end();
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(["0", "0", "0", "0"]);
    expect(children.flatMap((child) => JSON.parse(child.lines()[1] ?? ""))).toEqual(Array(EDITS).fill("ok"));
    const expected = ["a", "b", "c", "d"].flatMap((name) =>
      Array.from({ length: 16 }, (_, index) => `${name}-${index}`),
    );
    expect(readFileSync(path("shared.txt"), "utf8").trim().split("\n").sort()).toEqual(expected.sort());
  });

  test("of many that create a file only one does, and appends all survive", async () => {
    const created = await Promise.all(
      names.map((name) => endOf(() => place.files.write("one.txt", bytes(name), { mode: "create_only" }))),
    );
    expect(created.filter((end) => end === "ok")).toHaveLength(1);
    expect(new Set(created)).toEqual(new Set(["ok", "FILE_EXISTS"]));
    await Promise.all(names.map((name) => place.files.write("deep/log.txt", bytes(`${name}\n`), { mode: "append" })));
    expect(readFileSync(path("deep/log.txt"), "utf8").trim().split("\n")).toEqual(names);
  });

  test("a file that somebody else changed while it was edited is not overwritten", async () => {
    writeFileSync(path("file.txt"), "one");
    const edit = place.files.transform("file.txt", 1000, () => {
      writeFileSync(path("file.txt"), "theirs");
      return bytes("mine");
    });
    expect(await endOf(() => edit)).toBe("FILE_CHANGED");
    expect(readFileSync(path("file.txt"), "utf8")).toBe("theirs");
    expect(temporaryFiles()).toEqual([]);
  });
});

describe("locks", () => {
  const held = { owner: "somebody", staleAfterMs: FILE_LOCK_STALE_MS };
  const keyOf = (name: string) => {
    const { dev, ino } = lstatSync(place.root, { bigint: true });
    return `file:${dev}:${ino}/${blake3Hex(name)}`;
  };

  test("what a file is called does not stand in the store of locks", async () => {
    const keys: string[] = [];
    const locks: LockStore = {
      ...place.locks,
      acquire: (request) => {
        keys.push(request.key);
        return place.locks.acquire(request);
      },
    };
    await place.access({ locks }).write("bob:a-password@host", bytes("one"), { mode: "overwrite" });
    expect(keys).toEqual([keyOf("bob:a-password@host")]);
    expect(keys.join()).not.toContain("password");
  });

  test("a lock that does not become free is a busy resource, and nothing is written", async () => {
    writeFileSync(path("file.txt"), "one");
    await place.locks.acquire({ key: keyOf("file.txt"), ...held, nowMs: Date.now() });
    let nowMs = 0;
    const clock = { nowMs: () => Date.now(), monotonicMs: () => (nowMs += 500) };
    const end = await endOf(() => place.access({ clock }).write("file.txt", bytes("two"), { mode: "overwrite" }));
    expect([end, readFileSync(path("file.txt"), "utf8")]).toEqual(["RESOURCE_BUSY", "one"]);
    expect(await endOf(() => place.files.write("another.txt", bytes("two"), { mode: "overwrite" }))).toBe("ok");
  });

  test("a lock older than thirty seconds is taken over, and that is reported", async () => {
    await place.locks.acquire({ key: keyOf("file.txt"), ...held, nowMs: Date.now() - FILE_LOCK_STALE_MS - 1 });
    expect(await endOf(() => place.files.write("file.txt", bytes("two"), { mode: "overwrite" }))).toBe("ok");
    expect(place.broken).toEqual([["file.txt", "somebody"]]);
  });

  test("who held the lock longer than it lasts does not write any more", async () => {
    writeFileSync(path("file.txt"), "one");
    let nowMs = 0;
    const files = place.access({ clock: { nowMs: () => Date.now(), monotonicMs: () => nowMs } });
    const slow = files.transform("file.txt", 1000, () => {
      nowMs += FILE_LOCK_STALE_MS;
      return bytes("late");
    });
    expect([await endOf(() => slow), readFileSync(path("file.txt"), "utf8")]).toEqual(["RESOURCE_BUSY", "one"]);
    expect(temporaryFiles()).toEqual([]);
  });

  test("a store that fails lets nothing be written", async () => {
    const broken = { ...memoryLocks(), acquire: () => Promise.reject(new Error("no store")) };
    await expect(place.access({ locks: broken }).write("file.txt", bytes("x"), { mode: "overwrite" })).rejects.toThrow(
      "no store",
    );
    expect(namesBelow(place.root)).toEqual(["contracts"]);
  });
});

describe("cancellation", () => {
  test("before, while waiting and while writing: nothing is left behind", async () => {
    writeFileSync(path("file.txt"), "one");
    const before = AbortSignal.abort();
    expect(
      await endOf(() => place.access({ signal: before }).write("new/a.txt", bytes("x"), { mode: "overwrite" })),
    ).toBe("CANCELLED");
    expect(await endOf(() => place.access({ signal: before }).read("file.txt", { bytesMax: 10 }))).toBe("CANCELLED");

    const waiting = new AbortController();
    const first = place.files.write("made/b.txt", Buffer.alloc(8 << 20), { mode: "overwrite" });
    const second = place.access({ signal: waiting.signal }).write("made/b.txt", bytes("x"), { mode: "append" });
    waiting.abort();
    expect([await endOf(() => second), await endOf(() => first)]).toEqual(["CANCELLED", "ok"]);

    const writing = new AbortController();
    const large = place
      .access({ signal: writing.signal })
      .write("new/dir/c.txt", Buffer.alloc(64 << 20), { mode: "overwrite" });
    setImmediate(() => writing.abort());
    expect(await endOf(() => large)).toBe("CANCELLED");

    const editing = new AbortController();
    const edit = place.access({ signal: editing.signal }).transform("file.txt", 1000, () => {
      editing.abort();
      return bytes("two");
    });
    expect([await endOf(() => edit), await textOf(place.files, "file.txt")]).toEqual(["CANCELLED", "one"]);
    expect(namesBelow(place.root)).toEqual(["contracts", "file.txt", "made", "made/b.txt"]);
  });
});

describe("the machine says no", () => {
  test("a full disk leaves every file as it was, and another mount is not entered", async () => {
    const child = startChild(
      "files-full-disk",
      [place.base, place.root],
      root() ? ["unshare", "-m"] : ["unshare", "-rm"],
    );
    expect(await child.ended).toBe("0");
    expect(JSON.parse(child.lines()[0] ?? "")).toEqual({
      ends: Array(4).fill("DISK_FULL"),
      kept: "as it was",
      left: [],
      control: "on another file system",
      mounted: ["workspace_device_boundary", "workspace_device_boundary"],
      listed: ["kept.txt", "mounted"],
      small: "ok",
    });
  });

  test("a file is not enlarged where less than the reserve of its disk would be free", async () => {
    const child = startChild(
      "files-reserve",
      [place.base, place.root],
      root() ? ["unshare", "-m"] : ["unshare", "-rm"],
    );
    expect(await child.ended).toBe("0");
    expect(JSON.parse(child.lines()[0] ?? "")).toEqual({
      fits: "ok",
      tooMuch: "DISK_FULL",
      late: { new: "DISK_FULL", appended: "DISK_FULL", sameSize: "ok", shorter: "ok", removed: "ok", after: "ok" },
      names: { new: "DISK_FULL", sameSize: "ok" },
    });
  });

  test("without permission nothing is written", async () => {
    mkdirSync(path("closed"));
    for (const name of ["closed/file.txt", "readonly.txt", "unreadable.txt", "open.txt"])
      writeFileSync(path(name), "as it was");
    const owner = root() ? 65_534 : (geteuid?.() ?? 0);
    for (const name of [".", "closed", "closed/file.txt", "readonly.txt", "unreadable.txt", "open.txt"])
      chownSync(path(name), owner, owner);
    chmodSync(place.base, 0o755);
    chmodSync(path("readonly.txt"), 0o444);
    chmodSync(path("unreadable.txt"), 0o000);
    chmodSync(path("closed"), 0o555);
    const asUser = root() ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] : [];
    const child = startChild("files-closed", [place.base, place.root], asUser);
    expect(await child.ended).toBe("0");
    expect(JSON.parse(child.lines()[0] ?? "")).toEqual({
      uid: owner,
      ends: [...Array(6).fill("PERMISSION_DENIED"), "ok", "ok"],
      kept: ["as it was", "as it was"],
      left: ["closed", "closed/file.txt", "contracts", "open.txt", "readonly.txt", "unreadable.txt"],
    });
    chmodSync(path("closed"), 0o755);
  });

  test("mode and owner are kept, set-id bits are not", async () => {
    const owner = root() ? 65_534 : (geteuid?.() ?? 0);
    writeFileSync(path("script.sh"), "one");
    chownSync(path("script.sh"), owner, owner);
    chmodSync(path("script.sh"), 0o4751);
    const before = statSync(path("script.sh"));
    await place.files.write("script.sh", bytes("two"), { mode: "overwrite" });
    await place.files.transform("script.sh", 1000, addLine("three"));
    await place.files.write("script.sh", bytes("four"), { mode: "append" });
    const after = statSync(path("script.sh"));
    expect({ mode: after.mode & 0o7777, uid: after.uid, gid: after.gid }).toEqual({
      mode: 0o751,
      uid: before.uid,
      gid: before.gid,
    });
    expect(readFileSync(path("script.sh"), "utf8")).toBe("twothree\nfour");

    const umask = process.umask(0o027);
    await place.files.write("new.txt", bytes("x"), { mode: "overwrite" });
    process.umask(umask);
    expect(statSync(path("new.txt")).mode & 0o7777).toBe(0o640);
  });
});
