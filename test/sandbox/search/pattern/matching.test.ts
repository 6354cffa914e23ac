// Matches are those of the whole text however it is cut up, in bytes of the file whatever bytes these are, and a plain
// text is counted as an edit counts it.
import fc from "fast-check";
import { RRegex } from "rregex";
import { describe, expect, test } from "vitest";
import { utf8 } from "../../../../src/base/bytes.ts";
import { eachMarkedMatch } from "../../../../src/sandbox/search/pattern/marked-matches.ts";
import { matchAll, OverBudget } from "../../../../src/sandbox/search/pattern/matching.ts";
import { type ReadyPattern, readyPattern } from "../../../../src/sandbox/search/pattern/pattern.ts";
import { engineText } from "../../../../src/sandbox/search/pattern/text.ts";
import { findMatches } from "../../../../src/text/byte-matches.ts";

async function ready(text: string, kind: "regex" | "literal" = "regex"): Promise<ReadyPattern> {
  const pattern = await readyPattern({ kind, text });
  if (pattern.kind === "invalid" || pattern.kind === "too_big")
    throw new Error(`\`${text}\` cannot be used: ${JSON.stringify(pattern)}`);
  return pattern;
}

function matchesOf(
  bytes: Uint8Array,
  pattern: ReadyPattern,
  windowBytes?: number,
): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  matchAll(Buffer.from(bytes), { pattern, ...(windowBytes !== undefined && { windowBytes }) }, (start, end) => {
    found.push([start, end]);
    return true;
  });
  return found;
}

function countOf(bytes: Buffer, pattern: ReadyPattern): number {
  let count = 0;
  matchAll(bytes, { pattern }, () => {
    count += 1;
    return true;
  });
  return count;
}

const PATTERNS = [
  ...[
    "a+",
    "a*",
    "^",
    "$",
    "^$",
    "^a",
    "b$",
    ".",
    ".*",
    "[^a]",
    "\\s",
    "\\s+",
    "a\\nb",
    "(?s)a.b",
    "a.?b",
    "ab|ba",
    "(?i)AB",
    "é",
    "\\w+",
    "\\W",
  ],
  ...[
    "\\b",
    "\\B",
    "\\Aa",
    "b\\z",
    "\\bab\\b",
    "x{0}",
    "(ab)+c",
    "a\\b.",
    "(?-m)^a",
    "[\\r\\n]",
    "\\r?\\n",
    "a$\\n^b",
    "(a|b)\\z",
  ],
];
const text = fc
  .array(fc.constantFrom("a", "b", "ab", "c", "é", "\n", "\r\n", "\r", " ", "\u{1f600}"), { maxLength: 30 })
  .map((parts) => parts.join(""));

describe("regular expressions", () => {
  test("cut into windows they find what they find in the whole text", async () => {
    for (const source of PATTERNS) {
      const pattern = await ready(source);
      const whole = new RRegex(`(?mR)${source}`);
      fc.assert(
        fc.property(text, fc.integer({ min: 1, max: 12 }), (content, windowBytes) => {
          const expected = whole.findAll(content).map(({ start, end }) => [start, end]);
          expect(matchesOf(utf8(content), pattern, windowBytes), source).toEqual(expected);
        }),
        { numRuns: 60 },
      );
    }
  });

  test("a file without line ends has more matches than fit a list, and they are counted or refused all the same", async () => {
    const letters = Buffer.alloc(9_600_000, "ab ");
    for (const source of ["[a-z]+", "[^,]", "\\s"]) {
      let end: unknown = "counted";
      try {
        expect(countOf(letters, await ready(source))).toBeGreaterThan(1_000_000);
      } catch (error) {
        end = error;
      }
      expect(end === "counted" || end instanceof OverBudget, `${source}: ${String(end)}`).toBe(true);
    }
  });

  test("matches that are marked are those that are listed, whatever stands in the text, and too many are said to be so", () => {
    const strange = fc.array(fc.constantFrom("a", "b", "\u0001", "\u0002", "\u001f", "\ue000", "é", "\n", "$0", "$"), {
      maxLength: 30,
    });
    for (const source of ["a*", "(a)|(?P<x>b)", "^", "[^a]", "\\x01", "\\$", "é+"]) {
      const regex = new RRegex(`(?mR)${source}`);
      fc.assert(
        fc.property(strange, (parts) => {
          const content = parts.join("");
          const listed = regex.findAll(content).map(({ start, end }) => [start, end]);
          const marked: [number, number][] = [];
          const tell = (start: number, end: number) => marked.push([start, end]) > 0;
          expect(eachMarkedMatch({ regex }, content, tell)).toBe("all");
          expect(marked, source).toEqual(listed);
          const upTo = (matchesMax: number) => eachMarkedMatch({ regex, matchesMax }, content, () => true);
          if (listed.length > 1) expect(upTo(listed.length - 1)).toBe("too_many");
          if (listed.length > 0) expect(upTo(listed.length)).toBe("all");
        }),
      );
    }
    const everyMark = String.fromCharCode(
      ...Array.from({ length: 0xe040 }, (_, code) => (code < 0x20 || code >= 0xe000 ? code : 0x61)),
    );
    expect(eachMarkedMatch({ regex: new RRegex("a") }, everyMark, () => true)).toBe("too_many");
  });

  test("the engine finds in bytes what it finds in the same text, and takes none that are not UTF-8", async () => {
    const anything = fc.oneof(text, fc.string({ unit: "binary", maxLength: 40 }));
    for (const source of PATTERNS) {
      const pattern = await ready(source);
      if (pattern.kind !== "regex") continue;
      fc.assert(
        fc.property(anything, (content) => {
          const bytes = Buffer.from(content);
          const own = pattern.regex.findAll(bytes.toString()).map(({ start, end }) => [start, end]);
          expect(pattern.findAll(bytes).map(({ start, end }) => [start, end])).toEqual(own);
        }),
        { numRuns: 60 },
      );
      expect(() => pattern.findAll(Buffer.from([0x61, 0xff]))).toThrow("not UTF-8");
    }
  });

  test("most of them are cut into windows, and those that may cross lines are not", async () => {
    const within = async (source: string) => {
      const pattern = await ready(source);
      return pattern.kind === "regex" && pattern.withinLine;
    };
    for (const source of ["a+", "^a.*b$", "\\bx\\b", "[a-z]{2}|c+", "(?i)ab"])
      expect(await within(source), source).toBe(true);
    for (const source of ["\\s+", "[^a]", "a\\nb+", "(?s).", "\\Aa", "a+\\z", "\\W"])
      expect(await within(source), source).toBe(false);
  });

  test("what every match contains is known where it can be", async () => {
    const required = async (source: string) => {
      const pattern = await ready(source);
      return pattern.kind === "regex" && pattern.required ? Buffer.from(pattern.required).toString() : undefined;
    };
    expect(await required("\\w+_handler\\(")).toBe("_handler(");
    expect(await required("(?:ab){2,}c?")).toBe("abab".slice(0, 2));
    expect(await required("x|longer")).toBeUndefined();
    expect(await required("(?i)abc")).toBeUndefined();
    expect(await required("(abc)?d")).toBe("d");
    expect(await required("a(bcd)*")).toBe("a");
  });

  test("line ends of either kind are no part of a line, and a byte order mark is none of the text", async () => {
    const content = Buffer.from("\ufeffone\r\ntwo\r\n");
    expect(matchesOf(content, await ready("^one$"))).toEqual([[3, 6]]);
    expect(matchesOf(content, await ready("two.*"))).toEqual([[8, 11]]);
  });

  test("bytes that are not UTF-8 stay where they are, and what is around them is found", async () => {
    const bytes = Buffer.concat([
      Buffer.from([0xff]),
      Buffer.from("aé"),
      Buffer.from([0xc3]),
      Buffer.from("b€"),
      Buffer.from([0xe2, 0x82, 0x61]),
    ]);
    expect(matchesOf(bytes, await ready("é|€|[ab]"))).toEqual([
      [1, 2],
      [2, 4],
      [5, 6],
      [6, 9],
      [11, 12],
    ]);
    expect(matchesOf(bytes, await ready("\\x{fffd}"))).toEqual([
      [0, 1],
      [4, 5],
      [9, 10],
      [10, 11],
    ]);
  });

  test("every offset of the engine's text leads to the byte that it stands for", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        const { text: decoded, toByte } = engineText(buffer);
        let offset = 0;
        let at = 0;
        for (const character of decoded.toString()) {
          expect(toByte(offset)).toBe(at);
          const own = Buffer.from(character);
          const kept = buffer.subarray(at, at + own.length).equals(own);
          expect(kept || character === "\ufffd").toBe(true);
          offset += own.length;
          at += kept ? own.length : 1;
        }
        expect(toByte(offset)).toBe(bytes.length);
      }),
      { numRuns: 2000 },
    );
  });

  test("patterns that ruin other engines take time in proportion to the text", async () => {
    const hostile = Buffer.from(`${"a".repeat(100_000)}\n`.repeat(2));
    for (const source of ["(a+)+$", "(a|a)*b", "(a|aa)+c", "(?:a?){25}a{25}b", "(.*)*x"]) {
      // Whether it fits the budget depends on the machine; that it ends is what other engines do not do.
      try {
        matchesOf(hostile, await ready(source));
      } catch (error) {
        expect(error).toBeInstanceOf(OverBudget);
      }
    }
  });

  test("more matches than the budget has time for end with the budget", async () => {
    const pattern = await ready("a?");
    expect(() => matchesOf(Buffer.alloc(10 << 20, "ab"), pattern)).toThrow(OverBudget);
  });
});

describe("plain text", () => {
  test("is counted as an edit counts it", async () => {
    const bytes = fc
      .array(fc.constantFrom(97, 98, 10, 0xc3, 0xa9, 0xff), { maxLength: 40 })
      .map((values) => Uint8Array.from(values));
    const spec = fc
      .array(fc.constantFrom("a", "b", "ab", "é", "\n"), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(bytes, spec, async (content, wanted) => {
        const pattern = await ready(wanted, "literal");
        const loom = findMatches(content, { spec: utf8(wanted), nativeStepsMax: Number.POSITIVE_INFINITY }, 100);
        expect(matchesOf(content, pattern).map(([start]) => start)).toEqual(loom.starts);
      }),
    );
  });

  test("special characters mean themselves, and an expression without any is plain text", async () => {
    expect(matchesOf(Buffer.from("a.b axb"), await ready("a.b", "literal"))).toEqual([[0, 3]]);
    expect(await ready("hello world")).toMatchObject({ kind: "bytes" });
    expect(await ready("hello.world")).toMatchObject({ kind: "regex" });
  });
});

test("a pattern that is none says where", async () => {
  expect(await readyPattern({ kind: "regex", text: "ab(" })).toEqual({
    kind: "invalid",
    problem: "unclosed group at character 3",
  });
  expect(await readyPattern({ kind: "regex", text: "a\nb[" })).toEqual({
    kind: "invalid",
    problem: "unclosed character class at character 2 of line 2",
  });
  expect(await readyPattern({ kind: "regex", text: "a(?=b)" })).toMatchObject({
    kind: "invalid",
    problem: expect.stringContaining("look-around"),
  });
  expect(await readyPattern({ kind: "regex", text: "(x)\\1" })).toMatchObject({
    kind: "invalid",
    problem: "backreferences are not supported at character 4",
  });
  expect(await readyPattern({ kind: "regex", text: "\\w{1000}" })).toEqual({ kind: "too_big" });
});
