/** How an upstream server is spoken with: several questions at once, progress, and both eras of the protocol. */
import { expect, test } from "vitest";
import type { ProgressReport } from "../../../src/model/outcome/progress.ts";
import { hashOf, readOffered } from "../../../src/server/upstream/records/pins.ts";
import { bareServer, described } from "../../support/upstream-place.ts";

const TIMEOUT = { timeout: 120_000 };
const TOOLS = [described("say")];
const [SAY] = readOffered(TOOLS) as Exclude<ReturnType<typeof readOffered>, string>;
if (SAY === undefined) throw new Error("the double offers a tool");
const PIN = { name: "say", hash: hashOf(SAY) };
const asking = () => ({ signal: new AbortController().signal });

test("a call that hangs holds up no other one, and each gets its own answer", TIMEOUT, async () => {
  const { server, behave, starts } = bareServer();
  behave({ tools: TOOLS, hangOn: "slow" });
  const ending = new AbortController();
  let hasSlowEnded = false;
  const slow = server.call(PIN, { text: "slow" }, { signal: ending.signal }).finally(() => {
    hasSlowEnded = true;
  });
  const texts = Array.from({ length: 40 }, (_, n) => `t${n}`);
  const answers = await Promise.all(texts.map((text) => server.call(PIN, { text }, asking())));
  expect(answers.map(({ text }) => JSON.parse(text).arguments.text)).toEqual(texts);
  expect(hasSlowEnded).toBe(false);
  expect(starts()).toBe(1);
  ending.abort();
  await expect(slow).rejects.toMatchObject({ code: "CANCELLED" });
});

test("eight calls are open at once; one that waits for a place is cancelled at once", TIMEOUT, async () => {
  const { server, behave } = bareServer();
  behave({ tools: TOOLS, call: "hang" });
  const endings = Array.from({ length: 9 }, () => new AbortController());
  const ended: number[] = [];
  const calls = endings.map(({ signal }, n) =>
    server.call(PIN, { text: "a" }, { signal }).catch((error: { readonly code: string }) => {
      ended.push(n);
      return error.code;
    }),
  );
  endings[8]?.abort();
  expect(await calls[8]).toBe("CANCELLED");
  expect(ended).toEqual([8]);
  for (const ending of endings) ending.abort();
  expect(await Promise.all(calls)).toEqual(Array(9).fill("CANCELLED"));
});

test("more calls than may wait are refused at once", TIMEOUT, async () => {
  const { server, behave } = bareServer();
  behave({ tools: TOOLS, call: "hang" });
  const ending = new AbortController();
  const codes = await Promise.all(
    Array.from({ length: 74 }, async (_, n) => {
      if (n === 73) setTimeout(() => ending.abort(), 200);
      return await server
        .call(PIN, { text: "a" }, { signal: ending.signal })
        .catch((error: { readonly code: string }) => error.code);
    }),
  );
  expect(codes.filter((code) => code === "RESOURCE_BUSY")).toHaveLength(2);
});

test("how far the server is reaches whoever asks, and nothing that it says after its answer", TIMEOUT, async () => {
  const { server, behave } = bareServer();
  behave({ tools: TOOLS, call: "progress", steps: 3, words: "copying" });
  const heard: ProgressReport[] = [];
  const answer = await server.call(PIN, { text: "a" }, { ...asking(), progress: (report) => void heard.push(report) });
  expect(answer.text).toBe("done");
  expect(heard).toEqual([1, 2, 3].map((completed) => ({ kind: "progress", completed, total: 3, message: "copying" })));
});

test("a modern server is asked as such, and its question is refused with what to do", TIMEOUT, async () => {
  const { server, behave, starts } = bareServer();
  behave({ tools: TOOLS, modern: true });
  const { text } = await server.call(PIN, { text: "a" }, asking());
  expect(JSON.parse(text)).toMatchObject({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
  behave({ tools: TOOLS, modern: true, call: "asks" });
  await expect(server.call(PIN, { text: "a" }, asking())).rejects.toMatchObject({
    code: "NOT_SUPPORTED",
    message: expect.stringContaining("input_required"),
  });
  expect(starts()).toBe(1);
});

test.each([true, "listens"])("a modern server that changes a tool is noticed (%s)", TIMEOUT, async (modern) => {
  const { server, behave } = bareServer();
  behave({ tools: TOOLS, modern, changesAfter: true });
  await server.call(PIN, { text: "a" }, asking());
  behave({ tools: [described("say", "Says something else.")], modern });
  await expect(server.call(PIN, { text: "a" }, asking())).rejects.toThrow("has changed");
});

test(
  "a server that ends when it is asked for its protocol first is started again as an older one",
  TIMEOUT,
  async () => {
    const { server, behave, starts } = bareServer();
    behave({ tools: TOOLS, diesAskedFirst: true });
    expect(await server.call(PIN, { text: "a" }, asking())).toMatchObject({ isError: false });
    expect(starts()).toBe(2);
  },
);
