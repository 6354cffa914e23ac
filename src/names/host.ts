/**
 * Tests a host against a list of known hosts.
 *
 * A pattern names one host exactly, or begins with `*.` and covers every name below it, but not the apex itself.
 */
import { type CanonicalHost, canonicalHost } from "./host-name.ts";

/** Whether `host` is on the list `patterns`. Both compare in their one form; what is no host is on no list. */
export function isKnownHost(host: string, patterns: readonly string[]): boolean {
  const found = canonicalHost(host);
  return found !== undefined && testsOf(patterns).some((test) => test(found));
}

type Test = (host: CanonicalHost) => boolean;

// Lists of known hosts never change and live as long as what declares them; each call asks about them.
const known = new WeakMap<readonly string[], readonly Test[]>();

function testsOf(patterns: readonly string[]): readonly Test[] {
  const kept = known.get(patterns);
  if (kept !== undefined) return kept;
  const tests = patterns.flatMap(testOf);
  known.set(patterns, tests);
  return tests;
}

function testOf(pattern: string): readonly Test[] {
  const isBelow = pattern.startsWith("*.");
  const named = canonicalHost(isBelow ? pattern.slice(2) : pattern);
  if (named === undefined) return [];
  if (!isBelow) return [({ host }) => host === named.host];
  return named.kind === "name" ? [({ kind, host }) => kind === "name" && host.endsWith(`.${named.host}`)] : [];
}
