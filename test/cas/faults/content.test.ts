/**
 * Stored content under faults: altered files, crashes, full disks, slow peers, several processes, collections
 * meanwhile.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { geteuid } from "node:process";
import Sqlite from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { utf8 } from "../../../src/base/bytes.ts";
import { blake3Hex } from "../../../src/base/hash.ts";
import { type RandomBytes, systemRandom } from "../../../src/base/ids.ts";
import { CONTENT_BYTES_MAX } from "../../../src/base/limits.ts";
import { boundedChunks } from "../../../src/cas/bounded-chunks.ts";
import type { MaintainedContentStore } from "../../../src/cas/content-store.ts";
import { CONTENT_STORE_BYTES_MAX, openContentStore } from "../../../src/stores/embedded/content/content-store.ts";
import { openInstanceStore } from "../../../src/stores/embedded/ledger/instance-store.ts";
import { bytesOf, label, NOW_MS, pieces, publish, store } from "../../stores/content-contract.ts";
import { startChild } from "../../support/children/run.ts";
import { freshDirectory } from "../../support/store-place.ts";

const SIGNAL = new AbortController().signal;
const MIB = 1024 * 1024;

interface Place {
  readonly state: string;
  readonly content: MaintainedContentStore;
  readonly corrupt: string[];
  readonly pathOf: (hash: string) => string;
  readonly files: (name: string) => string[];
  readonly sql: (text: string) => void;
}

async function place(state?: string, instanceId = "ins_a", random: RandomBytes = systemRandom): Promise<Place> {
  const directory = state ?? join(await freshDirectory(), "state");
  const corrupt: string[] = [];
  const instances = state === undefined ? undefined : await openInstanceStore(directory, systemRandom);
  const content = openContentStore({
    stateDirectory: directory,
    instanceId,
    isInstanceAlive: instances?.isAlive ?? (async () => true),
    nowMs: () => NOW_MS,
    random,
    onCorrupt: (hash) => void corrupt.push(hash),
  });
  onTestFinished(() => content.close());
  const cas = join(directory, "cas");
  return {
    state: directory,
    content,
    corrupt,
    pathOf: (hash) => join(cas, hash.slice(0, 2), hash.slice(2, 4), hash),
    files: (name) => (existsSync(join(cas, name)) ? readdirSync(join(cas, name)) : []),
    sql: (text) => {
      const database = new Sqlite(join(directory, "content.db"));
      database.exec(text);
      database.close();
    },
  };
}

describe("an object that was altered on disk", () => {
  const three = Buffer.alloc(3 * MIB, "abcdefgh");

  function flip(path: string, at: number): void {
    chmodSync(path, 0o600);
    const file = openSync(path, "r+"); // in place: a reader must not meet a file that is shorter for a moment
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, at);
    writeSync(file, Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at);
    closeSync(file);
  }

  test.each([
    ["in its first block", 5, 0],
    ["in its second block", MIB + 5, MIB],
    ["in its last byte", 3 * MIB - 1, 2 * MIB],
  ])("%s never hands out a wrong byte, never ends well, and is put aside", async (_, at, before) => {
    const { content, corrupt, pathOf, files } = await place();
    const { hash } = await store(content, three);
    flip(pathOf(hash), at);
    const read: Uint8Array[] = [];
    const reading = (async () => {
      for await (const piece of content.read(hash, { offset: 0, length: three.byteLength })) read.push(piece);
    })();
    await expect(reading).rejects.toMatchObject({ code: "CONTENT_CORRUPT", retryable: false });
    expect(Buffer.concat(read).equals(three.subarray(0, before))).toBe(true);
    expect([corrupt, files("quarantine").length, existsSync(pathOf(hash))]).toEqual([[hash], 1, false]);
    await expect(bytesOf(content, hash, 0, 1)).rejects.toMatchObject({ code: "CONTENT_CORRUPT" });
    expect(corrupt).toHaveLength(1);
    await store(content, three);
    expect((await bytesOf(content, hash)).equals(three)).toBe(true);
  });

  test.each<[string, boolean]>([
    ["that was stored again just then is read, and not put aside", true],
    ["that stays lost is said to be so (control)", false],
  ])("one that was missing %s", async (_, again) => {
    let justThen: () => void = () => undefined;
    const { content, corrupt, pathOf, files } = await place(undefined, "ins_a", (count) => {
      justThen(); // the name under which it would be put aside is made last
      return systemRandom(count);
    });
    const { hash } = await store(content, "whole");
    rmSync(pathOf(hash));
    if (again) justThen = () => writeFileSync(pathOf(hash), "whole");
    if (again) expect((await bytesOf(content, hash)).toString()).toBe("whole");
    else await expect(bytesOf(content, hash)).rejects.toMatchObject({ code: "CONTENT_CORRUPT" });
    expect([corrupt, files("quarantine")]).toEqual([again ? [] : [hash], []]);
  });

  test.each<[string, (path: string) => void]>([
    ["shorter", (path) => writeFileSync(path, three.subarray(1))],
    ["longer", (path) => writeFileSync(path, Buffer.concat([three, utf8("x")]))],
    ["gone", (path) => rmSync(path)],
    [
      "a link to the same bytes elsewhere",
      (path) => {
        renameSync(path, `${path}.elsewhere`);
        symlinkSync(`${path}.elsewhere`, path);
      },
    ],
    [
      "a directory",
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])("and is %s is refused as damaged", async (_, alter) => {
    const { content, pathOf } = await place();
    const { hash } = await store(content, three);
    chmodSync(pathOf(hash), 0o600);
    alter(pathOf(hash));
    await expect(bytesOf(content, hash, 10, 10)).rejects.toMatchObject({ code: "CONTENT_CORRUPT" });
  });

  test("a part that was not altered reads well, and the inspection finds the rest", async () => {
    const { content, pathOf } = await place();
    const { hash } = await store(content, three);
    flip(pathOf(hash), 2 * MIB);
    expect((await bytesOf(content, hash, 0, 2 * MIB)).equals(three.subarray(0, 2 * MIB))).toBe(true);
    expect(await (await content.maintenance()).inspect(hash)).toBe("its bytes do not fit the hashes of its blocks");
  });

  test("rows that were altered with the file do not deceive the inspection", async () => {
    const { content, pathOf, sql } = await place();
    const { hash } = await store(content, "truth");
    const false_ = await store(content, "false");
    chmodSync(pathOf(hash), 0o600);
    writeFileSync(pathOf(hash), "false");
    sql(
      `UPDATE objects SET blocks = (SELECT blocks FROM objects WHERE hash = '${false_.hash}') WHERE hash = '${hash}'`,
    );
    expect(await (await content.maintenance()).inspect(hash)).toBe("its bytes do not fit its hash");
  });

  test("a reader that is slow sees what was there when each block was read, or an error", async () => {
    const { content, pathOf } = await place();
    const { hash } = await store(content, three);
    const slow = content.read(hash, { offset: 0, length: three.byteLength })[Symbol.asyncIterator]();
    expect((await slow.next()).value?.byteLength).toBe(MIB);
    flip(pathOf(hash), 2 * MIB + 1);
    expect((await slow.next()).value?.byteLength).toBe(MIB);
    await expect(slow.next()).rejects.toMatchObject({ code: "CONTENT_CORRUPT" });
  });

  test("a reader that is slow reads on while the object is collected", async () => {
    const { content } = await place();
    const { hash } = await store(content, three);
    const slow = content.read(hash, { offset: 0, length: three.byteLength })[Symbol.asyncIterator]();
    await slow.next();
    expect((await (await content.maintenance()).collect(0, NOW_MS, false)).objects).toBe(1);
    expect([
      (await slow.next()).value?.byteLength,
      (await slow.next()).value?.byteLength,
      (await slow.next()).done,
    ]).toEqual([MIB, MIB, true]);
  });
});

describe("limits", () => {
  test("more bytes than an object may have are refused by what is announced, before any is read", async () => {
    const { content, files } = await place();
    let read = false;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      read = true;
      yield utf8("x");
    }
    await expect(content.stage(chunks(), { sizeBytes: CONTENT_BYTES_MAX + 1 }, SIGNAL)).rejects.toMatchObject({
      code: "CONTENT_TOO_LARGE",
    });
    expect([read, files("temporary")]).toEqual([false, []]);
  });

  test("more bytes than were announced end the upload while it runs", async () => {
    const { content, files } = await place();
    let sent = 0;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (; sent < 50; sent += 1) yield Buffer.alloc(MIB);
    }
    await expect(content.stage(chunks(), { sizeBytes: MIB }, SIGNAL)).rejects.toMatchObject({
      code: "CONTENT_MISMATCH",
    });
    expect(sent).toBeLessThan(5);
    expect(files("temporary")).toEqual([]);
  });

  test("a full store takes nothing more, says so, and takes it once there is room", async () => {
    const { content, sql, files } = await place();
    await store(content, "first");
    sql(`UPDATE totals SET bytes = ${CONTENT_STORE_BYTES_MAX - 3}`);
    await expect(store(content, "second")).rejects.toMatchObject({
      code: "DISK_FULL",
      suggestion: expect.stringContaining("cas gc"),
    });
    expect((await store(content, "first")).sizeBytes).toBe(5); // it is there already
    sql(`UPDATE totals SET bytes = ${CONTENT_STORE_BYTES_MAX}`);
    await expect(content.stage(pieces("x"), {}, SIGNAL)).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(files("temporary")).toEqual([]);
    await (await content.maintenance()).collect(0, NOW_MS, false);
    sql("UPDATE totals SET bytes = 0");
    expect((await store(content, "second")).sizeBytes).toBe(6);
  });

  test("a sender that pauses too long is given up, and one that goes on is not", async () => {
    const stalled = (async () => {
      async function* silent(): AsyncGenerator<Uint8Array> {
        yield utf8("a");
        await new Promise(() => undefined);
      }
      for await (const _ of boundedChunks(silent(), SIGNAL, { stallMs: 5, bytesPerSecond: 1000 }));
    })();
    await expect(stalled).rejects.toMatchObject({ code: "TIMEOUT", retryable: true });
    const seen: string[] = [];
    for await (const piece of boundedChunks(pieces("a", "b"), SIGNAL)) seen.push(Buffer.from(piece).toString());
    expect(seen).toEqual(["a", "b"]);
  });
});

describe("crashes", () => {
  test("the half-written upload of a killed kernel is removed by the next one; that of a living one stays", async () => {
    const { state, files } = await place();
    mkdirSync(state, { mode: 0o700 });
    const killed = startChild("content-upload", [state]);
    const living = startChild("content-upload", [state]);
    await Promise.all([killed.printed("uploading"), living.printed("uploading")]);
    const livingId = (await living.printed("uploading")).split(" ")[1] ?? "";
    expect(files("temporary")).toHaveLength(2);
    killed.process.kill("SIGKILL");
    await killed.ended;
    const next = await place(state, "ins_next");
    await store(next.content, "x");
    expect(files("temporary")).toEqual([expect.stringMatching(`^${livingId}\\.`)]);
    expect(await (await next.content.maintenance()).collect(0, NOW_MS, true)).toMatchObject({ temporaryFiles: 0 });
  });

  test("a file that was put in place without its row is collected after the grace, and adopted when it is stored again", async () => {
    const { content, pathOf, sql } = await place();
    const { hash } = await store(content, "stray");
    const other = await store(content, "other stray");
    sql("DELETE FROM objects; DELETE FROM holdings");
    for (const one of [hash, other.hash]) utimesSync(pathOf(one), NOW_MS / 1000 - 10, NOW_MS / 1000 - 10);
    const maintenance = await content.maintenance();
    expect([
      await maintenance.countStrayFiles(),
      (await maintenance.collect(60_000, NOW_MS, false)).strayFiles,
    ]).toEqual([2, 0]);
    await store(content, "stray");
    expect((await maintenance.collect(1000, NOW_MS, false)).strayFiles).toBe(1);
    expect([existsSync(pathOf(hash)), existsSync(pathOf(other.hash))]).toEqual([true, false]);
    expect((await bytesOf(content, hash)).toString()).toBe("stray");
  });

  test.each([
    ["before its file was removed", false],
    ["after its file was removed", true],
  ])("a collection that broke off %s is finished by the next one, or undone by storing again", async (_, removed) => {
    const { content, pathOf, sql } = await place();
    const again = await store(content, "stored again");
    const gone = await store(content, "gone");
    sql("UPDATE objects SET state = 'collecting'");
    if (removed) for (const { hash } of [again, gone]) rmSync(pathOf(hash));
    await expect(bytesOf(content, again.hash)).rejects.toMatchObject({ code: "CONTENT_NOT_FOUND" });
    expect(await content.find(again.hash, { userId: "ann", workspace: "/srv/a" })).toBeUndefined();
    expect(await publish(content, "p", again.hash)).toEqual({ kind: "missing" });
    await store(content, "stored again");
    // The interrupted one was due, whatever its age is now.
    expect(await (await content.maintenance()).collect(1000, NOW_MS, false)).toMatchObject({ objects: 1 });
    expect((await bytesOf(content, again.hash)).toString()).toBe("stored again");
    await expect(bytesOf(content, gone.hash)).rejects.toMatchObject({ code: "CONTENT_NOT_FOUND" });
  });
});

describe("collections race with storing", () => {
  test("what is stored and referred to in one step is there afterwards, however often it is collected meanwhile", async () => {
    const { state, content } = await place();
    const other = await place(state, "ins_b");
    const maintenance = await other.content.maintenance();
    let going = true;
    const collecting = (async () => {
      let removed = 0;
      while (going) removed += (await maintenance.collect(0, NOW_MS, false)).objects;
      return removed;
    })();
    for (let round = 0; round < 20; round += 1) {
      await store(content, "contended"); // free to go at once
      const staged = await content.stage(pieces("contended"), {}, SIGNAL);
      const reference = { sessionId: "s", requestId: `r${round}` };
      const { hash } = await staged.commit({
        owner: { userId: "ann", workspace: "/srv/a" },
        label: label(),
        nowMs: NOW_MS,
        reference,
      });
      expect((await bytesOf(content, hash)).toString()).toBe("contended");
      await maintenance.rebuildReferences(noEntries(), 0, NOW_MS);
    }
    going = false;
    expect(await collecting).toBeGreaterThan(0);
  });

  test("several processes store, publish and read the same content while it is collected: nothing published is lost or wrong", async () => {
    const { state } = await place();
    mkdirSync(state, { mode: 0o700 });
    const children = ["left", "right"].map((name) => startChild("content-churn", [state, name, "28"]));
    const collector = await place(state, "ins_gc");
    const maintenance = await collector.content.maintenance();
    let running = children.length;
    for (const child of children)
      void child.ended.then(() => {
        running -= 1;
      });
    let removed = 0;
    while (running > 0) {
      removed += (await maintenance.collect(0, Date.now() + 1000, false)).objects;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    for (const child of children) {
      expect(await child.ended).toBe("0");
      expect(child.lines()).toEqual([expect.stringMatching(/^done [1-9]\d* \d+$/)]);
    }
    expect(removed).toBeGreaterThan(0);
    for (const { hash } of await maintenance.list("", 256)) expect(await maintenance.inspect(hash)).toBeUndefined();
    expect(await maintenance.dangling(10)).toEqual([]);
  });
});

test("a full disk refuses content, leaves nothing of it, loses none that was acknowledged, and takes more once there is room", async () => {
  const privately = geteuid?.() === 0 ? ["unshare", "-m"] : ["unshare", "-rm"];
  const child = startChild("content-full-disk", [await freshDirectory()], privately);
  expect(await child.ended).toBe("0");
  const facts = JSON.parse(child.lines()[0] ?? "");
  expect(facts).toEqual({ stored: facts.readable, refusals: ["DISK_FULL"], left: [], readable: expect.any(Number) });
  expect(facts.stored).toBeGreaterThan(3);
});

async function* noEntries(): AsyncGenerator<never> {
  // A ledger that lost its payloads: every reference may go.
}

test("the hash of the test's own library agrees with the store's", async () => {
  const { content } = await place();
  expect((await store(content, "abc")).hash).toBe(blake3Hex("abc"));
  expect(blake3Hex("abc")).toBe("6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
});
