// A machine that has no room in the middle of a landing: what was moved is taken back; where that cannot be done,
// either, it is said and both sides are kept.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FailureWithoutEffect } from "../../../../src/model/outcome/failure.ts";
import type * as Calls from "../../../../src/sandbox/native/syscalls.ts";
import { newSandboxPlace, own, type SandboxPlace } from "../../../support/sandbox-place.ts";

/** Renamings that are still done before one fails, and whether all that come after it fail, too. */
const fault = vi.hoisted(() => ({ after: Number.POSITIVE_INFINITY, isLasting: false, met: 0 }));

vi.mock("../../../../src/sandbox/native/syscalls.ts", async (original) => {
  const calls = await original<typeof Calls>();
  const renameBetween: typeof Calls.renameBetween = (...given) => {
    fault.after -= 1;
    if (fault.after > 0 || (fault.after < 0 && !fault.isLasting)) return calls.renameBetween(...given);
    fault.met += 1;
    return -calls.errno.ENOSPC;
  };
  return { ...calls, renameBetween };
});

let place: SandboxPlace;
let views: string;
beforeEach(() => {
  views = mkdtempSync("/dev/shm/handrail-no-room-");
  chmodSync(views, 0o711);
});
afterEach(async () => {
  fault.after = Number.POSITIVE_INFINITY;
  await place.sandbox.endRuns();
  place.close();
  rmSync(views, { recursive: true, force: true });
});

const FILES = { over: "O", gone: "G", "d/x": "X" };
const COMMAND = "echo new >over; rm gone; rm -r d; mkdir n; echo N >n/f";

function begin(from: string, after: number, isLasting: boolean): void {
  place = newSandboxPlace(from === "elsewhere" ? { viewsDirectory: views } : {});
  mkdirSync(join(place.root, "d"));
  own(join(place.root, "d"));
  for (const [path, text] of Object.entries(FILES)) {
    writeFileSync(join(place.root, path), text);
    own(join(place.root, path));
  }
  Object.assign(fault, { after, isLasting, met: 0 });
}

function contents(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").trim())
    .sort();
}

test.each(["beside", "elsewhere"])(
  "at any move of a landing from %s all is taken back, and said to be",
  async (from) => {
    let faults = 0;
    for (let after = 1; ; after += 1) {
      begin(from, after, false);
      const { end } = await place.run(COMMAND);
      if (fault.met === 0) {
        expect([end.problem, end.landed?.notKept, contents(place.root)]).toEqual([undefined, [], ["N", "new"]]);
        break;
      }
      faults += 1;
      expect(end.problem).toBeInstanceOf(FailureWithoutEffect);
      expect(end.problem).toMatchObject({ code: "DISK_FULL", message: expect.stringContaining("nothing of what") });
      expect([end.exitCode, end.landed, contents(place.root)]).toEqual([0, undefined, ["G", "O", "X"]]);
      place.close();
    }
    expect(faults).toBeGreaterThanOrEqual(5);
  },
);

test.each(["beside", "elsewhere"])(
  "from %s, where nothing can be taken back either, both sides are kept and it is said where",
  async (from) => {
    begin(from, 3, true);
    const { end } = await place.run(COMMAND);
    expect(end.problem).toMatchObject({ code: "OUTCOME_UNKNOWN", cause: expect.any(Error) });
    const [, kept = ""] = /kept in `(.*)`/.exec(String(end.problem?.cause)) ?? [];
    const all = [...contents(place.root), ...contents(kept)];
    expect(all).toEqual(expect.arrayContaining(["G", "O", "X", "N", "new"]));
  },
);
