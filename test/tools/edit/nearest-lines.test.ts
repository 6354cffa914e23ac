// The lines nearest to a text that is not there: where they are, and what differs.
import { describe, expect, test } from "vitest";
import { nearestLines } from "../../../src/tools/edit/nearest-lines.ts";

const FILE = [
  "import a from 'a';",
  "",
  "function first(x) {",
  "\tif (x > 1) {",
  "\t\treturn total(x, 10);",
  "\t}",
  "\treturn 0;",
  "}",
  "",
  "function second(y) {",
  "\treturn y;",
  "}",
  "",
].join("\n");

describe("what differs is named", () => {
  test.each([
    [
      "tabs against spaces",
      "    if (x > 1) {\n        return total(x, 10);\n    }",
      4,
      6,
      /indentation of line 4: tabs \(1\) in the file, spaces \(4\)/,
    ],
    ["case", "Function First(x) {", 3, 3, /case in line 3/],
    ["white space within", "function  first( x ) {", 3, 3, /line 3|white space/],
    ["white space at the end", "\treturn 0;  \n}", 7, 8, /white space at the end of line 7/],
    [
      "one changed word",
      "\t\treturn totals(x, 10);\n\t}\n\treturn 0;",
      5,
      7,
      /line 5 has `total` where `totals` was sought/,
    ],
    ["one changed number, alone", "return total(x, 11);", 5, 5, /`10` where `11`/],
    ["a line too much at the end", "\treturn y;\n}\n\n\n\n", 11, 12, /fewer lines/],
  ])("%s", (_name, sought, first, last, differs) => {
    const nearest = nearestLines(FILE, sought);
    expect(nearest).toMatchObject({ firstLine: first, isCut: false });
    expect(nearest?.lastLine).toBeGreaterThanOrEqual(last);
    expect(nearest?.differs.join("; ")).toMatch(differs);
    expect(FILE).toContain(nearest?.text);
  });

  test("line ends", () => {
    expect(nearestLines(FILE.replaceAll("\n", "\r\n"), "\treturn y;\n}")?.differs).toEqual([
      "line ends: the file has CRLF",
    ]);
    expect(nearestLines(FILE, "\treturn y;\r\n}\r\n")?.differs[0]).toBe("line ends: the file has LF alone");
  });

  test("what the file shows is what the next call can send", () => {
    const text = nearestLines(FILE, "  return total( x, 10 )")?.text ?? "";
    expect(FILE.split(text)).toHaveLength(2);
  });
});

test("nothing is near where nothing is like it", () => {
  expect(nearestLines(FILE, "SELECT * FROM users WHERE id = 7 ORDER BY name")).toBeUndefined();
  expect(nearestLines("", "a")).toBeUndefined();
  expect(nearestLines(FILE, "\n\n")).toBeUndefined();
});

describe("the time is bounded", () => {
  const bounded = (text: string, sought: string): void => {
    const started = performance.now();
    nearestLines(text, sought);
    expect(performance.now() - started).toBeLessThan(5_000);
  };
  test("many equal lines", () => bounded("ab\n".repeat(500_000), `${"ab\n".repeat(200)}c`));
  test("many short lines", () => bounded("\n".repeat(10_000_000), "\n\nx"));
  test("many like lines", () =>
    bounded(
      Array.from({ length: 200_000 }, (_, n) => `value = compute(${n}, a, b)`).join("\n"),
      "value = compute(-1, b, a)",
    ));
  test("one long line, as bundles have", () => bounded("a(b),".repeat(1_000_000), "a(c), a(d)"));
  test("a long line of white space", () => bounded(" ".repeat(4_000_000), `x${" ".repeat(100_000)}y`));
});
