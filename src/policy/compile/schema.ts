/**
 * The Cedar schema, generated from the registered actions and the known roles. Policies are validated against it, so
 * that a misspelt role, action or attribute is an error at load and never a rule that silently does not match.
 */
import { KernelError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { BUILT_IN_ROLES, ROLE_PATTERN, type Role } from "../../model/people/role.ts";
import { ACTION_GROUPS, type ActionDeclaration, groupsOf, withCanonicalActions } from "../terms/action.ts";
import type { ResourceKind } from "../terms/request.ts";
import {
  type AttributeTable,
  CONTEXT_ATTRIBUTES,
  NAMESPACE,
  PRINCIPAL_ATTRIBUTES,
  RESOURCE_TYPES,
} from "../terms/vocabulary.ts";

/**
 * The schema in Cedar's JSON form.
 * @throws KernelError POLICY_INVALID for a role that no policy could name, or an action declared twice or called like a
 * group
 */
export function schemaOf(actions: readonly ActionDeclaration[], roles: readonly Role[]): JsonObject {
  checkNames(actions, roles);
  const entityTypes: Record<string, JsonObject> = {
    Role: { enum: [...new Set([...BUILT_IN_ROLES, ...roles])].sort() },
    Session: { memberOfTypes: ["Role"], shape: record(PRINCIPAL_ATTRIBUTES) },
  };
  for (const type of Object.values(RESOURCE_TYPES)) entityTypes[type.entity] = { shape: record(type.attributes) };
  const declared: Record<string, JsonObject> = {};
  for (const group of ACTION_GROUPS) declared[group] = {};
  for (const action of withCanonicalActions(actions)) declared[action.name] = actionSchema(action);
  return { [NAMESPACE]: { entityTypes, actions: declared } };
}

/**
 * Kinds of resource that `action` applies to: those it declares, and the tool itself for a call that names no access.
 */
export function resourceKindsOf(action: ActionDeclaration): readonly ResourceKind[] {
  return [...new Set<ResourceKind>(["tool", ...action.resources])];
}

function actionSchema(action: ActionDeclaration): JsonObject {
  const context = record(CONTEXT_ATTRIBUTES);
  return {
    memberOf: groupsOf(action).map((id) => ({ id })),
    appliesTo: {
      principalTypes: ["Session"],
      resourceTypes: resourceKindsOf(action)
        .map((kind) => RESOURCE_TYPES[kind].entity)
        .sort(),
      context: { ...context, attributes: { ...context.attributes, arguments: record(action.arguments ?? {}, true) } },
    },
  };
}

function record(
  attributes: AttributeTable,
  optional = false,
): { readonly type: "Record"; readonly attributes: JsonObject } {
  const members: Record<string, JsonObject> = {};
  for (const [declared, type] of Object.entries(attributes)) {
    const mayMiss = optional || declared.endsWith("?");
    const cedarType = type === "StringSet" ? { type: "Set", element: { type: "String" } } : { type };
    members[declared.replace(/\?$/, "")] = mayMiss ? { ...cedarType, required: false } : cedarType;
  }
  return { type: "Record", attributes: members };
}

function checkNames(actions: readonly ActionDeclaration[], roles: readonly Role[]): void {
  if (roles.length === 0) throw new KernelError("POLICY_INVALID", "no role is known; name at least one");
  for (const role of roles) {
    if (!ROLE_PATTERN.test(role))
      throw new KernelError(
        "POLICY_INVALID",
        `the role \`${role}\` is no valid name; use lower-case letters, digits, \`_\` and \`-\``,
      );
  }
  const seen = new Set(ACTION_GROUPS);
  for (const { name } of actions) {
    if (seen.has(name))
      throw new KernelError(
        "POLICY_INVALID",
        `the action \`${name}\` is declared twice or has the name of a group; rename one`,
      );
    seen.add(name);
  }
}
