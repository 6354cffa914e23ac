// A person looks at a landing that stopped halfway, does the rest of it and drops what is kept.
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataIn, handrail } from "../../support/command-line.ts";
import { readEvidence } from "../../support/evidence.ts";
import { killedLanding } from "../../support/killed-landing.ts";
import { nextTick } from "../../support/landing-fixture.ts";
import { freshPlace } from "../../support/place.ts";

const NAME = "interrupted-one";

test("it is listed, shown, continued and dropped, and each act is recorded", async () => {
  const place = freshPlace();
  const { root, view } = await killedLanding({ moves: 3, name: NAME });
  nextTick();
  appendFileSync(join(root, "gone"), "P");
  const kept = join(place.state, "views", NAME);
  mkdirSync(place.state, { mode: 0o700 });
  mkdirSync(join(place.state, "views"), { mode: 0o711 });
  renameSync(view, kept);

  const listed = await handrail(place, ["landings", "list", "--json"]);
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(dataIn(listed.stdout)).toMatchObject({
    landings: [{ name: NAME, path: kept, root, landed: 3, waiting: 6, changed: 1 }],
    unread: [],
  });
  const shown = await handrail(place, ["landings", "show", NAME]);
  expect(shown.stdout).toMatch(/^landed +n$/m);
  expect(shown.stdout).toMatch(/^waiting +over$/m);
  expect(shown.stdout).toMatch(/^changed +gone$/m);
  // Without a terminal and without a word nothing is done.
  const unasked = await handrail(place, ["landings", "continue", NAME]);
  expect([unasked.code, unasked.stderr]).toEqual([64, expect.stringContaining("--yes")]);
  expect(readFileSync(join(root, "over"), "utf8")).toBe("O");

  const continued = await handrail(place, ["landings", "continue", NAME, "--yes"]);
  expect([continued.code, continued.stdout]).toEqual([2, expect.stringContaining("6 landed, 1 left as they are")]);
  expect(["over", "gone"].map((path) => readFileSync(join(root, path), "utf8"))).toEqual(["new", "GP"]);
  expect(existsSync(kept)).toBe(true);

  const dropped = await handrail(place, ["landings", "drop", NAME, "--yes"]);
  expect([dropped.code, existsSync(kept)]).toEqual([0, false]);
  const again = await handrail(place, ["landings", "drop", NAME, "--yes"]);
  expect([again.code, again.stderr]).toEqual([64, expect.stringContaining("handrail landings list")]);
  const acts = (await readEvidence(place.state))
    .map(({ entry, payload }) => [entry.eventType, payload["act"]])
    .filter(([type]) => String(type).startsWith("landing_act"));
  expect(acts).toEqual([
    ["landing_act_begun", "continue"],
    ["landing_act_ended", "continue"],
    ["landing_act_begun", "drop"],
    ["landing_act_ended", "drop"],
  ]);
});
