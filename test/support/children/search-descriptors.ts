/**
 * Counts matches in a tree of many directories again and again, each time with a few more free descriptors, and prints
 * how each count ended: a total, or the code of a failure. The process has a small limit of descriptors.
 */
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newPlace } from "../files-fixture.ts";
import { count, searchIn } from "../search-fixture.ts";

const [directories = "0", steps = "0"] = process.argv.slice(2);
const place = newPlace();
for (let index = 0; index < Number(directories); index += 1) {
  mkdirSync(join(place.root, `d${index}`));
  writeFileSync(join(place.root, `d${index}`, "f.txt"), "needle\n");
}

async function ended(): Promise<string> {
  try {
    const { total, skipped } = await count(searchIn(place), ".", "needle", { literal: true });
    return `${total} and ${skipped.unreadable}`;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

const ends: string[] = [await ended()]; // the thread is started with the first
const held: number[] = [];
for (;;) {
  try {
    held.push(openSync("/dev/null", "r"));
  } catch {
    break; // there are no more, as wanted
  }
}
for (let step = 0; step < Number(steps); step += 1) {
  ends.push(await ended());
  const last = held.pop();
  if (last !== undefined) closeSync(last);
}
for (const descriptor of held) closeSync(descriptor);
// What a search that failed had given to the threads holds its descriptors until they have let it go.
let last = await ended();
while (last === "RESOURCE_BUSY") last = await ended();
ends.push(last);
place.close();
process.stdout.write(JSON.stringify(ends), () => process.exit(0));
