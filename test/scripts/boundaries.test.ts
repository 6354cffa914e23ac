// The boundaries check on a planted tree: every rule of the import table finds its fault, type-only imports included,
// the lawful neighbours pass, and a file that the checker cannot read fails the check instead of passing unseen.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const LAWFUL: Readonly<Record<string, string>> = {
  "src/base/b.ts": "export const b = 1;",
  "src/gen/g.ts": "export type G = 1;",
  "src/sandbox/branch-store.ts": "export interface Port { a: 1 }\nexport const code = 1;",
  "src/sandbox/open.ts":
    'import koffi from "koffi";\nimport { openSync } from "node:fs";\nexport const open = [koffi, openSync];',
  "src/ledger/entry.ts": 'import { b } from "../base/b.ts";\nexport type E = typeof b;',
  "src/stores/embedded/s.ts": 'import type { Port } from "../../sandbox/branch-store.ts";\nexport type S = Port;',
  "src/kernel/index.ts": 'export { k } from "./pipeline.ts";',
  "src/kernel/pipeline.ts": 'export const k = "k";',
  "src/names/n.ts": 'import "../base/b.ts";',
  "src/kernel/call/c.ts": "export const c = 1;",
  "src/kernel/judge/j.ts": 'import "../call/c.ts";',
  "src/tools/kit/k.ts": "export const k = 1;",
  "src/tools/a/a.ts": 'import "../kit/k.ts";',
};

/** A file that breaks one rule, and the name of the rule. */
const FAULTS: readonly (readonly [rule: string, path: string, text: string])[] = [
  ["layer:base", "src/base/x1.ts", 'import "../model/outcome/m.ts";'],
  [
    "layer:config|session|policy",
    "src/policy/x2.ts",
    'import type { E } from "../ledger/entry.ts";\nexport type X = E;',
  ],
  ["layer:config|session|policy", "src/cas/x3.ts", 'export type X = import("../ledger/entry.ts").E;'],
  ["layer:tools", "src/tools/a/x4.ts", 'export * from "../../sandbox/open.ts";'],
  ["layer:tools", "src/tools/a/x5.ts", 'export const x = () => import("../../policy/p.ts");'],
  ["layer:transports", "src/transports/a/x6.ts", 'import "../../ledger/entry.ts";'],
  ["layer:cli", "src/cli/x7.ts", 'import "../kernel/index.ts";'],
  ["unlisted-folder-imports", "src/odd/x8.ts", 'import "../base/b.ts";'],
  ["unlisted-folder-alone", "src/odd/x9.ts", "export const x = 1;"],
  ["unlisted-folder", "src/odd.ts", "export const x = 1;\n// imported by src/server/y.ts"],
  [
    "ports-are-types",
    "src/stores/embedded/x10.ts",
    'import { code } from "../../sandbox/branch-store.ts";\nexport const x = code;',
  ],
  ["no-cycles", "src/base/x11.ts", 'import "./y.ts";'],
  ["plugins-are-islands", "src/tools/a/x12.ts", 'import "../b/y.ts";'],
  ["kernel-by-its-door", "src/server/x13.ts", 'import "../kernel/pipeline.ts";'],
  ["ambient-authority", "src/policy/x14.ts", 'import { readFileSync } from "node:fs";\nexport const x = readFileSync;'],
  [
    "module-loading",
    "src/policy/x14m.ts",
    'import { createRequire } from "node:module";\nexport const x = createRequire;',
  ],
  [
    "ambient-authority",
    "src/tools/a/x15.ts",
    'import type { ChildProcess } from "child_process";\nexport type X = ChildProcess;',
  ],
  ["native-calls", "src/server/x16.ts", 'import koffi from "koffi";\nexport const x = koffi;'],
  ["tests-are-not-imported", "src/policy/x17.ts", 'import "../../test/t.ts";'],
  ["layer:names|text", "src/names/x20.ts", 'import "../model/outcome/m.ts";'],
  ["layer:names|text", "src/names/x21.ts", 'import "../text/t.ts";'],
  ["order:kernel/call", "src/kernel/call/x22.ts", 'import "../judge/j.ts";'],
  [
    "order:kernel/judge",
    "src/kernel/judge/x23.ts",
    'import type { k } from "../pipeline.ts";\nexport type X = typeof k;',
  ],
  ["order:server/.", "src/server/x24.ts", 'import "./doors/d.ts";'],
  ["unlisted-sub-folder:kernel", "src/kernel/odd/x25.ts", 'import "../call/c.ts";'],
  ["unresolvable", "src/base/x18.ts", 'import "./nowhere.ts";'],
  ["dev-dependency-in-product", "src/base/x19.ts", 'import * as check from "fast-check";\nexport const x = check;'],
];

/** What a fault needs beside it: the other half of a cycle, a sibling, an importer. */
const NEIGHBOURS: Readonly<Record<string, string>> = {
  "src/base/y.ts": 'import "./x11.ts";',
  "src/tools/b/y.ts": "export const y = 1;",
  "src/server/y.ts": 'import "../odd.ts";',
  "src/model/outcome/m.ts": "export const m = 1;",
  "src/policy/p.ts": "export const p = 1;",
  "src/text/t.ts": "export const t = 1;",
  "src/server/doors/d.ts": "export const d = 1;",
  "test/t.ts": "export const t = 1;",
};

test("the lawful tree passes", () => {
  const { status, stdout, stderr } = check(LAWFUL);
  expect({ status, stderr, counted: /^\d+ modules, 0 violations, 0 unread$/m.test(stdout) }).toEqual({
    status: 0,
    stderr: "",
    counted: true,
  });
});

test("every planted fault is found, under the name of its rule", () => {
  const planted = Object.fromEntries(FAULTS.map(([, path, text]): [string, string] => [path, text]));
  const { status, stderr } = check({ ...LAWFUL, ...NEIGHBOURS, ...planted });
  const lines = stderr.split("\n");
  const missed = FAULTS.filter(([rule, path]) => !lines.some((line) => line.startsWith(rule) && line.includes(path)));
  expect({ status, missed }).toEqual({ status: 1, missed: [] });
});

test("a file that the checker does not read fails the check", () => {
  const { status, stderr } = check({
    ...LAWFUL,
    "src/policy/node_modules/hidden.ts": 'import "../../kernel/pipeline.ts";',
  });
  expect(status).toBe(1);
  expect(stderr).toContain("not read by dependency-cruiser: `src/policy/node_modules/hidden.ts`");
});

function check(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "handrail-boundaries-"));
  try {
    for (const name of [".dependency-cruiser.mjs", "tsconfig.json", "package.json"])
      copyFileSync(resolve(name), join(root, name));
    symlinkSync(resolve("node_modules"), join(root, "node_modules"));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), `${text}\n`);
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, [resolve("scripts/boundaries.mjs"), root], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 120_000,
    });
    return { status, stdout, stderr };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
