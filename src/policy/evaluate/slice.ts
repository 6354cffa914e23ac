/**
 * Slices: which policies can match at all, judged by their scopes alone.
 *
 * INVARIANT: a policy left out of a slice can neither match nor fail for any request of that slice; a scope that is
 * not understood keeps its policy in. (Cedar evaluates a policy's conditions only after its scope matched.)
 */
import { isJsonObject, type JsonValue } from "../../base/json.ts";
import type { Role } from "../../model/people/role.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import type { ResourceKind } from "../terms/request.ts";
import { NAMESPACE, RESOURCE_TYPES } from "../terms/vocabulary.ts";

/** The requests that share a slice. */
export interface SliceKey {
  readonly action: string;
  /** Groups of the action. */
  readonly groups: readonly string[];
  readonly role: Role;
  readonly kind: ResourceKind;
}

/** The policies of `policies` that may match a request of `key`. */
export function sliceOf(policies: readonly CompiledPolicy[], key: SliceKey): readonly CompiledPolicy[] {
  return policies.filter(
    ({ form }) =>
      principalMayMatch(form.principal, key.role) &&
      actionMayMatch(form.action, key) &&
      resourceMayMatch(form.resource, key.kind),
  );
}

// A session's only parent is its role, so `in` another role never holds. `==` a session does not tell its role.
function principalMayMatch(scope: JsonValue | undefined, role: Role): boolean {
  if (!isJsonObject(scope)) return true;
  if (scope.op === "in") return roleMayMatch(scope.entity, role);
  if (scope.op === "is" && isJsonObject(scope.in)) return roleMayMatch(scope.in.entity, role);
  return true;
}

function roleMayMatch(entity: JsonValue | undefined, role: Role): boolean {
  const uid = uidOf(entity);
  return uid === undefined || uid.type !== `${NAMESPACE}::Role` || uid.id === role;
}

function actionMayMatch(scope: JsonValue | undefined, key: SliceKey): boolean {
  if (!isJsonObject(scope)) return true;
  const named = scope.op === "in" && Array.isArray(scope.entities) ? scope.entities : [scope.entity];
  if (scope.op !== "in" && scope.op !== "==") return true;
  return named.some((entity: JsonValue | undefined) => {
    const uid = uidOf(entity);
    if (uid === undefined || uid.type !== `${NAMESPACE}::Action`) return true;
    return uid.id === key.action || (scope.op === "in" && key.groups.includes(uid.id));
  });
}

function resourceMayMatch(scope: JsonValue | undefined, kind: ResourceKind): boolean {
  if (!isJsonObject(scope) || scope.op !== "is" || typeof scope.entity_type !== "string") return true;
  return scope.entity_type === `${NAMESPACE}::${RESOURCE_TYPES[kind].entity}`;
}

function uidOf(entity: JsonValue | undefined): { readonly type: string; readonly id: string } | undefined {
  if (!isJsonObject(entity)) return undefined;
  const uid = isJsonObject(entity.__entity) ? entity.__entity : entity;
  return typeof uid.type === "string" && typeof uid.id === "string" ? { type: uid.type, id: uid.id } : undefined;
}
