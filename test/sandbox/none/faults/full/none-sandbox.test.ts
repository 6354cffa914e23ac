// Commands that nothing contains, where operator and starter both say so: what is still bounded, and that nothing of
// them is left.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChild } from "../../../../support/children/run.ts";
import {
  newSandboxPlace,
  perl,
  processesNaming,
  type SandboxPlace,
  useBackend,
} from "../../../../support/sandbox-place.ts";
import { comesTrue } from "../../../../support/waiting.ts";

const MIB = 2 ** 20;
const own = process.geteuid?.() ?? 0;

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace({ backend: "none", allowsUnsandboxed: true });
});
afterEach(() => place.close());

test("without the starter's word nothing runs, and it says what is missing", async () => {
  const refusing = newSandboxPlace({ backend: "none" });
  await expect(refusing.run("touch ran")).rejects.toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringContaining("--allow-unsandboxed-commands"),
  });
  expect(existsSync(join(refusing.root, "ran"))).toBe(false);
  refusing.close();
});

test("a command runs as the kernel's own user in the workspace, and its record says that nothing contained it", async () => {
  const { stdout, stderr, end } = await place.run("id -u; pwd; echo y >/dev/stderr; exit 7");
  expect([stdout, stderr, end.exitCode]).toEqual([`${own}\n${place.root}\n`, "y\n", 7]);
  expect(end.enforced).toMatchObject({ backend: "none", namespaces: [], network: "host", userId: own });
  expect(end.enforced).not.toHaveProperty("seccomp");
});

test("of the kernel's environment nothing reaches it", async () => {
  process.env["HANDRAIL_TEST_SECRET"] = "inherited";
  const { stdout } = await place.run("env", { environment: { MINE: "1" } });
  delete process.env["HANDRAIL_TEST_SECRET"];
  const names = stdout.split("\n").map((line) => line.split("=")[0]);
  expect(names).toEqual(expect.arrayContaining(["PATH", "HOME", "MINE"]));
  expect(names).not.toContain("HANDRAIL_TEST_SECRET");
});

test.each([
  ["kill -KILL $$", 128 + 9],
  ["kill -SEGV $$", 128 + 11],
  ["no-such-program", 127],
] as const)("`%s` ends with %i", async (command, exitCode) => {
  expect((await place.run(command)).end).toMatchObject({ exitCode });
});

test("files, descriptors and output have their bounds", async () => {
  const limits = { fileBytesMax: MIB, openFilesMax: 64, outputBytesMax: 4 * MIB };
  const SIGXFSZ = 25;
  expect((await place.run("head -c 3000000 /dev/zero >big", { limits })).end.exitCode).toBe(128 + SIGXFSZ);
  expect(statSync(join(place.root, "big")).size).toBe(MIB);
  const open = perl(
    `my @kept; while (@kept < 200) { open(my $f, "<", "/dev/null") or last; push @kept, $f } print scalar @kept`,
  );
  expect((await place.run(open, { limits })).stdout).toBe("61");
  expect((await place.run("yes", { limits })).end).toMatchObject({ endedBy: "output" });
});

test("time: the command is asked to end, and may say so", async () => {
  const { end, stdout } = await place.run(`trap 'echo asked; exit 3' TERM; while :; do sleep 0.05; done`, {
    limits: { timeoutMs: 6000 },
  });
  expect([end.endedBy, end.exitCode, stdout]).toEqual(["timeout", 3, "asked\n"]);
});

test("time: processes that ignore it, and those that hide in sessions of their own, are killed", async () => {
  const deaf =
    "trap '' TERM; setsid bash -c 'trap \"\" TERM; : alive-51; while :; do sleep 0.05; done' & while :; do sleep 0.05; done";
  expect((await place.run(deaf, { limits: { timeoutMs: 6000 } })).end.endedBy).toBe("timeout");
  expect(processesNaming("alive-51")).toEqual([]);
});

test("a daemon that outlives its command ends with it, also one that forgets its environment or leaves its session", async () => {
  const { end, stdout } = await place.run("(setsid sleep 72.125 &) ; (env -i /bin/sleep 72.25 &) ; echo done");
  expect([end.exitCode, stdout]).toEqual([0, "done\n"]);
  expect(processesNaming("sleep 72.")).toEqual([]);
});

test("what runs longer than a moment is left alone, and cancelled when asked", async () => {
  expect((await place.run("sleep 0.7; echo late")).stdout).toBe("late\n");
  const cancelling = new AbortController();
  const running = place.run("sleep 73.125", { signal: cancelling.signal });
  expect(await comesTrue(() => processesNaming("sleep 73.125").length > 0)).toBe(true);
  cancelling.abort(new Error("cancelled"));
  expect((await running).end.endedBy).toBe("cancelled");
  expect(processesNaming("73.125")).toEqual([]);
});

test("a kernel that is killed takes its commands along", async () => {
  useBackend("none");
  const child = startChild("sandbox-run", [place.root, "setsid sh -c 'sleep 74.125' & echo up; sleep 74.125"]);
  await child.printed("said up");
  expect(await comesTrue(() => processesNaming("sleep 74.125").length >= 2)).toBe(true);
  child.process.kill("SIGKILL");
  await child.ended;
  expect(await comesTrue(() => processesNaming("74.125").length === 0)).toBe(true);
});

test("where no control group counts it, memory of the run alone is looked at, and what is too much ends it", async () => {
  const watching = newSandboxPlace({ backend: "none", allowsUnsandboxed: true, controlGroups: false });
  const hog = perl(`my $kept = "x" x ${120 * MIB}; select undef, undef, undef, 3; print "kept"`);
  expect((await watching.run(hog, { limits: { memoryBytesMax: 64 * MIB } })).end).toMatchObject({ endedBy: "memory" });
  expect((await watching.run("sleep 0.5; echo small", { limits: { memoryBytesMax: 64 * MIB } })).stdout).toBe(
    "small\n",
  );
  watching.close();
});
