/**
 * The policy engine: decides one access of one call by the operator's Cedar policies. Default deny, a forbid wins, and
 * whatever cannot be evaluated is denied.
 *
 * It trusts the request's principal, zone and context, which the kernel established, and nothing else.
 * INVARIANT: `evaluate` is total and pure: the same request against the same hash has the same verdict, whether it was
 * remembered or not. An engine never changes; new policies are a new engine.
 */
import { KernelError } from "../base/errors.ts";
import { blake3Hex } from "../base/hash.ts";
import { canonicalJson, type JsonObject } from "../base/json.ts";
import type { Role } from "../model/people/role.ts";
import { loadCedar } from "./compile/cedar.ts";
import { compilePolicies } from "./compile/compile.ts";
import { schemaOf } from "./compile/schema.ts";
import { Engine, type PolicyEngine } from "./engine.ts";
import type { ActionDeclaration } from "./terms/action.ts";
import { formatProblem, type PolicySource } from "./terms/problem.ts";

export type { PolicyEngine } from "./engine.ts";
export { formatProblem, type PolicySource } from "./terms/problem.ts";
export type { PolicyRequest, PolicyResource } from "./terms/request.ts";

/** What an engine is made of. */
export interface PolicyEngineOptions {
  /** Every action that can be asked about. */
  readonly actions: readonly ActionDeclaration[];
  readonly sources: readonly PolicySource[];
  /** Every role that a session can have. */
  readonly roles: readonly Role[];
  /** What was found valid before; validating takes most of the time of loading. */
  readonly validated?: ValidatedPolicies;
}

/**
 * Remembers which policies were found valid without a warning, by the version of the engine and the digest of their
 * sources and schema. Whoever can change it can make bad policies load, so it lies where policies lie or is kept as
 * well.
 */
export interface ValidatedPolicies {
  readonly has: (key: string) => boolean;
  readonly remember: (key: string) => void;
}

/**
 * Loads, validates and hashes `sources`.
 * @throws KernelError POLICY_INVALID naming every error with file, line and column
 */
export async function createPolicyEngine(options: PolicyEngineOptions): Promise<PolicyEngine> {
  const cedar = loadCedar();
  const schema = schemaOf(options.actions, options.roles);
  // Text that is not well formed has no digest; compiling refuses it.
  const hash = options.sources.every(({ text }) => text.isWellFormed()) ? policyHash(options.sources, schema) : "";
  const key = `${cedar.getCedarVersion()} ${hash}`;
  const { policies, problems } = compilePolicies(cedar, options.sources, {
    schema,
    isValidated: hash !== "" && (options.validated?.has(key) ?? false),
  });
  const errors = problems.filter((problem) => problem.severity === "error");
  if (errors.length > 0)
    throw new KernelError("POLICY_INVALID", `the policies are not valid:\n${errors.map(formatProblem).join("\n")}`);
  const warnings = problems.filter((problem) => problem.severity === "warning");
  if (problems.length === 0) options.validated?.remember(key);
  return new Engine({ ...options, policies, warnings, hash });
}

/** Digest of `sources`, whatever their order, and `schema`. */
export function policyHash(sources: readonly PolicySource[], schema: JsonObject): string {
  const files = sources
    .map(({ name, origin, text }) => ({ name, origin, text }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  return `blake3:${blake3Hex(canonicalJson({ files, schema }))}`;
}
