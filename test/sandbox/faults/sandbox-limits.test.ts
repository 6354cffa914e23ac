// Commands that use up what they are given: processes, memory, disk, output, time. Each ends within its bounds and
// leaves nothing behind; the controls use a little more than a bound and show that without it they would get it.
import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CapturedOutput } from "../../../src/sandbox/run/captured-output.ts";
import {
  EVERYTHING,
  LIMITS,
  newSandboxPlace,
  perl,
  processesNaming,
  type SandboxPlace,
  type Without,
} from "../../support/sandbox-place.ts";

const MIB = 2 ** 20;

let place: SandboxPlace;
beforeAll(() => {
  place = newSandboxPlace();
});
afterAll(() => place.close());

/** The bounds that are set inside, put far away. */
const UNBOUNDED: Without = {
  plan: (plan) => ({
    ...plan,
    limits: {
      ...plan.limits,
      processesMax: 1000,
      memoryBytesMax: 4096 * MIB,
      fileBytesMax: 4096 * MIB,
      openFilesMax: 900,
    },
  }),
};

test("processes: a bomb gets what is left of its number, and all of it ends", async () => {
  const bomb = perl(
    `my $made = 0; for (1 .. 150) { my $child = fork; if (!defined $child) { print "refused after $made"; last } if ($child == 0) { sleep 60; exit } $made++ } print " of 150" if $made == 150; kill 9, -1`,
  );
  const limits = { processesMax: 50 };
  const { stdout } = await place.run(bomb, { limits });
  expect(Number(/^refused after (\d+)$/.exec(stdout)?.[1])).toBeLessThan(50);
  expect((await place.runWithout(UNBOUNDED, bomb, { limits })).stdout).toBe(" of 150");
});

test("memory: a hog is killed, and a run in a group says how much it took", async () => {
  const hog = perl(`my @kept; push @kept, "x" x ${8 * MIB} for 1 .. 20; select undef, undef, undef, 1; print "got it"`);
  const limits = { memoryBytesMax: 64 * MIB };
  const { stdout, end } = await place.run(hog, { limits });
  expect([stdout, end.exitCode === 0]).toEqual(["", false]);
  if (end.usage) expect(end.usage.memoryBytesMax).toBeLessThanOrEqual(64 * MIB);
  expect((await place.runWithout(UNBOUNDED, hog, { limits })).stdout).toBe("got it");
});

test("memory: nobody can ask for any amount, used or not", async () => {
  const MMAP = process.arch === "x64" ? 9 : 222;
  const [READ_WRITE, PRIVATE_ANONYMOUS_UNRESERVED, NOBODY] = [3, 0x4022, -1];
  const ask = perl(
    `try(${MMAP}, 0, ${100 * 1024 * MIB}, ${READ_WRITE}, ${PRIVATE_ANONYMOUS_UNRESERVED}, ${NOBODY}, 0)`,
  );
  const ENOMEM = 12;
  expect((await place.run(ask)).stdout).toBe(`${ENOMEM}\n`);
  const far: Without = { plan: (plan) => ({ ...plan, limits: { ...plan.limits, memoryBytesMax: 200 * 1024 * MIB } }) };
  expect((await place.runWithout(far, ask)).stdout).toBe("ok\n");
});

test("memory: a runtime that asks for much more than it uses runs within the bound, with threads", async () => {
  const threads = `const { Worker } = require("worker_threads"); let up = 0;
    for (let n = 0; n < 4; n += 1) new Worker("require('worker_threads').parentPort.postMessage(1)", { eval: true }).on("message", () => { up += 1; if (up === 4) console.log("up") });`;
  expect((await place.run(["node", "-e", threads], { limits: { memoryBytesMax: 512 * MIB } })).stdout).toBe("up\n");
});

/** Four processes with `mebibytes` each, for some seconds; Perl keeps the text twice. */
const together = (mebibytes: number, seconds = 1) =>
  `for i in 1 2 3 4; do perl -e 'my $kept = "x" x (${mebibytes} * 1048576); select undef, undef, undef, ${seconds}; print "got it "' & done; wait`;

/** Longer than the watch of a busy machine takes to look. */
const SEEN_SECONDS = 60;
const count = (stdout: string) => stdout.split("got it").length - 1;

test("memory: many small ones together are bounded", async () => {
  const limits = { memoryBytesMax: 64 * MIB };
  expect(count((await place.run(together(24), { limits })).stdout)).toBeLessThan(4);
  expect(count((await place.runWithout(UNBOUNDED, together(24), { limits })).stdout)).toBe(4);
});

describe("where no group can be made", () => {
  let bare: SandboxPlace;
  beforeAll(() => {
    bare = newSandboxPlace({ controlGroups: false });
  });
  afterAll(() => bare.close());

  test("a command gives way to everything else, and cannot change that", async () => {
    expect((await bare.run("nice; nice -n -5 nice 2>/dev/null; sh -c 'sh -c nice'")).stdout).toBe("19\n19\n19\n");
    expect((await place.run("nice")).stdout).toBe("0\n"); // a group shares out the processors
  });

  const limits = { memoryBytesMax: 100 * MIB };

  test("processes that use too much together are ended, and it is said why", async () => {
    const { end, stdout } = await bare.run(`${together(20, SEEN_SECONDS)}; sleep 44.125`, { limits });
    expect([end.endedBy, end.exitCode, stdout]).toEqual(["memory", undefined, ""]);
    expect(end.enforced).toMatchObject({ memory: "watch", processes: "rlimit" });
    expect(processesNaming("44.125")).toEqual([]);
    // the limits of each process are the same, and nobody looks
    const control = await bare.runWithout({}, together(20), { limits });
    expect(count(control.stdout)).toBe(4);
  });

  test("processes in sessions of their own and such as threads started are looked at, too", async () => {
    const child = `setsid perl -e 'my $kept = "x" x (30 * 1048576); sleep ${SEEN_SECONDS}' & setsid perl -e 'my $kept = "x" x (30 * 1048576); sleep ${SEEN_SECONDS}'`;
    const program = `new (require("worker_threads").Worker)('require("child_process").spawn("sh", ["-c", process.env.CHILD])', { eval: true }); setTimeout(() => console.log("got it"), ${SEEN_SECONDS * 1000})`;
    const { end, stdout } = await bare.run(["node", "-e", program], {
      limits: { memoryBytesMax: 130 * MIB },
      environment: { CHILD: child },
    });
    expect([end.endedBy, stdout]).toEqual(["memory", ""]);
  });

  test("memory that is shared without a file, and files in memory, are counted", async () => {
    const MMAP = process.arch === "x64" ? 9 : 222;
    const [READ_WRITE, SHARED_ANONYMOUS, NOBODY] = [3, 0x21, -1];
    const shared = `my $at = syscall(${MMAP}, 0, ${60 * MIB}, ${READ_WRITE}, ${SHARED_ANONYMOUS}, ${NOBODY}, 0); open(my $zero, "<", "/dev/zero"); for (1 .. 60) { syscall(${process.arch === "x64" ? 0 : 63}, fileno $zero, $at, ${MIB}); $at += ${MIB} }`;
    const kept = "head -c 62914560 /dev/zero >/tmp/big; ";
    const alone = await bare.run(perl(`${shared} sleep 1; print "got it"`), { limits });
    expect([alone.end.endedBy, alone.stdout]).toEqual([undefined, "got it"]);
    const both = await bare.run(perl(`system q(${kept}); ${shared} sleep ${SEEN_SECONDS}; print "got it"`), { limits });
    expect([both.end.endedBy, both.stdout]).toEqual(["memory", ""]);
  });

  test("files in memory that hold nothing are counted, too", async () => {
    const many = (count: number) => `perl -e 'for (1..${count}) { open my $f, ">", "/tmp/$_" or die }'; sleep 0.3`;
    expect((await bare.run(many(300_000), { limits })).end).toMatchObject({ endedBy: "memory" });
    expect((await bare.run(many(10_000), { limits })).end).toMatchObject({ exitCode: 0, endedBy: undefined });
  });

  test("what a process shares with those it came from is counted once", async () => {
    const family = perl(
      `my $kept = "x" x ${30 * MIB}; for (1 .. 3) { if (fork == 0) { sleep 1; exit } } wait for 1 .. 3; print "got it"`,
    );
    expect((await bare.run(family, { limits })).stdout).toBe("got it");
  });
});

test("disk: a file grows to its bound", async () => {
  const limits = { fileBytesMax: MIB };
  const { end } = await place.run("head -c 3000000 /dev/zero >big", { limits });
  const SIGXFSZ = 25;
  expect([end.exitCode, statSync(join(place.root, "big")).size]).toEqual([128 + SIGXFSZ, MIB]);
  await place.runWithout(UNBOUNDED, "head -c 3000000 /dev/zero >big", { limits });
  expect(statSync(join(place.root, "big")).size).toBe(3_000_000);
});

test("disk: the private directories hold what they may, and are gone with the command", async () => {
  const fill = "for d in /tmp /dev/shm; do head -c 6000000 /dev/zero >$d/big 2>/dev/null; stat -c %s $d/big; done";
  const sizes = (await place.run(fill, { limits: { temporaryBytesMax: MIB } })).stdout.trim().split("\n").map(Number);
  expect(sizes).toEqual([MIB, MIB]);
  expect((await place.run(fill)).stdout).toBe("6000000\n6000000\n");
  // a toolchain of the machine may lie below /tmp, and is seen there
  expect((await place.run("ls /dev/shm; ls /tmp/big 2>/dev/null; echo gone")).stdout).toBe("gone\n");
});

test("nothing can be written anywhere else", async () => {
  const { stdout } = await place.run(
    "for d in / /etc /usr /usr/bin /dev /run /proc; do touch $d/new 2>/dev/null && echo $d; done; find / /etc /dev -xdev -writable -type d 2>/dev/null | sort -u",
  );
  // nothing can be made in a directory of terminals, whoever it belongs to
  expect(stdout.replace("/dev/pts\n", "")).toBe("/dev/shm\n/tmp\n/workspace\n");
});

test("descriptors: no more than their number", async () => {
  const open = perl(
    `my @kept; while (@kept < 200) { open(my $f, "<", "/dev/null") or last; push @kept, $f } print scalar @kept`,
  );
  const limits = { openFilesMax: 64 };
  expect((await place.run(open, { limits })).stdout).toBe("61");
  expect((await place.runWithout(UNBOUNDED, open, { limits })).stdout).toBe("200");
});

test("output without an end is killed at its bound, and what came was counted", async () => {
  let bytes = 0;
  const limits = { outputBytesMax: 4 * MIB };
  const { end, stdout } = await place.run("yes", { limits });
  bytes = stdout.length;
  expect([end.endedBy, end.exitCode]).toEqual(["output", undefined]);
  expect(bytes).toBeGreaterThan(4 * MIB);
  expect(bytes).toBeLessThan(8 * MIB);
  expect((await place.run("yes | head -c 4194304", { limits })).end).toMatchObject({ exitCode: 0, endedBy: undefined });
});

test("output of any length leaves memory as it is", async () => {
  const most = { outputBytesMax: 1024 * MIB };
  /**
   * MiB that buffers have grown by at most while `bytes` of output came; up to 64 MiB of them wait for being collected.
   */
  const grownBy = async (bytes: number, take: (piece: Uint8Array) => void): Promise<number> => {
    const before = process.memoryUsage().arrayBuffers;
    let [peak, came] = [0, 0];
    const output = {
      stdout: (piece: Uint8Array) => {
        take(piece);
        came += piece.length;
        peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
      },
      stderr: () => undefined,
    };
    const command = ["head", "-c", String(bytes), "/dev/zero"] as const;
    const run = {
      root: place.root,
      judge: EVERYTHING,
      command,
      workDir: "/workspace",
      environment: {},
      limits: { ...LIMITS, ...most },
    };
    await place.sandbox.run(run, output, new AbortController().signal);
    expect(came).toBe(bytes);
    return peak / MIB;
  };
  const captured = new CapturedOutput(1 * MIB);
  expect(await grownBy(768 * MIB, (piece) => captured.push(piece))).toBeLessThan(140);
  expect(captured.totalBytes).toBe(768 * MIB);
  const kept: Uint8Array[] = [];
  expect(await grownBy(192 * MIB, (piece) => kept.push(Uint8Array.from(piece)))).toBeGreaterThan(140);
});

test("time: the command is asked to end, and may say so", async () => {
  const { end, stdout } = await place.run(`trap 'echo asked; exit 3' TERM; while :; do sleep 0.05; done`, {
    limits: { timeoutMs: 6000 },
  });
  expect([end.endedBy, end.exitCode, stdout]).toEqual(["timeout", 3, "asked\n"]);
});

test("time: processes that ignore it, and those that hide in sessions of their own, are killed", async () => {
  const deaf =
    "trap '' TERM; setsid bash -c 'trap \"\" TERM; touch alive; while :; do sleep 0.05; done' & while :; do sleep 0.05; done";
  const { end } = await place.run(deaf, { limits: { timeoutMs: 6000 } });
  expect(end.endedBy).toBe("timeout");
  expect(statSync(join(place.root, "alive")).isFile()).toBe(true);
  expect(processesNaming("touch alive")).toEqual([]);
});

test("a daemon that outlives its command ends with it", async () => {
  const { end, stdout } = await place.run(
    "setsid bash -c 'sleep 77.125; touch late' >/dev/null 2>&1 & disown; echo done",
  );
  expect([end.exitCode, stdout]).toEqual([0, "done\n"]);
  expect(processesNaming("77.125")).toEqual([]);
});

test("a daemon that holds on to the output does not hold up the answer", async () => {
  const { end, stdout } = await place.run("(sleep 88.25 &) ; echo done");
  expect([end.exitCode, stdout]).toEqual([0, "done\n"]);
  expect(processesNaming("88.25")).toEqual([]);
});
