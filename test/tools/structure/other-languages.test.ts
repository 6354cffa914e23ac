/** `find_usage` by syntax in languages whose imports nobody follows: definitions, calls and locals of one file. */
import { expect, test } from "vitest";
import { openStructure } from "../../support/structure-place.ts";

test.each([
  [
    "C",
    "a.c",
    "int load(int n) { return n; }\nint main(void) { int x = load(1); return x; }\n// load\nint other(int load) { return load; }\n",
    ["1:5 definition", "4:15 definition local", "2:26 call", "4:30 reference local"],
  ],
  [
    "C++",
    "a.cpp",
    'class Cart { public: int load(int n) { return n; } };\nint load() { return 1; }\nint main() { Cart c; c.load(2); return load(); }\nconst char* t = "load";\n',
    ["1:26 definition member", "2:5 definition", "3:24 call member", "3:40 call"],
  ],
  [
    "C#",
    "A.cs",
    'class Cart {\n  int Load(int n) { return n; }\n  int Go() { var t = "Load"; return Load(2); }\n}\n',
    ["2:7 definition member", "3:37 call"],
  ],
  [
    "PHP",
    "a.php",
    "<?php\nfunction load($n) { return $n; }\n$x = load(1);\n// load\n",
    ["2:10 definition", "3:6 call"],
  ],
  [
    "Ruby",
    "a.rb",
    'def load_it(n)\n  n\nend\nload_it(1)\n# load_it\nputs "load_it"\n',
    ["1:5 definition member", "4:1 call"],
  ],
  [
    "Lua",
    "a.lua",
    "local function load_it(n) return n end\nfunction top() return load_it(1) end\nload_it(2)\n-- load_it\n",
    ["1:16 definition", "2:23 call", "3:1 call"],
  ],
])("%s", async (_, path, content, expected) => {
  const { call } = await openStructure({ [path]: content });
  const symbol = /Load|load_it|load/.exec(content)?.[0] ?? "";
  const answer = await call("find_usage", { symbol, path });
  const usages = answer["usages"] as { line: number; column: number; kind: string; binding?: string }[];
  expect(
    usages.map(({ line, column, kind, binding }) =>
      [`${line}:${column}`, kind, ...(binding ? [binding] : [])].join(" "),
    ),
  ).toEqual(expected);
});
