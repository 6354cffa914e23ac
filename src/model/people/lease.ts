/**
 * Leases: time-bounded grants that can only narrow.
 *
 * Every dimension is a conjunction of "any of" lists: an empty conjunction restricts nothing, each list must admit the
 * value. INVARIANT: the meet of two leases is the concatenation of their lists, so that a derived lease can never admit
 * what its parent does not.
 */

/** Each inner list admits a value if any of its patterns matches; all inner lists must admit it. */
export type Restriction = readonly (readonly string[])[];

/** Dimensions that a lease can restrict. */
export const LEASE_DIMENSIONS = [
  "tools",
  "readPaths",
  "writePaths",
  "commands",
  "gitOperations",
  "hosts",
  "providers",
  "models",
  "artifacts",
] as const;
/** One dimension. */
export type LeaseDimension = (typeof LEASE_DIMENSIONS)[number];

/** What a lease admits. */
export type LeaseScope = { readonly [D in LeaseDimension]: Restriction };

/**
 * Spending limits of a lease; an absent member is unlimited. Bytes, milliseconds, calls, tokens, micro-units of cost.
 */
export interface LeaseBudget {
  readonly calls?: number;
  readonly durationMs?: number;
  readonly bytes?: number;
  readonly tokens?: number;
  readonly costMicros?: number;
}

/** A lease as stored. Times are milliseconds since the Unix epoch. */
export interface Lease {
  readonly id: string;
  readonly parentId?: string;
  readonly scope: LeaseScope;
  readonly budget: LeaseBudget;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly releasedAtMs?: number;
}

/** The scope that restricts nothing. */
export const UNRESTRICTED_SCOPE: LeaseScope = {
  tools: [],
  readPaths: [],
  writePaths: [],
  commands: [],
  gitOperations: [],
  hosts: [],
  providers: [],
  models: [],
  artifacts: [],
};
