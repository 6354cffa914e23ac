/**
 * Tests values against a lease's scope and narrows leases.
 *
 * INVARIANT: `meetScopes` concatenates conjunctions, so that the meet admits exactly what both sides admit. A pattern
 * that cannot be compiled admits nothing.
 */

import {
  LEASE_DIMENSIONS,
  type Lease,
  type LeaseBudget,
  type LeaseDimension,
  type LeaseScope,
  type Restriction,
} from "../model/people/lease.ts";
import { compileGlob } from "../names/glob.ts";
import { isKnownHost } from "../names/host.ts";

type Test = (value: string) => boolean;

const PATH_DIMENSIONS = new Set<LeaseDimension>(["readPaths", "writePaths"]);
/** The pattern that admits every value of a dimension other than paths. */
const ANY = "*";

// Keyed by the scope object: scopes are immutable, and a test dies with its scope.
const compiled = new WeakMap<LeaseScope, Map<LeaseDimension, Test>>();

/**
 * Whether `scope` admits `value`. Paths are matched as globs (`*` within a component, `**` across, dot files
 * included), hosts without case and by `*.` for every name below one, everything else exactly; `*` admits any value.
 */
export function admits(scope: LeaseScope, dimension: LeaseDimension, value: string): boolean {
  let tests = compiled.get(scope);
  if (tests === undefined) {
    tests = new Map();
    compiled.set(scope, tests);
  }
  let test = tests.get(dimension);
  if (test === undefined) {
    test = compileRestriction(dimension, scope[dimension]);
    tests.set(dimension, test);
  }
  return test(value);
}

/** The commands that `scope` admits, by name and sorted; `*` alone where it restricts none. */
export function admittedCommands({ commands }: LeaseScope): readonly string[] {
  const [first, ...others] = commands.filter((names) => !names.includes(ANY));
  if (first === undefined) return [ANY];
  return [...new Set(first)].filter((name) => others.every((names) => names.includes(name))).sort();
}

/** The scope that admits exactly what both admit. */
export function meetScopes(parent: LeaseScope, child: LeaseScope): LeaseScope {
  const meet = (dimension: LeaseDimension) => meetRestrictions(parent[dimension], child[dimension]);
  return {
    tools: meet("tools"),
    readPaths: meet("readPaths"),
    writePaths: meet("writePaths"),
    commands: meet("commands"),
    gitOperations: meet("gitOperations"),
    hosts: meet("hosts"),
    providers: meet("providers"),
    models: meet("models"),
    artifacts: meet("artifacts"),
  };
}

/** The budget that exceeds neither; an absent member is unlimited. */
export function meetBudgets(parent: LeaseBudget, child: LeaseBudget): LeaseBudget {
  return {
    ...least("calls", parent, child),
    ...least("durationMs", parent, child),
    ...least("bytes", parent, child),
    ...least("tokens", parent, child),
    ...least("costMicros", parent, child),
  };
}

/** What a derived lease is wanted to be. */
export interface LeaseWish {
  readonly id: string;
  readonly scope: LeaseScope;
  readonly budget: LeaseBudget;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/**
 * The lease below `parent` that grants as much of `wish` as the parent has. INVARIANT: it admits, spends and lasts no
 * more than its parent; below a lease that has ended it has ended too.
 */
export function deriveLease(parent: Lease, wish: LeaseWish): Lease {
  return {
    id: wish.id,
    parentId: parent.id,
    scope: meetScopes(parent.scope, wish.scope),
    budget: meetBudgets(parent.budget, wish.budget),
    createdAtMs: wish.createdAtMs,
    expiresAtMs: Math.min(parent.expiresAtMs, wish.expiresAtMs),
    ...(parent.releasedAtMs === undefined ? {} : { releasedAtMs: parent.releasedAtMs }),
  };
}

/** Names the dimensions in which `scope` has a path pattern that cannot be compiled and therefore admits nothing. */
export function unusableDimensions(scope: LeaseScope): readonly LeaseDimension[] {
  return LEASE_DIMENSIONS.filter(
    (dimension) =>
      PATH_DIMENSIONS.has(dimension) && scope[dimension].flat().some((pattern) => compileGlob(pattern) === undefined),
  );
}

function compileRestriction(dimension: LeaseDimension, restriction: Restriction): Test {
  const compile = PATH_DIMENSIONS.has(dimension) ? compilePaths : dimension === "hosts" ? compileHosts : compileNames;
  const lists = restriction.map(compile);
  return (value) => lists.every((list) => list(value));
}

function compileNames(patterns: readonly string[]): Test {
  const names = new Set(patterns);
  return names.has(ANY) ? () => true : (value) => names.has(value);
}

function compileHosts(patterns: readonly string[]): Test {
  return patterns.includes(ANY) ? () => true : (host) => isKnownHost(host, patterns);
}

function compilePaths(patterns: readonly string[]): Test {
  const tests = patterns.flatMap((pattern) => compileGlob(pattern) ?? []);
  return (value) => tests.some((test) => test(value));
}

function meetRestrictions(left: Restriction, right: Restriction): Restriction {
  const seen = new Set<string>();
  return [...left, ...right].filter((patterns) => {
    const key = JSON.stringify([...new Set(patterns)].sort());
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function least(member: keyof LeaseBudget, left: LeaseBudget, right: LeaseBudget): LeaseBudget {
  const values = [left[member], right[member]].filter((value) => value !== undefined);
  return values.length === 0 ? {} : { [member]: Math.min(...values) };
}
