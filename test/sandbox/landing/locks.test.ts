// Lock files of other programs: nothing lands while somebody holds one, and none of the landing's own is left.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { releaseLocks, takeLocks } from "../../../src/sandbox/landing/lock-files.ts";
import { unnotedNames } from "../../support/files-fixture.ts";
import { EVERYTHING, LIMITS, newSandboxPlace, own, type SandboxPlace } from "../../support/sandbox-place.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

/** Runs a command of which `locked` is changed under `locked.lock`; as soon as it is done somebody does `meanwhile`. */
async function locked(meanwhile: (at: (path: string) => string) => void, unchanged: readonly string[] = []) {
  const at = (path: string) => join(place.root, path);
  let isDone = false;
  const end = await place.sandbox.run(
    {
      root: place.root,
      judge: EVERYTHING,
      landing: {
        newFiles: unnotedNames,
        isWhole: true,
        lockOf: (path) => (path === "locked" ? `${path}.lock` : undefined),
        unchanged: unchanged.map((path) => ({ path, text: "as it was" })),
      },
      command: ["bash", "-c", "echo new > locked; echo other > other; echo done; sleep 0.3"],
      workDir: "/workspace",
      environment: {},
      limits: LIMITS,
    },
    {
      stdout() {
        if (!isDone) meanwhile(at);
        isDone = true;
      },
      stderr: () => undefined,
    },
    new AbortController().signal,
  );
  expect(isDone).toBe(true);
  return { landed: end.landed, names: readdirSync(place.root).sort() };
}

function put(path: string, text: string): void {
  writeFileSync(join(place.root, path), text);
  own(join(place.root, path));
}

test("nothing lands while somebody holds the lock, which stays; else it lands, and no lock is left", async () => {
  put("locked", "old");
  const held = await locked((at) => writeFileSync(at("locked.lock"), "theirs"));
  expect(held.landed).toMatchObject({ created: 0, notKept: [{ path: "locked.lock", reason: "changed_meanwhile" }] });
  expect([held.names, readFileSync(join(place.root, "locked.lock"), "utf8")]).toEqual([
    ["locked", "locked.lock"],
    "theirs",
  ]);
  expect(readFileSync(join(place.root, "locked"), "utf8")).toBe("old");
});

test("without one all of it lands, and none is left", async () => {
  put("locked", "old");
  const { landed, names } = await locked(() => undefined);
  expect([landed?.notKept, names]).toEqual([[], ["locked", "other"]]);
});

test.each<[string, (at: (path: string) => string) => void, boolean]>([
  ["stays as it was", () => undefined, true],
  ["is written", (at) => writeFileSync(at("head"), "other"), false],
  ["is written with the same text", (at) => writeFileSync(at("head"), "as it was\n"), false],
])("a file that has to be as it was, and %s", async (_, meanwhile, lands) => {
  put("head", "as it was\n");
  const { landed, names } = await locked(meanwhile, ["head"]);
  expect(names).toEqual(lands ? ["head", "locked", "other"] : ["head"]);
  expect(landed?.notKept).toEqual(lands ? [] : [{ path: "head", reason: "changed_meanwhile" }]);
});

test("of several locks none is kept where one is taken, and only those with the mark are given back", () => {
  const root = openSync(place.root, "r");
  const stands = (path: string) => existsSync(join(place.root, path));
  try {
    put("b", "theirs");
    expect(takeLocks(root, ["a", "b", "c"], "mine")).toBe(false);
    expect(["a", "b", "c"].map(stands)).toEqual([false, true, false]);
    expect(takeLocks(root, ["a", "c"], "mine")).toBe(true);
    releaseLocks(root, ["a", "b", "c", "none"], "mine");
    expect(["a", "b", "c"].map(stands)).toEqual([false, true, false]);
  } finally {
    closeSync(root);
  }
});
