// A kernel that ends at any moment of a landing, by a signal that nobody can hold back or by the end of its terminal:
// once the next one has looked, all of it has landed or nothing.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { recoverLandings } from "../../../src/sandbox/landing/recovery/recovery.ts";
import type { ViewNames } from "../../../src/sandbox/layers/view-directories.ts";
import { startChild } from "../../support/children/run.ts";
import { makeFiles } from "../../support/landing-fixture.ts";
import { own } from "../../support/sandbox-place.ts";
import { searching, sharedSearch } from "../../support/thorough.ts";

const FILES = 150;
/** Milliseconds after which a landing is over on an idle machine. */
const LANDING_MS = 120;
const COMMAND = `for i in $(seq 0 ${FILES - 1}); do echo new >f$i; rm g$i; done; mkdir n; for i in $(seq 0 ${FILES - 1}); do echo $i >n/$i; done`;

/** Milliseconds for all of them on a machine that is busy with something else. */
const SEARCH_MS_MAX = 20 * 60_000;

let claimed = 0;
const names: ViewNames = {
  next() {
    claimed += 1;
    return `own-${claimed}`;
  },
  instanceOf: (name) => (name.startsWith("dead-") ? "dead" : undefined),
  isAlive: async () => false,
};

function treeOf(root: string): string {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path.slice(root.length)} ${entry.isFile() ? readFileSync(path, "utf8").trim() : ""}`;
    })
    .sort()
    .join("\n");
}

/** The workspace before, and after a landing that was ended `afterMs` after it began. */
async function ended(signal: NodeJS.Signals, afterMs: number) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-kills-"));
  try {
    chmodSync(base, 0o755);
    const root = join(base, "workspace");
    const files = Array.from({ length: FILES }, (_, index) => [`f${index}`, `g${index}`]).flat();
    makeFiles(root, Object.fromEntries(files.map((path) => [path, "old"])));
    for (const path of ["", ...files]) own(join(root, path));
    mkdirSync(join(base, "views"), { mode: 0o711 });
    const before = treeOf(root);
    const child = startChild("land-until-killed", [base, COMMAND]);
    await child.printed("landing");
    await setTimeout(afterMs);
    child.process.kill(signal);
    await child.ended;
    const problems: unknown[] = [];
    await recoverLandings(join(base, "views"), names, (error) => problems.push(error));
    const views = join(base, "views");
    const left = readdirSync(views).filter((name) => existsSync(join(views, name, "landing.json")));
    const isNew = existsSync(join(root, "n"));
    return { before, after: treeOf(root), problems, left, isNew };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

const AFTER = ((lines) => lines.sort().join("\n"))([
  ...Array.from({ length: FILES }, (_, index) => [`/f${index} new`, `/n/${index} ${index}`]).flat(),
  "/n ",
]);

test("whenever it ends, the next kernel finds all or nothing of what landed", { timeout: SEARCH_MS_MAX }, async () => {
  const moments = fc.record({
    signal: fc.constantFrom<NodeJS.Signals>("SIGKILL", "SIGHUP"),
    afterMs: fc.integer({ min: 0, max: LANDING_MS }),
  });
  await fc.assert(
    fc.asyncProperty(moments, async ({ signal, afterMs }) => {
      const { before, after, problems, left, isNew } = await ended(signal, afterMs);
      expect(problems).toEqual([]);
      expect(after).toBe(isNew ? AFTER : before);
      expect(left).toEqual([]);
    }),
    { numRuns: searching({ shortly: 3, thoroughly: sharedSearch(100) }), endOnFailure: true },
  );
});
