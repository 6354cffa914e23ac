// Long hostile texts are looked through in slices: all else has its turn meanwhile, and nothing is overlooked.
import { expect, test } from "vitest";
import { CallRedaction } from "../../../../src/kernel/redaction/redaction.ts";
import { createRedactor } from "../../../../src/redact/redact.ts";

const BYTES = 16 * 1024 * 1024;
const UNIT = 'password = "abcDEF123456ghi"\n';
const SECRETS = [{ rule: "session-token", value: "a-token-that-stands-in-no-text" }];

const processorMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** The processor's time of `work`, and the most of it between two turns of the event loop. */
async function turnsDuring(work: Promise<unknown>): Promise<{ readonly wholeMs: number; readonly longestMs: number }> {
  const beganMs = processorMs();
  let [isOver, lastMs, longestMs] = [false, beganMs, 0];
  const turn = () => {
    const nowMs = processorMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work;
  isOver = true;
  turn();
  return { wholeMs: lastMs - beganMs, longestMs };
}

test("bytes of a file are looked through while others have their turn", async () => {
  const redaction = new CallRedaction(createRedactor(), SECRETS);
  const bytes = Buffer.from(UNIT.repeat(Math.ceil(BYTES / UNIT.length)));
  const ahead = redaction.hiddenAhead(bytes);
  expect(ahead).toBeInstanceOf(Promise);
  const { wholeMs, longestMs } = await turnsDuring(ahead ?? Promise.resolve());
  expect(longestMs).toBeLessThan(wholeMs / 3);
  expect(redaction.hidden(bytes)).toHaveLength(Math.ceil(BYTES / UNIT.length));
});

test("what was looked through ahead is hidden as it would be at once", async () => {
  const text = UNIT.repeat(20_000);
  const [ahead, atOnce] = [SECRETS, [...SECRETS]].map((list) => new CallRedaction(createRedactor(), list));
  await ahead?.ahead({ text });
  const measured = () => ({ bytes: 0, values: 0 });
  expect(ahead?.data({ text }, undefined, measured())).toEqual(atOnce?.data({ text }, undefined, measured()));
  expect(ahead?.found).toEqual({ definite: 0, probable: 20_000 });
});

test("short bytes and texts are not waited for", () => {
  const redaction = new CallRedaction(createRedactor(), SECRETS);
  expect(redaction.hiddenAhead(Buffer.from(UNIT))).toBeUndefined();
  expect(redaction.ahead({ text: UNIT })).toBeUndefined();
});
