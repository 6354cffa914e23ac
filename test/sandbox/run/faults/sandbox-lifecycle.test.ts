// Beginnings and ends of sandboxed commands: cancelled at every moment, many at once, a kernel that dies, and nothing
// left of any of them.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readLayout } from "../../../../src/sandbox/control-groups/layout.ts";
import { groupPrefix, processNamespace } from "../../../../src/sandbox/control-groups/left-groups.ts";
import { startChild } from "../../../support/children/run.ts";
import {
  EVERYTHING,
  LIMITS,
  newSandboxPlace,
  processesNaming,
  type SandboxPlace,
} from "../../../support/sandbox-place.ts";
import { comesTrue } from "../../../support/waiting.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

test.each([
  ["exit 0", 0],
  ["exit 7", 7],
  ["exit 255", 255],
  ["kill -KILL $$", 128 + 9],
  ["kill -SEGV $$", 128 + 11],
  ["no-such-program", 127],
  ["./not-to-be-run", 126],
] as const)("`%s` ends with %i", async (command, exitCode) => {
  writeFileSync(join(place.root, "not-to-be-run"), "");
  const { end } = await place.run(command);
  expect([end.exitCode, end.endedBy]).toEqual([exitCode, undefined]);
});

test("a program that is not there is said before anything starts", async () => {
  await expect(place.run(["no-such-program", "x"])).rejects.toMatchObject({
    code: "NOT_SUPPORTED",
    message: expect.stringContaining("no-such-program"),
  });
});

test("both streams come apart, in the order in which each was written, with bytes as they are", async () => {
  const { stdout, stderr } = await place.run(
    "for i in $(seq 1 200); do echo out $i; echo err $i >&2; done; printf 'a\\0b' | head -c 3; echo x >/dev/stdout; echo y >/dev/stderr",
  );
  const lines = (word: string) => Array.from({ length: 200 }, (_, index) => `${word} ${index + 1}\n`).join("");
  expect(stdout).toBe(`${lines("out")}a\0bx\n`);
  expect(stderr).toBe(`${lines("err")}y\n`);
});

test("the input is empty", async () => {
  expect((await place.run("cat; echo end")).stdout).toBe("end\n");
});

test("cancelled before it starts, it never does", async () => {
  await expect(place.run("touch ran", { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  expect(existsSync(join(place.root, "ran"))).toBe(false);
});

test("cancelled at any moment it ends, and nothing of it is left", async () => {
  const ends = new Set<string>();
  for (let delayMs = 0; delayMs < 48; delayMs += 2) {
    const cancelling = new AbortController();
    setTimeout(() => cancelling.abort(new Error("cancelled")), delayMs);
    const ended = await place.run("sleep 66.125", { signal: cancelling.signal }).then(
      ({ end }) => String(end.endedBy),
      (error: Error) => error.message,
    );
    ends.add(ended);
  }
  const expected = ["cancelled", "the call was cancelled before the command ran"];
  expect([...ends].filter((end) => !expected.includes(end))).toEqual([]);
  expect(processesNaming("66.125")).toEqual([]);
});

test("cancelled while it runs, what it said and how it ended is kept", async () => {
  const cancelling = new AbortController();
  const running = place.sandbox.run(
    {
      root: place.root,
      judge: EVERYTHING,
      command: ["bash", "-c", "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.02; done"],
      workDir: "/workspace",
      environment: {},
      limits: LIMITS,
    },
    {
      stdout: (piece) => void (Buffer.from(piece).toString() === "up\n" && cancelling.abort()),
      stderr: () => undefined,
    },
    cancelling.signal,
  );
  expect(await running).toMatchObject({ endedBy: "cancelled", exitCode: 5 });
});

test("cancelled after it ended, nothing happens", async () => {
  const cancelling = new AbortController();
  const { end } = await place.run("echo done", { signal: cancelling.signal });
  cancelling.abort();
  expect(end).toMatchObject({ exitCode: 0, endedBy: undefined });
});

test("twenty run at the same time: each waits until all have begun", async () => {
  let begun = 0;
  const onOutput = () => {
    begun += 1;
    if (begun === 20) writeFileSync(join(place.root, "go"), "");
  };
  const command = "echo begun; for try in $(seq 1 2000); do ls | grep -qx go && exit 0; sleep 0.01; done; exit 1";
  const runs = await Promise.all(Array.from({ length: 20 }, () => place.run(command, { onOutput })));
  expect(runs.map(({ end }) => end.exitCode)).toEqual(Array(20).fill(0));
});

test("a kernel that is killed takes its commands along, also those that hide", async () => {
  const child = startChild("sandbox-run", [
    place.root,
    "setsid sh -c 'sleep 55.125' & trap '' TERM; echo up; sleep 55.125",
  ]);
  await child.printed("said up");
  expect(await comesTrue(() => processesNaming("sleep 55.125").length >= 2)).toBe(true);
  child.process.kill("SIGKILL");
  await child.ended;
  expect(await comesTrue(() => processesNaming("55.125").length === 0)).toBe(true);
});

/** Control groups on this machine that a process made. */
function groupsOf(processId: number): readonly string[] {
  const { version1, version2 } = readLayout(
    readFileSync("/proc/self/mountinfo", "utf8"),
    readFileSync("/proc/self/cgroup", "utf8"),
  );
  const trees = [...Object.values(version1), ...(version2 === undefined ? [] : [version2])];
  const prefix = `${groupPrefix(processNamespace(), processId)}-`;
  return trees.flatMap((tree) => readdirSync(tree)).filter((name) => name.startsWith(prefix));
}

test("control groups of a kernel that was killed are removed by the next one", async () => {
  const hasGroups = typeof place.sandbox.diagnose().controlGroups === "number";
  const child = startChild("sandbox-run", [place.root, "echo up; sleep 54.125"]);
  await child.printed("said up");
  const id = child.process.pid ?? 0;
  child.process.kill("SIGKILL");
  await child.ended;
  expect(groupsOf(id).length > 0).toBe(hasGroups);
  const isSwept = () => {
    const next = newSandboxPlace();
    next.sandbox.diagnose();
    next.close();
    return groupsOf(id).length === 0;
  };
  expect(await comesTrue(isSwept)).toBe(true);
});

test("a first process of the machine that collects nothing is not left with what runs were", () => {
  const script = fileURLToPath(new URL("../../../support/children/sandbox-run.ts", import.meta.url));
  const PRCTL = process.arch === "x64" ? 157 : 167;
  const PR_SET_CHILD_SUBREAPER = 36;
  // takes in orphans as such a process does, waits for its one child, and counts whom nobody collected
  const first = `syscall(${PRCTL}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0); system @ARGV; select undef, undef, undef, 0.3;
    my $left = 0; for (</proc/[0-9]*/stat>) { open my $f, "<", $_ or next; my $line = <$f> // ""; $left++ if $line =~ /^\\d+ \\(.*\\) Z (\\d+)/ && $1 == $$ } print "left $left\\n"`;
  const left = (...own: readonly string[]) => {
    const { stdout } = spawnSync(
      "/usr/bin/perl",
      ["-e", first, process.execPath, script, place.root, "true", "16", ...own],
      {
        encoding: "utf8",
      },
    );
    return Number(/^left (\d+)$/m.exec(stdout)?.[1]);
  };
  expect(left("own")).toBeLessThan(8); // those of the last moment before it ended itself
  expect(left()).toBeGreaterThanOrEqual(16);
});
