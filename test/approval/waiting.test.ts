// How many calls may wait for people at a time, of one session and of one kernel.
import { expect, test } from "vitest";
import { APPROVAL_WAITERS_MAX, APPROVAL_WAITERS_PER_SESSION_MAX, Waiting } from "../../src/approval/waiting.ts";

const NEVER = new AbortController().signal;

function waiting(): Waiting {
  return new Waiting({
    bell: { ring: async () => undefined, listen: async () => () => undefined, close: async () => undefined },
    decisions: { watch: async () => () => undefined },
    find: async () => undefined,
    onFile: async () => undefined,
    onInternalError: (error) => expect.unreachable(String(error)),
  });
}

/** Lets `count` calls wait, each as `sessionOf` says; resolves with all ends once the waits are closed. */
async function full(
  desk: Waiting,
  count: number,
  sessionOf: (index: number) => string,
): Promise<() => Promise<readonly string[]>> {
  const entered: Promise<void>[] = [];
  const ends = Array.from({ length: count }, (_, index) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    entered.push(promise);
    return desk.wait(
      { ref: `ref-${index}`, sessionId: sessionOf(index) },
      { patienceMs: 60_000, signal: NEVER },
      resolve,
    );
  });
  await Promise.all(entered);
  return async () => {
    desk.close();
    return (await Promise.all(ends)).map(({ kind }) => kind);
  };
}

test("a session whose places are taken waits for nobody more; another session does, and the first again when a place is free", async () => {
  const desk = waiting();
  const end = await full(desk, APPROVAL_WAITERS_PER_SESSION_MAX, () => "ses_one");
  const more = (sessionId: string) =>
    desk.wait({ ref: "more", sessionId }, { patienceMs: 60_000, signal: NEVER }, () =>
      desk.end("more", { kind: "cancelled" }),
    );
  expect([await more("ses_one"), await more("ses_two")]).toEqual([{ kind: "late" }, { kind: "cancelled" }]);
  desk.end("ref-0", { kind: "cancelled" });
  await new Promise(setImmediate);
  expect(await more("ses_one")).toEqual({ kind: "cancelled" });
  expect(new Set(await end())).toEqual(new Set(["cancelled", "late"]));
});

test("a kernel whose places are taken waits for nobody more", async () => {
  const desk = waiting();
  const end = await full(desk, APPROVAL_WAITERS_MAX, (index) => `ses_${index}`);
  const more = () =>
    desk.wait({ ref: "more", sessionId: "ses_more" }, { patienceMs: 60_000, signal: NEVER }, () =>
      desk.end("more", { kind: "cancelled" }),
    );
  expect(await more()).toEqual({ kind: "late" });
  desk.end("ref-0", { kind: "cancelled" });
  await new Promise(setImmediate);
  expect(await more()).toEqual({ kind: "cancelled" });
  await end();
});

test("a kernel that is closed while listening begins keeps nobody waiting", async () => {
  const desk = waiting();
  const calling = desk.wait({ ref: "one", sessionId: "ses_one" }, { patienceMs: 60_000, signal: NEVER }, () =>
    expect.unreachable(),
  );
  desk.close();
  expect(await calling).toEqual({ kind: "late" });
});
