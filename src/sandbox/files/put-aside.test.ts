// Names that are put aside: also when somebody has made the names that they would get.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../model/zone.ts";
import { putAside } from "./put-aside.ts";
import { openWorkspaceRoots } from "./roots.ts";

test("what stands under the name that something is to get stays, and that gets another", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "handrail-aside-")));
  const roots = openWorkspaceRoots({ serviceRoot: root, projectRoot: root, sharedPaths: [], zones: compileZones(BUILT_IN_ZONE_RULES, "") });
  onTestFinished(() => {
    roots.close();
    rmSync(root, { recursive: true });
  });
  mkdirSync(join(root, ".handrail-aside-same-CLAUDE.md"));
  writeFileSync(join(root, ".handrail-aside-same-CLAUDE.md/kept"), "");
  const asides = ["first", "second"].map((text) => {
    writeFileSync(join(root, "CLAUDE.md"), text);
    return putAside(roots, "CLAUDE.md", "same") ?? "";
  });
  expect(new Set(asides).size).toBe(2);
  expect(asides.map((name) => readFileSync(join(root, name), "utf8"))).toEqual(["first", "second"]);
  expect(readdirSync(root)).toHaveLength(3);
  expect(putAside(roots, "CLAUDE.md", "same")).toBeUndefined();
});
