// The system call filter, run by an interpreter of classic BPF as the machine's kernel would run it, for both
// processors.
import { describe, expect, test } from "vitest";
import { seccompProgram } from "../../../src/sandbox/plan/seccomp.ts";
import {
  AUDIT_ARCHITECTURE,
  callNumber,
  FIRST_UNKNOWN_CALL,
  JUDGED_CALLS,
  PROCESSORS,
  type Processor,
  REFUSED_CALLS,
} from "../../../src/sandbox/plan/syscall-numbers.ts";
import { judgedByProgram } from "../../support/seccomp-machine.ts";

const ALLOW = "allow";
const KILL = "kill";
const EPERM = "errno 1";
const ENOSYS = "errno 38";
const EAFNOSUPPORT = "errno 97";

describe.each(PROCESSORS)("on %s", (processor) => {
  const { bytes, instructions, digest } = seccompProgram(processor);
  const on = (call: number, ...args: readonly number[]): string =>
    judgedByProgram(bytes, call, args, AUDIT_ARCHITECTURE[processor]);
  const byName = (name: keyof typeof JUDGED_CALLS, ...args: readonly number[]): string | undefined => {
    const number = callNumber(JUDGED_CALLS[name], processor);
    return number === undefined ? undefined : on(number, ...args);
  };
  /** Of a call that arm64 does not have. */
  const older = (end: string) => (processor === "x64" ? end : undefined);

  test("the program is well formed, and always the same", () => {
    expect(bytes.length).toBe(instructions * 8);
    expect(instructions).toBeLessThan(4096);
    expect(seccompProgram(processor)).toEqual({ bytes, instructions, digest });
    expect(seccompProgram(processor === "x64" ? "arm64" : "x64").digest).not.toBe(digest);
  });

  test.each(Object.entries(REFUSED_CALLS))("%s is refused", (_, call) => {
    const number = callNumber(call, processor);
    expect(number === undefined ? EPERM : on(number)).toBe(EPERM);
  });

  test("every other call that Linux had when the rules were written is allowed, and what came later does not exist", () => {
    const known = [...Object.values(REFUSED_CALLS), ...Object.values(JUDGED_CALLS)].map((call) =>
      callNumber(call, processor),
    );
    const others = Array.from({ length: FIRST_UNKNOWN_CALL }, (_, number) => number).filter(
      (number) => !known.includes(number),
    );
    expect(others.filter((number) => on(number, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff) !== ALLOW)).toEqual([]);
    expect([FIRST_UNKNOWN_CALL, 512, 547, 1024, 0x3fffffff].map((number) => on(number))).toEqual(Array(5).fill(ENOSYS));
  });

  test("a call of another instruction set ends the process, whatever it is", () => {
    const I386 = 0x40000003;
    const ARM = 0x40000028;
    for (const architecture of [I386, ARM, 0, AUDIT_ARCHITECTURE[other(processor)]]) {
      for (const call of [0, 1, 101, 0x40000000]) expect(judgedByProgram(bytes, call, [], architecture)).toBe(KILL);
    }
  });

  test("x32 calls end the process, the last number below them is a call that does not exist", () => {
    const ends = [0x3fffffff, 0x40000000, 0x40000065, 0xffffffff].map((call) => on(call));
    expect(ends).toEqual(processor === "x64" ? [ENOSYS, KILL, KILL, KILL] : [ENOSYS, ENOSYS, ENOSYS, ENOSYS]);
  });

  test("processes and threads can be started, in no new namespace of any kind", () => {
    const SIGCHLD = 17;
    const threadOfLibc = 0x3d0f00;
    expect([byName("clone", SIGCHLD), byName("clone", threadOfLibc), byName("clone3")]).toEqual([ALLOW, ALLOW, ENOSYS]);
    const namespaces = {
      mount: 0x20000,
      cgroup: 0x2000000,
      uts: 0x4000000,
      ipc: 0x8000000,
      user: 0x10000000,
      pid: 0x20000000,
      network: 0x40000000,
    };
    for (const flag of Object.values(namespaces)) expect(byName("clone", flag | SIGCHLD)).toBe(EPERM);
  });

  test("sockets are local, of the internet and for routes; pairs are local", () => {
    const families = Array.from({ length: 64 }, (_, family) => family);
    const allowed = (name: "socket" | "socketpair") => families.filter((family) => byName(name, family) === ALLOW);
    expect([allowed("socket"), allowed("socketpair")]).toEqual([[1, 2, 10, 16], [1]]);
    expect([byName("socket", 40), byName("socketpair", 30), byName("socket", 0xffffffff)]).toEqual([
      EAFNOSUPPORT,
      EAFNOSUPPORT,
      EAFNOSUPPORT,
    ]);
  });

  test("netlink is for routes and addresses alone, whatever the kind of socket", () => {
    const [NETLINK, INTERNET, RAW, DATAGRAM] = [16, 2, 3, 2];
    const protocols = Array.from({ length: 32 }, (_, protocol) => protocol);
    const allowed = (kind: number) =>
      protocols.filter((protocol) => byName("socket", NETLINK, kind, protocol) === ALLOW);
    expect([allowed(RAW), allowed(DATAGRAM)]).toEqual([[0], [0]]);
    expect(byName("socket", NETLINK, RAW, 4)).toBe("errno 93");
    const socket = callNumber(JUDGED_CALLS.socket, processor) as number;
    expect(judgedByProgram(bytes, socket, [NETLINK, RAW, 4], AUDIT_ARCHITECTURE[processor], 0xffffffff)).toBe(
      "errno 93",
    );
    expect(byName("socket", INTERNET, 1, 6)).toBe(ALLOW);
  });

  test("nobody takes a lease or listens to a directory by descriptor; locks, flags and copies are as ever", () => {
    const EINVAL = "errno 22";
    const [F_SETLEASE, F_NOTIFY, F_SETDELEG] = [1024, 1026, 1040];
    const refused = [F_SETLEASE, F_NOTIFY, F_SETDELEG, 12, 14, 1029 + 0x10000, 0xffffffff];
    expect(refused.map((command) => byName("fcntl", 3, command))).toEqual(refused.map(() => EINVAL));
    const [F_DUPFD, F_SETFD, F_SETFL, F_SETLKW, F_OFD_SETLK, F_DUPFD_CLOEXEC, F_ADD_SEALS] = [
      0, 2, 4, 7, 37, 1030, 1033,
    ];
    const used = [F_DUPFD, F_SETFD, F_SETFL, F_SETLKW, F_OFD_SETLK, F_DUPFD_CLOEXEC, F_ADD_SEALS];
    expect(used.map((command) => byName("fcntl", 3, command))).toEqual(used.map(() => ALLOW));
    const fcntl = callNumber(JUDGED_CALLS.fcntl, processor) as number;
    expect(judgedByProgram(bytes, fcntl, [3, F_SETLEASE], AUDIT_ARCHITECTURE[processor], 0xffffffff)).toBe(EINVAL);
  });

  test("nothing is typed into terminals, other requests pass", () => {
    const [TIOCSTI, TIOCLINUX, TCGETS, TIOCGWINSZ] = [0x5412, 0x541c, 0x5401, 0x5413];
    expect([TIOCSTI, TIOCLINUX, TCGETS, TIOCGWINSZ].map((request) => byName("ioctl", 0, request))).toEqual([
      EPERM,
      EPERM,
      ALLOW,
      ALLOW,
    ]);
  });

  test("the high half of an argument changes nothing", () => {
    const ioctl = callNumber(JUDGED_CALLS.ioctl, processor) as number;
    expect(judgedByProgram(bytes, ioctl, [0, 0x5412], AUDIT_ARCHITECTURE[processor], 0xffffffff)).toBe(EPERM);
  });

  test("protections of the address space stay on", () => {
    const NO_RANDOM_ADDRESSES = 0x40000;
    const ask = 0xffffffff;
    expect(
      [0, ask, 8, NO_RANDOM_ADDRESSES, NO_RANDOM_ADDRESSES | 8].map((value) => byName("personality", value)),
    ).toEqual([ALLOW, ALLOW, ALLOW, EPERM, EPERM]);
  });

  test("no file gets a set-id bit, at any of its boundaries", () => {
    const modes = [0o777, 0o1777, 0o2000, 0o4000, 0o6755, 0o10644];
    const ends = [ALLOW, ALLOW, EPERM, EPERM, EPERM, ALLOW];
    const endsOf = (call: (mode: number) => string | undefined) => modes.map((mode) => call(mode));
    const olderEnds = ends.map((end) => older(end));
    expect(endsOf((mode) => byName("chmod", 0, mode))).toEqual(olderEnds);
    expect(endsOf((mode) => byName("fchmod", 0, mode))).toEqual(ends);
    expect(endsOf((mode) => byName("fchmodat", 0, 0, mode))).toEqual(ends);
    expect(endsOf((mode) => byName("creat", 0, mode))).toEqual(olderEnds);
    expect(endsOf((mode) => byName("mknod", 0, mode))).toEqual(olderEnds);
    expect(endsOf((mode) => byName("mknodat", 0, 0, mode))).toEqual(ends);
    expect([byName("fchmodat2"), byName("openat2")]).toEqual([ENOSYS, ENOSYS]);
  });

  test("opening looks at a mode only where one is read", () => {
    const [O_CREAT, O_TMPFILE] = [0o100, 0o20200000];
    const unset = 0o6755;
    const endsOf = (mode: number) =>
      [0, O_CREAT, O_TMPFILE].map((flags) => [byName("open", 0, flags, mode), byName("openat", 0, 0, flags, mode)]);
    expect(endsOf(unset)).toEqual([
      [older(ALLOW), ALLOW],
      [older(EPERM), EPERM],
      [older(EPERM), EPERM],
    ]);
    expect(
      endsOf(0o644)
        .flat()
        .filter((end) => end !== undefined && end !== ALLOW),
    ).toEqual([]);
  });
});

function other(processor: Processor): Processor {
  return processor === "x64" ? "arm64" : "x64";
}
