// The end of a run, where something that is no part of it holds on to its output.
import { expect, onTestFinished, test } from "vitest";
import type { Launch } from "../../../src/sandbox/run/launch.ts";
import { signal } from "../../../src/sandbox/run/process-tree.ts";
import { superviseRun } from "../../../src/sandbox/run/supervised-run.ts";

const BYTES = 900_000;
const HOLDER_SECONDS = 60;

test("the answer waits for what was written, and not for who else could write", async () => {
  const launch: Launch = {
    command: [
      "sh",
      "-c",
      `echo >&3; echo >&3; exec 3>&-; head -c ${BYTES} /dev/zero; sleep ${HOLDER_SECONDS} & echo $! >&2`,
    ],
    runAs: undefined,
    owner: undefined,
    seccomp: undefined,
    descriptors: ["ready"],
    firstProcess: () => undefined,
    exitCode: (_, { code }) => code ?? undefined,
    problem: () => undefined,
    terminate: () => undefined,
    kill: () => undefined,
  };
  let [bytes, holder] = [0, ""];
  const take = (piece: Uint8Array) => {
    // whoever reads is busy for longer than the output may stay open
    if (bytes === 0) for (const until = performance.now() + 2000; performance.now() < until; );
    bytes += piece.length;
  };
  const limits = { timeoutMs: HOLDER_SECONDS * 1000, outputBytesMax: 2 * BYTES };
  const output = {
    stdout: take,
    stderr: (piece: Uint8Array) => {
      holder += Buffer.from(piece).toString();
    },
  };
  onTestFinished(() => (holder === "" ? undefined : signal(Number(holder), "SIGKILL")));
  const end = await superviseRun(launch, {
    limits,
    output,
    signal: new AbortController().signal,
    confine: async () => undefined,
  });
  expect([end.exitCode, end.endedBy, bytes]).toEqual([0, undefined, BYTES]);
  expect(end.durationMs).toBeLessThan((HOLDER_SECONDS * 1000) / 4);
});
