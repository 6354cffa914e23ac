// What runs outside of the sandbox: only what is listed and nobody else can change, without a shell, a terminal or the
// kernel's environment.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { ToolFailure } from "../../../../src/model/outcome/failure.ts";
import type { MachineCommand } from "../../../../src/model/work/machine.ts";
import type { SystemSettings } from "../../../../src/model/work/system.ts";
import { HostMachine } from "../../../../src/sandbox/host-commands/host-machine.ts";
import { trustedProgram } from "../../../../src/sandbox/host-commands/trusted-program.ts";
import { beginningOf } from "../../../../src/sandbox/run/process-tree.ts";
import { type MachinePlace, machinePlace, RECORDER, systemSettingsOf } from "../../../support/machine-place.ts";
import { comesTrue } from "../../../support/waiting.ts";

const OWN = process.geteuid?.() ?? 0;
const listing = (...programs: readonly string[]): SystemSettings =>
  systemSettingsOf({
    binaries: Object.fromEntries(programs.map((program, index) => [`b${index}`, { program, sudo: true, version: [] }])),
  });

async function ran(
  settings: SystemSettings,
  argv: MachineCommand["argv"],
  more: Partial<MachineCommand> = {},
  as = new HostMachine(),
  signal?: AbortSignal,
) {
  const pieces = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const output = {
    stdout: (piece: Uint8Array) => void pieces.stdout.push(piece),
    stderr: (piece: Uint8Array) => void pieces.stderr.push(piece),
  };
  const command = { argv, asRoot: false, timeoutMs: 10_000, ...more };
  const end = await as.run({ settings, command }, output, signal ?? new AbortController().signal);
  return { ...end, stdout: Buffer.concat(pieces.stdout).toString(), stderr: Buffer.concat(pieces.stderr).toString() };
}

async function failureOf(running: Promise<unknown>): Promise<readonly [string, string]> {
  const error: unknown = await running.then(
    () => "it ran",
    (thrown: unknown) => thrown,
  );
  return error instanceof ToolFailure ? [error.code, `${error.message}; ${error.suggestion}`] : [String(error), ""];
}

describe("a listed program", () => {
  test("gets its arguments as they are, and no shell reads them", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("tool", RECORDER);
    const odd = ["--", "a b", "$(touch hacked)", "`id`", "x;y", "*", "", "new\nline"];
    expect(await ran(listing(program), [program, ...odd])).toMatchObject({ exitCode: 0, userId: OWN });
    expect(place.log()).toBe(`${odd.join("\n")}\n`);
  });

  test("finds a clean environment, no input and no terminal", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program(
      "tool",
      'env; echo "input:$(cat)"; if (: </dev/tty) 2>/dev/null; then echo terminal; fi',
    );
    process.env["npm_config_registry"] = "http://evil.invalid";
    process.env["LD_PRELOAD_X"] = "planted";
    try {
      const { stdout } = await ran(listing(program), [program], { environment: { DEBIAN_FRONTEND: "noninteractive" } });
      const names = [...stdout.matchAll(/^([A-Za-z_]+)=/gm)].map(([, name]) => name).sort();
      expect(names).toEqual(
        ["DEBIAN_FRONTEND", "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "PWD", "USER"].filter((name) =>
          names.includes(name),
        ),
      );
      expect(names).toContain("PATH");
      expect(stdout).toContain("input:\n");
      expect(stdout).not.toContain("evil");
      expect(stdout).not.toContain("terminal");
      // the control: the same program with the kernel's own environment sees what was planted
      expect(execFileSync(program, { encoding: "utf8", input: "" })).toContain("http://evil.invalid");
    } finally {
      delete process.env["npm_config_registry"];
      delete process.env["LD_PRELOAD_X"];
    }
  });

  test("may print more than is taken, and runs on to its end", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("tool", "head -c 20000000 /dev/zero; echo done >&2; exit 7");
    let bytes = 0;
    const count = (piece: Uint8Array) => {
      bytes += piece.length;
    };
    const taken = { stdout: count, stderr: () => undefined };
    const command = { argv: [program] as const, asRoot: false, timeoutMs: 20_000 };
    const end = await new HostMachine().run(
      { settings: listing(program), command },
      taken,
      new AbortController().signal,
    );
    expect([end.exitCode, bytes]).toEqual([7, 20_000_000]);
  });
});

describe("what is not listed", () => {
  test("does not run, also where a listed program stands beside it", async () => {
    const place = machinePlace(onTestFinished);
    const [listed, other] = [place.program("listed", RECORDER), place.program("other", RECORDER)];
    expect(await failureOf(ran(listing(listed), [other, "x"]))).toEqual([
      "NOT_SUPPORTED",
      expect.stringContaining("not among the programs"),
    ]);
    expect(await failureOf(ran(listing(listed), [`${listed}/../other`, "x"]))).toMatchObject({ 0: "NOT_SUPPORTED" });
    expect(place.log()).toBe("");
  });
});

describe("a program that others could change", () => {
  /** Spoils the program, and says which one to run then. */
  type Spoil = (place: MachinePlace, program: string) => string;
  const inMode =
    (mode: number, directory?: string): Spoil =>
    (place, program) => {
      chmodSync(directory === undefined ? program : join(place.base, directory), mode);
      return program;
    };
  const behindOpenLink: Spoil = (place, program) => {
    mkdirSync(join(place.base, "open"));
    chmodSync(join(place.base, "open"), 0o777);
    symlinkSync(program, join(place.base, "open/link"));
    symlinkSync(join(place.base, "open/link"), join(place.base, "bin/first"));
    return join(place.base, "bin/first");
  };
  const aDirectory: Spoil = (place) => {
    mkdirSync(join(place.base, "bin/dir"));
    return join(place.base, "bin/dir");
  };
  const aCircle: Spoil = (place) => {
    symlinkSync("round", join(place.base, "bin/round"));
    return join(place.base, "bin/round");
  };
  const cases: readonly (readonly [string, Spoil, RegExp])[] = [
    ["is writable by others", inMode(0o757), /written by others/],
    ["is writable by its group", inMode(0o775), /written by others/],
    ["lies in a directory that others write", inMode(0o777, "bin"), /which others can write/],
    ["is no file", aDirectory, /no regular file/],
    ["is not there", (place) => join(place.base, "bin/none"), /is not there/],
    ["cannot be run", inMode(0o644), /cannot be run/],
    ["is behind a link in a directory that others write", behindOpenLink, /which others can write/],
    ["is a circle of links", aCircle, /too many links/],
  ];
  test.each(cases)("%s: it does not run", async (_name, spoil, problem) => {
    const place = machinePlace(onTestFinished);
    const program = place.program("tool", RECORDER);
    // the control: before it was spoilt it ran
    expect(await ran(listing(program), [program, "before"])).toMatchObject({ exitCode: 0 });
    const spoilt = spoil(place, program);
    expect(await failureOf(ran(listing(spoilt), [spoilt, "after"]))).toEqual([
      expect.stringMatching(/PERMISSION_DENIED|FILE_NOT_FOUND/),
      expect.stringMatching(problem),
    ]);
    expect(place.log()).toBe("before\n");
  });

  test("belongs to another user: it is not trusted, and neither is what lies in such a user's directory", () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("tool", RECORDER);
    const stranger = OWN + 1;
    // seen by another user, whose files are root's and its own
    expect(trustedProgram(program, OWN)).toEqual({ ok: true, realPath: program });
    if (OWN === 0) {
      chownSync(program, stranger, stranger);
      expect(trustedProgram(program, OWN)).toMatchObject({ ok: false, problem: `belongs to user ${stranger}` });
    } else {
      expect(trustedProgram(program, stranger)).toMatchObject({
        ok: false,
        problem: expect.stringContaining(`belongs to user ${OWN}`),
      });
    }
  });

  test("a link by a trusted name keeps its name: programs look at what they are called", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("real", 'echo "$0"');
    const link = join(place.base, "bin/cargo");
    symlinkSync("real", link);
    expect(trustedProgram(link, OWN)).toEqual({ ok: true, realPath: program });
    expect((await ran(listing(link), [link])).stdout).toBe(`${link}\n`);
  });
});

describe("a command that does not end", () => {
  const STUBBORN = `trap "" TERM; (trap "" TERM; setsid sh -c 'trap "" TERM; echo $$ >>$LOG; while :; do sleep 1; done') & echo $$ >>$LOG; while :; do sleep 1; done`;

  test("is ended when its time is over, with all that it started, whatever that ignores", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("tool", STUBBORN);
    const end = await ran(listing(program), [program], { timeoutMs: 4000 });
    expect(end).toMatchObject({ endedBy: "timeout", exitCode: undefined });
    const ids = place.log().trim().split("\n").map(Number);
    expect(ids).toHaveLength(2);
    expect(await comesTrue(() => ids.every((id) => beginningOf(id) === undefined))).toBe(true);
  });

  test("is ended when nobody waits for it any more; without that it would go on (the control)", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("tool", "echo $$ >>$LOG; while :; do sleep 1; done");
    const leaving = new AbortController();
    const running = ran(listing(program), [program], {}, new HostMachine(), leaving.signal);
    expect(await comesTrue(() => place.log() !== "")).toBe(true);
    const id = Number(place.log());
    await pause(100);
    expect(beginningOf(id)).toBeDefined();
    leaving.abort();
    expect(await running).toMatchObject({ endedBy: "cancelled" });
    expect(await comesTrue(() => beginningOf(id) === undefined)).toBe(true);
  });

  test("is ended with its kernel, which starts nothing more then", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("tool", "echo $$ >>$LOG; while :; do sleep 1; done");
    const machine = new HostMachine();
    const running = ran(listing(program), [program], {}, machine);
    expect(await comesTrue(() => place.log() !== "")).toBe(true);
    await machine.endRuns();
    expect(beginningOf(Number(place.log()))).toBeUndefined();
    expect(await running).toMatchObject({ endedBy: "cancelled" });
    expect(await failureOf(ran(listing(program), [program], {}, machine))).toMatchObject({ 0: "CANCELLED" });
  });

  test("is said to go on where the kernel may not end it, as what sudo started; where it may, it is ended", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("tool", "echo $$ >>$LOG; sleep 20");
    const child = new URL("../../../support/children/without-rights.ts", import.meta.url).pathname;
    const said = execFileSync(process.execPath, [child, program], { encoding: "utf8", timeout: 120_000 });
    const id = Number(place.log());
    if (OWN === 0) {
      expect(said).toMatch(/^OUTCOME_UNKNOWN: .*may go on$/);
      expect(beginningOf(id)).toBeDefined();
      process.kill(-id, "SIGKILL"); // the group that this test's own child began
    } else {
      expect(said).toBe("ended by timeout");
    }
    expect(await comesTrue(() => beginningOf(id) === undefined)).toBe(true);
  });

  test("leaves a service that it started running once it has ended by itself, and does not wait for it", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program(
      "tool",
      `setsid sh -c 'echo $$ >>$LOG; sleep 60' & until [ -s $LOG ]; do sleep 0.05; done; exit 0`,
    );
    expect(await ran(listing(program), [program])).toMatchObject({ exitCode: 0, endedBy: undefined });
    const service = Number(place.log());
    expect(beginningOf(service)).toBeDefined();
    process.kill(-service, "SIGKILL"); // the session that this test's own command began
  });
});

describe("rights that the kernel does not have", () => {
  // A machine that takes the kernel for an ordinary user; its own files are trusted as they are.
  const ordinary = () => {
    const machine = new HostMachine(OWN === 0 ? 61_234 : OWN);
    return machine;
  };
  const sudoDouble = (place: MachinePlace, allows: boolean) =>
    place.program(
      "sudo",
      `echo "sudo $*" >>$LOG; [ "$1" = -n ] || exit 9; shift; if [ "$1" = -l ]; then exit ${allows ? 0 : 1}; fi; [ "$1" = -- ] && shift; exec "$@"`,
    );

  test("come from sudo, which never asks for a password", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("apt-get", RECORDER);
    const settings = { ...listing(program), sudo: sudoDouble(place, true) };
    const end = await ran(settings, [program, "install"], { asRoot: true }, ordinary());
    expect(end).toMatchObject({ exitCode: 0, userId: 0 });
    expect(place.log()).toBe(`sudo -n -l -- ${program} install\nsudo -n -- ${program} install\ninstall\n`);
  });

  test("are refused before anything happens where sudo would ask, and the missing line is named", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("apt-get", RECORDER);
    const settings = { ...listing(program), sudo: sudoDouble(place, false) };
    const [code, text] = await failureOf(ran(settings, [program, "install"], { asRoot: true }, ordinary()));
    expect(code).toBe("PERMISSION_DENIED");
    expect(text).toContain(`ALL=(root) NOPASSWD: ${program}`);
    expect(place.log()).toBe(`sudo -n -l -- ${program} install\n`);
  });

  test("are refused where the operator names no sudo, and not asked for where they are not needed", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("apt-get", RECORDER);
    expect(await failureOf(ran(listing(program), [program, "x"], { asRoot: true }, ordinary()))).toEqual([
      "PERMISSION_DENIED",
      expect.stringContaining("names no sudo"),
    ]);
    expect(place.log()).toBe("");
    expect(await ran(listing(program), [program, "status"], { asRoot: false }, ordinary())).toMatchObject({
      exitCode: 0,
    });
  });

  test("are the kernel's own where it is root, and sudo is not started then", async () => {
    const place = machinePlace(onTestFinished);
    const program = place.program("apt-get", RECORDER);
    const settings = { ...listing(program), sudo: sudoDouble(place, true) };
    expect(await ran(settings, [program, "x"], { asRoot: true })).toMatchObject({ exitCode: 0, userId: 0 });
    const throughSudo = `sudo -n -l -- ${program} x\nsudo -n -- ${program} x\nx\n`;
    expect(place.log()).toBe(OWN === 0 ? "x\n" : throughSudo);
  });
});

test("a program is found where it is listed or in the directories, with what is wrong with it, and nothing of it is run", async () => {
  const place = machinePlace(onTestFinished);
  const program = place.program("pg_dump", "touch ran");
  const open = place.program("open", "touch ran", 0o757);
  const settings = systemSettingsOf({ path: ["/nowhere", join(place.base, "bin")] });
  const find = (name: string) => new HostMachine().find(settings, name, new AbortController().signal);
  const sha256 = createHash("sha256").update(readFileSync(program)).digest("hex");
  expect(await find("pg_dump")).toEqual({ path: program, realPath: program, sizeBytes: 20, sha256 });
  expect(await find("open")).toMatchObject({ path: open, problem: "can be written by others" });
  expect(await find("none")).toBeUndefined();
  expect(existsSync("ran")).toBe(false);
  writeFileSync(join(place.base, "bin/note"), "x");
  expect(await find("note")).toMatchObject({ problem: "cannot be run by the kernel" });
});
