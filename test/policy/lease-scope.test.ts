/** Leases: what a scope admits, and that deriving can only narrow. */
import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, test } from "vitest";
import { MAX_PATH_LEN } from "../../src/base/limits.ts";
import {
  LEASE_DIMENSIONS,
  type Lease,
  type LeaseBudget,
  type LeaseDimension,
  type LeaseScope,
  type Restriction,
  UNRESTRICTED_SCOPE,
} from "../../src/model/people/lease.ts";
import {
  admits,
  admittedCommands,
  deriveLease,
  meetBudgets,
  meetScopes,
  unusableDimensions,
} from "../../src/policy/lease-scope.ts";

const scope = (change: Partial<LeaseScope>): LeaseScope => ({ ...UNRESTRICTED_SCOPE, ...change });
const admitted = (restriction: Restriction, values: readonly string[], dimension: LeaseDimension = "readPaths") =>
  values.filter((value) => admits(scope({ [dimension]: restriction }), dimension, value));

describe("admitting", () => {
  test("no list restricts nothing, an empty list admits nothing", () => {
    expect(admitted([], ["a", ".env"])).toEqual(["a", ".env"]);
    expect(admitted([[]], ["a"])).toEqual([]);
    expect(admitted([[]], ["a"], "tools")).toEqual([]);
  });

  test("each list admits any of its patterns, all lists must admit", () => {
    const values = ["src/a.ts", "src/b.js", "test/a.ts"];
    expect(admitted([["src/**", "test/**"]], values)).toEqual(values);
    expect(admitted([["src/**", "test/**"], ["**/*.ts"]], values)).toEqual(["src/a.ts", "test/a.ts"]);
  });

  test("paths are globs: `*` stays in its component, `**` crosses, dot files count", () => {
    expect(admitted([["src/*"]], ["src/a", "src/.a", "src/a/b", "src", "xsrc/a"])).toEqual(["src/a", "src/.a"]);
    expect(admitted([["src/**"]], ["src", "src/a", "src/a/.b/c", "source/a"])).toEqual(["src", "src/a", "src/a/.b/c"]);
    expect(admitted([["**"]], [".", ".env", "a/b"])).toEqual([".", ".env", "a/b"]);
    expect(admitted([["./src/", "{a,b}.md"]], ["src", "src/a", "a.md", "c.md"])).toEqual(["src", "a.md"]);
  });

  test("a `!` in front is a letter and not a negation", () => {
    expect(admitted([["!src/**"]], ["lib/a", "!src/a"])).toEqual(["!src/a"]);
  });

  test("case counts", () => {
    expect(admitted([["src/**"]], ["SRC/a"])).toEqual([]);
  });

  test("groups and repetitions are letters: a pattern cannot take exponential time", () => {
    expect(admitted([["app/(group)/*.ts"]], ["app/(group)/a.ts", "app/group/a.ts"])).toEqual(["app/(group)/a.ts"]);
    expect(admitted([["(a+)+b", "{a,b}+"]], ["aab", "(a+)+b", "ab", "a+"])).toEqual(["(a+)+b", "a+"]);
    // Compiled as they stand these two are groups with a repetition; only their literal form is admitted here.
    expect(picomatch("(a+)+b")("aab")).toBe(true);
    expect(admitted([["\\\\(a+)+b"]], ["\\aab", "aab"])).toEqual([]);
  });

  test("wildcards may be many: none of them multiplies the time", () => {
    expect(admitted([["*a*a*"]], ["bab", "baab"])).toEqual(["baab"]);
    expect(admitted([["**/x/**/y/**"]], ["a/x/b/y/c", "a/y/b/x/c"])).toEqual(["a/x/b/y/c"]);
    expect(admitted([["*a*/*a*/*a*/*a*/*a*/z"]], [`${`${"a".repeat(200)}/`.repeat(5)}b`])).toEqual([]);
    expect(unusableDimensions(scope({ readPaths: [["{a,b}".repeat(20)]] }))).toEqual(["readPaths"]);
  });

  test("a pattern that cannot be compiled, and a path over the limit, are not admitted", () => {
    const long = "a".repeat(MAX_PATH_LEN);
    expect(admitted([["", "a".repeat(MAX_PATH_LEN + 1)]], ["", "a", `${long}a`])).toEqual([]);
    expect(admitted([["**"]], [long, `${long}a`])).toEqual([long]);
    expect(unusableDimensions(scope({ readPaths: [["src/**"]], writePaths: [["ok"], [""]], tools: [[""]] }))).toEqual([
      "writePaths",
    ]);
  });

  test("everything but paths is exact, or `*` for any", () => {
    for (const dimension of LEASE_DIMENSIONS.filter((name) => !name.endsWith("Paths") && name !== "hosts")) {
      expect(admitted([["read_file", "a*"]], ["read_file", "read_fil", "abc", "a*"], dimension)).toEqual([
        "read_file",
        "a*",
      ]);
      expect(admitted([["*"]], ["read_file", "a/b", ""], dimension)).toEqual(["read_file", "a/b", ""]);
    }
  });

  test("hosts are matched without case, by name or by everything below one", () => {
    expect(
      admitted([["Good.example"]], ["good.example", "GOOD.EXAMPLE.", "a.good.example", "xgood.example"], "hosts"),
    ).toEqual(["good.example", "GOOD.EXAMPLE."]);
    expect(
      admitted([["*.good.example"]], ["good.example", "a.good.example", "a.b.good.example", "xgood.example"], "hosts"),
    ).toEqual(["a.good.example", "a.b.good.example"]);
    expect(admitted([["*."]], ["good.example", "good.example.", ""], "hosts")).toEqual([]);
  });

  test("scopes are judged by themselves: a second one with other lists is not mistaken for the first", () => {
    const [first, second] = [scope({ tools: [["a"]] }), scope({ tools: [["b"]] })];
    expect([
      admits(first, "tools", "a"),
      admits(second, "tools", "a"),
      admits(first, "tools", "a"),
      admits(second, "tools", "b"),
    ]).toEqual([true, false, true, true]);
  });
});

const PATTERNS = ["**", "src/**", "src/*", "**/*.ts", "docs/**", "README.md", "src/a.ts", "{src,docs}/**", "*"];
const VALUES = [".", "src", "src/a.ts", "src/b/c.ts", "docs/x.md", "README.md", ".env", "read_file", "*"];
const restriction = fc.array(fc.array(fc.constantFrom(...PATTERNS, "read_file"), { maxLength: 3 }), { maxLength: 3 });
const scopes: fc.Arbitrary<LeaseScope> = fc.record({
  tools: restriction,
  readPaths: restriction,
  writePaths: restriction,
  commands: restriction,
  gitOperations: restriction,
  hosts: restriction,
  providers: restriction,
  models: restriction,
  artifacts: restriction,
});
const amount = fc.nat({ max: 5 });
const budgets: fc.Arbitrary<LeaseBudget> = fc.record(
  { calls: amount, durationMs: amount, bytes: amount, tokens: amount, costMicros: amount },
  { requiredKeys: [] },
);
const table = (of: LeaseScope) =>
  LEASE_DIMENSIONS.map((dimension) => VALUES.map((value) => admits(of, dimension, value)));

describe("the meet", () => {
  test("admits exactly what both admit", () => {
    fc.assert(
      fc.property(scopes, scopes, (left, right) => {
        const both = table(left).map((row, index) =>
          row.map((yes, column) => yes && table(right)[index]?.[column] === true),
        );
        expect(table(meetScopes(left, right))).toEqual(both);
      }),
    );
  });

  test("is associative, commutative and idempotent in what it admits, and does not grow with repetition", () => {
    fc.assert(
      fc.property(scopes, scopes, scopes, (a, b, c) => {
        expect(table(meetScopes(meetScopes(a, b), c))).toEqual(table(meetScopes(a, meetScopes(b, c))));
        expect(table(meetScopes(a, b))).toEqual(table(meetScopes(b, a)));
        expect(table(meetScopes(a, a))).toEqual(table(a));
        const once = meetScopes(a, b);
        expect(meetScopes(once, b)).toEqual(once);
      }),
    );
  });

  test("with the unrestricted scope changes nothing", () => {
    fc.assert(
      fc.property(scopes, (one) => {
        expect(table(meetScopes(one, UNRESTRICTED_SCOPE))).toEqual(table(one));
      }),
    );
  });

  test("of budgets takes the lesser of each; absent is unlimited", () => {
    expect(meetBudgets({ calls: 3, bytes: 0 }, { calls: 2, bytes: 9, tokens: 4 })).toEqual({
      calls: 2,
      bytes: 0,
      tokens: 4,
    });
    expect(meetBudgets({}, {})).toEqual({});
    fc.assert(
      fc.property(budgets, budgets, budgets, (a, b, c) => {
        expect(meetBudgets(meetBudgets(a, b), c)).toEqual(meetBudgets(a, meetBudgets(b, c)));
        expect(meetBudgets(a, b)).toEqual(meetBudgets(b, a));
        expect(meetBudgets(a, a)).toEqual(a);
      }),
    );
  });
});

describe("deriving", () => {
  const parent: Lease = {
    id: "lea_p",
    scope: UNRESTRICTED_SCOPE,
    budget: { calls: 10 },
    createdAtMs: 0,
    expiresAtMs: 1000,
  };
  const wish = {
    id: "lea_c",
    scope: scope({ tools: [["read_file"]] }),
    budget: { calls: 20, bytes: 5 },
    createdAtMs: 500,
    expiresAtMs: 2000,
  };

  test("grants of the wish what the parent has", () => {
    expect(deriveLease(parent, wish)).toEqual({
      id: "lea_c",
      parentId: "lea_p",
      scope: wish.scope,
      budget: { calls: 10, bytes: 5 },
      createdAtMs: 500,
      expiresAtMs: 1000,
    });
  });

  test("below a released lease the derived one is released too", () => {
    expect(deriveLease({ ...parent, releasedAtMs: 400 }, wish).releasedAtMs).toBe(400);
  });

  test("a derived lease is never wider, richer or longer than its parent, however deep", () => {
    const wishes = fc.record({
      id: fc.constant("lea_x"),
      scope: scopes,
      budget: budgets,
      createdAtMs: fc.nat(),
      expiresAtMs: fc.nat({ max: 3000 }),
    });
    fc.assert(
      fc.property(scopes, budgets, fc.array(wishes, { minLength: 1, maxLength: 4 }), (rootScope, rootBudget, chain) => {
        let above: Lease = { ...parent, scope: rootScope, budget: rootBudget };
        for (const one of chain) {
          const below = deriveLease(above, one);
          expect(below.expiresAtMs).toBeLessThanOrEqual(above.expiresAtMs);
          const wider = table(below.scope)
            .flat()
            .filter((yes, index) => yes && table(above.scope).flat()[index] === false);
          expect(wider).toEqual([]);
          for (const member of ["calls", "durationMs", "bytes", "tokens", "costMicros"] as const) {
            expect(below.budget[member] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(
              above.budget[member] ?? Number.POSITIVE_INFINITY,
            );
          }
          above = below;
        }
      }),
    );
  });
});

test.each([
  ["nothing restricts", [], ["*"]],
  ["a list", [["npm", "git", "npm"]], ["git", "npm"]],
  ["any, and a list", [["*"], ["git"]], ["git"]],
  [
    "what both lists have",
    [
      ["git", "npm"],
      ["npm", "node"],
    ],
    ["npm"],
  ],
  ["lists that have nothing in common", [["git"], ["npm"]], []],
] as const)("the commands that a lease covers: %s", (_, commands, covered) => {
  expect(admittedCommands({ ...UNRESTRICTED_SCOPE, commands })).toEqual(covered);
});
