/**
 * Counts matches in one file while no descriptor is free for the look for its secrets, then again with all of them
 * free, and prints how each count ended. The process has a small limit of descriptors.
 */
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSearchThreads, type SearchThreads } from "../../../src/sandbox/search/threads.ts";
import { newPlace } from "../files-fixture.ts";
import { count, searchIn } from "../search-fixture.ts";

const place = newPlace();
writeFileSync(join(place.root, "f.txt"), "needle\n");
const threads = createSearchThreads();
const held: number[] = [];

/** The threads, after whose answers about files no descriptor is free, until they are asked again. */
const exhausting: SearchThreads = {
  ...threads,
  run: async (work, signal) => {
    giveBack();
    const result = await threads.run(work, signal);
    while (work.files.names.length > 0 && take());
    return result;
  },
};

function take(): boolean {
  try {
    held.push(openSync("/dev/null", "r"));
    return true;
  } catch {
    return false; // there are no more, as wanted
  }
}

function giveBack(): void {
  for (const descriptor of held.splice(0)) closeSync(descriptor);
}

async function ended(used: SearchThreads): Promise<string> {
  try {
    const { total } = await count(searchIn(place, { threads: used, hidden: () => [] }), ".", "needle", {
      literal: true,
    });
    return String(total);
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    giveBack();
  }
}

const ends = [await ended(threads), await ended(exhausting), await ended(threads)];
place.close();
process.stdout.write(JSON.stringify(ends), () => process.exit(0));
