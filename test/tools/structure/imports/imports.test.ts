/** What files import, and which files of the workspace that means, by the conventions of each language. */
import { expect, test } from "vitest";
import { ImportResolver } from "../../../../src/tools/structure/imports/import-resolver.ts";
import { importedIn } from "../../../../src/tools/structure/imports/imported-in.ts";
import { sourceKindOf } from "../../../../src/tools/structure/imports/source-kinds.ts";

/** The files that `text`, which stands at `from`, imports. */
function resolved(from: string, text: string, others: readonly string[], facts = {}): readonly string[] {
  const style = sourceKindOf(from)?.style;
  if (style === undefined) throw new Error(`${from} is no code`);
  const resolver = new ImportResolver([from, ...others], facts);
  return [...new Set(importedIn(style, text).flatMap((each) => resolver.resolve(style, from, each)))];
}

test.each([
  ["src/a.ts", 'import x from "./b.js";', ["src/b.ts"]],
  ["src/a.ts", 'export * from "../lib";', ["lib/index.ts"]],
  ["src/a.ts", 'const x = await import("./b");\nrequire("./c.cjs")', ["src/b.tsx", "src/c.cjs"]],
  ["src/a.ts", 'import x from "@/deep/b";', ["src/deep/b.ts"]],
  ["src/a.ts", 'import type { X } from "core/part";', ["packages/core/src/part.ts"]],
  ["pkg/a.py", "from .b import c\nimport pkg.d, os", ["pkg/b.py", "pkg/d/__init__.py"]],
  ["tests/test_a.py", "from pkg.a import (\n  one,\n  two, # two\n)", ["src/pkg/a.py"]],
  ["pkg/a.py", "from . import b", ["pkg/b.py"]],
  ["cmd/main.go", 'import (\n\t"fmt"\n\tst "example.com/m/store"\n)', ["store/store.go"]],
  ["src/main.rs", "mod a;\nuse crate::b::c::Thing;", ["src/a.rs", "src/b/c.rs"]],
  ["src/b/mod.rs", "use super::x::y;", ["src/x.rs"]],
  ["app/src/main/java/com/x/A.java", "import static com.x.y.B.of;", ["lib/src/com/x/y/B.java"]],
  ["lib/a.rb", "require_relative 'b'", ["lib/b.rb"]],
  ["src/a.c", '#include "b.h"\n#include <stdio.h>', ["include/b.h"]],
])("%s with %j means %j", (from, text, expected) => {
  const facts = { packages: new Map([["core", "packages/core"]]), goModules: new Map([["example.com/m", "."]]) };
  expect(resolved(from, text, expected, facts)).toEqual(expected);
});

test("what leads out of the workspace or to nothing means nothing", () => {
  expect(resolved("a.ts", 'import "../../etc/x"; import "node:fs"; import "react";', ["etc/x.ts"])).toEqual([]);
  expect(resolved("a.py", "from ..... import x", [])).toEqual([]);
});

test.each(["ecmascript", "python", "go", "rust", "java", "ruby", "c"] as const)(
  "hostile text of %s takes time linear in it",
  (style) => {
    const pieces = ["import ", "from ", "use a::", "(", " ", '"', "#include", "require ", "mod ", "import (", "\t"];
    for (const piece of pieces) {
      const took = (count: number) => {
        const text = piece.repeat(Math.ceil(count / piece.length));
        const start = performance.now();
        importedIn(style, text);
        return performance.now() - start;
      };
      took(10_000);
      expect(took(400_000)).toBeLessThan(3000);
    }
  },
);
