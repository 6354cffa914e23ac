// The house rules that no linter knows, held over the whole project; and for each rule, that it does find what it
// forbids: a check that cannot fail says nothing.

import { globSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { undocumentedOwnCode } from "./tidy/own-code.ts";
import {
  crowdedFolders,
  FILE_RULES,
  type ProjectFile,
  resolvedEntries,
  unexplainedDependencies,
} from "./tidy/rules.ts";

const FOLDERS =
  "{src,test,bench,scripts,proto,docs,examples,web}/**/*.{ts,tsx,mts,mjs,js,md,proto,json,yaml,yml,sh,cedar}";
const TOP = "{*.ts,*.mjs,.*.mjs,*.md,*.json,*.yaml,handrail,.ci/run,.editorconfig,.gitignore,.npmrc}";
const projectFiles: readonly ProjectFile[] = [...globSync(FOLDERS), ...globSync(TOP)]
  .filter(
    (path) => !/(^|\/)(node_modules|dist)\//.test(path) && path !== "package-lock.json" && statSync(path).isFile(),
  )
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

const lines = (count: number, line = "call();") => `${line}\n`.repeat(count);
const body = (count: number) => `// header\nfunction long() {\n${lines(count - 2)}}\n`;
const parameters = (count: number) =>
  Array.from({ length: count }, (_, index) => `${"abcdefgh"[index]}: number`).join(", ");
const word = (...parts: string[]) => parts.join("");

/** For each rule, by its place in the list: what it must find, and its nearest neighbour that it must let pass. */
const PLANTED: readonly { bad: readonly ProjectFile[]; good: readonly ProjectFile[] }[] = [
  {
    bad: [
      { path: "src/base/a.ts", text: lines(401) },
      { path: "web/a.tsx", text: lines(401) },
    ],
    good: [
      { path: "src/base/a.ts", text: lines(400) },
      { path: "src/gen/a.ts", text: lines(401) },
    ],
  },
  {
    bad: [
      { path: "src/base/a.ts", text: body(71) },
      { path: "src/base/a.ts", text: body(71).replace("function long()", "const long = () =>") },
      {
        path: "src/base/a.ts",
        text: body(71).replace("function long() {", "class A { constructor() {").replace(/}\n$/, "}}\n"),
      },
    ],
    good: [
      { path: "src/base/a.ts", text: body(70) },
      { path: "src/base/a.test.ts", text: body(71) },
    ],
  },
  {
    bad: [
      { path: "src/base/a.ts", text: `// header\nfunction wide(${parameters(4)}) {}\n` },
      { path: "src/base/a.ts", text: `// header\nconst wide = (${parameters(3)}, e = 1) => a + e;\n` },
      { path: "src/base/a.ts", text: `// header\nclass A { constructor(${parameters(4)}) {} }\n` },
      { path: "src/base/a.ts", text: `// header\nclass A { #wide(${parameters(3)}, ...rest: string[]) {} }\n` },
      { path: "src/base/a.ts", text: `// header\ninterface A { readonly wide: (${parameters(4)}) => void }\n` },
      { path: "src/redact/kinds/a.ts", text: `// header\nfunction wide(${parameters(5)}) {}\n` },
      { path: "web/a.tsx", text: `// header\nfunction wide(${parameters(4)}) {}\n` },
    ],
    good: [
      { path: "src/base/a.ts", text: `// header\nfunction narrow(${parameters(3)}) {}\nnarrow(1, 2, 3, ...[4]);\n` },
      { path: "src/base/a.ts", text: "// header\nfunction narrow({ a, b, c, d, e }: Wide, f: F, g: G) {}\n" },
      { path: "src/base/a.ts", text: `// header\nfunction narrow(this: A, ${parameters(3)}) {}\n` },
      { path: "src/gen/a.ts", text: `// header\nfunction wide(${parameters(4)}) {}\n` },
      { path: "src/redact/search/a.ts", text: `// header\nfunction wide(${parameters(5)}) {}\n` },
      { path: "src/redact/kinds/named-value.ts", text: `// header\nfunction wide(${parameters(5)}) {}\n` },
      { path: "src/sandbox/native/a.ts", text: `// header\nfunction wide(${parameters(5)}) {}\n` },
      {
        path: "src/sandbox/run/orphans.ts",
        text: `// header\ninterface Calls { readonly wide: (${parameters(5)}) => number }\n`,
      },
    ],
  },
  {
    bad: [
      { path: "src/base/a.ts", text: `// header\n${"a".repeat(117)} = 1;\n` },
      { path: "bench/a.ts", text: `// ${"word ".repeat(24)}\n` },
    ],
    good: [
      { path: "src/base/a.ts", text: `// header\n${"a".repeat(114)} = 1;\n` },
      { path: "src/base/a.ts", text: `// header\nconst a = "${"word ".repeat(40)}";\n` },
      { path: "src/base/a.ts", text: `// header\nconst a = sql\`\n${"word ".repeat(40)}\n\`;\n` },
    ],
  },
  {
    bad: [
      { path: "src/base/a.ts", text: "// a header without an end\nrun();\n" },
      { path: "src/base/a.ts", text: "/** What is known of a thing. */\nrun();\n" },
      { path: "src/base/a.ts", text: `/**\n * Says ${"much ".repeat(20)}at once. Ends.\n */\nrun();\n` },
    ],
    good: [
      { path: "src/base/a.ts", text: "// Caches a value per object shape.\nrun();\n" },
      { path: "src/base/a.ts", text: `/**\n * Caches a value\n * per object shape. ${"More ".repeat(30)}\n */\n` },
      { path: "test/a.test.ts", text: "/** What is known */\n" },
    ],
  },
  {
    bad: [{ path: "src/base/a.test.ts", text: "" }],
    good: [{ path: "test/base/a.test.ts", text: "" }],
  },
  {
    bad: ["TO-DO", "FIX-ME", "X-XX", "HA-CK"].map((marker) => ({
      path: "docs/a.md",
      text: `x\n${word(...marker.split("-"))}: later\n`,
    })),
    good: [{ path: "docs/a.md", text: "hacking, todos and mktemp x.XXXXXX\n" }],
  },
  {
    bad: [
      { path: "src/base/a.ts", text: 'import { a } from "./b.ts";\n' },
      { path: "scripts/a.mjs", text: "#!/usr/bin/env node\nrun();\n" },
    ],
    good: [
      { path: "src/base/a.ts", text: "// Decides a thing.\n" },
      { path: "scripts/a.mjs", text: "#!/usr/bin/env node\n// Decides a thing.\n" },
    ],
  },
  {
    bad: [
      { path: "src/base/a.ts", text: "// header\n\nexport const a = 1;\n" },
      { path: "src/base/a.ts", text: "/** one */\nexport const a = 1;\nexport type B = 1;\n" },
      { path: "src/base/a.ts", text: "// header\nexport default 1;\n" },
      { path: "src/base/a.ts", text: "function a() {}\nexport { a };\n" },
      { path: "src/base/a.ts", text: "/** */\nexport class A {}\n" },
    ],
    good: [
      {
        path: "src/base/a.ts",
        text: "/** one */\nexport const a = 1;\n/**\n * two\n */\nexport type B = 1;\nconst c = 1;\n",
      },
      {
        path: "src/base/a.ts",
        text: '/** one */\nexport function a(x: 1): 1;\nexport function a(x: unknown) { return x; }\nexport { b } from "./b.ts";\n',
      },
      { path: "src/base/a.test.ts", text: "export const a = 1;\n" },
    ],
  },
  {
    bad: [
      { path: "docs/a.md", text: `see ${process.cwd()}/src\n` },
      { path: "handrail", text: `${homedir()}/bin\n` },
    ],
    good: [{ path: "docs/a.md", text: "mounted at /workspace/main\n" }],
  },
  {
    bad: ["src/base/utils.ts", "src/helpers/a.ts", "test/path-util.ts", "test/misc/a.test.ts"].map((path) => ({
      path,
      text: "",
    })),
    good: [{ path: "src/base/utilisation.ts", text: "" }],
  },
  {
    bad: ["src/base/fileStore.ts", "src/Base/a.ts", "test/file_store.test.ts"].map((path) => ({ path, text: "" })),
    good: ["src/base/file-store.test.ts", "src/gen/tool_pb.ts", ".dependency-cruiser.mjs"].map((path) => ({
      path,
      text: "",
    })),
  },
  {
    bad: [
      "test.skip('a')",
      "it.only('a')",
      "describe.concurrent.todo('a')",
      "test.each([1]).skip('a')",
      "test.skipIf(x)('a')",
      "xit('a')",
    ].map((text) => ({
      path: "test/a.test.ts",
      text,
    })),
    good: [
      {
        path: "test/a.test.ts",
        text: "// test.skip('a')\nconst a = 'it.only(1)'; reader.skip(3); test.each([1])('a');",
      },
    ],
  },
  {
    bad: [
      ...[
        "fc.assert(p, { seed: Date.now() })",
        "fc.assert(p, { numRuns: 3, seed: 1 })",
        "const seed = 1; fc.check(p, { seed })",
      ],
      ...[
        "fc.sample(a, { seed: Date.now() })",
        "fc.configureGlobal({})",
        "const options = { 'seed': 1 };",
        "fc.assert(p, { randomType: f })",
      ],
    ]
      .map((text) => `import fc from "fast-check";\n${text}\n`)
      .concat([
        'import { assert } from "fast-check";',
        'import * as check from "fast-check";',
        "const a = Math.random();",
      ])
      .concat([
        'import { randomBytes } from "node:crypto";',
        'import { randomInt as a } from "crypto";',
        "crypto.randomUUID();",
      ])
      .map((text) => ({ path: "src/base/a.test.ts", text })),
    good: [
      {
        path: "src/base/a.test.ts",
        text: 'import fc from "fast-check";\nfc.assert(p, { numRuns: 3 }); fc.sample(a, { seed: 3 }); seed(1);',
      },
      {
        path: "src/base/a.test.ts",
        text: 'import { createHash } from "node:crypto";\nserver({ seed: now() }); systemRandom(16);',
      },
      {
        path: "test/random-seed.ts",
        text: 'import fc from "fast-check";\nfc.configureGlobal({ seed: seedOf(process.env) });',
      },
      { path: "src/base/ids.ts", text: 'import { randomBytes } from "node:crypto";' },
    ],
  },
];

test("there are files to look at", () => {
  const paths = projectFiles.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      "handrail",
      ".ci/run",
      "test/tidy.test.ts",
      "scripts/setup.mjs",
      "src/base/limits.ts",
      "package.json",
    ]),
  );
  expect(PLANTED).toHaveLength(FILE_RULES.length);
});

describe.each(FILE_RULES.map((rule, index) => ({ ...rule, planted: PLANTED[index] })))(
  "$name",
  ({ faults, planted }) => {
    test("in the whole project", () => {
      expect(projectFiles.flatMap((file) => faults(file))).toEqual([]);
    });

    test("planted faults are found, their lawful neighbours are not", () => {
      for (const file of planted?.bad ?? [])
        expect({ file, found: faults(file).length > 0 }).toEqual({ file, found: true });
      for (const file of planted?.good ?? []) expect({ file, faults: faults(file) }).toEqual({ file, faults: [] });
    });
  },
);

test("no folder of the product has more files than one can take in at a look", () => {
  expect(crowdedFolders(projectFiles)).toEqual([]);
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({ path: `${folder}/a${index}.ts`, text: "" }));
  expect(crowdedFolders(files("src/base", 16))).toEqual(["src/base: 16 files"]);
  expect(crowdedFolders([...files("src/base", 15), ...files("src/cli/commands", 30)])).toEqual([]);
});

test("the lock file names no download address", () => {
  expect(resolvedEntries(readFileSync("package-lock.json", "utf8"))).toEqual([]);
  expect(
    resolvedEntries('{"packages":{"node_modules/a":{"resolved":"https://x.example/a.tgz"},"node_modules/b":{}}}'),
  ).toEqual(["node_modules/a"]);
});

test("every dependency has a written reason, and every reason a dependency", () => {
  expect(
    unexplainedDependencies(
      readFileSync("package.json", "utf8"),
      readFileSync("docs/decisions/dependencies.md", "utf8"),
    ),
  ).toEqual([]);
  const manifest = '{"dependencies":{"a":"1","b":"1"},"devDependencies":{"c":"1"}}';
  const page = "| package | why |\n|---|---|\n| `a` | because |\n| `b` |  |\n| `d` | because |\n";
  expect(unexplainedDependencies(manifest, page)).toEqual([
    "`b` has no reason",
    "`c` has no reason",
    "`d` is explained but not used",
  ]);
});

test("every parser, encoder and algorithm of our own has a row, and every row its files", () => {
  const page =
    "| file | lines | why | gain | refused |\n|---|---:|---|---|---|\n| `base/csv.ts` | 4 | needed | none | `papaparse` |\n";
  const own = { path: "src/base/csv.ts", text: "// Tables as text.\n\n\n\n" };
  expect(undocumentedOwnCode(projectFiles, readFileSync("docs/decisions/own-code.md", "utf8"))).toEqual([]);
  expect(undocumentedOwnCode([own], page)).toEqual([]);
  expect(undocumentedOwnCode([{ ...own, path: "src/base/moved/base/csv.ts" }], page)).toEqual([]);
  const planted = [
    { path: "src/base/ini-reader.ts", text: "/**\n * Parses configurations of old. Pure.\n */\n" },
    { path: "src/model/toml.ts", text: "// What a manifest says.\n" },
    {
      path: "src/model/lockfile.ts",
      text: "// A lock file: what it names.\nif (a.charCodeAt(0) === b.charCodeAt(1)) c();\n",
    },
    { path: "src/model/words.ts", text: "/** A recursive-descent reader. It decodes nothing. */\n" },
    { path: "src/base/csv.test.ts", text: "// Parses tables.\n" },
  ];
  expect(undocumentedOwnCode([own, ...planted], page)).toEqual(
    ["base/ini-reader", "model/toml", "model/lockfile"].map((name) => `\`src/${name}.ts\` is own code without a row`),
  );
  expect(undocumentedOwnCode([], page)).toEqual([
    "`base/csv.ts` is named but is no file",
    "`base/csv.ts` has 0 lines, not 4",
  ]);
  expect(undocumentedOwnCode([{ ...own, text: "// Tables as text.\n".repeat(6) }], page)).toEqual([
    "`base/csv.ts` has 6 lines, not 4",
  ]);
  expect(undocumentedOwnCode([own], page.replace("none", ""))).toEqual(["the row of `base/csv.ts` has an empty cell"]);
});
