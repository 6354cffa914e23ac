/** `handrail policy check`: everything that is wrong with a set of policy files, without loading them. */
import type { Role } from "../model/people/role.ts";
import { loadCedar } from "./compile/cedar.ts";
import { compilePolicies } from "./compile/compile.ts";
import { schemaOf } from "./compile/schema.ts";
import { policyHash } from "./policy.ts";
import type { ActionDeclaration } from "./terms/action.ts";
import type { PolicyProblem, PolicySource } from "./terms/problem.ts";

/** What a check found. `hash` is what an engine of these policies would have; absent when they are refused. */
export interface PolicyCheck {
  readonly ok: boolean;
  readonly hash?: string;
  readonly policies: number;
  /** In the order of the files, then of the places. */
  readonly problems: readonly PolicyProblem[];
}

/**
 * Checks `sources` against the vocabulary of `actions` and `roles`.
 * @throws KernelError POLICY_INVALID when the vocabulary itself is unusable
 */
export async function checkPolicies(options: {
  readonly sources: readonly PolicySource[];
  readonly actions: readonly ActionDeclaration[];
  readonly roles: readonly Role[];
}): Promise<PolicyCheck> {
  const cedar = loadCedar();
  const schema = schemaOf(options.actions, options.roles);
  const { policies, problems } = compilePolicies(cedar, options.sources, { schema });
  const ok = problems.every((problem) => problem.severity !== "error");
  const order = new Map(options.sources.map((source, index) => [source.name, index]));
  const sorted = [...problems].sort(
    (left, right) =>
      (order.get(left.file) ?? 0) - (order.get(right.file) ?? 0) ||
      left.line - right.line ||
      left.column - right.column,
  );
  return {
    ok,
    ...(ok ? { hash: policyHash(options.sources, schema) } : {}),
    policies: policies.length,
    problems: sorted,
  };
}
