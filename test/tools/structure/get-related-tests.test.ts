/** `get_related_tests`: tests by name, imports and history, each with its reasons; and what a call may not be told. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";
import { getRelatedTests } from "../../../src/tools/structure/get-related-tests.ts";
import { newRepository } from "../../support/git-place.ts";
import { freshPlace } from "../../support/place.ts";
import { openStructure } from "../../support/structure-place.ts";

const FILES = {
  "src/cart/price.ts": "export const price = 1;\n",
  "src/cart/index.ts": 'export * from "./price.ts";\n',
  "src/cart/other.ts": "export const other = 1;\n",
  "test/cart/price.test.ts": 'import { price } from "../../src/cart/price.ts";\nprice;\n',
  "test/cart/order.test.ts": 'import { price } from "../../src/cart/index.ts";\nprice;\n',
  "test/support/make.ts": 'import { price } from "../../src/cart/price.ts";\nexport const make = price;\n',
  "test/cart/made.test.ts": 'import { make } from "../support/make.ts";\nmake;\n',
  "test/cart/far.test.ts": "export {};\n",
  "test/cart/alone.test.ts": "export {};\n",
  "test/other/price.test.ts": "export {};\n",
};

const pathsOf = (answer: JsonObject) => (answer["tests"] as { path: string }[]).map(({ path }) => path);

/** A place whose workspace is a repository in which `price.ts` and `far.test.ts` were changed together. */
function placeWithHistory() {
  const place = freshPlace();
  const { commit } = newRepository(place.workspace);
  commit("all", { ...FILES, "test/secrets/x.test.ts": "export {};\n" });
  for (const turn of [2, 3])
    commit(`turn ${turn}`, {
      "src/cart/price.ts": `export const price = ${turn};\n`,
      "test/cart/far.test.ts": `// ${turn}\nexport {};\n`,
      "test/secrets/x.test.ts": `// ${turn}\nexport {};\n`,
    });
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`notes/${at}.md`, "x\n"]));
  commit("formats", { ...many, "src/cart/price.ts": "export const price = 1;\n", "test/cart/alone.test.ts": "// x\n" });
  return place;
}

test("tests are found by name, by import, through other files, and by history, best first", async () => {
  const { call } = await openStructure(FILES, placeWithHistory());
  const answer = await call("get_related_tests", { file_path: "src/cart/price.ts" });
  expect(answer).toEqual({
    file_path: "src/cart/price.ts",
    tests: [
      {
        path: "test/cart/price.test.ts",
        reasons: [
          { kind: "name", why: "named after it" },
          { kind: "import", why: "imports it" },
          { kind: "history", why: "changed together in 1 of 4 commits" },
        ],
      },
      {
        path: "test/cart/order.test.ts",
        reasons: [
          { kind: "import", why: "imports it through `src/cart/index.ts`" },
          { kind: "history", why: "changed together in 1 of 4 commits" },
        ],
      },
      {
        path: "test/other/price.test.ts",
        reasons: [
          { kind: "name", why: "has its name, elsewhere" },
          { kind: "history", why: "changed together in 1 of 4 commits" },
        ],
      },
      {
        path: "test/cart/made.test.ts",
        reasons: [
          { kind: "import", why: "imports it through `test/support/make.ts`" },
          { kind: "history", why: "changed together in 1 of 4 commits" },
        ],
      },
      { path: "test/cart/far.test.ts", reasons: [{ kind: "history", why: "changed together in 3 of 4 commits" }] },
    ].toSorted((one, two) => ORDER.indexOf(one.path) - ORDER.indexOf(two.path)),
    history: "read",
    left_out: { tests: 0, sources: 0 },
    truncated: false,
  });
  expect(getRelatedTests.toText?.(answer)).toContain(
    "test/cart/price.test.ts: named after it; imports it; changed together in 1 of 4 commits\n",
  );
});

const ORDER = ["cart/price", "cart/made", "cart/order", "other/price", "cart/far"].map(
  (name) => `test/${name}.test.ts`,
);

test("a lease that leaves no `log` leaves no history, and one that leaves some paths only their tests", async () => {
  const place = placeWithHistory();
  const { other } = await openStructure({}, place);
  const noLog = await other({ scope: { ...UNRESTRICTED_SCOPE, gitOperations: [["status"]] } });
  const without = await noLog("get_related_tests", { file_path: "src/cart/price.ts" });
  expect(without["history"]).toBe("not_allowed");
  expect(pathsOf(without)).not.toContain("test/cart/far.test.ts");
  expect(pathsOf(without)).toContain("test/cart/price.test.ts");
  const readPaths = [["src/**", "test/cart", "test/cart/**"]];
  const narrow = await other({ scope: { ...UNRESTRICTED_SCOPE, readPaths } });
  const some = await narrow("get_related_tests", { file_path: "src/cart/price.ts", root_dir: "test/cart" });
  expect(pathsOf(some)).toContain("test/cart/far.test.ts");
  expect(JSON.stringify(some)).not.toMatch(/test\/other|secrets|support/);
});

test("policy that forbids `git:log` leaves no history", async () => {
  const place = placeWithHistory();
  place.put(
    "config/policy/no-log.cedar",
    '@id("no-log")\n@message("no history; ask a person")\n@rationale("permission_denied")\nforbid (principal, action == Handrail::Action::"git:log", resource);\n',
  );
  const { call } = await openStructure({}, place);
  expect(await call("get_related_tests", { file_path: "src/cart/price.ts" })).toMatchObject({ history: "not_allowed" });
});

test("no repository, a directory, a missing and a secret file are said to be so", async () => {
  const { call } = await openStructure({ ...FILES, ".env": "A=1\n" });
  const ask = (file: string) => call("get_related_tests", { file_path: file });
  expect(await ask("src/cart/other.ts")).toMatchObject({ tests: [], history: "no_repository" });
  expect(await ask("./src/cart/price.ts")).toMatchObject({ file_path: "src/cart/price.ts" });
  expect(await ask("src/cart")).toMatchObject({ error: { code: "NOT_A_FILE" } });
  expect(await ask("src/none.ts")).toMatchObject({ error: { code: "FILE_NOT_FOUND" } });
  expect(await ask(".env")).toMatchObject({ status: "error" });
});

test("a small budget leaves tests out and says so", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`test/t${at}.test.ts`, 'import "../src/a.ts";\n']),
  );
  const { call } = await openStructure({ "src/a.ts": "export {};\n", ...many });
  const answer = await call("get_related_tests", { file_path: "src/a.ts", max_tokens: 200 });
  const shown = pathsOf(answer).length;
  expect(answer).toMatchObject({ left_out: { tests: 50 - shown }, truncated: true });
  expect(getRelatedTests.toText?.(answer)).toContain("raise `max_tokens`");
});

test.each([
  ["pkg/a.py", { "tests/test_a.py": "from pkg.a import b\n" }, "tests/test_a.py", ["import", "name"]],
  ["store/store.go", { "store/store_test.go": "package store\n" }, "store/store_test.go", ["name", "package"]],
  ["store/store.go", { "store/more_test.go": "package store\nvar x = Open()\n" }, "store/more_test.go", ["package"]],
  ["src/a.rs", { "tests/it.rs": "use shop::a::B;\n" }, "tests/it.rs", ["import"]],
  ["src/b.rs", {}, "src/b.rs", ["inline"]],
  [
    "src/main/java/com/x/Cart.java",
    { "src/test/java/com/x/CartTest.java": "package com.x;\nclass CartTest { Cart cart; }\n" },
    "src/test/java/com/x/CartTest.java",
    ["name", "package"],
  ],
])("%s: the tests of its language (%#)", async (file, tests, expected, kinds) => {
  const { call } = await openStructure({
    "pkg/a.py": "b = 1\n",
    "store/store.go": "package store\nfunc Open() int { return 1 }\n",
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/a.rs": "pub struct B;\n",
    "src/b.rs": "#[cfg(test)]\nmod tests {}\n",
    "src/lib.rs": "pub mod a;\n",
    "src/main/java/com/x/Cart.java": "package com.x;\nclass Cart {}\n",
    ...tests,
  });
  const answer = await call("get_related_tests", { file_path: file });
  const found = (answer["tests"] as { path: string; reasons: { kind: string }[] }[]).find(
    ({ path }) => path === expected,
  );
  expect(found?.reasons.map(({ kind }) => kind)).toEqual(kinds);
});
