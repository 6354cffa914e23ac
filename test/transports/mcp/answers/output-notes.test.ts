// Output of a running command as notes: at once, then in steps, seldom in the end, in whole characters and bounded.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MAX_TIMEOUT_MS } from "../../../../src/base/limits.ts";
import {
  OUTPUT_NOTE_CHARACTERS_MAX,
  OUTPUT_NOTE_INTERVAL_MS,
  OUTPUT_NOTE_SLOW_INTERVAL_MS,
  OUTPUT_NOTES_QUICK_MAX,
  type OutputNote,
  OutputNotes,
} from "../../../../src/transports/mcp/answers/output-notes.ts";
import { PROGRESS_NOTES_MAX } from "../../../../src/transports/mcp/answers/progress-notes.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function gathered() {
  const seen: OutputNote[] = [];
  return { seen, notes: new OutputNotes((note) => seen.push(note)) };
}

test("the first piece is shown at once, what comes soon after it together", () => {
  const { seen, notes } = gathered();
  const euro = Buffer.from("€");
  notes.push("stdout", Buffer.from("one\n"));
  notes.push("stdout", Buffer.concat([Buffer.from("two "), euro.subarray(0, 1)]));
  notes.push("stderr", Buffer.from("oh"));
  notes.push("stdout", euro.subarray(1));
  expect(seen).toEqual([{ stream: "stdout", text: "one\n", bytes: 4 }]);
  vi.advanceTimersByTime(OUTPUT_NOTE_INTERVAL_MS);
  expect(seen.slice(1)).toEqual([
    { stream: "stdout", text: "two €", bytes: 13 },
    { stream: "stderr", text: "oh", bytes: 13 },
  ]);
  vi.advanceTimersByTime(OUTPUT_NOTE_INTERVAL_MS);
  notes.push("stdout", Buffer.from("at once again"));
  notes.push("stdout", Buffer.from("and the rest"));
  expect(seen.slice(3)).toEqual([{ stream: "stdout", text: "at once again", bytes: 26 }]);
  notes.end();
  expect(seen.slice(4)).toEqual([{ stream: "stdout", text: "and the rest", bytes: 38 }]);
  vi.runAllTimers();
  expect(seen.length).toBe(5);
});

test("of much output between two notes the end is shown, and the rest counted", () => {
  const { seen, notes } = gathered();
  notes.push("stdout", Buffer.alloc(OUTPUT_NOTE_CHARACTERS_MAX, "a"));
  for (let piece = 0; piece < 100; piece += 1) notes.push("stdout", Buffer.alloc(OUTPUT_NOTE_CHARACTERS_MAX, "b"));
  notes.push("stdout", Buffer.from("end"));
  notes.end();
  expect(seen.map(({ text }) => text)).toEqual([
    "a".repeat(OUTPUT_NOTE_CHARACTERS_MAX),
    `… (${99 * OUTPUT_NOTE_CHARACTERS_MAX + 3} characters left out) …\n${"b".repeat(OUTPUT_NOTE_CHARACTERS_MAX - 3)}end`,
  ]);
});

test("a command that writes all the time is shown for as long as one may run", () => {
  const { seen, notes } = gathered();
  for (let elapsedMs = 0; elapsedMs < MAX_TIMEOUT_MS; elapsedMs += OUTPUT_NOTE_INTERVAL_MS / 2) {
    notes.push("stdout", Buffer.from("out\n"));
    notes.push("stderr", Buffer.from("err\n"));
    vi.advanceTimersByTime(OUTPUT_NOTE_INTERVAL_MS / 2);
  }
  notes.end();
  expect(seen.length).toBeGreaterThan(
    OUTPUT_NOTES_QUICK_MAX + (2 * MAX_TIMEOUT_MS) / OUTPUT_NOTE_SLOW_INTERVAL_MS - 20,
  );
  expect(seen.length).toBeLessThan(PROGRESS_NOTES_MAX);
});
