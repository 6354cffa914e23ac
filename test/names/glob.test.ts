// Globs: what they match, that it is what others take them to match, and that no pattern takes long.
import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, test } from "vitest";
import { GLOB_CHARACTERS_MAX, MAX_PATH_LEN } from "../../src/base/limits.ts";
import { compileGlob, foldCase } from "../../src/names/glob.ts";
import { GLOB_ALTERNATIVES_MAX } from "../../src/names/glob-pattern.ts";

const matches = (pattern: string, path: string, ignoreCase = false) => compileGlob(pattern, { ignoreCase })?.(path);

test.each<[string, string, boolean]>([
  ["*.ts", "a.ts", true],
  ["*.ts", "src/a.ts", false],
  ["*", ".env", true],
  ["*", ".", false],
  ["**", ".", true],
  ["**/*", ".", false],
  ["src/**", "src", true],
  ["src/**", "src/a/.b", true],
  ["*/**", "a", false],
  ["*/**", "a/b", true],
  ["**/x/**/y/**", "a/x/b/c/y", true],
  ["**/x/**/y/**", "a/y/x", false],
  ["a/**/b", "a/b", true],
  ["a**", "a/b", false],
  ["{src,test/*}/**", "test/a/b", true],
  ["{src,test/*}/**", "test", false],
  ["*.{t,j}s{,x}", "a.jsx", true],
  ["{a}", "{a}", true],
  ["{a..c}x", "bx", true],
  ["[a-c]x", "bx", true],
  ["[^a-c]x", "bx", false],
  ["[!a-c]x", "dx", true],
  ["[!a]b", "/b", false],
  ["[]a]", "]", true],
  ["app/[id]/page.tsx", "app/[id]/page.tsx", true],
  ["app/[id]/page.tsx", "app/d/page.tsx", true],
  ["a?c", "abc", true],
  ["a?c", "a/c", false],
  ["\\*", "*", true],
  ["\\*", "a", false],
  ["a(b)+|c", "a(b)+|c", true],
  ["!a", "a", false],
  ["!a", "!a", true],
  ["*a*b*c*", "xaybzc", true],
  ["*a*b*c*", "xaybz", false],
  ["*?a*", "a", false],
  ["*[bc]?d", "aabxd", true],
])("`%s` with `%s`: %s", (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected);
});

test.each(["", "[a", "a]", "{a", "[[:alpha:]]", "{1..10}", "[b-a]", "a[b/c]"])("`%s` cannot be used", (pattern) => {
  expect(compileGlob(pattern)).toBeUndefined();
});

test("case is ignored where it is to be, also beyond ASCII and in sets", () => {
  for (const [pattern, path] of [
    ["*.PEM", "a.pem"],
    ["ÄPFEL*", "äpfelx"],
    ["Σ", "ς"],
    ["[A-C]x", "bX"],
    ["x?", "xİ"],
  ] as const) {
    expect(matches(pattern, path, true)).toBe(true);
  }
  expect(matches("*.PEM", "a.pem")).toBe(false);
  expect(matches("[^A-C]x", "bx", true)).toBe(false);
  expect(foldCase("İ")).toHaveLength(1);
});

test("with `below`, what lies below a match matches, as if each directory above were tried", () => {
  const pattern = fc
    .array(fc.constantFrom("a", "b", "*", "a*", "**", "?"), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join("/"));
  const path = fc.array(fc.constantFrom("a", "b", "ab", "c"), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(pattern, path, (glob, parts) => {
      const plain = compileGlob(glob);
      const each = parts.some((_, index) => plain?.(parts.slice(0, index + 1).join("/")));
      expect(compileGlob(glob, { ignoreCase: false, below: true })?.(parts.join("/"))).toBe(each);
    }),
  );
});

describe("against a matcher that many programs share", () => {
  const theirs = (pattern: string, nocase: boolean) =>
    picomatch(pattern, { dot: true, nonegate: true, noextglob: true, strictBrackets: true, nocase });
  const word = fc.constantFrom(
    "a",
    "b",
    "A",
    ".a",
    "ab",
    "a.b",
    "*",
    "?",
    "*a",
    "a*",
    "*.b",
    "*a*b",
    "[ab]",
    "[^a]b",
    "[a-c]*",
    "{a,b}",
    "{a,?b}*",
  );
  const component = fc.oneof(
    { weight: 4, arbitrary: word },
    { weight: 1, arbitrary: fc.constantFrom("**", "{a/b,b}") },
  );
  const pattern = fc.array(component, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  const name = fc.constantFrom("a", "b", "c", "A", ".a", "ab", "bb", "a.b", "xab", "aab");
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));

  test.each([false, true])("patterns mean the same (case ignored: %s)", (ignoreCase) => {
    fc.assert(
      fc.property(pattern, path, (glob, candidate) => {
        expect([glob, candidate, matches(glob, candidate, ignoreCase)]).toEqual([
          glob,
          candidate,
          theirs(glob, ignoreCase)(candidate),
        ]);
      }),
      { numRuns: 5000 },
    );
  });
});

describe("a pattern of a stranger", () => {
  // Counted, not timed: how often a text is looked at is the time it takes.
  const spent = (pattern: string, path: string): number => {
    const test = compileGlob(pattern);
    const { startsWith, charCodeAt, indexOf } = String.prototype;
    let steps = 0;
    const counted = { startsWith, charCodeAt, indexOf };
    for (const name of ["startsWith", "charCodeAt", "indexOf"] as const) {
      Object.defineProperty(String.prototype, name, {
        configurable: true,
        writable: true,
        value(this: string, ...args: unknown[]) {
          steps += 1;
          return Reflect.apply(counted[name], this, args);
        },
      });
    }
    try {
      test?.(path);
    } finally {
      for (const name of ["startsWith", "charCodeAt", "indexOf"] as const)
        Object.defineProperty(String.prototype, name, { configurable: true, writable: true, value: counted[name] });
    }
    return steps;
  };

  test.each([
    ["*a*/*a*/*a*/*a*/*a*/z", `${`${"a".repeat(200)}/`.repeat(5)}b`],
    ["*a*a*a*a*a*a*a*a*b", "a".repeat(MAX_PATH_LEN)],
    ["**/*a*/**/*a*/**/*a*/**/b", `${"a/".repeat(2000)}a`],
    [`${"*?".repeat(200)}b`, "a".repeat(MAX_PATH_LEN)],
    ["**/a/**/a/**/a/**/a/**/b", `${"a/".repeat(2000)}a`],
    [`${"{a,b}".repeat(7)}*[bc]`, "a".repeat(MAX_PATH_LEN)],
  ])("`%s` takes no more steps than its length times the path's", (pattern, path) => {
    expect(compileGlob(pattern)?.(path)).toBe(false);
    expect(spent(pattern, path)).toBeLessThan(Math.max(pattern.length, 2 ** 8) * path.length);
  });

  test("braces without end and long patterns with wildcards are refused, long names are not", () => {
    expect(compileGlob("{a,b}".repeat(Math.log2(GLOB_ALTERNATIVES_MAX)))).toBeDefined();
    for (const pattern of [
      "{a,b}".repeat(20),
      `{${"a,".repeat(GLOB_ALTERNATIVES_MAX)}b}`,
      "{".repeat(1000) + "}".repeat(1000),
      "[a]".repeat(20),
    ])
      expect(compileGlob(pattern)).toBeUndefined();
    expect(compileGlob(`${"a".repeat(GLOB_CHARACTERS_MAX)}*`)).toBeUndefined();
    expect(matches("a".repeat(MAX_PATH_LEN), "a".repeat(MAX_PATH_LEN))).toBe(true);
  });
});
