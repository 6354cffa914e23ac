// Signals by the exit codes that stand for them.
import { expect, test } from "vitest";
import { exitCodeOfSignal, signalOfExitCode } from "../../../src/sandbox/run/signals.ts";

test("exit codes name the signals that they stand for, of two names the usual one", () => {
  expect([129, 134, 137, 139, 143, 157].map(signalOfExitCode)).toEqual([
    "SIGHUP",
    "SIGABRT",
    "SIGKILL",
    "SIGSEGV",
    "SIGTERM",
    "SIGIO",
  ]);
  expect([undefined, 0, 1, 127, 128, 128 + 32, 255].map(signalOfExitCode)).toEqual(Array(7).fill(undefined));
  expect(signalOfExitCode(exitCodeOfSignal("SIGPIPE"))).toBe("SIGPIPE");
});
