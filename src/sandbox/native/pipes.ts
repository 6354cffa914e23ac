/**
 * Real pipes. What Node calls a pipe of a child process is a socket, which programs cannot open again by `/dev/stdout`.
 */
import { closeSync, fchownSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { fromLibrary } from "./c-library.ts";

const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const CLOSE_RANGE = 436; // the same number on every architecture
const CLOSE_RANGE_CLOEXEC = 4;
const FIRST_OTHER_DESCRIPTOR = 3;
const LAST_DESCRIPTOR = 0xffffffff;

interface Calls {
  readonly pipe2: (ends: Int32Array, flags: number) => number;
  readonly fcntl: (descriptor: number, command: number, argument: number) => number;
  readonly closeRange: (number: number, first: number, last: number, flags: number) => number;
}
const calls = fromLibrary(
  (libc): Calls => ({
    pipe2: libc.func("int pipe2(_Out_ int *ends, int flags)"),
    fcntl: libc.func("int fcntl(int descriptor, int command, long argument)"),
    closeRange: libc.func("long syscall(long number, unsigned int first, unsigned int last, unsigned int flags)"),
  }),
);

/** A pipe: what is written to `write`, a child inherits; what comes out is read by `reader`. */
export interface OutputPipe {
  readonly write: number;
  readonly reader: Socket;
}

/** Bytes that a pipe holds: large steps cost less, and the machine's limit for everybody is this. */
const PIPE_BYTES = 1024 * 1024;

/**
 * Opens a pipe whose writing end belongs to `owner`, where that is somebody else.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when the machine has no descriptor left
 */
export function openOutputPipe(owner: { readonly userId: number; readonly groupId: number } | undefined): OutputPipe {
  const [read, write] = openPipe();
  calls().fcntl(write, F_SETPIPE_SZ, PIPE_BYTES); // a smaller one serves as well
  if (owner !== undefined) fchownSync(write, owner.userId, owner.groupId);
  return { write, reader: new Socket({ fd: read, readable: true, writable: false }) };
}

/** A pipe from which a child reads what is written to `writer`. */
export interface InputPipe {
  readonly read: number;
  readonly writer: Socket;
}

/** Opens a pipe to a child. @throws ToolFailure SANDBOX_UNAVAILABLE when the machine has no descriptor left */
export function openInputPipe(): InputPipe {
  const [read, write] = openPipe();
  const writer = new Socket({ fd: write, readable: false, writable: true });
  writer.on("error", () => writer.destroy()); // the child has ended: its end is told by itself
  return { read, writer };
}

/** Both ends of a new pipe; neither outlives an exec unless it is handed on. */
export function openPipe(): readonly [read: number, write: number] {
  const ends = new Int32Array(2);
  if (calls().pipe2(ends, O_CLOEXEC) !== 0) {
    throw new ToolFailure(
      "SANDBOX_UNAVAILABLE",
      "no pipe can be opened for the command",
      "ask the operator to raise the limit of open files",
    );
  }
  return [ends[0] as number, ends[1] as number];
}

/**
 * A descriptor from which `bytes` can be read to their end: a program or a file that a child takes by descriptor. At
 * most what a pipe holds.
 */
export function descriptorOf(bytes: Uint8Array): number {
  const [read, write] = openPipe();
  try {
    writeSync(write, bytes);
  } finally {
    closeSync(write);
  }
  return read;
}

/**
 * Sees to it that no descriptor of this process but those handed on reaches a child: whoever started this process may
 * have left some open that nothing here knows of.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when the machine's kernel cannot (before 5.11)
 */
export function keepDescriptors(): void {
  if (calls().closeRange(CLOSE_RANGE, FIRST_OTHER_DESCRIPTOR, LAST_DESCRIPTOR, CLOSE_RANGE_CLOEXEC) === 0) return;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    "this kernel cannot keep open files from a command",
    "ask the operator for Linux 5.11 or later",
  );
}
