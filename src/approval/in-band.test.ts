// Which calls the asking client may answer itself, if a person attends it.
import { expect, test } from "vitest";
import type { Access } from "../model/access.ts";
import { mayBeAnsweredInBand } from "./in-band.ts";

const TOOL = { name: "probe", capability: { effect: "write" } } as const;
const FILE: Access = { resource: { kind: "file", path: "a" }, effect: "write" };
const git = (operation: string): Access => ({ resource: { kind: "git_ref", ref: "main", operation }, effect: "write" });

test("what stays in the workspace may be answered in band; a push, arming and the machine itself never", () => {
  expect(mayBeAnsweredInBand(TOOL, [])).toBe(true);
  expect(mayBeAnsweredInBand(TOOL, [FILE, git("commit")])).toBe(true);
  expect(mayBeAnsweredInBand({ ...TOOL, capability: { effect: "network", requiresArming: false } }, [FILE])).toBe(true);
  expect(mayBeAnsweredInBand(TOOL, [FILE, git("push")])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [git("PUSH")])).toBe(false);
  expect(mayBeAnsweredInBand({ ...TOOL, name: "git_push" }, [FILE])).toBe(false);
  expect(mayBeAnsweredInBand({ ...TOOL, capability: { effect: "write", requiresArming: true } }, [FILE])).toBe(false);
  expect(mayBeAnsweredInBand({ ...TOOL, capability: { effect: "system" } }, [FILE])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [FILE, { ...FILE, effect: "system" }])).toBe(false);
});
