// Targets come from an agent and end among the arguments of programs and scripts: none is read as an option, a file of
// arguments or shell text.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ProjectFileName, Toolchain } from "../../../src/model/work/toolchain.ts";
import { findCommand } from "../../../src/tools/toolchain/find-command.ts";
import { target, targetOf } from "../../../src/tools/toolchain/target.ts";

const REFUSED = [
  ...["-x", "--help", "--", "-", "--config=/etc/passwd", "/workspace/-x", "--test-reporter=./evil.js"],
  ...[
    "$(id)",
    "a$b",
    "`id`",
    "a;id",
    "a|id",
    "a&id",
    "a&&id",
    "a>b",
    "a<b",
    'a"b',
    "a'b",
    "a\\b",
    "!id",
    "a\nid",
    "a\0b",
    "a\u001b[2J",
    "a\u2028b",
  ],
  ...["", "/etc/passwd", "/workspacex/a", "//etc", "::test_x", "\ud800", "x".repeat(1025)],
];

test.each(REFUSED)("%j is refused", (text) => {
  expect(target.safeParse(text).success).toBe(false);
});

test.each([
  "a",
  ".",
  "a/b.test.ts",
  "/workspace",
  "/workspace/a",
  "a/-x",
  "@a",
  "~a",
  "a b",
  "a=b",
  "a:b",
  "[id]",
  "(a)",
  "ü",
  "x".repeat(1024),
])("%j is taken", (text) => {
  expect(target.safeParse(text).success).toBe(true);
});

test("the path that is judged is the path that was asked for, without names of tests", () => {
  expect(targetOf("/workspace/a/../b::c::d")).toEqual({ asked: "/workspace/a/../b", path: "a/../b", names: "c::d" });
  expect(targetOf("./a//b/.")).toEqual({ asked: "./a//b/.", path: "a/b", names: undefined });
});

const PROJECTS: readonly Partial<Record<ProjectFileName, string>>[] = [
  { "package.json": '{"scripts":{"test":"x","lint":"x"}}' },
  { "package.json": '{"scripts":{"test":"x","lint":"x"}}', "pnpm-lock.yaml": "" },
  { "package.json": '{"scripts":{"test":"x","lint":"x"}}', "yarn.lock": "" },
  { "pytest.ini": "", "ruff.toml": "" },
  { "Cargo.toml": "" },
  { "go.mod": "" },
];
const toolchains: readonly Toolchain[] = PROJECTS.map((texts) => ({
  files: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { text }])),
  chosen: {},
}));

test("whatever target fits the schema, it adds one argument, which no program reads as an option of the agent's choice", () => {
  const part = fc.oneof(
    fc.constantFrom("-", "--", "@", "~", ".", "/", "::", "=", "-x", "/workspace/", "tests/", ".rs", ".go"),
    fc.string(),
  );
  const text = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      text,
      fc.constantFrom(...toolchains),
      fc.constantFrom("test" as const, "lint" as const),
      (wanted, toolchain, purpose) => {
        fc.pre(target.safeParse(wanted).success);
        const found = findCommand(toolchain, purpose, wanted);
        const without = findCommand(toolchain, purpose, undefined);
        if (found.kind === "none" || without.kind === "none") return;
        const last = found.command.at(-1) ?? "";
        expect(last).toMatch(/^(?:[\p{L}\p{N}_.]|--test=|--manifest-path=)/u);
        expect(found.command.slice(0, -1).filter((word) => word.includes(wanted) && wanted.length > 12)).toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
});
