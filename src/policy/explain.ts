/**
 * `handrail policy explain`: which rule decides a request, which others match, and the narrowest permit that would
 * allow it. Everything is data; how it is shown is the caller's business.
 *
 * INVARIANT: the permit that is offered grants this role this action on this one resource with this effect, on branches
 * alone where the call was on one, and nothing is offered where a permit cannot help (a forbid, a failure).
 */
import { blake3Hex } from "../base/hash.ts";
import type { Layer } from "../model/outcome/decision.ts";
import { cedarString } from "./compile/cedar.ts";
import type { CompiledPolicy } from "./compile/compile.ts";
import type { PolicyEngine } from "./policy.ts";
import { type PolicyRequest, UNNAMED_CALL } from "./terms/request.ts";
import type { PolicyVerdict } from "./terms/verdict.ts";
import { NAMESPACE, RESOURCE_TYPES, resourceId } from "./terms/vocabulary.ts";

/** A policy that matched, or failed. */
export interface MatchingRule {
  readonly id: string;
  readonly effect: "permit" | "forbid";
  readonly outcome: "matched" | "failed";
  readonly file: string;
  readonly line: number;
  readonly message?: string;
}

/** Why a request is decided as it is. */
export interface Explanation {
  readonly verdict: PolicyVerdict;
  readonly layer: Layer;
  /** The deciding rules: all permits of an allowed call, the one rule that refused otherwise. */
  readonly decidedBy: readonly string[];
  readonly matching: readonly MatchingRule[];
  /** Policy text that would allow exactly this; absent when the request is allowed, or when no permit can help. */
  readonly narrowestPermit?: string;
  readonly policyHash: string;
}

/** Explains how `engine` decides `request`. */
export function explain(engine: PolicyEngine, request: PolicyRequest): Explanation {
  const verdict = engine.evaluatePlainly(request);
  const { permits, forbids, failed } = engine.matching(request);
  const matching = [
    ...rules(engine, failed, "failed"),
    ...rules(engine, forbids, "matched"),
    ...rules(engine, permits, "matched"),
  ];
  const permit = verdict.decision === "deny" && verdict.cause === "default" ? narrowestPermit(request) : undefined;
  return {
    verdict,
    layer: "policy",
    decidedBy: verdict.decision === "allow" ? verdict.permits : [verdict.ruleId],
    matching,
    ...(permit === undefined ? {} : { narrowestPermit: permit }),
    policyHash: engine.hash,
  };
}

/** What narrows a permit. */
export interface Narrowing {
  /** For whom it holds: for everybody in the role, or for this principal in this workspace alone. */
  readonly whose?: "role" | "principal";
  /** More conditions, as policy text. */
  readonly when?: readonly string[];
}

/**
 * The text of the narrowest permit for `request`, bound to the call in full where its resource does not say all of it;
 * its id is derived from what it grants. `undefined` when there is none, because the call has no name.
 * @param waives rules whose obligations it lifts for this request
 * @param narrowing what it holds for besides
 */
export function narrowestPermit(
  request: PolicyRequest,
  waives: readonly string[] = [],
  { whose = "role", when = [] }: Narrowing = {},
): string | undefined {
  if (!isPermittable(request, waives)) return undefined;
  const { principal, action, resource, effect } = scopeOf(request);
  const scope = [`  principal in ${principal},`, `  action == ${action},`, `  resource == ${resource}`].join("\n");
  const conditions = [
    ...(whose === "role" ? [] : [principalOf(request)]),
    ...callConditions(request),
    `context.effect == ${effect}`,
    ...when,
  ];
  const condition = `when { ${conditions.join(" && ")} }`;
  const lifted = waives.length === 0 ? "" : `@waives(${cedarString(waives.join(", "))})\n`;
  const id = `allow.${blake3Hex(`${lifted}${scope}\n${condition}`).slice(0, 12)}`;
  return `@id("${id}")\n${lifted}permit(\n${scope}\n) ${condition};\n`;
}

function principalOf({ principal: { user, agent, workspace } }: PolicyRequest): string {
  const named = Object.entries({ user, agent, workspace });
  return named.map(([name, value]) => `principal.${name} == ${cedarString(value)}`).join(" && ");
}

/**
 * Whether a permit can say what it lets through: the whole call, wherever the resource or the rules that ask leave
 * something open.
 */
export function isPermittable({ resource, context }: PolicyRequest, waives: readonly string[] = []): boolean {
  const { call = "" } = context;
  if (call === UNNAMED_CALL) return false;
  return call !== "" || (resource.kind !== "command" && !waives.some((rule) => ABOUT_ARGUMENTS.test(rule)));
}

/** Rules that ask because of what stands in the arguments. */
const ABOUT_ARGUMENTS = /^(?:DANGER:.*|CAPABILITY:[^:]*:method|FC:secret-write)$/;

/**
 * A command is named by its line, which does not say what feeds it, what starts it, where its output goes, or what of
 * it is not understood: `sh` is one thing behind a known program and another behind a download.
 */
function callConditions(request: PolicyRequest): readonly string[] {
  const { call = "", onBranch = false } = request.context;
  return [
    ...commandConditions(request),
    ...(call === "" ? [] : [`context.call == ${cedarString(call)}`]),
    ...(onBranch ? [ON_BRANCHES] : []),
  ];
}

/** What may happen to a copy that can be thrown away may not happen to the workspace itself. */
export const ON_BRANCHES = "context.onBranch";

function commandConditions({ resource }: PolicyRequest): readonly string[] {
  if (resource.kind !== "command") return [];
  const { inputFrom, via, dangers } = resource;
  return Object.entries({ inputFrom, via, dangers }).map(([name, texts]) => {
    const set = [...new Set(texts)].sort().map(cedarString);
    // Strict validation takes no empty set.
    return set.length === 0 ? `resource.${name}.isEmpty()` : `resource.${name} == [${set.join(", ")}]`;
  });
}

/**
 * The clause that takes `request`, and nothing else, out of a forbid; `undefined` when there is none, because the call
 * has no name.
 */
export function exceptionFor(request: PolicyRequest): string | undefined {
  if (!isPermittable(request)) return undefined;
  const { principal, action, resource, effect } = scopeOf(request);
  const scope = [`principal in ${principal}`, `action == ${action}`, `resource == ${resource}`];
  return `unless { ${[...scope, ...callConditions(request), `context.effect == ${effect}`].join(" && ")} }`;
}

function scopeOf(request: PolicyRequest) {
  const entity = (type: string, id: string) => `${NAMESPACE}::${type}::${cedarString(id)}`;
  return {
    principal: entity("Role", request.principal.role),
    action: entity("Action", request.action),
    resource: entity(RESOURCE_TYPES[request.resource.kind].entity, resourceId(request.resource)),
    effect: cedarString(request.effect),
  };
}

function rules(
  engine: PolicyEngine,
  ids: readonly string[],
  outcome: MatchingRule["outcome"],
): readonly MatchingRule[] {
  const known = new Map<string, CompiledPolicy>(engine.policies.map((policy) => [policy.id, policy]));
  return ids.flatMap((id) => {
    const policy = known.get(id);
    if (policy === undefined) return [];
    const { effect, file, line, message } = policy;
    return [{ id, effect, outcome, file, line, ...(message === undefined ? {} : { message }) }];
  });
}
