/**
 * Extracts the counts of passed and failed tests from a runner's output.
 *
 * They are there if the runner says so at the end of its output. This is a courtesy: nothing is decided by it.
 */
import { plainText } from "./failure-lines.ts";

/** Counts as the runner gave them. */
export type TestSummary = { readonly passed?: number; readonly failed?: number; readonly skipped?: number };

/** A runner's way of saying it: lines that match, and what their counts mean. */
interface Style {
  readonly line: RegExp;
  readonly counts: Readonly<Record<keyof TestSummary, RegExp>>;
  /** Each line counts a part; otherwise the last one says it all. */
  readonly adds: boolean;
}

const WORDED = {
  passed: /(\d+) pass(?:ed|ing)?\b/,
  failed: /(\d+) (?:fail(?:ed|ing|ures?)?|errors?)\b/,
  skipped: /(\d+) (?:skipped|ignored|pending|todo)\b/,
};

const STYLES: readonly Style[] = [
  { line: /^test result: /, counts: WORDED, adds: true }, // cargo
  { line: /^=+ .*\b\d+ (?:passed|failed|errors?|skipped)\b.* in [\d.]+s/, counts: WORDED, adds: false }, // pytest
  { line: /^\s*Tests:?\s+\d+ (?:passed|failed|skipped|todo)\b/, counts: WORDED, adds: false }, // jest, vitest
];

/** node's own runner, in both of its forms: a line for each count. */
const NODE = { passed: /^(?:#|ℹ) pass (\d+)$/m, failed: /^(?:#|ℹ) fail (\d+)$/m, skipped: /^(?:#|ℹ) skipped (\d+)$/m };
/** mocha. */
const MOCHA = {
  passed: /^[ \t]+(\d+) passing\b/m,
  failed: /^[ \t]+(\d+) failing\b/m,
  skipped: /^[ \t]+(\d+) pending\b/m,
};

/** Lines that sum up are short; in long ones nothing is looked for. */
const LINE_CHARACTERS_MAX = 1000;
/** As much of the end of an output as is looked at. */
const CHARACTERS_LOOKED_AT = 32 * 1024;

/** The counts in `output`; nothing when none are recognised. */
export function testSummary(output: string): TestSummary | undefined {
  const text = plainText(output.slice(-CHARACTERS_LOOKED_AT));
  const lines = text.split("\n").filter(({ length }) => length <= LINE_CHARACTERS_MAX);
  for (const { line, counts, adds } of STYLES) {
    const matching = lines.filter((one) => line.test(one));
    const counted = (adds ? matching : matching.slice(-1)).map((one) => countsIn(one, counts));
    if (counted.length > 0) return counted.reduce(sum);
  }
  for (const counts of [NODE, MOCHA]) {
    const counted = countsIn(text, counts);
    if (counted.passed !== undefined) return counted;
  }
  return undefined;
}

function countsIn(text: string, counts: Readonly<Record<keyof TestSummary, RegExp>>): TestSummary {
  const found = Object.entries(counts).flatMap(([name, expression]) => {
    const count = expression.exec(text)?.[1];
    return count === undefined ? [] : [[name, Number(count)] as const];
  });
  return Object.fromEntries(found);
}

function sum(left: TestSummary, right: TestSummary): TestSummary {
  const names = ["passed", "failed", "skipped"] as const;
  const present = names.filter((name) => left[name] !== undefined || right[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, (left[name] ?? 0) + (right[name] ?? 0)]));
}
