/**
 * The engine of compiled policies: slices and memo in front of Cedar, and what becomes of its answer.
 *
 * INVARIANT: slices and memo change no verdict; `evaluatePlainly` works without them, and a differential test compares.
 */
import { assert } from "../base/errors.ts";

import type { Role } from "../model/people/role.ts";
import type { CompiledPolicy } from "./compile/compile.ts";
import { resourceKindsOf } from "./compile/schema.ts";
import { type CedarDecision, PreparedSet } from "./evaluate/evaluator.ts";
import { Memo } from "./evaluate/memo.ts";
import { allowVerdict } from "./evaluate/obligations.ts";
import { type Projection, projectionKey, projectionOf } from "./evaluate/projection.ts";
import { sliceOf } from "./evaluate/slice.ts";
import { type ActionDeclaration, groupsOf } from "./terms/action.ts";
import type { PolicyProblem } from "./terms/problem.ts";
import type { PolicyRequest, ResourceKind } from "./terms/request.ts";
import {
  DEFAULT_DENY,
  POLICY_FAILURE_REASON,
  type PolicyDeny,
  type PolicyVerdict,
  REQUEST_REFUSED,
} from "./terms/verdict.ts";
import { type AttributeTable, type DescribedRequest, describe } from "./terms/vocabulary.ts";

/** Decisions kept by the policy memo; the oldest go first. */
export const POLICY_MEMO_ENTRIES_MAX = 4096;

/** How much work the memo saved. */
export interface PolicyStatistics {
  readonly hits: number;
  readonly misses: number;
  readonly slices: number;
  readonly entries: number;
}

/** All policies that match a request, whichever of them decides. Ids are sorted. */
export interface MatchingPolicies {
  readonly permits: readonly string[];
  readonly forbids: readonly string[];
  readonly failed: readonly string[];
}

/** A loaded set of policies. */
export interface PolicyEngine {
  /** `blake3:` and the digest of the sources and the schema: same hash and request, same verdict. */
  readonly hash: string;
  readonly policies: readonly CompiledPolicy[];
  /** Oddities that did not refuse the policies. */
  readonly warnings: readonly PolicyProblem[];
  /** Decides `request`. Never throws. */
  readonly evaluate: (request: PolicyRequest) => PolicyVerdict;
  /** The same verdict without slices and memo, for explanations and for checking `evaluate`. Never throws. */
  readonly evaluatePlainly: (request: PolicyRequest) => PolicyVerdict;
  /** Whether the verdict on a file may depend on more than its zone and root: on its path or name. Never throws. */
  readonly looksAtPath: (request: PolicyRequest) => boolean;
  /** Every policy that matches `request`. */
  readonly matching: (request: PolicyRequest) => MatchingPolicies;
  readonly statistics: () => PolicyStatistics;
  /** Frees the engine's memory; afterwards everything is denied. */
  readonly dispose: () => void;
}

/** A decision as remembered: the verdict without capability obligations, and the permits to add them to. */
interface Remembered {
  readonly verdict: PolicyVerdict;
  readonly permits: readonly CompiledPolicy[];
}

interface Slice {
  readonly set: PreparedSet;
  readonly prefix: string;
  readonly projection: Projection;
}

interface KnownAction {
  readonly groups: readonly string[];
  readonly kinds: ReadonlySet<ResourceKind>;
  readonly argumentTypes: AttributeTable;
  /** Slices by role, then by kind of resource. */
  readonly slices: Map<Role, Map<ResourceKind, Slice>>;
}

/** A request that passed the checks, or the refusal. */
type Prepared =
  | { readonly action: KnownAction; readonly described: DescribedRequest }
  | { readonly refusal: PolicyDeny };

/** What the engine is made of once its policies are compiled. */
export interface EngineParts {
  readonly actions: readonly ActionDeclaration[];
  readonly roles: readonly Role[];
  readonly policies: readonly CompiledPolicy[];
  readonly warnings: readonly PolicyProblem[];
  readonly hash: string;
}

/** The engine of compiled policies. */
export class Engine implements PolicyEngine {
  readonly hash: string;
  readonly policies: readonly CompiledPolicy[];
  readonly warnings: readonly PolicyProblem[];
  readonly #byId: ReadonlyMap<string, CompiledPolicy>;
  readonly #actions: ReadonlyMap<string, KnownAction>;
  readonly #roles: ReadonlySet<Role>;
  readonly #memo = new Memo<Remembered>(POLICY_MEMO_ENTRIES_MAX);
  readonly #sets: PreparedSet[] = [];
  #whole: PreparedSet | undefined;
  #permitsOnly: PreparedSet | undefined;
  #hits = 0;
  #misses = 0;
  #slices = 0;
  #disposed = false;

  constructor(parts: EngineParts) {
    this.hash = parts.hash;
    this.policies = parts.policies;
    this.warnings = parts.warnings;
    this.#byId = new Map(parts.policies.map((policy) => [policy.id, policy]));
    this.#actions = new Map(parts.actions.map((action) => [action.name, knownAction(action)]));
    this.#roles = new Set(parts.roles);
  }

  readonly evaluate = (request: PolicyRequest): PolicyVerdict => {
    try {
      const prepared = this.#prepare(request);
      if ("refusal" in prepared) return prepared.refusal;
      const slice = this.#sliceFor(prepared.action, request);
      const key = slice.prefix + projectionKey(slice.projection, prepared.described);
      let remembered = this.#memo.get(key);
      if (remembered === undefined) {
        this.#misses += 1;
        remembered = this.#decide(slice.set, request, prepared);
        this.#memo.set(key, remembered);
      } else this.#hits += 1;
      return withCapability(remembered, request);
    } catch {
      // Total by contract: whatever went wrong, the call is refused.
      return failure(undefined, "the request could not be judged; report this to the operator");
    }
  };

  readonly evaluatePlainly = (request: PolicyRequest): PolicyVerdict => {
    try {
      const prepared = this.#prepare(request);
      if ("refusal" in prepared) return prepared.refusal;
      this.#whole ??= this.#prepareSet(this.policies);
      return withCapability(this.#decide(this.#whole, request, prepared), request);
    } catch {
      return failure(undefined, "the request could not be judged; report this to the operator");
    }
  };

  readonly looksAtPath = (request: PolicyRequest): boolean => {
    try {
      const prepared = this.#prepare(request);
      if ("refusal" in prepared) return true;
      const { projection } = this.#sliceFor(prepared.action, request);
      if (projection.kind === "whole") return true;
      return projection.paths.some(([root, name]) => root === "resource" && name !== "zone" && name !== "root");
    } catch {
      return true; // what cannot be known is asked for each file
    }
  };

  readonly matching = (request: PolicyRequest): MatchingPolicies => {
    const prepared = this.#prepare(request);
    if ("refusal" in prepared) return { permits: [], forbids: [], failed: [] };
    const ask = (set: PreparedSet) => set.ask(request, prepared.described, prepared.action.groups);
    this.#whole ??= this.#prepareSet(this.policies);
    this.#permitsOnly ??= this.#prepareSet(this.policies.filter((policy) => policy.effect === "permit"));
    const all = ask(this.#whole);
    const permits = ask(this.#permitsOnly);
    return {
      permits: permits.kind === "allow" ? permits.permits : [],
      forbids: all.kind === "deny" ? all.forbids : [],
      failed: all.kind === "error" ? all.failed : [],
    };
  };

  readonly statistics = (): PolicyStatistics => ({
    hits: this.#hits,
    misses: this.#misses,
    slices: this.#slices,
    entries: this.#memo.size,
  });

  readonly dispose = (): void => {
    this.#disposed = true;
    this.#memo.clear();
    for (const set of this.#sets.splice(0)) set.release();
  };

  #prepare(request: PolicyRequest): Prepared {
    if (this.#disposed) return { refusal: failure(undefined, "these policies were replaced; try again") };
    const action = this.#actions.get(request.action);
    if (action === undefined)
      return {
        refusal: failure(undefined, `no action \`${request.action}\` is registered; list the tools to see which exist`),
      };
    if (!this.#roles.has(request.principal.role)) {
      return {
        refusal: failure(
          undefined,
          `the role \`${request.principal.role}\` is not known; ask the operator to define it`,
        ),
      };
    }
    if (!action.kinds.has(request.resource.kind)) {
      return {
        refusal: failure(
          undefined,
          `the action \`${request.action}\` is not declared for a resource of kind \`${request.resource.kind}\`; correct the tool's declaration`,
        ),
      };
    }
    const described = describe(request, action.argumentTypes);
    if (typeof described === "string")
      return { refusal: failure(undefined, `\`${described}\` has no value that policy could judge; correct the call`) };
    return { action, described };
  }

  #sliceFor(action: KnownAction, request: PolicyRequest): Slice {
    const { role } = request.principal;
    const { kind } = request.resource;
    const byKind = action.slices.get(role) ?? new Map<ResourceKind, Slice>();
    const known = byKind.get(kind);
    if (known !== undefined) return known;
    const policies = sliceOf(this.policies, { action: request.action, groups: action.groups, role, kind });
    this.#slices += 1;
    const slice = { set: this.#prepareSet(policies), prefix: `${this.#slices}/`, projection: projectionOf(policies) };
    byKind.set(kind, slice);
    action.slices.set(role, byKind);
    return slice;
  }

  #prepareSet(policies: readonly CompiledPolicy[]): PreparedSet {
    const set = new PreparedSet(policies);
    this.#sets.push(set);
    return set;
  }

  #decide(
    set: PreparedSet,
    request: PolicyRequest,
    prepared: { readonly action: KnownAction; readonly described: DescribedRequest },
  ): Remembered {
    const decision = set.ask(request, prepared.described, prepared.action.groups);
    const permits = decision.kind === "allow" ? decision.permits.map((id) => this.#policy(id)) : [];
    return { verdict: this.#verdictOf(decision, permits), permits };
  }

  #verdictOf(decision: CedarDecision, permits: readonly CompiledPolicy[]): PolicyVerdict {
    if (decision.kind === "allow") return allowVerdict(permits, []);
    if (decision.kind === "error") {
      const [id] = decision.failed;
      return failure(
        id,
        id === undefined
          ? "the request could not be judged; report this to the operator"
          : `the policy \`${id}\` failed; the operator must correct it`,
      );
    }
    const [id] = decision.forbids;
    if (id === undefined) return DEFAULT_DENIAL;
    const { rationale, message } = this.#policy(id);
    return {
      decision: "deny",
      cause: "forbid",
      ruleId: id,
      ...(rationale === undefined ? {} : { rationale }),
      ...(message === undefined ? {} : { message }),
      forbids: decision.forbids,
    };
  }

  #policy(id: string): CompiledPolicy {
    const policy = this.#byId.get(id);
    assert(policy !== undefined, "the policy engine named a policy that was not loaded");
    return policy;
  }
}

const DEFAULT_DENIAL: PolicyDeny = {
  decision: "deny",
  cause: "default",
  ruleId: DEFAULT_DENY,
  message: "no policy permits this; do it another way, or ask the operator for a permit",
  forbids: [],
};

function knownAction(action: ActionDeclaration): KnownAction {
  return {
    groups: groupsOf(action),
    kinds: new Set(resourceKindsOf(action)),
    argumentTypes: action.arguments ?? {},
    slices: new Map(),
  };
}

function withCapability(remembered: Remembered, request: PolicyRequest): PolicyVerdict {
  const capability = request.capabilityObligations;
  if (remembered.verdict.decision === "deny" || capability === undefined || capability.length === 0)
    return remembered.verdict;
  return allowVerdict(remembered.permits, capability);
}

function failure(ruleId: string | undefined, message: string): PolicyDeny {
  return {
    decision: "deny",
    cause: "error",
    ruleId: ruleId ?? REQUEST_REFUSED,
    rationale: POLICY_FAILURE_REASON,
    message,
    forbids: [],
  };
}
