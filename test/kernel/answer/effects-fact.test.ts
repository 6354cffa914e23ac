// The record of what a command changed: the first effects by name, all of them counted and hashed, one by one.
import { expect, test } from "vitest";
import { effectsFact } from "../../../src/kernel/answer/exec-record.ts";
import type { LandedEffect } from "../../../src/model/work/exec.ts";
import { atOnce } from "../../../src/sandbox/plan/workspace-mounts.ts";

const KEY = new Uint8Array(32).fill(1);
const OTHER_KEY = new Uint8Array(32).fill(2);
const EFFECTS = 100;
const NAMED = 32;

function effects(last = "a"): readonly LandedEffect[] {
  return Array.from({ length: EFFECTS }, (_, at) => ({
    path: `f${at}`,
    kind: "create" as const,
    digest: at === EFFECTS - 1 ? last : "0",
  }));
}

test("each step records one effect, so that others have their turn", () => {
  expect([...effectsFact(effects(), KEY)]).toHaveLength(EFFECTS);
});

test("names the first ones, counts all, and hashes all under the key", () => {
  const fact = atOnce(effectsFact(effects(), KEY));
  expect(fact).toMatchObject({ effectsCount: EFFECTS, effects: expect.arrayContaining([]) });
  expect(fact["effects"]).toHaveLength(NAMED);
  expect(JSON.stringify(fact)).not.toContain('"digest":"0"');
  const hashes = [effects("b"), effects()].map((one) => atOnce(effectsFact(one, KEY))["effectsHash"]);
  expect(new Set([...hashes, atOnce(effectsFact(effects(), OTHER_KEY))["effectsHash"]]).size).toBe(3);
  expect(hashes[1]).toBe(fact["effectsHash"]);
});

test("nothing is said where nothing landed", () => {
  expect(atOnce(effectsFact([], KEY))).toEqual({});
});
