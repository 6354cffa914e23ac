/**
 * The rules about system calls as an OCI runtime takes them. Pure, and made of the rules that bwrap's filter is made
 * of.
 *
 * INVARIANT: what no rule names does not exist, because the library that makes the filter passes over names that it
 * does not know. Conditions look at the low half of an argument, as the machine's kernel takes it.
 */
import { type AllowOnly, ENOSYS, JUDGEMENTS, type Judgement, REFUSED_ERROR } from "../plan/seccomp-rules.ts";
import { callNumber, JUDGED_CALLS, type Processor, REFUSED_CALLS } from "../plan/syscall-numbers.ts";
import { ALLOWED_CALLS } from "./allowed-calls.ts";

/** A condition: the argument under the mask `value` is `valueTwo`. */
export interface OciCondition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo: number;
  readonly op: "SCMP_CMP_MASKED_EQ";
}

/** What becomes of calls; all conditions must hold. */
export interface OciRule {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  readonly errnoRet?: number;
  readonly args?: readonly OciCondition[];
}

/** `linux.seccomp` of a container's configuration. */
export interface OciSeccomp {
  readonly defaultAction: "SCMP_ACT_ERRNO";
  readonly defaultErrnoRet: number;
  readonly architectures: readonly string[];
  readonly syscalls: readonly OciRule[];
}

const ARCHITECTURES: Readonly<Record<Processor, string>> = { x64: "SCMP_ARCH_X86_64", arm64: "SCMP_ARCH_AARCH64" };

/** The filter for `processor`. */
export function ociSeccomp(processor: Processor): OciSeccomp {
  const known = (call: readonly [number, number | undefined]): boolean => callNumber(call, processor) !== undefined;
  const refused = Object.entries(REFUSED_CALLS).flatMap(([name, call]) => (known(call) ? [name] : []));
  const judged = Object.entries(JUDGEMENTS).filter(([name]) => known(JUDGED_CALLS[name as keyof typeof JUDGED_CALLS]));
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: ENOSYS,
    architectures: [ARCHITECTURES[processor]],
    syscalls: [
      { names: ALLOWED_CALLS, action: "SCMP_ACT_ALLOW" },
      { names: refused, action: "SCMP_ACT_ERRNO", errnoRet: REFUSED_ERROR },
      ...judged.flatMap(([name, judgement]) => rulesOf(name, judgement)),
    ],
  };
}

function rulesOf(name: string, judgement: Judgement): readonly OciRule[] {
  const names = [name];
  const allow = (...args: readonly OciCondition[]): OciRule => ({ names, action: "SCMP_ACT_ALLOW", args });
  const fail = (...args: readonly OciCondition[]): OciRule => ({
    names,
    action: "SCMP_ACT_ERRNO",
    errnoRet: judgement.error,
    args,
  });
  switch (judgement.kind) {
    case "fail":
      return [{ names, action: "SCMP_ACT_ERRNO", errnoRet: judgement.error }];
    case "fail_on_bits": {
      const { argument, bits } = judgement;
      return [allow(noneOf(argument, bits)), ...eachBit(bits).map((bit) => fail(all(argument, bit)))];
    }
    case "fail_on_bits_with_flags": {
      const { flagsArgument, flags, argument, bits } = judgement;
      const without = allow(noneOf(flagsArgument, flags));
      const perFlag = eachBit(flags).flatMap((flag) => [
        allow(all(flagsArgument, flag), noneOf(argument, bits)),
        ...eachBit(bits).map((bit) => fail(all(flagsArgument, flag), all(argument, bit))),
      ]);
      return [without, ...perFlag];
    }
    case "fail_on": {
      const { argument, values } = judgement;
      return [
        ...values.map((value) => fail(masked(argument, LOW_HALF, value))),
        ...blocksWithout(values).map(({ mask, value }) => allow(masked(argument, mask, value))),
      ];
    }
    case "allow_only":
      return allowedOnly(names, judgement, []);
  }
}

/** The rules of `judgement` for calls that `given` holds for. */
function allowedOnly(
  names: readonly string[],
  { argument, values, error, narrowed }: Omit<AllowOnly, "kind">,
  given: readonly OciCondition[],
): readonly OciRule[] {
  const allow = (condition: OciCondition): OciRule => ({
    names,
    action: "SCMP_ACT_ALLOW",
    args: [...given, condition],
  });
  const fail = (condition: OciCondition): OciRule => ({
    names,
    action: "SCMP_ACT_ERRNO",
    errnoRet: error,
    args: [...given, condition],
  });
  const plain = values.filter((value) => value !== narrowed?.value);
  return [
    ...plain.map((value) => allow(masked(argument, LOW_HALF, value))),
    ...(narrowed === undefined
      ? []
      : allowedOnly(names, narrowed, [...given, masked(argument, LOW_HALF, narrowed.value)])),
    ...blocksWithout(values).map(({ mask, value }) => fail(masked(argument, mask, value))),
  ];
}

const LOW_HALF = 0xffffffff;

function masked(index: number, mask: number, value: number): OciCondition {
  return { index, value: mask, valueTwo: value, op: "SCMP_CMP_MASKED_EQ" };
}

function noneOf(argument: number, bits: number): OciCondition {
  return masked(argument, bits, 0);
}

function all(argument: number, bits: number): OciCondition {
  return masked(argument, bits, bits);
}

function eachBit(bits: number): readonly number[] {
  return Array.from({ length: 32 }, (_, place) => 2 ** place).filter((bit) => (bits & bit) !== 0);
}

interface Block {
  readonly mask: number;
  readonly value: number;
}

/** All numbers of 32 bits but `values`, as the fewest blocks that a mask can tell. */
function blocksWithout(values: readonly number[], start = 0, bits = 32): readonly Block[] {
  const size = 2 ** bits;
  const within = values.filter((value) => value >= start && value < start + size);
  if (within.length === 0) return [{ mask: 2 ** 32 - size, value: start }];
  if (bits === 0) return [];
  return [...blocksWithout(within, start, bits - 1), ...blocksWithout(within, start + size / 2, bits - 1)];
}
