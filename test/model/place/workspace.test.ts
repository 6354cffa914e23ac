// From the path an agent writes to a place in the workspace: inside, or refused without a word about what is outside.
import fc from "fast-check";
import { expect, test } from "vitest";
import { PATH_NAMES_MAX, resolveWorkspacePath, type Workspace } from "../../../src/model/place/workspace.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../../src/model/place/zone.ts";

const workspace: Workspace = {
  serviceRoot: "/project/services/orders",
  projectRoot: "/project",
  sharedPaths: ["shared", "contracts/"],
  zones: compileZones(BUILT_IN_ZONE_RULES, "services/orders"),
};
const resolve = (path: string) => resolveWorkspacePath(workspace, path);
const reasonOf = (path: string) => {
  const resolved = resolve(path);
  return resolved.ok ? "resolved" : resolved.denial.reason;
};

test.each([
  ["src/a.ts", "src/a.ts"],
  ["./src//a.ts", "src/a.ts"],
  ["", "."],
  [".", "."],
  ["a..b", "a..b"],
  ["/project/services/orders", "."],
  ["/project/services/orders/src/a.ts", "src/a.ts"],
  ["/workspace", "."],
  ["/workspace/src/a.ts", "src/a.ts"],
])("`%s` is `%s` of the service (CTR-0006)", (path, expected) => {
  expect(resolve(path)).toEqual({ ok: true, value: { root: "service", path: expected } });
});

test("a shared directory of the project can be named by its absolute path", () => {
  expect(resolve("/project/shared/types.ts")).toEqual({
    ok: true,
    value: { root: "project", path: "shared/types.ts" },
  });
  expect(resolve("/project/contracts/order.json")).toEqual({
    ok: true,
    value: { root: "project", path: "contracts/order.json" },
  });
});

test.each(["../billing/a.ts", "src/../../x", "a/..", "..", "..\\x", "/project/services/orders/../billing"])(
  "`%s` is a traversal (INV-0007)",
  (path) => {
    expect(reasonOf(path)).toBe("workspace_path_traversal");
  },
);

test.each([
  "/etc/passwd",
  "/",
  "/project",
  "/project/services/billing/a.ts",
  "/project/services/orders2/a.ts",
  "/workspacex/a",
  "a\0b",
  "/project/sharedx/a",
])("`%s` leaves the workspace", (path) => {
  expect(reasonOf(path)).toBe("workspace_path_escape");
});

test("the refusal of an outside path is the same for every outside path, but for what only the ledger is told", () => {
  const refused = ["/etc/passwd", "/nowhere/at/all"].map((path) => {
    const verdict = resolve(path);
    if (verdict.ok) throw new Error(`${path} is taken for one of the workspace`);
    const { targetPath, ...told } = verdict.denial;
    return { targetPath, told };
  });
  expect(refused.map(({ targetPath }) => targetPath)).toEqual(["/etc/passwd", "/nowhere/at/all"]);
  expect(refused[0]?.told).toEqual(refused[1]?.told);
});

test("a relative path is the components that name something, or refused for what it has in it", () => {
  const piece = fc.constantFrom("a", "é", ".", "..", "/", "//", "\\", "\0", ".env", "b.c", " ");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const path = pieces.join("");
      fc.pre(!path.startsWith("/"));
      const parts = path.split("/").filter((part) => part !== "" && part !== ".");
      if (path.includes("\0")) expect(reasonOf(path)).toBe("workspace_path_escape");
      else if (path.split(/[/\\]/).includes("..")) expect(reasonOf(path)).toBe("workspace_path_traversal");
      else expect(resolve(path)).toEqual({ ok: true, value: { root: "service", path: parts.join("/") || "." } });
    }),
    { numRuns: 2000 },
  );
});

test("a path has no more names than each of them can be judged beside thousands of others", () => {
  const path = (names: number) => `${"x/".repeat(names - 1)}f`;
  expect(reasonOf(path(PATH_NAMES_MAX))).toBe("resolved");
  for (const deep of [path(PATH_NAMES_MAX + 1), `./${path(PATH_NAMES_MAX + 1)}`, `/workspace/${path(2000)}`])
    expect(reasonOf(deep)).toBe("workspace_path_escape");
});
