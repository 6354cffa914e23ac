// The history of files: what is noted is found again by path, by call and by time, leaves when it is too old or too
// much, and its content is never handed out altered.
import { appendFileSync, chmodSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { blake3Hex } from "../../src/base/hash.ts";
import { systemRandom } from "../../src/base/ids.ts";
import type { ChangingCall, HistoryStore } from "../../src/cas/history-store.ts";
import type { FileChange, FileState } from "../../src/model/work/file-history.ts";
import { openHistoryStore } from "../../src/stores/embedded/content/history-store.ts";
import { freshDirectory } from "../support/store-place.ts";

const DAY_MS = 24 * 3_600_000;
const BOUNDS = { keepMs: DAY_MS, bytesMax: 2 ** 30 };

async function opened(): Promise<{ readonly store: HistoryStore; readonly state: string }> {
  const state = await freshDirectory();
  const store = openHistoryStore({ stateDirectory: state, instanceId: "ins_test", random: systemRandom });
  onTestFinished(() => store.close());
  return { store, state };
}

const call = (callId: string, atMs: number, root = "/w"): ChangingCall => ({
  callId,
  sessionId: "ses",
  actor: "ada/agent",
  role: "dev",
  tool: "write_file",
  root,
  atMs,
});

/** Keeps a text, in pieces of which each is written by itself. */
function kept(store: HistoryStore, text: string, pieces = 1): FileState {
  const writer = store.writer();
  const bytes = Buffer.from(text);
  const step = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length; at += step) writer.write(bytes.subarray(at, at + step));
  const content = writer.end();
  expect(content).toBe(blake3Hex(text));
  return { kind: "file", mode: 0o644, content, bytes: bytes.length };
}

const textOf = (store: HistoryStore, state: FileState | undefined) =>
  Buffer.concat([...store.read(state?.content ?? "")].map((piece) => Buffer.from(piece))).toString();

const fileOf = (state: string, content = "") => join(state, "cas", "before", content.slice(0, 2), content);

describe("looking", () => {
  test("finds the changes of a path and of all below it, newest first, also from a workspace around it", async () => {
    const { store } = await opened();
    const before = kept(store, "one");
    const change = (path: string): FileChange => ({ path, before });
    await (await store.note(call("1", 1), [change("src/a"), change("src-b"), change("src/d/e")])).made();
    await (await store.note(call("2", 2, "/w/src"), [change("a")])).made();
    const pathsOf = async (root: string, path: string) =>
      (await store.ofPath(root, path, 10)).map(
        ({ entry, change: { path } }) => `${entry.callId} ${entry.root} ${path}`,
      );
    expect(await pathsOf("/w", "src")).toEqual(["2 /w/src a", "1 /w src/d/e", "1 /w src/a"]);
    expect(await pathsOf("/w", ".")).toHaveLength(4);
    expect(await pathsOf("/w", "src/a")).toEqual(["2 /w/src a", "1 /w src/a"]);
    expect(await pathsOf("/", "w/src-b")).toEqual(["1 /w src-b"]);
    expect(await pathsOf("/w", "src/")).toEqual([]);
  });

  test("finds what a path held at a time: before the first change from then on", async () => {
    const { store } = await opened();
    for (const [index, text] of ["one", "two", "three"].entries())
      await (await store.note(call(text, 1000 * index), [{ path: "a", before: kept(store, text) }])).made();
    const heldAt = async (sinceMs: number) => {
      const found = await store.earliestSince("/w", "a", sinceMs);
      return found && textOf(store, found.change.before);
    };
    expect([await heldAt(0), await heldAt(1), await heldAt(1000), await heldAt(1500), await heldAt(2001)]).toEqual([
      "one",
      "two",
      "two",
      "three",
      undefined,
    ]);
  });

  test("forgets what was not made, of all or of a part, and says of what nobody spoke of that it is not known", async () => {
    const { store } = await opened();
    const both: readonly FileChange[] = [{ path: "a" }, { path: "b" }];
    await (await store.note(call("none", 1), both)).forget();
    await (await store.note(call("part", 1), both)).made((path) => path === "b");
    await store.note(call("killed", 1), both);
    const found = async (id: string) =>
      (await store.ofCall(id)).flatMap(({ changes }) => changes.map(({ path, isMade }) => [path, isMade]));
    expect([await found("none"), await found("part"), await found("killed")]).toEqual([
      [],
      [["b", true]],
      [
        ["a", false],
        ["b", false],
      ],
    ]);
  });

  test("takes thousands of changes of one call in their order", async () => {
    const { store } = await opened();
    const many = Array.from({ length: 3000 }, (_, index): FileChange => ({ path: `f${index}` }));
    await (await store.note(call("many", 1), many)).made((path) => path !== "f1500");
    const [found] = await store.ofCall("many");
    expect(found?.changes.map(({ path }) => path)).toEqual(
      many.map(({ path }) => path).filter((path) => path !== "f1500"),
    );
  });
});

describe("content", () => {
  test.each([
    ["nothing", "", 1],
    ["little", "little", 2],
    ["more than waits in memory", "x".repeat(700_000), 5],
  ])("of %s comes back as it was, is the owner's alone, and is stored once", async (_name, text, pieces) => {
    const { store, state } = await opened();
    const one = kept(store, text, pieces);
    const { ino, mode } = statSync(fileOf(state, one.content));
    expect([textOf(store, one), mode & 0o777]).toEqual([text, 0o400]);
    kept(store, text, 1);
    if (text.length < 100) expect(statSync(fileOf(state, one.content)).ino).toBe(ino);
    expect(readdirSync(join(state, "cas", "temporary"))).toEqual([]);
  });

  test("that was given up leaves nothing", async () => {
    const { store, state } = await opened();
    const writer = store.writer();
    writer.write(Buffer.alloc(600_000));
    writer.discard();
    expect(readdirSync(join(state, "cas", "temporary"))).toEqual([]);
  });

  test("that was altered, or is gone, is found when it is read; what is noted without it is not stored", async () => {
    const { store, state } = await opened();
    const one = kept(store, "one");
    chmodSync(fileOf(state, one.content), 0o600);
    appendFileSync(fileOf(state, one.content), "x");
    expect(() => textOf(store, one)).toThrowError(expect.objectContaining({ code: "CONTENT_CORRUPT" }));
    const gone: FileState = { kind: "file", mode: 0o644, content: blake3Hex("gone"), bytes: 4 };
    expect(() => textOf(store, gone)).toThrowError(expect.objectContaining({ code: "CONTENT_NOT_FOUND" }));
    await store.note(call("1", 1), [{ path: "a", before: gone }]);
    expect((await store.ofCall("1"))[0]?.changes[0]?.unkept).toBe("not_stored");
  });
});

describe("sweeping", () => {
  const isThere = (state: string, one: FileState) => {
    try {
      return statSync(fileOf(state, one.content)).isFile();
    } catch {
      return false;
    }
  };
  const age = (state: string, ...states: readonly FileState[]) => {
    for (const { content } of states) utimesSync(fileOf(state, content), 1, 1);
  };

  test("removes what is too old, with content that nothing else names, and files that nobody noted", async () => {
    const { store, state } = await opened();
    const [old, shared, young, stray] = ["old", "shared", "young", "stray"].map((text) => kept(store, text)) as [
      FileState,
      FileState,
      FileState,
      FileState,
    ];
    const now = Date.now();
    const entry = (id: string, atMs: number, before: FileState) =>
      store.note(call(id, atMs), [
        { path: "a", before },
        { path: "b", before: shared },
      ]);
    await (await entry("old", now - DAY_MS, old)).made();
    await (await entry("new", now, young)).made();
    age(state, old, shared, stray);
    expect(await store.sweep(BOUNDS, now)).toEqual({ entries: 1, contents: 1, bytes: 3 });
    expect([old, shared, young, stray].map((one) => isThere(state, one))).toEqual([false, true, true, false]);
    expect(await store.ofCall("old")).toEqual([]);
  });

  test("lets the oldest content go where there is too much, and says so", async () => {
    const { store, state } = await opened();
    const states: FileState[] = [];
    for (let index = 0; index < 40; index += 1) {
      const before = kept(store, `${index} ${"x".repeat(1000)}`);
      states.push(before);
      await (await store.note(call(`${index}`, Date.now()), [{ path: "a", before }])).made();
    }
    age(state, ...states);
    await store.sweep({ ...BOUNDS, bytesMax: 20_000 }, Date.now());
    const found = await store.ofPath("/w", "a", 100);
    const unkept = found.map(({ change }) => change.unkept);
    expect([unkept.length, unkept.at(-1), unkept[0]]).toEqual([40, "made_room", undefined]);
    const left = states.filter((one) => isThere(state, one));
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThanOrEqual(20);
    expect(left).toEqual(states.slice(-left.length));
  });

  test("leaves content that somebody is about to note", async () => {
    const { store, state } = await opened();
    const one = kept(store, "one");
    await (await store.note(call("1", 1), [{ path: "a" }])).made();
    await store.sweep(BOUNDS, Date.now());
    expect(isThere(state, one)).toBe(true);
    writeFileSync(join(state, "unrelated"), "");
  });
});
