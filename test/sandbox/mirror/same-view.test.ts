// Whatever others change, in whatever order: a command that runs meanwhile, a new command and file tools see the same.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { awaiting, remove, runMeanwhile, save, told } from "../../support/meanwhile.ts";
import { newSandboxPlace } from "../../support/sandbox-place.ts";
import { searching } from "../../support/thorough.ts";

const NAMES = ["a", "b", "d/x", "d/y", "n/m/z"];
/** By names that are asked for each time, and by listings. */
const LOOK = `for f in ${NAMES.map((name) => `src/${name}`).join(" ")}; do cat $f 2>/dev/null || echo "no $f"; done; find src | sort; echo "end"`;

interface Step {
  readonly name: string;
  /** What is saved; the file is removed when absent. */
  readonly text: string | undefined;
}

function present(root: string): readonly string[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).sort();
}

/** What file tools see, as `LOOK` says it. */
function seenByTools(root: string): string {
  const all = present(root);
  const texts = NAMES.map((name) =>
    all.includes(name) ? readFileSync(join(root, "src", name), "utf8") : `no src/${name}\n`,
  );
  const listed = ["src", ...all.map((path) => `src/${path}`)].sort((one, other) => (one < other ? -1 : 1));
  return `${texts.join("")}${listed.join("\n")}\nend\n`;
}

function take(root: string, { name, text }: Step): readonly string[] {
  const path = `src/${name}`;
  if (text !== undefined) return save(root, path, `${text}\n`);
  if (!present(root).includes(name)) return [];
  return remove(root, path);
}

test("what a running command, a new one and file tools see is the same", { timeout: 240_000 }, async () => {
  const step = fc.record({
    name: fc.constantFrom(...NAMES),
    text: fc.option(fc.constantFrom("1", "22", "three is longer"), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const place = newSandboxPlace();
      const { root, run } = place;
      try {
        for (const name of ["a", "d/x"]) save(root, `src/${name}`, "old\n");
        const expected = [seenByTools(root)];
        const signals = steps.map((one, index): readonly [string, () => Promise<void>] => [
          `go${index}`,
          async () => {
            await told(root, take(root, one));
            expected.push(seenByTools(root));
          },
        ]);
        const command = [LOOK, ...signals.flatMap(([name]) => [awaiting(name), LOOK])].join("; ");
        const { stdout, end } = await runMeanwhile(place, command, Object.fromEntries(signals));
        expect(stdout.replace(/^at go\d+\n/gm, "").split(/(?<=^end\n)/m)).toEqual(expected);
        expect(end.landed).toEqual({ created: 0, changed: 0, removed: 0, notKept: [] });
        expect((await run(LOOK)).stdout).toBe(expected.at(-1));
      } finally {
        await place.sandbox.endRuns();
        place.close();
      }
    }),
    { numRuns: searching({ shortly: 12, thoroughly: 100 }) },
  );
});
