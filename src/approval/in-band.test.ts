// Which calls the asking client may answer itself, if a person attends it.
import { expect, test } from "vitest";
import type { Access } from "../model/access.ts";
import { commandOf } from "../model/command.ts";
import { mayBeAnsweredInBand } from "./in-band.ts";

const TOOL = { name: "probe", capability: { effect: "write" } } as const;
const FILE: Access = { resource: { kind: "file", path: "a" }, effect: "write" };
const git = (operation: string): Access => ({ resource: { kind: "git_ref", ref: "main", operation }, effect: "write" });

const command = (...argv: [string, ...string[]]): Access => ({ resource: commandOf(argv), effect: "exec" });
const HOST: Access = { resource: { kind: "host", host: "example.org", port: 443 }, effect: "network" };

test("what stays in the workspace may be answered in band; a push, arming and the machine itself never", () => {
  expect(mayBeAnsweredInBand(TOOL, [], [])).toBe(true);
  expect(mayBeAnsweredInBand(TOOL, [FILE, git("commit")], ["ask"])).toBe(true);
  expect(mayBeAnsweredInBand({ ...TOOL, capability: { effect: "network" } }, [FILE], ["ask"])).toBe(true);
  expect(mayBeAnsweredInBand(TOOL, [FILE, git("push")], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [git("PUSH")], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand({ ...TOOL, name: "git_push" }, [FILE], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [FILE], ["ask", "arm"])).toBe(false);
  expect(mayBeAnsweredInBand({ ...TOOL, capability: { effect: "system" } }, [FILE], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [FILE, { ...FILE, effect: "system" }], ["ask"])).toBe(false);
});

test("a command that pushes is a push, and so may be one that nobody knows where it has a network", () => {
  expect(mayBeAnsweredInBand(TOOL, [command("git", "commit"), HOST], ["ask"])).toBe(true);
  expect(mayBeAnsweredInBand(TOOL, [command("git", "-C", "x", "push")], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [command("./git", "send-pack", "x")], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [command("?")], ["ask"])).toBe(true);
  expect(mayBeAnsweredInBand(TOOL, [command("?"), HOST], ["ask"])).toBe(false);
});
