/** Names the signals that end processes, and the exit codes that stand for them. */
import { constants } from "node:os";

/** A shell says with this and the signal's number that a signal ended a program. */
const SIGNALLED = 128;

/** The first name of each number: some have two. */
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .reverse(),
);

/** The exit code of a process that `signal` ended. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return SIGNALLED + constants.signals[signal];
}

/** The name of the signal that `exitCode` stands for, or `undefined`. */
export function signalOfExitCode(exitCode: number | undefined): string | undefined {
  return exitCode === undefined ? undefined : NAMES.get(exitCode - SIGNALLED);
}
