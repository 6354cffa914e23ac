/** `find_usage`: kinds, scopes and imports in each language, what is left out, and what a call may not be told. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";
import { findUsage } from "../../../src/tools/structure/find-usage.ts";
import { openStructure } from "../../support/structure-place.ts";

interface Usage {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly kind: string;
  readonly within?: string;
  readonly defined_in?: string;
  readonly binding?: string;
}

/** `path:line:column kind`, in the order of the answer. */
function linesOf(answer: JsonObject): readonly string[] {
  const usages = answer["usages"] as unknown as Usage[];
  return usages.map(({ path, line, column, kind, binding }) =>
    [`${path}:${line}:${column}`, kind, ...(binding === undefined ? [] : [binding])].join(" "),
  );
}

const TYPESCRIPT = {
  "src/a.ts": `export function load(name: string) {
  return name;
}
export let count = 0;
count += 1;
load("x");
// load in a comment
const text = "load";
`,
  "src/index.ts": 'export { load } from "./a.ts";\nexport * from "./a.ts";\n',
  "src/b.ts": `import { load as read, count } from "./index.ts";
import * as all from "./a.ts";
class Cart {
  load() { return read("y"); }
  twice() { this.load(); all.load("z"); }
}
`,
  "src/c.ts": `import { load } from "./other.ts";
function own(load: () => void) { load(); }
load();
`,
  "src/other.ts": "export const load = () => 1;\n",
};

test("TypeScript: definitions, calls, imports, writes, aliases, namespaces, members and locals", async () => {
  const { call } = await openStructure(TYPESCRIPT);
  const answer = await call("find_usage", { symbol: "load" });
  expect(linesOf(answer)).toEqual([
    "src/a.ts:1:17 definition",
    "src/b.ts:4:3 definition member",
    "src/other.ts:1:14 definition",
    "src/a.ts:6:1 call",
    "src/b.ts:1:10 import",
    "src/b.ts:4:19 call",
    "src/b.ts:5:18 call member",
    "src/b.ts:5:30 call",
    "src/c.ts:1:10 import",
    "src/c.ts:3:1 call",
    "src/index.ts:1:10 import",
  ]);
  expect(answer).toMatchObject({
    by: "syntax",
    counts: { definition: 3, import: 3, call: 5 },
    left_out: { usages: 0, locals: 2, files: 0 },
    truncated: false,
  });
  expect(linesOf(await call("find_usage", { symbol: "count" }))).toEqual([
    "src/a.ts:4:12 definition",
    "src/a.ts:5:1 write",
    "src/b.ts:1:24 import",
  ]);
});

test("`defined_in` follows imports, aliases and passing files to one definition", async () => {
  const { call } = await openStructure(TYPESCRIPT);
  const answer = await call("find_usage", { symbol: "load", defined_in: "src/a.ts" });
  expect(linesOf(answer)).toEqual([
    "src/a.ts:1:17 definition",
    "src/a.ts:6:1 call",
    "src/b.ts:1:10 import",
    "src/b.ts:4:19 call",
    "src/b.ts:5:30 call",
    "src/index.ts:1:10 import",
  ]);
  const other = await call("find_usage", { symbol: "load", defined_in: "src/other.ts" });
  expect(linesOf(other)).toEqual(["src/other.ts:1:14 definition", "src/c.ts:1:10 import", "src/c.ts:3:1 call"]);
  expect(findUsage.toText?.(other)).toBe(`src/other.ts
  1:14 definition: export const load = () => 1;
src/c.ts
  1:10 import (of src/other.ts): import { load } from "./other.ts";
  3:1 call (of src/other.ts): load();
No language server (typescript): it is not installed; install \`typescript\` as a development dependency of the project
[by syntax: 1 definition, 1 import, 1 call]`);
  const one = await call("find_usage", { symbol: "load", path: "src/c.ts" });
  expect(linesOf(one)).toEqual([
    "src/c.ts:2:14 definition local",
    "src/c.ts:1:10 import",
    "src/c.ts:2:34 call local",
    "src/c.ts:3:1 call",
  ]);
});

test.each([
  [
    "Python",
    {
      "pkg/a.py":
        "def load(x):\n    load = x\n    return load\n\nclass C:\n    def load(self):\n        return load(1)\n",
      "pkg/b.py": "from .a import load as read\nfrom pkg import a\nread(2)\na.load(3)\nobj.load()\n",
    },
    "pkg/a.py",
    ["pkg/a.py:1:5 definition", "pkg/a.py:7:16 call", "pkg/b.py:1:16 import", "pkg/b.py:3:1 call", "pkg/b.py:4:3 call"],
  ],
  [
    "Go",
    {
      "go.mod": "module example.com/m\n",
      "store/a.go": "package store\n\nfunc Load() int { return 1 }\n\nfunc x() { Load() }\n",
      "store/b.go": "package store\n\nfunc y() { Load(); Load := 1; _ = Load }\n",
      "main.go": 'package main\n\nimport "example.com/m/store"\n\nfunc main() { store.Load() }\n',
    },
    "store/a.go",
    ["store/a.go:3:6 definition", "main.go:5:21 call", "store/a.go:5:12 call", "store/b.go:3:12 call"],
  ],
  [
    "Rust",
    {
      "src/a.rs": "pub fn load() {}\nfn x() { load(); let load = 1; }\n",
      "src/main.rs": "mod a;\nuse crate::a::{load as read, other};\nfn main() { read(); crate::a::load(); }\n",
    },
    "src/a.rs",
    [
      "src/a.rs:1:8 definition",
      "src/a.rs:2:10 call",
      "src/main.rs:2:16 import",
      "src/main.rs:3:13 call",
      "src/main.rs:3:31 call",
    ],
  ],
  [
    "Java",
    {
      "src/com/x/Cart.java": "package com.x;\npublic class Cart { Cart() {} }\n",
      "src/com/y/Main.java":
        "package com.y;\nimport com.x.Cart;\nclass Main { Cart cart = new Cart(); int f(int Cart) { return Cart; } }\n",
    },
    "src/com/x/Cart.java",
    [
      "src/com/x/Cart.java:2:14 definition",
      "src/com/y/Main.java:2:14 import",
      "src/com/y/Main.java:3:14 reference",
      "src/com/y/Main.java:3:30 call",
    ],
  ],
])("%s: usages of one definition", async (_, files, definedIn, expected) => {
  const { call } = await openStructure(files);
  const symbol = /Cart/.test(definedIn) ? "Cart" : definedIn.endsWith(".go") ? "Load" : "load";
  expect(linesOf(await call("find_usage", { symbol, defined_in: definedIn }))).toEqual(expected);
});

test("kinds and a small budget leave out the rest, which is counted", async () => {
  const { call } = await openStructure({ "a.ts": `function go() {}\n${"go();\n".repeat(300)}` });
  expect(linesOf(await call("find_usage", { symbol: "go", kinds: ["definition"] }))).toEqual(["a.ts:1:10 definition"]);
  const answer = await call("find_usage", { symbol: "go", max_tokens: 300 });
  const shown = (answer["usages"] as unknown[]).length;
  expect(answer).toMatchObject({ counts: { call: 300 }, left_out: { usages: 301 - shown }, truncated: true });
  expect(findUsage.toText?.(answer)).toMatch(/\d+ left out: raise `max_tokens`, narrow `path` or `kinds`\]$/);
});

test("other languages, other encodings and files too large are said not to be parsed", async () => {
  const { call, place } = await openStructure({
    "a.unknown": "load()\n",
    "a.md": "load\n",
    "a.ts": "load();\n",
    "broken.ts": "function ((( load( {{{\n",
    "large.js": `load();\n${"x();\n".repeat(300_000)}`,
  });
  writeFileSync(join(place.workspace, "latin.ts"), Buffer.from("// \xe9\nload();\n", "latin1"));
  const answer = await call("find_usage", { symbol: "load" });
  expect(answer["not_parsed"]).toEqual(["a.md", "a.unknown"]);
  expect(answer["partly_parsed"]).toEqual(["broken.ts"]);
  expect(linesOf(answer)).toEqual(expect.arrayContaining(["a.ts:1:1 call", "latin.ts:2:1 call"]));
  expect(answer).toMatchObject({ left_out: { files: 1 }, truncated: true });
});

test.each(["", "a.b", "a b", "(", "\\w+", "x\u0000"])("%j is no name", async (symbol) => {
  const { call } = await openStructure({ "a.ts": "a.b;\n" });
  expect(await call("find_usage", { symbol })).toMatchObject({ status: "error" });
});

test("secret files, secrets in lines, and what a lease closes are not shown; lines below a long secret are right", async () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(8)}-----END PRIVATE KEY-----`;
  const token = "ghp_okapiZebraGiraffe0123456789abcdefABC";
  const { call, other } = await openStructure({
    ".env.ts": "load();\n",
    "secrets/a.ts": "load();\n",
    "src/a.ts": `const key = \`${key}\`;\nload("${token}");\n`,
    "lib/b.ts": "load();\n",
  });
  const answer = await call("find_usage", { symbol: "load" });
  expect(linesOf(answer)).toEqual(["lib/b.ts:1:1 call", "src/a.ts:11:1 call"]);
  expect(JSON.stringify(answer)).not.toContain(token);
  expect(JSON.stringify(answer)).toContain("[REDACTED:");
  const narrow = await other({ scope: { ...UNRESTRICTED_SCOPE, readPaths: [["lib", "lib/**"]] } });
  expect(linesOf(await narrow("find_usage", { symbol: "load", path: "lib" }))).toEqual(["lib/b.ts:1:1 call"]);
  expect(await narrow("find_usage", { symbol: "load", path: "src" })).toMatchObject({ status: "error" });
});
