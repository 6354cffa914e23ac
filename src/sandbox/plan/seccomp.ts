/**
 * Assembles the sandbox's system call filter, a classic BPF program for seccomp.
 *
 * It is made here, so that no compiler is needed. The filter decides which calls the kernel of the machine takes from
 * inside, and the rules say which are refused. It does not trust the processor that is announced: a call of any other
 * instruction set ends the process, and a call that is newer than the rules does not exist.
 *
 * INVARIANT: it is pure, and gives the same program for the same processor.
 */
import { blake3Hex } from "../../base/hash.ts";
import { type AllowOnly, ENOSYS, JUDGEMENTS, type Judgement, REFUSED_ERROR } from "./seccomp-rules.ts";
import {
  AUDIT_ARCHITECTURE,
  callNumber,
  FIRST_UNKNOWN_CALL,
  JUDGED_CALLS,
  type Processor,
  REFUSED_CALLS,
} from "./syscall-numbers.ts";

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

// struct seccomp_data; the low half of an argument comes first on both processors
const CALL = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

/** Numbers from here on are calls of the x32 instruction set, which shares x86-64's name. */
const X32_CALLS = 0x40000000;

type Instruction = readonly [code: number, value: number, ifTrue: number, ifFalse: number];

/** The filter for `processor`. */
export function seccompProgram(processor: Processor): SeccompProgram {
  const instructions: Instruction[] = [
    [LOAD, ARCHITECTURE, 0, 0],
    [IF_EQUAL, AUDIT_ARCHITECTURE[processor], 1, 0],
    [RETURN, KILL_PROCESS, 0, 0],
    [LOAD, CALL, 0, 0],
    ...(processor === "x64" ? refuseX32() : []),
    ...[[IF_AT_LEAST, FIRST_UNKNOWN_CALL, 0, 1] as const, fail(ENOSYS)],
  ];
  for (const call of Object.values(REFUSED_CALLS))
    instructions.push(...onCall(callNumber(call, processor), [fail(REFUSED_ERROR)]));
  for (const [name, judgement] of Object.entries(JUDGEMENTS)) {
    const call = JUDGED_CALLS[name as keyof typeof JUDGED_CALLS];
    instructions.push(...onCall(callNumber(call, processor), judged(judgement)));
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

/** Every list ends with a return. */
function judged(judgement: Judgement): readonly Instruction[] {
  switch (judgement.kind) {
    case "fail":
      return [fail(judgement.error)];
    case "fail_on_bits":
      return failOnBits(judgement);
    case "fail_on_bits_with_flags": {
      const { flagsArgument, flags } = judgement;
      return [
        [LOAD, argument(flagsArgument), 0, 0],
        [IF_ANY_BIT, flags, 1, 0],
        [RETURN, ALLOW, 0, 0],
        ...failOnBits(judgement),
      ];
    }
    case "fail_on": {
      const refused = judgement.values.flatMap((value): Instruction[] => [
        [IF_EQUAL, value, 0, 1],
        fail(judgement.error),
      ]);
      return [[LOAD, argument(judgement.argument), 0, 0], ...refused, [RETURN, ALLOW, 0, 0]];
    }
    case "allow_only":
      return allowOnly(judgement);
  }
}

/**
 * `body`, which ends with a return, if the loaded number is `call`; the number stays loaded for what follows otherwise.
 */
function onCall(call: number | undefined, body: readonly Instruction[]): readonly Instruction[] {
  return call === undefined ? [] : [[IF_EQUAL, call, 0, body.length], ...body];
}

function fail(error: number): Instruction {
  return [RETURN, FAIL | error, 0, 0];
}

function failOnBits({
  argument: index,
  bits,
  error,
}: {
  argument: number;
  bits: number;
  error: number;
}): readonly Instruction[] {
  return [[LOAD, argument(index), 0, 0], [IF_ANY_BIT, bits, 0, 1], fail(error), [RETURN, ALLOW, 0, 0]];
}

function allowOnly({ argument: index, values, error, narrowed }: Omit<AllowOnly, "kind">): readonly Instruction[] {
  const allowed = values.flatMap((value): readonly Instruction[] => {
    const end: readonly Instruction[] = narrowed?.value === value ? allowOnly(narrowed) : [[RETURN, ALLOW, 0, 0]];
    return [[IF_EQUAL, value, 0, end.length], ...end];
  });
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
