/** Secrets are looked for in what a thread has searched: what becomes of files that change between the two. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSearchThreads, type SearchThreads } from "../../../../src/sandbox/search/threads.ts";
import { newPlace } from "../../../support/files-fixture.ts";
import { count, find, searchIn } from "../../../support/search-fixture.ts";

const SECRET = "needle-secret";

/** Threads after whose first answer about files, and before whose next one, something happens. */
function interrupted(after: () => void, before: () => void): SearchThreads {
  const threads = createSearchThreads();
  let answers = 0;
  return {
    ...threads,
    run: async (work, signal) => {
      if (work.files.names.length === 0) return threads.run(work, signal);
      if (answers > 0) before();
      const result = await threads.run(work, signal);
      answers += 1;
      if (answers === 1) after();
      return result;
    },
  };
}

function placeOf() {
  const place = newPlace();
  onTestFinished(() => place.close());
  writeFileSync(join(place.root, "a.txt"), `${SECRET}\n`);
  writeFileSync(join(place.root, "b.txt"), "needle\n");
  const hidden = (bytes: Uint8Array) => {
    const start = Buffer.from(bytes).indexOf(SECRET);
    return start === -1 ? [] : [{ start, end: start + SECRET.length, marker: "[REDACTED:x]" }];
  };
  const [from, to] = [join(place.root, "a.txt"), join(place.root, "..", "away.txt")];
  const [away, back] = [() => renameSync(from, to), () => renameSync(to, from)];
  return { place, hidden, away, back };
}

test("a file that is gone for the look and there again is left out, and the numbers say so", async () => {
  const { place, hidden, away, back } = placeOf();
  // control
  expect(await count(searchIn(place, { hidden }), ".", "needle")).toMatchObject({ total: 1, filesSearched: 2 });
  const search = searchIn(place, { hidden, threads: interrupted(away, back) });
  expect(await find(search, ".", "needle")).toMatchObject({
    lines: [{ path: "b.txt", text: "needle" }],
    filesSearched: 1,
    skipped: { vanished: 1 },
  });
});
