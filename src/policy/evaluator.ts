/**
 * Asks Cedar about one request against one prepared set of policies, without any memo.
 *
 * No schema is passed: requests were checked against the same vocabulary before (`describe`), and the action's groups
 * are handed over as entities. INVARIANT: anything but a clean answer is an error, because Cedar alone skips a forbid
 * that fails to evaluate and would allow.
 */
import type { Cedar, EntityUid } from "./cedar.ts";
import type { CompiledPolicy } from "./compile.ts";
import type { PolicyRequest } from "./request.ts";
import { type AttributeValues, type DescribedRequest, NAMESPACE, RESOURCE_TYPES } from "./vocabulary.ts";

/** What Cedar said: which policies decided, or which failed. Ids are sorted. */
export type CedarDecision =
  | { readonly kind: "allow"; readonly permits: readonly string[] }
  | { readonly kind: "deny"; readonly forbids: readonly string[] }
  | { readonly kind: "error"; readonly failed: readonly string[] };

// Cedar keeps prepared sets by name, for the whole thread; the number keeps the sets of several engines apart.
let nextSet = 0;

/** Prepares `policies` inside Cedar and returns the set's name. @throws Error when Cedar refuses them */
export function prepareSet(cedar: Cedar, policies: readonly CompiledPolicy[]): string {
  nextSet += 1;
  const name = `handrail-${nextSet}`;
  const answer = cedar.preparsePolicySet(name, { staticPolicies: Object.fromEntries(policies.map((policy) => [policy.id, policy.text])) });
  if (answer.type === "failure") throw new Error(answer.errors.map((error) => error.message).join("; "));
  return name;
}

/** Replaces a prepared set by an empty one, which frees its memory; asked again, it denies. */
export function releaseSet(cedar: Cedar, name: string): void {
  cedar.preparsePolicySet(name, { staticPolicies: {} });
}

/** Asks about `request`, already described, against the prepared set `name`. */
export function askCedar(
  cedar: Cedar,
  name: string,
  request: PolicyRequest,
  described: DescribedRequest,
  groups: readonly string[],
): CedarDecision {
  const principal = uid("Session", described.principalId);
  const action = uid("Action", request.action);
  const resource = uid(RESOURCE_TYPES[request.resource.kind].entity, described.resourceId);
  const answer = cedar.statefulIsAuthorized({
    principal,
    action,
    resource,
    context: { ...present(described.context), arguments: present(described.arguments) },
    preparsedPolicySetId: name,
    entities: [
      { uid: principal, attrs: present(described.principal), parents: [uid("Role", request.principal.role)] },
      { uid: action, attrs: {}, parents: groups.map((group) => uid("Action", group)) },
      { uid: resource, attrs: present(described.resource), parents: [] },
    ],
  });
  if (answer.type === "failure") return { kind: "error", failed: [] };
  const { decision, diagnostics } = answer.response;
  if (diagnostics.errors.length > 0) return { kind: "error", failed: diagnostics.errors.map((error) => error.policyId).sort() };
  const ids = [...diagnostics.reason].sort();
  return decision === "allow" ? { kind: "allow", permits: ids } : { kind: "deny", forbids: ids };
}

function uid(type: string, id: string): EntityUid {
  return { type: `${NAMESPACE}::${type}`, id };
}

type CedarValue = string | number | boolean | string[];

function present(values: AttributeValues): Record<string, CedarValue> {
  const kept: Record<string, CedarValue> = {};
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) kept[name] = typeof value === "object" ? [...value] : value;
  }
  return kept;
}
