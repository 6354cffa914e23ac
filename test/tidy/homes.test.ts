// One home for a fact, held over the whole product; and for each rule, that it does find a planted second.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { limitsOfOneRoom } from "./homes.ts";

const product = globSync("src/**/*.ts").map((path) => ({ path, text: readFileSync(path, "utf8") }));

test("a limit of the base is shared by several rooms", () => {
  expect(product.length).toBeGreaterThan(100);
  expect(limitsOfOneRoom(product)).toEqual([]);
});

test("a limit that one room uses alone is found, one that two rooms or two islands share is not", () => {
  const limits = { path: "src/base/limits.ts", text: "export const KIB = 1024;\nexport const A_MAX = 4 * KIB;\nexport const B_MAX = 1;\n" };
  const user = (path: string, names: string) => ({
    path,
    text: `import { ${names} } from "${"../".repeat(path.split("/").length - 2)}base/limits.ts";\n`,
  });
  const rooms = (...users: { path: string; text: string }[]) => limitsOfOneRoom([limits, ...users]).map((fault) => fault.split("`")[1]);
  expect(rooms(user("src/kernel/a.ts", "A_MAX, KIB"), user("src/kernel/call/b.ts", "A_MAX"))).toEqual(["A_MAX", "B_MAX"]);
  expect(
    rooms(user("src/kernel/a.ts", "A_MAX, KIB"), user("src/tools/b/c.ts", "A_MAX, B_MAX as c"), user("test/kernel/a.ts", "B_MAX")),
  ).toEqual(["B_MAX"]);
  expect(rooms(user("src/transports/mcp/a.ts", "A_MAX, B_MAX, KIB"), user("src/transports/framed/a.ts", "A_MAX, B_MAX"))).toEqual([]);
});
