/** Upstream servers that go on with what was cancelled, or answer what is no longer asked; each with its control. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { hashOf, readOffered } from "../../../../src/server/upstream/records/pins.ts";
import { freshPlace } from "../../../support/place.ts";
import { bareServer, described } from "../../../support/upstream-place.ts";

const TIMEOUT = { timeout: 120_000 };
const TOOLS = [described("say")];
const [SAY] = readOffered(TOOLS) as Exclude<ReturnType<typeof readOffered>, string>;
if (SAY === undefined) throw new Error("the double offers a tool");
const PIN = { name: "say", hash: hashOf(SAY) };
const asking = () => ({ signal: new AbortController().signal });
/** When the server would write, long after it was told to stop. */
const LATER_MS = 4000;

test.each([
  ["control: nothing ends it", 60_000, true],
  ["it is ended", 200, false],
])("a server that ignores a cancellation writes later: %s", TIMEOUT, async (_, stopMs, isWritten) => {
  const file = join(freshPlace().base, "written.txt");
  const { server, behave, starts } = bareServer({ stopMs });
  behave({ tools: TOOLS });
  await server.call(PIN, { text: "a" }, asking());
  behave({ tools: TOOLS, call: "writesLater", file, laterMs: LATER_MS });
  const ending = new AbortController();
  const call = server.call(PIN, { text: "a" }, { signal: ending.signal });
  const begunMs = performance.now();
  setTimeout(() => ending.abort(), 100);
  if (isWritten) {
    call.catch(() => undefined);
    await expect.poll(() => existsSync(file), { timeout: 30_000 }).toBe(true);
    return;
  }
  await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
  // it was ended before its caller was told; on a machine that stands still this shows nothing
  expect(performance.now() - begunMs).toBeLessThan(LATER_MS);
  await wait(LATER_MS + 500);
  expect(existsSync(file)).toBe(false);
  behave({ tools: TOOLS });
  expect(await server.call(PIN, { text: "b" }, asking())).toMatchObject({ isError: false });
  expect(starts()).toBe(2);
});

test("a server that ends what is cancelled stays, and so do the calls beside", TIMEOUT, async () => {
  const { server, behave, starts } = bareServer({ stopMs: 30_000, callMs: 60_000 });
  behave({ tools: TOOLS, hangOn: "slow", ends: true });
  await server.call(PIN, { text: "a" }, asking());
  const endings = [new AbortController(), new AbortController()] as const;
  const [first, second] = endings.map(({ signal }) => server.call(PIN, { text: "slow" }, { signal })) as [
    Promise<unknown>,
    Promise<unknown>,
  ];
  setTimeout(() => endings[0].abort(), 300);
  await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
  expect(await server.call(PIN, { text: "b" }, asking())).toMatchObject({ isError: false });
  endings[1].abort();
  await expect(second).rejects.toMatchObject({ code: "CANCELLED" });
  expect(starts()).toBe(1);
});

test(
  "a call that is too slow is cancelled; a server that ends it is not ended, and has no pause",
  TIMEOUT,
  async () => {
    const { server, behave, starts } = bareServer({ callMs: 4000, stopMs: 30_000 });
    behave({ tools: TOOLS, hangOn: "slow", ends: true });
    await expect(server.call(PIN, { text: "slow" }, asking())).rejects.toThrow("was told to stop");
    behave({ tools: TOOLS });
    expect(await server.call(PIN, { text: "b" }, asking())).toMatchObject({ isError: false });
    expect(starts()).toBe(1);
  },
);

test("a call that is ended with another one is told why, and no pause follows", TIMEOUT, async () => {
  const { server, behave, starts } = bareServer({ stopMs: 200, pauseMs: 60_000, pauseMsMax: 60_000 });
  behave({ tools: TOOLS, hangOn: "slow" });
  await server.call(PIN, { text: "a" }, asking());
  const ending = new AbortController();
  const cancelled = server.call(PIN, { text: "slow" }, { signal: ending.signal });
  const beside = server.call(PIN, { text: "slow" }, asking());
  setTimeout(() => ending.abort(), 500);
  await Promise.all([
    expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" }),
    expect(beside).rejects.toThrow("another call that was cancelled"),
  ]);
  behave({ tools: TOOLS });
  expect(await server.call(PIN, { text: "b" }, asking())).toMatchObject({ isError: false });
  expect(starts()).toBe(2);
});

test("a second answer to one question is nobody's, and too many of them end the server", TIMEOUT, async () => {
  const { server, behave, starts } = bareServer({ pauseMs: 1, pauseMsMax: 1 });
  const answers = async (calls: number) => {
    const all: string[] = [];
    for (let n = 0; n < calls; n += 1)
      all.push(
        await server.call(PIN, { text: "a" }, asking()).then(
          ({ text }) => text,
          () => "ended",
        ),
      );
    return new Set(all);
  };
  behave({ tools: TOOLS, answer: "once" });
  expect(await answers(150)).toEqual(new Set(["once"])); // control
  expect(starts()).toBe(1);
  behave({ tools: TOOLS, call: "twice" });
  const said = await answers(150);
  said.delete("ended"); // one that was under way when the server was ended
  expect(said).toEqual(new Set(["once"]));
  expect(starts()).toBe(2);
});

test("an answer whose id only looks like that of the question is nobody's", TIMEOUT, async () => {
  const { server, behave } = bareServer({ callMs: 4000, stopMs: 100 });
  behave({ tools: TOOLS });
  expect(await server.call(PIN, { text: "a" }, asking())).toMatchObject({ isError: false }); // control
  behave({ tools: TOOLS, call: "textId" });
  await expect(server.call(PIN, { text: "a" }, asking())).rejects.toThrow("in time");
});

test("progress without an end that nobody asked for ends the server by its bytes alone", TIMEOUT, async () => {
  const { server, behave } = bareServer();
  behave({ tools: TOOLS, call: "progress", steps: 20_000, words: "x".repeat(1500) });
  await expect(server.call(PIN, { text: "a" }, asking())).rejects.toThrow(/more than/);
});
