// A command that moves a large file holds its directory in the view until the overlay has copied it. What is passed on
// to a new name there waits for that; the kernel's thread goes on.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MIB } from "../../../src/base/bytes.ts";
import { awaiting, runMeanwhile, save, told } from "../../support/meanwhile.ts";
import { newSandboxPlace, own, type SandboxPlace } from "../../support/sandbox-place.ts";

/** Less than a command may write to one file, three times. */
const MOVED_BYTES = 60 * MIB;
const MOVED = ["a", "b", "c"];

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(async () => {
  await place.sandbox.endRuns();
  place.close();
});

test("a command that holds a directory keeps what is passed on waiting, and nothing else", async () => {
  const { root } = place;
  save(root, "p/first", "1");
  for (const name of MOVED) {
    writeFileSync(join(root, `p/${name}`), Buffer.alloc(MOVED_BYTES, 1));
    own(join(root, `p/${name}`));
  }
  const moves = MOVED.map((name) => `mv p/${name} p/${name}2`).join(" && ");
  let isRunning = true;
  const longest = { ms: 0, turns: 0 };
  let telling = Promise.resolve();
  const tellAll = async () => {
    for (let number = 0; isRunning; number += 1) {
      const paths = save(root, `p/n${number}`, "new");
      let isPending = true;
      let turns = 0;
      const beganMs = performance.now();
      const pending = told(root, paths).finally(() => {
        isPending = false;
      });
      for (; isPending; turns += 1) await nextTurn();
      await pending;
      const ms = performance.now() - beganMs;
      if (ms > longest.ms) Object.assign(longest, { ms, turns });
    }
  };
  const { end } = await runMeanwhile(place, `ls p; ${awaiting("go")}; ${moves}`, {
    go: () => {
      telling = tellAll();
    },
  }).finally(() => {
    isRunning = false;
  });
  await telling;
  expect(end.exitCode).toBe(0);
  expect(longest.turns).toBeGreaterThan(10);
});
