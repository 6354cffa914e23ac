// A refused call names the page that explains its code, by a path that is there.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { explainedAt } from "../../../src/cli/terminal/explained-refusal.ts";

test("names the code and a page that exists and has it", () => {
  const [, code, path = ""] = /^`(\w+)` is explained in (.*)$/.exec(explainedAt("WORKSPACE_BLOCKED_ZONE")) ?? [];
  expect([code, existsSync(path)]).toEqual(["WORKSPACE_BLOCKED_ZONE", true]);
  expect(readFileSync(path, "utf8")).toContain("`workspace_blocked_zone`");
});
