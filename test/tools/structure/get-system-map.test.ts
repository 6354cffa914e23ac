/** `get_system_map`: parts, what they need, documents and infrastructure of a workspace of several languages. */
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";
import { getSystemMap } from "../../../src/tools/structure/get-system-map.ts";
import { openStructure } from "../../support/structure-place.ts";

const FILES = {
  "README.md": "# Shop\n",
  "docs/a.md": "a\n",
  "docs/b.md": "b\n",
  "compose.yaml": `services:
  web: { build: ./services/web, depends_on: [stock] }
  stock: { build: { context: services/stock }, depends_on: { db: {} } }
  db: { image: postgres }
`,
  ".github/workflows/ci.yml": "on: push\n",
  "services/web/package.json": JSON.stringify({ name: "web", main: "./start.ts", dependencies: { "@shop/core": "*" } }),
  "services/web/start.ts": 'import { price } from "@shop/core";\nimport "./page.js";\nprice();\n',
  "services/web/page.ts": "export const page = 1;\n",
  "packages/core/package.json": JSON.stringify({ name: "@shop/core" }),
  "packages/core/src/index.ts": "export const price = () => 1;\n",
  "services/stock/pyproject.toml": '[project]\nname = "stock"\n',
  "services/stock/main.py": "from stock.levels import level\n",
  "services/stock/stock/levels.py": "def level():\n    return 1\n",
  "services/stock/Dockerfile": "FROM scratch\n",
};

const pathsOf = (list: unknown) => (list as JsonObject[]).map(({ path }) => path);

test("parts have languages, sizes, entry points and edges; documents and infrastructure are named", async () => {
  const { call } = await openStructure(FILES);
  const map = await call("get_system_map", {});
  expect(map).toMatchObject({
    root_dir: ".",
    files: Object.keys(FILES).length,
    languages: { TypeScript: 3, Python: 2 },
    docs: [
      { path: "README.md", files: 1 },
      { path: "docs/", files: 2 },
    ],
    left_out: { parts: 0, docs: 0, infrastructure: 0, sources: 0 },
    unread: [],
    truncated: false,
  });
  expect(map["parts"]).toEqual([
    expect.objectContaining({ path: ".", kind: "folder", files: 5 }),
    expect.objectContaining({ path: "packages/core", name: "@shop/core", kind: "npm", files: 2, depends_on: [] }),
    {
      path: "services/stock",
      name: "stock",
      kind: "python",
      files: 4,
      bytes: expect.any(Number),
      languages: { Python: 2 },
      entry_points: ["services/stock/main.py"],
      depends_on: [],
    },
    {
      path: "services/web",
      name: "web",
      kind: "npm",
      files: 3,
      bytes: expect.any(Number),
      languages: { TypeScript: 2 },
      entry_points: ["services/web/start.ts"],
      depends_on: [
        { path: "packages/core", declared: true, imports: 1 },
        { path: "services/stock", declared: true, imports: 0 },
      ],
    },
  ]);
  expect(map["infrastructure"]).toEqual([
    { kind: "ci", path: ".github/workflows/ci.yml" },
    { kind: "compose", path: "compose.yaml", services: ["web", "stock", "db"] },
    { kind: "docker", path: "services/stock/Dockerfile" },
  ]);
  expect(getSystemMap.toText?.(map)).toContain(
    "- services/web: npm, 3 files, 1 KiB, TypeScript 2; starts at services/web/start.ts; needs packages/core (declared) 1, services/stock (declared) 0",
  );
});

test("one directory is mapped by itself; `rag_` names it, too", async () => {
  const { call, other } = await openStructure(FILES);
  const flow = await other({ dialect: "flow" });
  for (const map of [
    await call("get_system_map", { root_dir: "services" }),
    await flow("rag_get_system_map", { root_dir: "services" }),
  ]) {
    expect(pathsOf(map["parts"])).toEqual(["services/stock", "services/web"]);
    expect(map["files"]).toBe(7);
  }
});

test("a small budget leaves out parts, counts them, and says how to get them", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`services/s${at}/package.json`, JSON.stringify({ name: `service-${at}` })]),
  );
  const { call } = await openStructure(many);
  const map = await call("get_system_map", { max_tokens: 500 });
  const shown = (map["parts"] as unknown[]).length;
  expect(shown).toBeGreaterThan(2);
  expect(map).toMatchObject({ left_out: { parts: 60 - shown }, truncated: true });
  expect(JSON.stringify(map).length).toBeLessThan(500 * 4 + 400);
  expect(getSystemMap.toText?.(map)).toMatch(/left out: \d+ parts: raise `max_tokens`, or map one directory/);
});

test("secret, ignored and unreadable places are not in it; a lease leaves only its own", async () => {
  const { call, other } = await openStructure({
    ...FILES,
    ".env": "KEY=1\n",
    "secrets/package.json": JSON.stringify({ name: "okapi" }),
    ".gitignore": "out/\n",
    "out/package.json": JSON.stringify({ name: "okapi" }),
    "node_modules/okapi/package.json": JSON.stringify({ name: "okapi" }),
  });
  expect(JSON.stringify(await call("get_system_map", {}))).not.toMatch(/okapi|secrets|\.env/);
  const scope = { ...UNRESTRICTED_SCOPE, readPaths: [["services/web", "services/web/**"]] };
  const narrow = await other({ scope });
  const map = await narrow("get_system_map", { root_dir: "services/web" });
  expect(pathsOf(map["parts"])).toEqual(["services/web"]);
  expect(JSON.stringify(map)).not.toMatch(/stock|core/);
  expect(await narrow("get_system_map", { root_dir: "services/stock" })).toMatchObject({ status: "error" });
});

test("manifests that cannot be read are named; links in a circle, other encodings and null bytes do no harm", async () => {
  const { call, place } = await openStructure({
    "a/package.json": "{ not json",
    "b/pyproject.toml": "= broken",
    "compose.yaml": "services: [",
    "c/package.json": JSON.stringify({ name: "c" }),
    "c/fine.ts": "export {};\n",
  });
  symlinkSync(join(place.workspace, "c"), join(place.workspace, "c", "again"));
  symlinkSync("loop", join(place.workspace, "loop"));
  writeFileSync(join(place.workspace, "c", "wide.ts"), Buffer.from('import "./fine";\n', "utf16le"));
  writeFileSync(join(place.workspace, "c", "latin.py"), Buffer.from([0x23, 0xe9, 0x0a]));
  const map = await call("get_system_map", {});
  expect([...(map["unread"] as string[])].sort()).toEqual(["a/package.json", "b/pyproject.toml", "compose.yaml"]);
  expect(map).toMatchObject({ languages: { TypeScript: 2, Python: 1 }, truncated: true });
});
