/** `find_usage`, `diagnostics` and `rename_symbol` by real language servers, which see each edit at once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";
import { diagnostics } from "../../../src/tools/structure/diagnostics.ts";
import { findUsage } from "../../../src/tools/structure/find-usage.ts";
import { branchPlace } from "../../support/branch-place.ts";
import { installPyright, installTypeScript } from "../../support/language-place.ts";
import { freshPlace, type Place } from "../../support/place.ts";
import { openStructure } from "../../support/structure-place.ts";

const TIMEOUT = { timeout: 180_000 };
const OPTIONS = JSON.stringify({
  compilerOptions: {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    module: "nodenext",
    target: "esnext",
  },
});

const CARTS = {
  "tsconfig.json": OPTIONS,
  "src/cart.ts": `export class Cart {
  total = 0;
  add(price: number) { this.total += price; }
}
export class Log {
  add(line: string) { return line; }
}
`,
  "src/use.ts": `import { Cart as Basket, Log } from "./cart.ts";
const basket = new Basket();
basket.add(1);
new Log().add("x");
new Set<number>().add(2);
`,
};

function typeScriptPlace(): Place {
  const place = freshPlace();
  installTypeScript(place.workspace);
  return place;
}

function linesOf(answer: JsonObject): readonly string[] {
  const usages = answer["usages"] as unknown as {
    path: string;
    line: number;
    column: number;
    kind: string;
    by?: string;
  }[];
  return usages.map(({ path, line, column, kind, by }) =>
    [`${path}:${line}:${column}`, kind, ...(by === undefined ? [] : [by])].join(" "),
  );
}

test("TypeScript tells members of different types apart, and aliases", TIMEOUT, async () => {
  const { call } = await openStructure(CARTS, typeScriptPlace());
  const all = await call("find_usage", { symbol: "add" });
  expect(all).toMatchObject({ by: "language-server", servers: ["typescript"] });
  expect(all["fallback"]).toBeUndefined();
  expect(linesOf(all)).toEqual([
    "src/cart.ts:3:3 definition",
    "src/cart.ts:6:3 definition",
    "src/use.ts:3:8 call",
    "src/use.ts:4:11 call",
  ]);
  // \`Set.add\` is another thing of that name.
  expect(all["left_out"]).toMatchObject({ others: 1 });
  const cart = await call("find_usage", { symbol: "Cart" });
  expect(linesOf(cart)).toEqual([
    "src/cart.ts:1:14 definition",
    "src/use.ts:1:10 import",
    "src/use.ts:1:18 import",
    "src/use.ts:2:20 call",
  ]);
  expect(findUsage.toText?.(cart)).toContain("[by language server typescript: 1 definition");
  const total = await call("find_usage", { symbol: "total", defined_in: "src/cart.ts" });
  expect(linesOf(total)).toEqual(["src/cart.ts:2:3 definition", "src/cart.ts:3:29 write"]);
});

test("a warm server sees edits, new files and files that have gone, at once", TIMEOUT, async () => {
  const { call } = await openStructure(CARTS, typeScriptPlace());
  await call("find_usage", { symbol: "Log" });
  const path = "src/use.ts";
  await call("edit_file", { path, old_string: "const basket", new_string: "\n\nconst basket" });
  await call("write_file", { path: "src/new.ts", content: 'import { Log } from "./cart.ts";\nnew Log();\n' });
  expect(linesOf(await call("find_usage", { symbol: "Log" }))).toEqual([
    "src/cart.ts:5:14 definition",
    "src/new.ts:1:10 import",
    "src/new.ts:2:5 call",
    "src/use.ts:1:26 import",
    "src/use.ts:6:5 call",
  ]);
  await call("delete_file", { path: "src/new.ts" });
  const after = await call("find_usage", { symbol: "Log" });
  expect(linesOf(after).filter((line) => line.includes("new.ts"))).toEqual([]);
});

test("diagnostics are those of the file as it is; what was left out is said", TIMEOUT, async () => {
  const files = {
    ...CARTS,
    "src/bad.ts": "export const one: string = 1;\nexport const two: number = nowhere;\n",
    "a.txt": "x",
  };
  const { call } = await openStructure(files, typeScriptPlace());
  const paths = ["src/bad.ts", "src/use.ts", "a.txt"];
  const found = await call("diagnostics", { paths });
  expect(found).toMatchObject({
    counts: { error: 2 },
    diagnostics: [
      { path: "src/bad.ts", line: 1, column: 14, severity: "error", code: "2322" },
      { path: "src/bad.ts", line: 2, column: 28, severity: "error", code: "2304" },
    ],
    looked: [{ path: "src/bad.ts", server: "typescript" }, { path: "src/use.ts" }],
    not_looked: [{ path: "a.txt", why: "unknown_language" }],
    truncated: true,
  });
  expect(diagnostics.toText?.(found)).toContain("src/bad.ts:1:14 error 2322: Type 'number' is not assignable");
  expect(await call("diagnostics", { paths, max_tokens: 100 })).toMatchObject({ left_out: { diagnostics: 1 } });
  await call("edit_file", { path: "src/bad.ts", old_string: "= 1", new_string: '= "1"' });
  expect(await call("diagnostics", { paths: ["src/bad.ts"] })).toMatchObject({ counts: { error: 1 } });
});

test("a symbol is renamed in all files that the call names, or in none", TIMEOUT, async () => {
  const { call, place } = await openStructure(CARTS, typeScriptPlace());
  const read = (path: string) => readFileSync(join(place.workspace, path), "utf8");
  const wanted = { symbol: "Cart", new_name: "Trolley", defined_in: "src/cart.ts" };
  const missing = await call("rename_symbol", wanted);
  expect(JSON.stringify(missing)).toContain("`src/use.ts`; nothing was changed");
  const before = read("src/cart.ts");
  const dry = await call("rename_symbol", { ...wanted, files: ["src/use.ts"], dry_run: true });
  expect(dry).toMatchObject({ server: "typescript", replacements: 2, dry_run: true });
  expect(read("src/cart.ts")).toBe(before);
  const done = await call("rename_symbol", { ...wanted, files: ["src/use.ts"] });
  expect(done).toMatchObject({
    replacements: 2,
    files: [{ path: "src/cart.ts", replacements: 1 }, { path: "src/use.ts" }],
  });
  expect((done["files"] as { diff: string }[])[1]?.diff).toContain("+import { Trolley as Basket, Log }");
  expect(read("src/cart.ts")).toContain("export class Trolley {");
  expect(read("src/use.ts")).toContain("import { Trolley as Basket, Log }");
  const twice = await call("rename_symbol", {
    symbol: "add",
    new_name: "put",
    defined_in: "src/cart.ts",
    files: ["src/use.ts"],
  });
  expect(JSON.stringify(twice)).toContain("in several lines (3, 6)");
  const one = { symbol: "add", new_name: "put", defined_in: "src/cart.ts", line: 3, files: ["src/use.ts"] };
  expect(await call("rename_symbol", one)).toMatchObject({ replacements: 2 });
  expect(read("src/use.ts")).toContain('basket.put(1);\nnew Log().add("x");');
});

test("Pyright knows Python: usages, diagnostics, renames", TIMEOUT, async () => {
  const place = freshPlace();
  installPyright(place.workspace);
  const { call } = await openStructure(
    {
      "pkg/a.py":
        "class Cart:\n    def add(self, n: int) -> int:\n        return n\n\nclass Log:\n    def add(self):\n        pass\n",
      "pkg/b.py": 'from pkg.a import Cart, Log\n\nCart().add(1)\nLog().add()\nCart().add("x")\n',
    },
    place,
  );
  const found = await call("find_usage", { symbol: "add", defined_in: "pkg/a.py" });
  expect(found).toMatchObject({ by: "language-server", servers: ["pyright"] });
  expect(linesOf(found)).toEqual([
    "pkg/a.py:2:9 definition",
    "pkg/a.py:6:9 definition",
    "pkg/b.py:3:8 call",
    "pkg/b.py:4:7 call",
    "pkg/b.py:5:8 call",
  ]);
  expect(await call("diagnostics", { paths: ["pkg/b.py"] })).toMatchObject({
    diagnostics: [{ path: "pkg/b.py", line: 5, severity: "error", code: "reportArgumentType" }],
    looked: [{ server: "pyright" }],
  });
  const renamed = { symbol: "Log", new_name: "Journal", defined_in: "pkg/a.py", files: ["pkg/b.py"] };
  expect(await call("rename_symbol", renamed)).toMatchObject({ server: "pyright", replacements: 3 });
  expect(readFileSync(join(place.workspace, "pkg/b.py"), "utf8")).toContain("from pkg.a import Cart, Journal");
});

test("without a server the answer is by syntax, and says why", TIMEOUT, async () => {
  const { call, place } = await openStructure(CARTS);
  const missing = await call("find_usage", { symbol: "Log" });
  expect(missing).toMatchObject({ by: "syntax", fallback: [{ server: "typescript", why: "not_installed" }] });
  expect(findUsage.toText?.(missing)).toContain("install `typescript` as a development dependency");
  expect(await call("diagnostics", { paths: ["src/use.ts"] })).toMatchObject({
    not_looked: [{ why: "not_installed" }],
  });
  const renamed = await call("rename_symbol", { symbol: "Log", new_name: "L", defined_in: "src/cart.ts", files: [] });
  expect(JSON.stringify(renamed)).toContain("no language server can say where the name stands");
  const off = freshPlace();
  off.put("config/handrail.yaml", "language_servers: { enabled: false }\n");
  const { call: without } = await openStructure(CARTS, off);
  expect(await without("find_usage", { symbol: "Log" })).toMatchObject({ by: "syntax", fallback: [{ why: "off" }] });
  expect(place.workspace).not.toBe(off.workspace);
});

test(
  "what a lease closes is not seen by the server; a file that it does not open refuses a rename",
  TIMEOUT,
  async () => {
    const { call, other } = await openStructure(
      { ...CARTS, "closed/use.ts": CARTS["src/use.ts"].replace("./", "../src/") },
      typeScriptPlace(),
    );
    const whole = await call("find_usage", { symbol: "Log" });
    expect(linesOf(whole)).toContain("closed/use.ts:4:5 call");
    const leased = await other({
      scope: { ...UNRESTRICTED_SCOPE, readPaths: [["src", "src/**", "tsconfig.json"]] },
    });
    const part = await leased("find_usage", { symbol: "Log", path: "src" });
    expect(part).toMatchObject({ by: "language-server" });
    expect(JSON.stringify(part)).not.toContain("closed");
    const reading = await other({ scope: { ...UNRESTRICTED_SCOPE, writePaths: [["src/cart.ts"]] } });
    const wanted = { symbol: "Log", new_name: "Journal", defined_in: "src/cart.ts" };
    const named = await reading("rename_symbol", { ...wanted, files: ["src/use.ts", "closed/use.ts"] });
    expect(JSON.stringify(named)).toContain("the lease does not cover");
    expect(JSON.stringify(await reading("rename_symbol", wanted))).toContain("nothing was changed");
  },
);

test("a session on a branch asks a server that sees the branch", TIMEOUT, async () => {
  const place = await branchPlace();
  installTypeScript(place.workspace);
  for (const [path, content] of Object.entries(CARTS)) place.put(`workspace/${path}`, content);
  const branched = await place.session();
  await branched("create_branch", { name: "first" }); // and works on it from then on
  const call = await place.session();
  await branched("write_file", { path: "src/more.ts", content: 'import { Log } from "./cart.ts";\nnew Log();\n' });
  const { data: onBranch } = await branched("find_usage", { symbol: "Log" });
  expect(onBranch).toMatchObject({ by: "language-server" });
  expect(linesOf(onBranch)).toContain("src/more.ts:2:5 call");
  const { data: outside } = await call("find_usage", { symbol: "Log" });
  expect(outside).toMatchObject({ by: "language-server" });
  expect(JSON.stringify(outside)).not.toContain("more.ts");
});
