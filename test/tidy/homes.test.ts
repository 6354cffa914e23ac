// One home for a fact, held over the whole product; and for each rule, that it does find a planted second.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { limitsOfOneRoom, secondHomes } from "./homes.ts";

const product = globSync("src/**/*.ts").map((path) => ({ path, text: readFileSync(path, "utf8") }));

test("a limit of the base is shared by several rooms", () => {
  expect(product.length).toBeGreaterThan(100);
  expect(limitsOfOneRoom(product)).toEqual([]);
});

test("a limit that one room uses alone is found, one that two rooms or two islands share is not", () => {
  const limits = {
    path: "src/base/limits.ts",
    text: "export const KIB = 1024;\nexport const A_MAX = 4 * KIB;\nexport const B_MAX = 1;\n",
  };
  const user = (path: string, names: string) => ({
    path,
    text: `import { ${names} } from "${"../".repeat(path.split("/").length - 2)}base/limits.ts";\n`,
  });
  const rooms = (...users: { path: string; text: string }[]) =>
    limitsOfOneRoom([limits, ...users]).map((fault) => fault.split("`")[1]);
  expect(rooms(user("src/kernel/a.ts", "A_MAX, KIB"), user("src/kernel/call/b.ts", "A_MAX"))).toEqual([
    "A_MAX",
    "B_MAX",
  ]);
  expect(
    rooms(
      user("src/kernel/a.ts", "A_MAX, KIB"),
      user("src/tools/b/c.ts", "A_MAX, B_MAX as c"),
      user("test/kernel/a.ts", "B_MAX"),
    ),
  ).toEqual(["B_MAX"]);
  expect(
    rooms(user("src/transports/mcp/a.ts", "A_MAX, B_MAX, KIB"), user("src/transports/framed/a.ts", "A_MAX, B_MAX")),
  ).toEqual([]);
});

test("no fact of the product has a second home", () => {
  expect(product.flatMap(secondHomes)).toEqual([]);
});

const planted = (text: string, path = "src/kernel/a.ts") => secondHomes({ path, text }).length > 0;

test.each([
  'const root = "/workspace";',
  `const place = \`/workspace/\${name}\`;`,
  "const path = text.replace(/^\\/workspace(?=\\/|$)/, '');",
  'const NAMES = ["", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL"];',
  "const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4 };",
  'const DANGERS = ["unparsed", "too_much", "lookalike", "inline_code"];',
  'const PRIVATE = ["10.0.0.0/8"];',
  'const LOCAL = "fe80::/10";',
  'const NETWORKS = [["10.0.0.0", 8]]; const METADATA = ["169.254.169.254", "100.100.100.200"];',
  'if (host === "metadata.google.internal") refuse();',
  'const directory = roots.service.path === "" ? "/" : roots.service.path;',
])("a planted second home is found: `%s`", (text) => {
  expect(planted(text)).toBe(true);
});

test.each([
  'import { a } from "./workspace/workspace.ts";\n// lies at /workspace\nconst root = "/run/workspace";',
  'const STOP = ["SIGINT", "SIGTERM", "SIGHUP"];',
  'const BENDS = ["environment", "shell_state"];',
  'const WORDS = { unparsed: "a", too_much: "b", lookalike: "c", inline_code: "d" };',
  'const listen = ["127.0.0.1", "::1"]; const ratio = "1/8"; const version = "1.2.3.4";',
  'const shown = name === "" ? "/" : name;',
])("its lawful neighbour is not: `%s`", (text) => {
  expect(planted(text)).toBe(false);
});

test("a home may hold its own fact, tests may spell it out", () => {
  expect(planted('const WORKSPACE_ALIAS = "/workspace";', "src/model/place/workspace.ts")).toBe(false);
  expect(planted('const root = "/workspace";', "test/kernel/a.ts")).toBe(false);
});
