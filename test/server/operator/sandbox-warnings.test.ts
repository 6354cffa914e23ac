// What a kernel says at its start of how commands are contained, and of what they write into.
import { expect, test } from "vitest";
import { warningOf } from "../../../src/server/operator/open-sandbox.ts";

test("copies that the operator forced are told, and nothing of what every kernel does", () => {
  const said = (views: "auto" | "overlay" | "copy") => warningOf({ backend: "bwrap", views }, false);
  expect([said("auto"), said("overlay"), said("copy")]).toEqual([
    undefined,
    undefined,
    "each command works on a copy of its workspace, because `sandbox.views` is `copy`",
  ]);
  expect(warningOf({ backend: "none", views: "copy" }, false)).toContain("commands are refused");
});
