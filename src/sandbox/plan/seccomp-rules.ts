/**
 * Defines as data the rules by which the sandbox refuses system calls.
 *
 * Every backend's filter is made of these rules.
 *
 * INVARIANTS: a call whose arguments cannot be inspected because they stand behind a pointer (`clone3`, `openat2`,
 * `fchmodat2`) is said not to exist, so that libraries fall back on calls whose arguments can be inspected. No file
 * gets a set-id bit, because files may belong to root outside. Of an argument only the low half counts, as the
 * machine's kernel takes it.
 */
import type { JUDGED_CALLS } from "./syscall-numbers.ts";

/** What becomes of a call, by arguments that are counted from 0. What no judgement refuses is allowed. */
export type Judgement =
  | { readonly kind: "fail"; readonly error: number }
  /** Fails when one of `bits` is set. */
  | { readonly kind: "fail_on_bits"; readonly argument: number; readonly bits: number; readonly error: number }
  /** Fails when one of `bits` is set in `argument`, which is only read when one of `flags` is set in another. */
  | {
      readonly kind: "fail_on_bits_with_flags";
      readonly flagsArgument: number;
      readonly flags: number;
      readonly argument: number;
      readonly bits: number;
      readonly error: number;
    }
  | { readonly kind: "fail_on"; readonly argument: number; readonly values: readonly number[]; readonly error: number }
  | AllowOnly;

/** Allowed are `values` alone; one of them may be narrowed further by another argument. */
export interface AllowOnly {
  readonly kind: "allow_only";
  readonly argument: number;
  readonly values: readonly number[];
  readonly error: number;
  /** Of `value`, only calls that have one of `values` in `argument`, too. */
  readonly narrowed?: {
    readonly value: number;
    readonly argument: number;
    readonly values: readonly number[];
    readonly error: number;
  };
}

// errno values, the same on both processors
const EPERM = 1;
/** There is no such call. */
export const ENOSYS = 38;
const EINVAL = 22;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;

/** `CLONE_NEW*`: a new namespace of any kind. */
const NEW_NAMESPACE = 0x7e020000;
const SET_ID_BITS = 0o6000;
/** `O_CREAT` and `O_TMPFILE`'s own bit: only with one of them is a mode read. */
const CREATES = 0o100 | 0o20000000;
/** Families of sockets: local, internet, and the kernel's own. */
const LOCAL_SOCKETS = 1;
const NETLINK = 16;
const SOCKET_FAMILIES = [LOCAL_SOCKETS, 2, 10, NETLINK];
/**
 * `NETLINK_ROUTE`: addresses and routes of the namespace, all that `getaddrinfo` and `ip` ask for. Others reach deep
 * parts of the kernel.
 */
const NETLINK_PROTOCOLS = [0];
/**
 * What `fcntl` is for: descriptors, flags, locks of records, owners of signals, pipes, seals, hints. Not `F_SETLEASE`
 * (1024), `F_NOTIFY` (1026) and `F_SETDELEG` (1040): whoever opens a file that is leased waits for the holder, 45 s by
 * default, and the kernel outside opens files of the workspace. What came after Linux 6.18 does not exist.
 */
const FCNTL_COMMANDS = [...numbers(0, 11), ...numbers(15, 17), ...numbers(36, 38), 1025, ...numbers(1027, 1038)];
/** `TIOCSTI` types into a terminal, `TIOCLINUX` pastes into a console. */
const TERMINAL_REQUESTS = [0x5412, 0x541c];
/**
 * Linux's own, that of its 32-bit programs, both with an old version's number, and asking which it is; others switch
 * protections off.
 */
const PERSONALITIES = [0, 0x0008, 0x00020000, 0x00020008, 0xffffffff];

/** What every refused call fails with. */
export const REFUSED_ERROR = EPERM;

/** What is done with each call whose arguments decide. */
export const JUDGEMENTS: Readonly<Record<keyof typeof JUDGED_CALLS, Judgement>> = {
  clone: failOnBits(0, NEW_NAMESPACE),
  clone3: fail(ENOSYS),
  socket: {
    ...allowOnly(0, SOCKET_FAMILIES, EAFNOSUPPORT),
    narrowed: { value: NETLINK, argument: 2, values: NETLINK_PROTOCOLS, error: EPROTONOSUPPORT },
  },
  socketpair: allowOnly(0, [LOCAL_SOCKETS], EAFNOSUPPORT),
  fcntl: allowOnly(1, FCNTL_COMMANDS, EINVAL),
  ioctl: { kind: "fail_on", argument: 1, values: TERMINAL_REQUESTS, error: EPERM },
  personality: allowOnly(0, PERSONALITIES, EPERM),
  open: failOnCreatedMode(1, 2),
  creat: failOnBits(1, SET_ID_BITS),
  openat: failOnCreatedMode(2, 3),
  openat2: fail(ENOSYS),
  chmod: failOnBits(1, SET_ID_BITS),
  fchmod: failOnBits(1, SET_ID_BITS),
  fchmodat: failOnBits(2, SET_ID_BITS),
  fchmodat2: fail(ENOSYS),
  mknod: failOnBits(1, SET_ID_BITS),
  mknodat: failOnBits(2, SET_ID_BITS),
};

function fail(error: number): Judgement {
  return { kind: "fail", error };
}

function failOnBits(argument: number, bits: number): Judgement {
  return { kind: "fail_on_bits", argument, bits, error: EPERM };
}

/** Without a flag that creates, the mode is whatever the register holds. */
function failOnCreatedMode(flagsArgument: number, argument: number): Judgement {
  return { kind: "fail_on_bits_with_flags", flagsArgument, flags: CREATES, argument, bits: SET_ID_BITS, error: EPERM };
}

function allowOnly(argument: number, values: readonly number[], error: number): AllowOnly {
  return { kind: "allow_only", argument, values, error };
}

/** From `first` to `last`. */
function numbers(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
