// What lands is read and recorded in small steps, however much of it lies in one directory, so that other calls go on.
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { LandedEffect } from "../../../src/model/work/exec.ts";
import { type Change, changesIn } from "../../../src/sandbox/landing/changes.ts";
import { type LandingEffect, landingEffects, recordedEffects } from "../../../src/sandbox/landing/effects.ts";
import type { Step } from "../../../src/sandbox/landing/steps.ts";
import { atOnce } from "../../../src/sandbox/plan/workspace-mounts.ts";
import { EVERYTHING } from "../../support/sandbox-place.ts";

const FILES = 100;
const LARGE_BYTES = 2 ** 20 + 1; // of which no digest is recorded

/** A new directory as one step of a landing: empty files, one that is too large to be hashed, and directories. */
function newTree(): { readonly root: number; readonly upper: number; readonly step: Step } {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-effects-"));
  mkdirSync(join(base, "m"));
  for (let at = 0; at < FILES; at += 1) {
    writeFileSync(join(base, "m", `f${at}`), "");
    mkdirSync(join(base, "m", `d${at}`));
  }
  writeFileSync(join(base, "m", "large"), Buffer.alloc(LARGE_BYTES));
  const upper = openSync(base, "r");
  onTestFinished(() => {
    closeSync(upper);
    rmSync(base, { recursive: true });
  });
  const kept: Change[] = [...atOnce(changesIn({ upper: base, pathBytesMax: 4000 }, "m"))];
  return { root: upper, upper, step: { kind: "put_tree", path: "m", parent: 0, tree: { kept, isClean: true } } };
}

/** The most that one step of `steps` adds to `seen`, and what comes of all. */
function longestStep<Result>(steps: Generator<void, Result>, seen: () => number): { most: number; result: Result } {
  let most = 0;
  for (let before = seen(); ; before = seen()) {
    const step = steps.next();
    most = Math.max(most, seen() - before);
    if (step.done === true) return { most, result: step.value };
  }
}

test("a directory of empty files, directories and large files is read one by one", () => {
  const { root, upper, step } = newTree();
  let looked = 0;
  const kept = step.tree?.kept ?? [];
  const counting = {
    *[Symbol.iterator]() {
      for (const one of kept) {
        looked += 1;
        yield one;
      }
    },
  };
  const counted: Step = { ...step, tree: { kept: counting as Change[], isClean: true } };
  const reading = landingEffects({ root, upper, judge: EVERYTHING }, [counted]);
  const { most, result } = longestStep(reading, () => looked);
  expect(most).toBe(1);
  expect(result).toHaveLength(1 + 2 * FILES + 1);
  expect(result.find(({ path }) => path === "m/f0")).toMatchObject({ kind: "create", isEmpty: true });
  expect(result.find(({ path }) => path === "m/large")).not.toHaveProperty("digest");
});

test("what has landed is recorded one by one, without what has not", () => {
  const effects: LandingEffect[] = [];
  for (let at = 0; at < FILES; at += 1) effects.push({ path: `f${at}`, kind: "create", isDirectory: false });
  const steps = [...recordedEffects(effects, (path) => path === "f3")];
  expect(steps).toHaveLength(FILES - 1);
  const recorded: readonly LandedEffect[] = atOnce(recordedEffects(effects, (path) => path === "f3"));
  expect(recorded.map(({ path }) => path)).toEqual(effects.map(({ path }) => path).filter((path) => path !== "f3"));
});
