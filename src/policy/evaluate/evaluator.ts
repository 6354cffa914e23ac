/**
 * Asks Cedar about one request against one prepared set of policies, without any memo.
 *
 * No schema is passed: requests were checked against the same vocabulary before (`describe`), and the action's groups
 * are handed over as entities. INVARIANT: anything but a clean answer is an error, because Cedar alone skips a forbid
 * that fails to evaluate and would allow.
 */
import { type Cedar, type EntityUid, loadCedar, presentCedar } from "../compile/cedar.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import type { PolicyRequest } from "../terms/request.ts";
import { type AttributeValues, type DescribedRequest, NAMESPACE, RESOURCE_TYPES } from "../terms/vocabulary.ts";

/** What Cedar said: which policies decided, or which failed. Ids are sorted. */
export type CedarDecision =
  | { readonly kind: "allow"; readonly permits: readonly string[] }
  | { readonly kind: "deny"; readonly forbids: readonly string[] }
  | { readonly kind: "error"; readonly failed: readonly string[] };

// Cedar keeps prepared sets by name, for the whole thread; the number keeps the sets of several engines apart.
let nextSet = 0;

/**
 * A set of policies that Cedar can be asked about: prepared inside Cedar when it is first asked, and again after Cedar
 * was given back.
 */
export class PreparedSet {
  readonly #policies: readonly CompiledPolicy[];
  /** Its name inside a Cedar; held weakly, so that it keeps no Cedar. */
  readonly #names = new WeakMap<Cedar, string>();

  constructor(policies: readonly CompiledPolicy[]) {
    this.#policies = policies;
  }

  /** Asks about `request`, already described. @throws Error when Cedar cannot be loaded or refuses the policies */
  ask(request: PolicyRequest, described: DescribedRequest, groups: readonly string[]): CedarDecision {
    const cedar = loadCedar();
    return askCedar(cedar, this.#nameIn(cedar), { request, described, groups });
  }

  /** Frees its memory inside Cedar. */
  release(): void {
    const cedar = presentCedar();
    const name = cedar && this.#names.get(cedar);
    if (cedar === undefined || name === undefined) return;
    this.#names.delete(cedar);
    cedar.preparsePolicySet(name, { staticPolicies: {} });
  }

  #nameIn(cedar: Cedar): string {
    const known = this.#names.get(cedar);
    if (known !== undefined) return known;
    nextSet += 1;
    const name = `handrail-${nextSet}`;
    const staticPolicies = Object.fromEntries(this.#policies.map((policy) => [policy.id, policy.text]));
    const answer = cedar.preparsePolicySet(name, { staticPolicies });
    if (answer.type === "failure") throw new Error(answer.errors.map((error) => error.message).join("; "));
    this.#names.set(cedar, name);
    return name;
  }
}

/** A request as Cedar is asked about it. */
interface CedarQuestion {
  readonly request: PolicyRequest;
  readonly described: DescribedRequest;
  /** Groups that the action belongs to. */
  readonly groups: readonly string[];
}

/** @param name that of the prepared set inside `cedar` */
function askCedar(cedar: Cedar, name: string, { request, described, groups }: CedarQuestion): CedarDecision {
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
  if (diagnostics.errors.length > 0)
    return { kind: "error", failed: diagnostics.errors.map((error) => error.policyId).sort() };
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
