// A person's merge that is killed before any one of the changes that it makes to files: the next start finds all of it
// or nothing, says in the ledger what became of it, and the merge can be made again.
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataIn, handrail } from "../../support/command-line.ts";
import { readEvidence } from "../../support/evidence.ts";
import { makePlace, type Place } from "../../support/place.ts";
import { SHARE, searching, sharedSearch } from "../../support/thorough.ts";

/** More than a merge of this test makes. */
const CHANGES_MAX = 400;

function treeOf(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((path) => `${path} ${lstatSync(join(root, path)).isFile() ? readFileSync(join(root, path), "utf8") : ""}`)
    .sort();
}

async function works(place: Place, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await handrail(place, args);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

/** Kills a merge before its change of that number, and returns whether it lived to its end. */
async function survives(change: number): Promise<boolean> {
  const place = makePlace();
  try {
    for (const path of ["changed", "gone", "old/in", "stays"]) place.put(`workspace/${path}`, `${path}\n`);
    const { id } = dataIn<{ readonly id: string }>(await works(place, ["branches", "create", "one", "--json"]));
    const tree = join(place.state, "branches", id, "tree");
    writeFileSync(join(tree, "changed"), "new\n");
    rmSync(join(tree, "gone"));
    mkdirSync(join(tree, "n"));
    writeFileSync(join(tree, "n/made"), "made\n");
    renameSync(join(tree, "old"), join(tree, "moved"));
    const [before, after] = [treeOf(place.workspace), treeOf(tree)];

    const { code, stderr } = await handrail(place, ["branches", "merge", "one", "--yes"], {
      fromSources: true,
      environment: {
        NODE_OPTIONS: `--import=${new URL("../../support/children/kill-merge.ts", import.meta.url).href}`,
        TEST_KILL_AT: String(change),
      },
    });
    expect({ code, stderr }).toMatchObject({ code: expect.toSatisfy((one) => one === 0 || one === "SIGKILL") });
    const list = dataIn<readonly { readonly state: string }[]>(await works(place, ["branches", "list", "--json"]));
    const found = treeOf(place.workspace);
    expect([before, after]).toContainEqual(found);
    expect(list.map(({ state }) => state)).toEqual(list.length === 0 ? [] : ["ready"]);
    const acts = (await readEvidence(place.state))
      .map(({ entry }) => entry)
      .filter(({ eventType }) => /^branch_(act|merged)/.test(eventType));
    expect(acts.filter(({ closes }) => closes !== 0)).toHaveLength(acts.filter(({ intent }) => intent).length);

    if (list.length > 0) await works(place, ["branches", "merge", "one", "--yes"]);
    expect(treeOf(place.workspace)).toEqual(after);
    expect(dataIn(await works(place, ["branches", "list", "--json"]))).toEqual([]);
    await works(place, ["ledger", "verify"]);
    return code === 0;
  } finally {
    place.remove();
  }
}

/** Each test kills before its first change, and then before every so-and-so-manieth. */
const STEP = searching({ shortly: 23, thoroughly: 8 });
const FIRST = Array.from(
  { length: searching({ shortly: 1, thoroughly: sharedSearch(STEP) }) },
  (_, index) => index * SHARE + 1,
);

test.each(FIRST)(
  "whichever change it is killed before, from number %i on, all of it lands or nothing",
  async (first) => {
    let change = first;
    while (!(await survives(change))) change += STEP;
    expect(change).toBeGreaterThan(40); // some of them were reached
  },
);

test("the control: it makes fewer changes than the highest number that is tried", async () => {
  expect(await survives(CHANGES_MAX)).toBe(true);
});
