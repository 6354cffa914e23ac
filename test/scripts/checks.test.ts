// The checks of `npm run check` on planted trees: each finds the fault it exists for, and is content without it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const BIOME = ["node_modules/@biomejs/biome/bin/biome", "ci", "--colors=off", "--max-diagnostics=none"];
const KNIP = [
  "node_modules/knip/bin/knip.js",
  "--no-progress",
  "--no-config-hints",
  "--include=files,exports,types,unlisted",
];
const GENERATED = ["scripts/generated.mjs"];

test("globals that carry ambient authority are denied, but where the machine is touched", () => {
  const names = [
    "fetch",
    "WebSocket",
    "EventSource",
    "XMLHttpRequest",
    "process",
    "eval",
    "Function",
    "globalThis",
    "global",
    "require",
  ];
  const denied = ["src/policy/a.ts", "src/tools/file/a.ts", "src/kernel/a.ts", "src/index.ts"];
  const allowed = [
    "src/sandbox/a.ts",
    "src/stores/embedded/a.ts",
    "src/transports/mcp/a.ts",
    "src/server/a.ts",
    "src/cli/a.ts",
  ];
  const text = names.map((name, index) => `export const planted${index} = ${name};\n`).join("");
  const { output } = run(
    [...BIOME, "--only=style/noRestrictedGlobals", "src"],
    Object.fromEntries([...denied, ...allowed].map((path) => [path, text])),
  );
  const found = [...output.matchAll(/^(src\/\S+?):(\d+):\d+ lint\/style\/noRestrictedGlobals/gm)].map(
    ([, path, line]) => `${path}: ${names[Number(line) - 1]}`,
  );
  expect(found.toSorted()).toEqual(denied.flatMap((path) => names.map((name) => `${path}: ${name}`)).toSorted());
});

test.each([
  ["lint/suspicious/noExplicitAny", "export const a = (x: any) => x;\n"],
  ["lint/suspicious/noFocusedTests", 'describe.only("a", () => undefined);\n'],
  ["lint/correctness/noUnusedImports", 'import { a } from "./b.ts";\n'],
  ["lint/suspicious/noEmptyBlockStatements", "try {\n  a();\n} catch {}\n"],
  ["format", "export const a = 'single';\n"],
])("%s is an error", (rule, text) => {
  const { status, output } = run([...BIOME, "src/base/a.ts"], { "src/base/a.ts": text });
  expect({ status, found: output.includes(rule), output }).toEqual({ status: 1, found: true, output });
});

test("a tidy file passes format and lint", () => {
  expect(run([...BIOME, "src/base/a.ts"], { "src/base/a.ts": "export const a = 1;\n" }).status).toBe(0);
});

test("an unused file and an unused export are found", () => {
  const used = { "src/index.ts": 'export { used } from "./base/a.ts";\n', "src/base/a.ts": "export const used = 1;\n" };
  expect(run(KNIP, used).status).toBe(0);
  const unused = run(KNIP, {
    ...used,
    "src/base/a.ts": "export const used = 1;\nexport const idle = 2;\n",
    "src/base/alone.ts": "export {};\n",
  });
  const named = ["idle", "src/base/alone.ts"].filter((name) => unused.output.includes(name));
  expect({ status: unused.status, named, output: unused.output }).toEqual({
    status: 1,
    named: ["idle", "src/base/alone.ts"],
    output: unused.output,
  });
});

test("generated files pass as they are; an edited, an additional and a missing one are found", () => {
  const parts = ["proto", "buf.gen.yaml", "buf.yaml", "src/gen", "scripts/generated.mjs"];
  expect(run(GENERATED, {}, parts)).toEqual({ status: 0, output: "" });
  const additional = run(GENERATED, { "src/gen/additional_pb.ts": "export {};\n" }, parts);
  expect(additional).toEqual({
    status: 1,
    output: "not as generated: `src/gen/additional_pb.ts`; run: npx buf generate\n",
  });
  const edited = run(GENERATED, { "src/gen/handrail/tool/v1/tool_pb.ts": "// edited\n" }, parts);
  expect(edited).toEqual({
    status: 1,
    output: "not as generated: `src/gen/handrail/tool/v1/tool_pb.ts`; run: npx buf generate\n",
  });
  const none = run(
    GENERATED,
    {},
    parts.filter((part) => part !== "src/gen"),
  );
  expect({ status: none.status, found: none.output.includes("src/gen/handrail/tool/v1/tool_pb.ts") }).toEqual({
    status: 1,
    found: true,
  });
});

/**
 * Runs one check on a tree of its own: the project's configuration, the named parts of the project, and the planted
 * files.
 */
function run(
  args: readonly string[],
  files: Readonly<Record<string, string>>,
  parts: readonly string[] = [],
): { status: number | null; output: string } {
  const root = mkdtempSync(join(tmpdir(), "handrail-check-"));
  try {
    for (const part of ["biome.json", "knip.json", "tsconfig.json", "package.json", ...parts]) {
      mkdirSync(dirname(join(root, part)), { recursive: true });
      cpSync(resolve(part), join(root, part), { recursive: true });
    }
    symlinkSync(resolve("node_modules"), join(root, "node_modules"));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: "utf8",
      timeout: 120_000,
    });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
