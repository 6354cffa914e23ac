// System calls that lead out of a sandbox or into the depths of the machine's kernel: each works in the control, which
// does without the filter (or without what the test names), and is refused with it. Nothing here changes the machine.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { INSIDE_WORKSPACE } from "../../../src/sandbox/plan/plan.ts";
import { callNumber, JUDGED_CALLS, type Processor, REFUSED_CALLS } from "../../../src/sandbox/plan/syscall-numbers.ts";
import {
  asSandboxUser,
  newSandboxPlace,
  perl,
  type SandboxPlace,
  sandboxUser,
  type Without,
} from "../../support/sandbox-place.ts";

const ALL = { ...REFUSED_CALLS, ...JUDGED_CALLS };
const EPERM = "1";
const ENOSYS = "38";
const EINVAL = "22";
const EPROTONOSUPPORT = "93";
const EAFNOSUPPORT = "97";

let place: SandboxPlace;
beforeAll(() => {
  place = newSandboxPlace();
});
afterAll(() => place.close());

function number(name: keyof typeof ALL): number {
  return callNumber(ALL[name], process.arch as Processor) ?? -1;
}

/** What the Perl program prints under the defences, and in the control. */
async function bothEnds(
  without: Without,
  program: string,
): Promise<{ readonly defended: string; readonly control: string }> {
  const [defended, control] = [await place.run(perl(program)), await place.runWithout(without, perl(program))];
  expect([defended.stderr, control.stderr]).toEqual(["", ""]);
  return { defended: defended.stdout.trim(), control: control.stdout.trim() };
}

/** A path of the workspace as commands see it. */
function inWorkspace(name: string): string {
  return `${INSIDE_WORKSPACE}/${name}`;
}

/**
 * A program for x86-64 that asks for a socket as a 32-bit program would (`int 0x80`), and ends with 0 when it got one.
 */
function socketCall32(): Uint8Array {
  const start = 0x400000;
  const header = 64 + 56;
  // eax = 102 (socketcall), ebx = 1 (socket), ecx = arguments, int 0x80; then edi = 1 if that was negative, eax = 60
  // (exit), syscall
  const code = [
    0xb8, 102, 0, 0, 0, 0xbb, 1, 0, 0, 0, 0xb9, 0, 0, 0, 0, 0xcd, 0x80, 0xc1, 0xe8, 31, 0x89, 0xc7, 0xb8, 60, 0, 0, 0,
    0x0f, 0x05,
  ];
  const bytes = Buffer.alloc(header + code.length + 12);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(bytes);
  for (const [at, value] of [
    [16, 2],
    [18, 62],
    [52, 64],
    [54, 56],
    [56, 1],
  ] as const)
    bytes.writeUInt16LE(value, at);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(BigInt(start + header), 24);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt32LE(1, 64); // one segment, readable and executable
  bytes.writeUInt32LE(5, 68);
  for (const [at, value] of [
    [72, 0],
    [80, start],
    [88, start],
    [96, bytes.length],
    [104, bytes.length],
    [112, 0x1000],
  ] as const)
    bytes.writeBigUInt64LE(BigInt(value), at);
  Buffer.from(code).copy(bytes, header);
  bytes.writeUInt32LE(start + header + code.length, header + 11);
  // local, stream
  for (const [index, value] of [1, 1, 0].entries()) bytes.writeUInt32LE(value, header + code.length + 4 * index);
  return bytes;
}

const WITHOUT_FILTER: Without = { filter: true };

const CALLS = {
  "a process makes itself traceable": `try(${number("ptrace")}, 0, 0, 0, 0)`,
  "memory of another process is read": `my $room = "\\0" x 16; try(${number("process_vm_readv")}, $$ + 0, $room, 0, $room, 0, 0)`,
  "processes are compared": `try(${number("kcmp")}, $$ + 0, $$ + 0, 1, 0, 0)`,
  "a key ring of the machine is asked for": `try(${number("keyctl")}, 0, -3, 1)`,
  "a key is left in a ring that sandboxes of one user share": `try(${number("add_key")}, "user\\0", "mark\\0", "value", 5, -1)`,
  "calls are queued beside the filter": `my $room = "\\0" x 200; try(${number("io_uring_setup")}, 4, $room)`,
  "page faults are taken over": `try(${number("userfaultfd")}, 1)`,
  "a mount is taken by handle": `try(${number("open_tree")}, -100, "/usr\\0", 0)`,
  "a file is named by handle": `my $handle = pack("Ii", 128, 0) . "\\0" x 128; my $mount = "\\0" x 8; try(${number("name_to_handle_at")}, -100, "/usr\\0", $handle, $mount, 0)`,
  "what happens to files is listened to": `try(${number("fanotify_init")}, 0x200, 0)`,
  "memory is moved between nodes": `try(${number("move_pages")}, 0, 0, 0, 0, 0, 0)`,
  "the address space loses its randomness": `try(${number("personality")}, 0x40000)`,
};

test.each(Object.entries(CALLS))("%s", async (_, program) => {
  expect(await bothEnds(WITHOUT_FILTER, program)).toEqual({ defended: EPERM, control: "ok" });
});

test("a descriptor is taken from another process", async () => {
  const PIDFD_OPEN = 434;
  const program = `my $process = syscall(${PIDFD_OPEN}, $$ + 0, 0); try(${number("pidfd_getfd")}, $process, 1, 0)`;
  expect(await bothEnds(WITHOUT_FILTER, program)).toEqual({ defended: EPERM, control: "ok" });
});

test("calls whose arguments stand in memory do not exist", async () => {
  const made = `my $how = pack("Q3", 0102, 0644, 0); try(${number("openat2")}, -100, "file\\0", $how, 24); try(${number("fchmodat2")}, -100, "file\\0", 0600, 0); unlink "file"`;
  expect(await bothEnds(WITHOUT_FILTER, made)).toEqual({ defended: `${ENOSYS}\n${ENOSYS}`, control: "ok\nok" });
});

test("sockets to the machine's hypervisor and to protocols that nobody needs", async () => {
  const open = (family: number, kind: number) =>
    `socket(my $s${family}, ${family}, ${kind}, 0) ? print "ok\\n" : print $! + 0, "\\n";`;
  const [VSOCK, LOCAL, INTERNET] = [40, 1, 2];
  const ends = await bothEnds(WITHOUT_FILTER, [open(VSOCK, 1), open(LOCAL, 1), open(INTERNET, 1)].join(" "));
  expect(ends.defended).toBe(`${EAFNOSUPPORT}\nok\nok`);
  expect(ends.control).toBe("ok\nok\nok");
});

test("netlink: routes and addresses, and nothing deeper in the machine's kernel", async () => {
  const NETLINK = 16;
  const open = (kind: number, protocol: number) =>
    `socket(my $s${protocol}, ${NETLINK}, ${kind}, ${protocol}) ? print "ok\\n" : print $! + 0, "\\n";`;
  const [RAW, DATAGRAM, ROUTE, SOCKETS, GENERIC] = [3, 2, 0, 4, 16];
  const ends = await bothEnds(
    WITHOUT_FILTER,
    [open(RAW, ROUTE), open(DATAGRAM, ROUTE), open(RAW, SOCKETS), open(RAW, GENERIC)].join(" "),
  );
  expect(ends.defended.split("\n")).toEqual(["ok", "ok", EPROTONOSUPPORT, EPROTONOSUPPORT]);
  expect(ends.control.split("\n")).toEqual(["ok", "ok", "ok", "ok"]);
});

test("names are still looked up and addresses listed, which goes by netlink", async () => {
  const looked = await place.run("getent ahosts localhost; python3 -c 'import socket; print(socket.if_nameindex())'");
  expect(looked.stderr).toBe("");
  expect(looked.stdout).toContain("127.0.0.1");
  expect(looked.stdout).toContain("(1, 'lo')");
});

test("a socket by the calls of 32-bit programs, which take their arguments from memory", async () => {
  const file = join(place.root, "socketcall");
  writeFileSync(file, socketCall32(), { mode: 0o755 });
  const [{ end }, control] = [
    await place.run([inWorkspace("socketcall")]),
    await place.runWithout(WITHOUT_FILTER, [inWorkspace("socketcall")]),
  ];
  const [SIGSYS, SIGSEGV] = [31, 11];
  // ARM has no such calls, and a kernel for 64-bit programs alone ends who tries: then there is nothing to defend
  const outside = spawnSync(file, { stdio: "ignore" });
  const none = process.arch === "arm64" ? 126 : outside.signal === "SIGSEGV" ? 128 + SIGSEGV : undefined;
  expect([end.exitCode, control.end.exitCode]).toEqual(none === undefined ? [128 + SIGSYS, 0] : [none, none]);
});

test("a lease on a file, and a notice of what happens in a directory: both by way of `fcntl`", async () => {
  const [F_SETLEASE, F_NOTIFY, F_WRLCK, F_RDLCK, DN_CREATE] = [1024, 1026, 1, 0, 4];
  const fcntl = number("fcntl");
  const program = `$SIG{IO} = "IGNORE"; open(FILE, "+>", "leased"); try(${fcntl}, fileno(FILE), ${F_SETLEASE}, ${F_WRLCK}); close(FILE);
    open(FILE, "<", "leased"); try(${fcntl}, fileno(FILE), ${F_SETLEASE}, ${F_RDLCK}); close(FILE);
    opendir(HERE, "."); try(${fcntl}, fileno(HERE), ${F_NOTIFY}, ${DN_CREATE})`;
  expect(await bothEnds(WITHOUT_FILTER, program)).toEqual({
    defended: `${EINVAL}\n${EINVAL}\n${EINVAL}`,
    control: "ok\nok\nok",
  });
});

test("locks of files work as ever", async () => {
  const python =
    "import fcntl; f = open('locked', 'w'); fcntl.flock(f, 2); fcntl.lockf(f, 2); print(fcntl.fcntl(f, fcntl.F_GETFL) & 3)";
  expect((await place.run(["python3", "-c", python])).stdout).toBe("1\n");
});

test("a process of the same user outside is traced by none inside", async () => {
  const isRoot = process.geteuid?.() === 0;
  // one that lets anybody trace it, so that nothing but the sandbox stands in the way
  const [PR_SET_PTRACER, ANYBODY] = ["0x59616d61", "-1"];
  const PRCTL = process.arch === "x64" ? 157 : 167;
  const victim = spawn(
    "/usr/bin/perl",
    ["-e", `$| = 1; syscall(${PRCTL}, ${PR_SET_PTRACER}, ${ANYBODY}, 0, 0, 0); print 1; sleep 60`],
    {
      stdio: ["ignore", "pipe", "ignore"],
      ...(isRoot && { uid: sandboxUser(), gid: sandboxUser() }),
    },
  );
  onTestFinished(() => void victim.kill("SIGKILL"));
  await once(victim.stdout, "data");
  const PTRACE_SEIZE = 0x4206;
  const program = perl(`try(${number("ptrace")}, ${PTRACE_SEIZE}, ${victim.pid}, 0, 0)`);
  expect(asSandboxUser(...program)).toBe("ok\n");
  const ESRCH = "3";
  const withFilter = (await place.run(program)).stdout.trim();
  const without = (await place.runWithout(WITHOUT_FILTER, program)).stdout.trim();
  expect([withFilter, without]).toEqual([EPERM, ESRCH]);
});

test("a namespace within: refused by the filter and, without that, by bwrap's own limit", async () => {
  const NEW_USER = 0x10000000;
  const program = `try(${number("unshare")}, ${NEW_USER})`;
  const ENOSPC = "28";
  expect(await bothEnds({ filter: true, options: [["--disable-userns"]] }, program)).toEqual({
    defended: EPERM,
    control: "ok",
  });
  expect(await bothEnds(WITHOUT_FILTER, program)).toEqual({ defended: EPERM, control: ENOSPC });
});

test("a process in new namespaces", async () => {
  const [NEW_USER, SIGCHLD] = [0x10000000, 17];
  const born = (call: string) => `my $child = ${call}; exit 0 if $child == 0; print $child > 0 ? "ok" : $! + 0;`;
  const cloned = born(`syscall(${number("clone")}, ${NEW_USER | SIGCHLD}, 0, 0, 0, 0)`);
  const clonedByStruct = `my $how = pack("Q11", ${NEW_USER}, 0, 0, 0, ${SIGCHLD}, 0, 0, 0, 0, 0, 0); ${born(`syscall(${number("clone3")}, $how, 88)`)}`;
  const without = { filter: true, options: [["--disable-userns"]] } as const;
  expect(await bothEnds(without, cloned)).toEqual({ defended: EPERM, control: "ok" });
  expect(await bothEnds(without, clonedByStruct)).toEqual({ defended: ENOSYS, control: "ok" });
});

test("mounts: without the filter a process that may make namespaces mounts what it likes", async () => {
  const program = `syscall(${number("unshare")}, 0x10020000); try(${number("mount")}, "none\\0", "/tmp\\0", "tmpfs\\0", 0, 0)`;
  const without = { filter: true, options: [["--disable-userns"]] } as const;
  expect(await bothEnds(without, program)).toEqual({ defended: EPERM, control: "ok" });
});

test("files with a set-id bit: no family of calls makes one", async () => {
  const S = "04755";
  const arm = process.arch === "arm64";
  const attempts = [
    ...(arm ? [] : [`try(${number("chmod")}, "file\\0", ${S})`, `try(${number("creat")}, "created\\0", ${S})`]),
    ...(arm
      ? []
      : [`try(${number("open")}, "opened\\0", 0101, ${S})`, `try(${number("mknod")}, "node\\0", 0100000 | ${S}, 0)`]),
    `try(${number("fchmod")}, fileno(FILE), ${S})`,
    `try(${number("fchmodat")}, -100, "file\\0", ${S})`,
    `try(${number("openat")}, -100, "openedat\\0", 0101, ${S})`,
    `try(${number("mknodat")}, -100, "nodeat\\0", 0100000 | ${S}, 0)`,
    `my $how = pack("Q3", 0101, ${S}, 0); try(${number("openat2")}, -100, "opened2\\0", $how, 24)`,
    `try(${number("fchmodat2")}, -100, "file\\0", ${S}, 0)`,
  ];
  const program = `umask 0; open(FILE, ">", "file"); ${attempts.join("; ")}; my @made = grep { -u } glob "*"; print "made: ", scalar(@made); unlink glob "*"`;
  const { defended, control } = await bothEnds(WITHOUT_FILTER, program);
  expect(defended.split("\n")).toEqual([...Array(attempts.length - 2).fill(EPERM), ENOSYS, ENOSYS, "made: 0"]);
  expect(control.split("\n").slice(0, -1)).toEqual(Array(attempts.length).fill("ok"));
  expect(Number(control.split(": ")[1])).toBeGreaterThan(2);
});

test("calls of the x32 instruction set end the process, where there is one", async () => {
  const X32_GETPID = 0x40000000 + 39;
  const program = perl(`syscall(${X32_GETPID}); print "went on"`);
  const [{ end }, control] = [await place.run(program), await place.runWithout(WITHOUT_FILTER, program)];
  const SIGSYS = 31;
  expect([end.exitCode, control.stdout]).toEqual([process.arch === "x64" ? 128 + SIGSYS : 0, "went on"]);
});

test("typing into a terminal", async () => {
  const TIOCSTI = 0x5412;
  // a terminal of the command's own shows that the request is what is refused
  const program = `open(PTY, "+<", "/dev/ptmx") or die; my $number = "\\0" x 4; my $lock = "\\0" x 4; ioctl(PTY, 0x40045431, $lock); ioctl(PTY, 0x80045430, $number);
    my $name = "/dev/pts/" . unpack("i", $number); require POSIX; POSIX::setsid(); fork and do { wait; exit }; POSIX::setsid(); open(TTY, "+<", $name) or die; ioctl(TTY, 0x540e, 0);
    my $key = "x"; print ioctl(TTY, ${TIOCSTI}, $key) ? "ok" : $! + 0`;
  const { defended, control } = await bothEnds(WITHOUT_FILTER, program);
  const EIO = "5"; // machines that have done away with it
  expect(defended).toBe(EPERM);
  expect(["ok", EIO]).toContain(control);
});
