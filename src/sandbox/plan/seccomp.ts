/**
 * The system call filter of the sandbox: a program of classic BPF for seccomp, made here, so that no compiler is needed.
 *
 * Decides which calls the kernel of the machine takes from inside. It does not trust the processor that is announced: a call of any other
 * instruction set ends the process. INVARIANTS: pure, and the same for the same processor; what cannot be looked at because it stands behind a
 * pointer (`clone3`, `openat2`, `fchmodat2`) is said not to exist, so that libraries fall back on calls that can; no file
 * gets a set-id bit, because files may belong to root outside.
 */
import { blake3Hex } from "../../base/hash.ts";
import { AUDIT_ARCHITECTURE, callNumber, JUDGED_CALLS, type Processor, REFUSED_CALLS } from "./syscall-numbers.ts";

/** A program as the kernel takes it: 8 bytes for each instruction, little endian. */
export interface SeccompProgram {
  readonly bytes: Uint8Array;
  readonly instructions: number;
  /** BLAKE3-256 of `bytes`, hexadecimal; part of what is recorded of a run. */
  readonly digest: string;
}

// linux/bpf_common.h
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

// linux/seccomp.h
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL = 0x00050000;

// errno values, the same on both processors
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

// struct seccomp_data; the low half of an argument comes first on both processors
const CALL = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

/** Numbers from here on are calls of the x32 instruction set, which shares x86-64's name. */
const X32_CALLS = 0x40000000;
/** `CLONE_NEW*`: a new namespace of any kind. */
const NEW_NAMESPACE = 0x7e020000;
const SET_ID_BITS = 0o6000;
/** `O_CREAT` and `O_TMPFILE`'s own bit: only with one of them is a mode read. */
const CREATES = 0o100 | 0o20000000;
/** Families of sockets: local, internet, and the kernel's own (routes and addresses inside the namespace). */
const LOCAL_SOCKETS = 1;
const SOCKET_FAMILIES = [LOCAL_SOCKETS, 2, 10, 16];
/** `TIOCSTI` types into a terminal, `TIOCLINUX` pastes into a console. */
const TERMINAL_REQUESTS = [0x5412, 0x541c];
/** Linux's own, that of its 32-bit programs, both with an old version's number, and asking which it is; others switch protections off. */
const PERSONALITIES = [0, 0x0008, 0x00020000, 0x00020008, 0xffffffff];

type Instruction = readonly [code: number, value: number, ifTrue: number, ifFalse: number];

/** The filter for `processor`. */
export function seccompProgram(processor: Processor): SeccompProgram {
  const instructions: Instruction[] = [
    [LOAD, ARCHITECTURE, 0, 0],
    [IF_EQUAL, AUDIT_ARCHITECTURE[processor], 1, 0],
    [RETURN, KILL_PROCESS, 0, 0],
    [LOAD, CALL, 0, 0],
    ...(processor === "x64" ? refuseX32() : []),
  ];
  for (const call of Object.values(REFUSED_CALLS)) instructions.push(...onCall(callNumber(call, processor), [fail(EPERM)]));
  for (const [name, judgement] of Object.entries(judgements())) {
    const call = JUDGED_CALLS[name as keyof typeof JUDGED_CALLS];
    instructions.push(...onCall(callNumber(call, processor), judgement));
  }
  instructions.push([RETURN, ALLOW, 0, 0]);
  const bytes = encode(instructions);
  return { bytes, instructions: instructions.length, digest: blake3Hex(bytes) };
}

function refuseX32(): readonly Instruction[] {
  return [
    [IF_AT_LEAST, X32_CALLS, 0, 1],
    [RETURN, KILL_PROCESS, 0, 0],
  ];
}

/** What is done with each call whose arguments decide; every list ends with a return. */
function judgements(): Readonly<Record<keyof typeof JUDGED_CALLS, readonly Instruction[]>> {
  return {
    clone: failOnBits(0, NEW_NAMESPACE),
    clone3: [fail(ENOSYS)],
    socket: allowOnly(0, SOCKET_FAMILIES, EAFNOSUPPORT),
    socketpair: allowOnly(0, [LOCAL_SOCKETS], EAFNOSUPPORT),
    ioctl: failOn(1, TERMINAL_REQUESTS),
    personality: allowOnly(0, PERSONALITIES, EPERM),
    open: failOnCreatedMode(1, 2),
    creat: failOnBits(1, SET_ID_BITS),
    openat: failOnCreatedMode(2, 3),
    openat2: [fail(ENOSYS)],
    chmod: failOnBits(1, SET_ID_BITS),
    fchmod: failOnBits(1, SET_ID_BITS),
    fchmodat: failOnBits(2, SET_ID_BITS),
    fchmodat2: [fail(ENOSYS)],
    mknod: failOnBits(1, SET_ID_BITS),
    mknodat: failOnBits(2, SET_ID_BITS),
  };
}

/** `body`, which ends with a return, if the loaded number is `call`; the number stays loaded for what follows otherwise. */
function onCall(call: number | undefined, body: readonly Instruction[]): readonly Instruction[] {
  return call === undefined ? [] : [[IF_EQUAL, call, 0, body.length], ...body];
}

function fail(error: number): Instruction {
  return [RETURN, FAIL | error, 0, 0];
}

function failOnBits(index: number, bits: number): readonly Instruction[] {
  return [[LOAD, argument(index), 0, 0], [IF_ANY_BIT, bits, 0, 1], fail(EPERM), [RETURN, ALLOW, 0, 0]];
}

/** Without a flag that creates, the mode is whatever the register holds. */
function failOnCreatedMode(flags: number, mode: number): readonly Instruction[] {
  return [[LOAD, argument(flags), 0, 0], [IF_ANY_BIT, CREATES, 1, 0], [RETURN, ALLOW, 0, 0], ...failOnBits(mode, SET_ID_BITS)];
}

function failOn(index: number, values: readonly number[]): readonly Instruction[] {
  const refused = values.flatMap((value): Instruction[] => [[IF_EQUAL, value, 0, 1], fail(EPERM)]);
  return [[LOAD, argument(index), 0, 0], ...refused, [RETURN, ALLOW, 0, 0]];
}

function allowOnly(index: number, values: readonly number[], error: number): readonly Instruction[] {
  const allowed = values.flatMap((value): Instruction[] => [
    [IF_EQUAL, value, 0, 1],
    [RETURN, ALLOW, 0, 0],
  ]);
  return [[LOAD, argument(index), 0, 0], ...allowed, fail(error)];
}

function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [place, [code, value, ifTrue, ifFalse]] of instructions.entries()) {
    bytes.writeUInt16LE(code, place * 8);
    bytes[place * 8 + 2] = ifTrue;
    bytes[place * 8 + 3] = ifFalse;
    bytes.writeUInt32LE(value >>> 0, place * 8 + 4);
  }
  return bytes;
}
