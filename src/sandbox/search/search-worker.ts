/**
 * A search thread: takes batches of files, reads each and finds what is wanted of it. It keeps nothing of a call but
 * compiled patterns, and shows in shared memory what it is doing, so that whoever runs it can see when it is stuck.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/errors.ts";
import { SHOWN_BYTES_MAX } from "../../base/limits.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import { shownBytes } from "../../text/shown-text.ts";
import { findLines, lineBytes } from "./pattern/lines.ts";
import { matchAll, OverBudget } from "./pattern/matching.ts";
import {
  PULSE,
  type SearchWork,
  type ThreadMatch,
  type ThreadReply,
  type ThreadRequest,
  type WantedOfFiles,
  type WantedPlaces,
  type WorkResult,
} from "./pattern/messages.ts";
import { engineWear, type ReadyPattern, readyPattern } from "./pattern/pattern.ts";
import { BadContent, placesIn } from "./pattern/places.ts";
import { contentsOf } from "./tree/contents.ts";

const port = parentPort;
assert(port, "the search thread runs as a worker");
const pulse = new Int32Array((workerData as { readonly pulse: SharedArrayBuffer }).pulse);

// One after the other: the memory that shows what is done has room for one.
let last: Promise<unknown> = Promise.resolve();

port.on("message", ({ id, work }: ThreadRequest) => {
  last = last
    .then(() => search(work))
    .catch(
      (error: unknown): WorkResult => ({
        kind: "broken",
        message: error instanceof Error ? error.message : String(error),
      }),
    )
    .then((result) => port.postMessage({ id, result, wear: engineWear() } satisfies ThreadReply));
});

function show(index: number, matching: boolean): void {
  Atomics.store(pulse, PULSE.index, index);
  Atomics.store(pulse, PULSE.matching, matching ? 1 : 0);
  Atomics.add(pulse, PULSE.step, 1);
}

async function search(work: SearchWork): Promise<WorkResult> {
  show(-1, true);
  const pattern = await readyPattern(work.pattern);
  if (pattern.kind === "invalid" || pattern.kind === "too_big") return pattern;
  return work.wanted.kind === "places" ? searchText(work.wanted, pattern) : searchFiles(work, work.wanted, pattern);
}

function searchText(wanted: WantedPlaces, pattern: ReadyPattern): WorkResult {
  const done = { kind: "done", filesSearched: 0, skipped: NOTHING_SKIPPED, matches: [] } as const;
  try {
    return { ...done, places: placesIn(pattern, wanted) };
  } catch (error) {
    if (error instanceof OverBudget) return { kind: "over_budget", index: -1 };
    if (error instanceof BadContent) return { kind: "bad_content", problem: error.message };
    throw error;
  }
}

const NOTHING_SKIPPED = { binary: 0, tooLarge: 0, unreadable: 0, vanished: 0 };

function searchFiles({ files }: SearchWork, wanted: WantedOfFiles, pattern: ReadyPattern): WorkResult {
  const skipped = { ...NOTHING_SKIPPED };
  const matches: ThreadMatch[] = [];
  const room = wanted.kind === "lines" ? { lines: wanted.linesMax, bytes: SHOWN_BYTES_MAX } : undefined;
  let filesSearched = 0;
  for (const [index, name] of files.names.entries()) {
    // What comes now would not be shown: the answer is full with what there is.
    if (room && (room.lines <= 0 || room.bytes < 0)) break;
    show(index, false);
    const read = () => contentsOf(files.directories[index] ?? -1, name);
    const contents = files.leftOut?.get(index) ?? shownContents(read(), files.hidden?.get(index));
    if (contents === "busy") return { kind: "busy", index };
    if (typeof contents === "string") {
      skipped[contents] += 1;
      continue;
    }
    show(index, true);
    filesSearched += 1;
    const fromLine = index === 0 ? (files.fromLine ?? 0) : 0;
    try {
      const found =
        wanted.kind === "count"
          ? { count: countIn(contents, pattern), lines: [] }
          : findLines(contents, pattern, {
              ...wanted,
              linesMax: room?.lines ?? 0,
              bytesMax: room?.bytes ?? 0,
              fromLine,
            });
      if (room) {
        room.lines -= found.lines.length;
        for (const line of found.lines) room.bytes -= lineBytes(line);
      }
      if (found.count > 0) matches.push({ index, ...found });
    } catch (error) {
      if (error instanceof OverBudget) return { kind: "over_budget", index };
      throw error;
    }
  }
  return { kind: "done", filesSearched, skipped, matches };
}

/** What the caller would be shown of a file: a secret can neither be found nor guessed by searching for it. */
function shownContents(
  contents: ReturnType<typeof contentsOf>,
  hidden: readonly HiddenRange[] = [],
): ReturnType<typeof contentsOf> {
  return typeof contents === "string" ? contents : shownBytes(contents, hidden).bytes;
}

function countIn(contents: Buffer, pattern: ReadyPattern): number {
  let count = 0;
  matchAll(contents, { pattern }, () => {
    count += 1;
    return true;
  });
  return count;
}
