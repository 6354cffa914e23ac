// Search threads: every piece of work is answered once, a thread that is stuck is ended, and what waited behind it is
// done.
import { closeSync, constants, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SHOWN_BYTES_MAX } from "../../../src/base/limits.ts";
import { lineBytes } from "../../../src/sandbox/search/pattern/lines.ts";
import type { SearchWork, WorkResult } from "../../../src/sandbox/search/pattern/messages.ts";
import { engineWear, readyPattern } from "../../../src/sandbox/search/pattern/pattern.ts";
import { createSearchThreads, SEARCH_PATTERNS_COMPILED_MAX } from "../../../src/sandbox/search/threads.ts";
import { endOf, newPlace, type Place } from "../../support/files-fixture.ts";
import { find, searchIn, shortly } from "../../support/search-fixture.ts";

let place: Place;
let directory: number;
beforeEach(() => {
  place = newPlace();
  directory = openSync(place.root, constants.O_RDONLY | constants.O_DIRECTORY);
  writeFileSync(join(place.root, "small"), "needle\n");
  writeFileSync(join(place.root, "slow"), `${irregular(4_000_000)}c`);
});
afterEach(() => {
  closeSync(directory);
  place.close();
});

/** Letters `a` and `b` without a pattern, the same every time. */
function irregular(length: number): string {
  const letters = Buffer.alloc(length);
  let state = 1;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    letters[index] = (state >> 16) & 1 ? 97 : 98;
  }
  return letters.toString("latin1");
}

/**
 * The automaton of this expression has more states than fit; the engine that remains takes many seconds for the file.
 */
const SLOW = "(?s)[ab\\n]*a[ab\\n]{400}c";
const NOBODY = new AbortController().signal;

function work(text: string, names: readonly string[], kind: SearchWork["pattern"]["kind"] = "regex"): SearchWork {
  return {
    pattern: { kind, text },
    wanted: { kind: "count" },
    files: { directories: names.map(() => directory), names },
  };
}

const DONE: WorkResult = {
  kind: "done",
  filesSearched: 1,
  skipped: { binary: 0, tooLarge: 0, unreadable: 0, vanished: 0 },
  matches: [{ index: 0, count: 1, lines: [] }],
};

describe("a stuck thread", () => {
  test("is ended and says at which file; what waited behind it is done", async () => {
    const threads = createSearchThreads({ threadsMax: 1, stuckMs: 400 });
    const results = await Promise.all([
      threads.run(work(SLOW, ["small", "slow"]), NOBODY),
      ...["needle", "needl.", "n"].map((pattern) => threads.run(work(pattern, ["small"]), NOBODY)),
    ]);
    expect(results).toEqual([{ kind: "over_budget", index: 1 }, DONE, DONE, DONE]);
  });

  test("ends the search of its call alone", async () => {
    const threads = createSearchThreads({ stuckMs: 400 });
    const [slow, quick] = await Promise.all([
      endOf(() => find(searchIn(place, { threads }), "slow", SLOW)),
      find(searchIn(place, { threads }), "small", "needle"),
    ]);
    expect(slow).toBe("REGEX_TIMEOUT");
    expect(shortly(quick)).toEqual(["small:1:1:needle"]);
  });
});

describe("the engine's memory", () => {
  const starting = async (engineBytesMax: number | undefined, patterns: number) => {
    let started = 0;
    const onStart = () => {
      started += 1;
    };
    const threads = createSearchThreads({
      threadsMax: 1,
      onStart,
      ...(engineBytesMax !== undefined && { engineBytesMax }),
    });
    for (let index = 0; index < patterns; index += 1) {
      expect(await threads.run(work(`need[l]e|x{${index + 2}}`, ["small"]), NOBODY)).toEqual(DONE);
    }
    return started;
  };

  test("that has grown ends its thread once it is idle", async () => {
    expect(await starting(undefined, 3)).toBe(1); // control
    expect(await starting(1, 3)).toBe(3);
  });

  test("is given back after a number of patterns too", async () => {
    expect(await starting(undefined, SEARCH_PATTERNS_COMPILED_MAX + 1)).toBe(2);
  });

  test("is seen: a large pattern makes it larger", async () => {
    const before = engineWear();
    expect(await readyPattern({ kind: "regex", text: "\\w{100}" })).toMatchObject({ kind: "regex" });
    expect(engineWear().engineBytes).toBeGreaterThan(before.engineBytes + 1_000_000);
    expect(engineWear().patternsCompiled).toBe(before.patternsCompiled + 1);
  });
});

describe("much that matches", () => {
  test("in a file without line ends neither ends the process nor is counted wrongly", async () => {
    writeFileSync(join(place.root, "one-line"), "ab ".repeat(3_200_000));
    writeFileSync(join(place.root, "table"), "ab,cd\n".repeat(1_600_000));
    const threads = createSearchThreads({ threadsMax: 1, stuckMs: 20_000 });
    for (const [name, pattern] of [
      ["one-line", "[a-z]+"],
      ["table", "[^,]+"],
    ] as const) {
      const result = await threads.run(work(pattern, [name]), NOBODY);
      if (result.kind === "done") expect(result.matches[0]?.count).toBeGreaterThan(1_000_000);
      else expect(result).toEqual({ kind: "over_budget", index: 0 });
    }
    expect(await threads.run(work("needle", ["small"]), NOBODY)).toEqual(DONE);
  });

  test("stops being collected when there is more than an answer shows", async () => {
    const names = Array.from({ length: 64 }, (_, index) => `wide-${index}`);
    for (const name of names) writeFileSync(join(place.root, name), `${"é".repeat(150)}\n`.repeat(1001));
    const threads = createSearchThreads({ threadsMax: 1 });
    const wanted = { kind: "lines", context: 10, linesMax: 1001 } as const;
    const result = await threads.run({ ...work("é", names, "literal"), wanted }, NOBODY);
    expect(result.kind).toBe("done");
    if (result.kind !== "done") return;
    const bytes = result.matches.flatMap(({ lines }) => lines).reduce((sum, line) => sum + lineBytes(line), 0);
    expect(bytes).toBeGreaterThan(SHOWN_BYTES_MAX); // so that the answer is known to be cut
    expect(bytes).toBeLessThan(2 * SHOWN_BYTES_MAX);
    expect(result.filesSearched).toBe(1);
  });
});

describe("threads", () => {
  test("answer much work from many, each with its own result", async () => {
    const threads = createSearchThreads({ threadsMax: 2 });
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        threads.run(work(index % 2 === 0 ? "needle" : "nothing", ["small"], "literal"), NOBODY),
      ),
    );
    for (const [index, result] of results.entries())
      expect(result).toEqual(index % 2 === 0 ? DONE : { ...DONE, matches: [] });
  });

  test("that were idle are ended, and come back when they are needed", async () => {
    const threads = createSearchThreads({ threadsMax: 1, idleMs: 1 });
    expect(await threads.run(work("needle", ["small"]), NOBODY)).toEqual(DONE);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await threads.run(work("needle", ["small"]), NOBODY)).toEqual(DONE);
  });

  test("work that nobody wants any more is given up unless it was begun", async () => {
    const threads = createSearchThreads({ threadsMax: 1 });
    const controller = new AbortController();
    const wanted = [0, 1].map(() => threads.run(work("needle", ["small"]), NOBODY));
    const unwanted = threads.run(work("needle", ["small"]), controller.signal);
    controller.abort();
    expect(await Promise.all(wanted)).toEqual([DONE, DONE]);
    expect(await unwanted).toMatchObject({ kind: "broken" });
  });

  test("a descriptor that names nothing is a file that cannot be read", async () => {
    const threads = createSearchThreads({ threadsMax: 1 });
    const files = { directories: [-1], names: ["small"] };
    expect(await threads.run({ ...work("needle", []), files }, NOBODY)).toMatchObject({
      filesSearched: 0,
      skipped: { unreadable: 1 },
    });
  });
});
