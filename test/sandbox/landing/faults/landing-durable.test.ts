// What reaches the disk, and when: all that waits before the first move, all names before it is said that they landed.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FailureWithoutEffect } from "../../../../src/model/outcome/failure.ts";
import type * as Directories from "../../../../src/sandbox/files/places/directory-sync.ts";
import type * as Syncs from "../../../../src/sandbox/native/sync-calls.ts";
import type * as Calls from "../../../../src/sandbox/native/syscalls.ts";
import { newSandboxPlace, own, type SandboxPlace } from "../../../support/sandbox-place.ts";

/** What was asked of the machine, in its order; `failing` is refused. */
const machine = vi.hoisted(() => ({ said: [] as string[], failing: "" }));

vi.mock("../../../../src/sandbox/native/syscalls.ts", async (original) => {
  const calls = await original<typeof Calls>();
  const renameBetween: typeof Calls.renameBetween = (...given) => {
    const done = calls.renameBetween(...given);
    machine.said.push(`move ${basename(given[1])} ${basename(given[3])}`);
    return done;
  };
  return { ...calls, renameBetween };
});

vi.mock("../../../../src/sandbox/native/sync-calls.ts", async (original) => {
  const syncs = await original<typeof Syncs>();
  const { ownPath, errno } = await import("../../../../src/sandbox/native/syscalls.ts");
  const noted = (what: string) => {
    machine.said.push(what);
    return what === machine.failing;
  };
  return {
    async syncFile(descriptor: number) {
      if (noted(`file ${basename(ownPath(descriptor) ?? "")}`))
        throw Object.assign(new Error("full"), { code: "ENOSPC" });
      await syncs.syncFile(descriptor);
    },
    async syncFileSystem(descriptor: number) {
      if (noted("file system")) return -errno.EIO;
      return await syncs.syncFileSystem(descriptor);
    },
  };
});

vi.mock("../../../../src/sandbox/files/places/directory-sync.ts", async (original) => {
  const { syncDirectory } = await original<typeof Directories>();
  const { ownPath } = await import("../../../../src/sandbox/native/syscalls.ts");
  return {
    async syncDirectory(descriptor: number) {
      const path = ownPath(descriptor) ?? "";
      const isView = existsSync(join(path, "upper"));
      const what = isView
        ? `view ${existsSync(join(path, "landing.json")) ? "noted" : "ended"}`
        : `names ${basename(path)}`;
      machine.said.push(what);
      if (what === machine.failing) throw Object.assign(new Error("input/output error"), { code: "EIO" });
      await syncDirectory(descriptor);
    },
  };
});

let place: SandboxPlace;
let views: string;
beforeEach(() => {
  views = mkdtempSync("/dev/shm/handrail-durable-");
  chmodSync(views, 0o711);
  Object.assign(machine, { said: [], failing: "" });
});
afterEach(async () => {
  await place.sandbox.endRuns();
  place.close();
  rmSync(views, { recursive: true, force: true });
});

function begin(from: string): void {
  place = newSandboxPlace(from === "elsewhere" ? { viewsDirectory: views } : {});
  mkdirSync(join(place.root, "d"));
  for (const path of ["over", "d/gone"]) writeFileSync(join(place.root, path), "old");
  for (const path of ["over", "d", "d/gone"]) own(join(place.root, path));
}

const COMMAND = "echo new >over; rm d/gone; mkdir n; echo N >n/f; ln -s f n/link";

test.each(["beside", "elsewhere"])(
  "files and their directories come first, then moves, then names (%s)",
  async (from) => {
    begin(from);
    const { end } = await place.run(COMMAND);
    expect([end.problem, end.landed?.notKept]).toEqual([undefined, []]);
    const moves = machine.said.flatMap((what, index) => (what.startsWith("move ") ? [index] : []));
    const [first = -1, last = -1] = [moves[0], moves.at(-1)];
    const before = machine.said.slice(0, first);
    const after = machine.said.slice(last + 1);
    expect(before.filter((what) => what.startsWith("file "))).toHaveLength(3); // `over`, `n`, `n/f`
    expect(before).toContain("view noted");
    expect(after.slice(0, 2).sort()).toEqual(["names d", "names workspace"]);
    expect(after.at(-1)).toBe("view ended");
  },
);

test("many files and directories are brought there with their whole file system", async () => {
  begin("beside");
  const { end } = await place.run("mkdir many; cd many; for i in $(seq 40); do mkdir $i; echo $i >$i/f; done");
  expect(end.landed).toMatchObject({ created: 81, notKept: [] });
  expect(machine.said.indexOf("file system")).toBeLessThan(machine.said.findIndex((what) => what.startsWith("move ")));
  machine.said.length = 0;
  const again = await place.run("cd many; for i in $(seq 40); do echo new >$i/g; done");
  expect(again.end.landed).toMatchObject({ created: 40, notKept: [] });
  const synced = machine.said.flatMap((what, index) => (what === "file system" ? [index] : []));
  const last = machine.said.findLastIndex((what) => what.startsWith("move "));
  expect([synced.length, (synced[1] ?? 0) > last]).toEqual([2, true]);
});

test("what the disk does not take is not moved, and what it does not answer for is said to have landed", async () => {
  begin("beside");
  machine.failing = "file over";
  const refused = await place.run(COMMAND);
  expect(refused.end.problem).toBeInstanceOf(FailureWithoutEffect);
  expect(refused.end.problem).toMatchObject({ code: "DISK_FULL" });
  expect([existsSync(join(place.root, "n")), existsSync(join(place.root, "d/gone"))]).toEqual([false, true]);
  machine.failing = "names d";
  const unsure = await place.run(COMMAND);
  expect(unsure.end.problem).toMatchObject({ code: "OUTCOME_UNKNOWN", message: expect.stringContaining("has landed") });
  expect(unsure.end.problem).not.toBeInstanceOf(FailureWithoutEffect);
  expect([existsSync(join(place.root, "n/f")), existsSync(join(place.root, "d/gone"))]).toEqual([true, false]);
});
