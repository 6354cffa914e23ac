/**
 * Computes projections: the parts of a request that the policies of a slice can read.
 *
 * The analysis goes over the JSON form of the policies by a whitelist. Requests of one slice that agree on these parts
 * get the same decision and may share a memo entry.
 *
 * INVARIANT: every expression that is not on the list below makes the projection the whole request. Inside a slice the
 * action, the role and the kind of resource are constant, so that reading them reads nothing.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type AttributeValues, type DescribedRequest, NAMESPACE } from "../terms/vocabulary.ts";

/** A way into a request: `["resource", "zone"]`; a root alone (`["resource"]`) is the id of its entity. */
export type ReadPath = readonly string[];

/** What a slice reads: these paths and nothing else, or possibly everything. */
export type Projection = { readonly kind: "paths"; readonly paths: readonly ReadPath[] } | { readonly kind: "whole" };

const BINARY = new Set("== != < <= > >= && || + - * contains containsAll containsAny".split(" "));
const UNARY = new Set(["!", "neg", "isEmpty"]);
/** What `policies`, all of one slice, read. */
export function projectionOf(policies: readonly CompiledPolicy[]): Projection {
  const reads = new Map<string, ReadPath>();
  for (const { form } of policies) if (!policyReads(form, reads)) return { kind: "whole" };
  const paths = [...reads].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, path]) => path);
  return { kind: "paths", paths };
}

/** The part of `request` that `projection` names, as text: equal texts if and only if equal parts. */
export function projectionKey(projection: Projection, request: DescribedRequest): string {
  if (projection.kind === "whole") {
    const { principalId, principal, resourceId, resource, context } = request;
    return canonicalJson([principalId, principal, resourceId, resource, context, request.arguments]);
  }
  let key = "";
  for (const path of projection.paths) key += encoded(path, request);
  return key;
}

/** Self-delimiting, so that concatenated values cannot be confused. */
function encoded(path: ReadPath, request: DescribedRequest): string {
  const value = valueAt(path, request);
  if (typeof value === "string") return `${value.length}:${value}`;
  if (typeof value === "number") return `#${value};`;
  if (value === true) return "t";
  if (value === false) return "f";
  if (value === undefined) return "!";
  const text = canonicalJson(value);
  return `{${text.length}:${text}`;
}

function valueAt(path: ReadPath, request: DescribedRequest): JsonValue | undefined {
  const [root, name = "", inner = ""] = path;
  if (root === "principal") return path.length === 1 ? request.principalId : own(request.principal, name);
  if (root === "resource") return path.length === 1 ? request.resourceId : own(request.resource, name);
  if (name !== "arguments") return own(request.context, name);
  return path.length === 2 ? request.arguments : own(request.arguments, inner);
}

// A policy may ask `resource has constructor`: only own members are attributes.
function own(values: AttributeValues, name: string): JsonValue | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function policyReads(form: JsonObject, reads: Map<string, ReadPath>): boolean {
  const { principal, action, resource, conditions } = form;
  if (!isJsonObject(principal) || !isJsonObject(action) || !isJsonObject(resource) || !Array.isArray(conditions))
    return false;
  return (
    scopeReads("principal", principal, reads) &&
    ["All", "==", "in"].includes(String(action.op)) &&
    scopeReads("resource", resource, reads) &&
    conditions.every((clause: JsonValue) => isJsonObject(clause) && expressionReads(clause.body, reads))
  );
}

function scopeReads(root: "principal" | "resource", scope: JsonObject, reads: Map<string, ReadPath>): boolean {
  const within = scope.op === "is" ? scope.in : scope.op === "All" ? undefined : scope;
  if (within === undefined) return scope.op === "All" || scope.op === "is";
  if (scope.op !== "is" && scope.op !== "==" && scope.op !== "in") return false;
  if (!isJsonObject(within) || within.entity === undefined) return false;
  // Only a session's role is above it, and the role is constant here; all else compares the entity's own id.
  if (root === "principal" && scope.op !== "==" && isLiteralOf("Role", within.entity)) return true;
  reads.set(root, [root]);
  return true;
}

function expressionReads(expression: JsonValue | undefined, reads: Map<string, ReadPath>): boolean {
  if (!isJsonObject(expression)) return false;
  const [operator, ...others] = Object.keys(expression);
  if (operator === undefined || others.length > 0) return false;
  const operand = expression[operator];
  if (operator === "Value") return true;
  if (operator === "Var") return operand === "action";
  if (operator === "Set")
    return Array.isArray(operand) && operand.every((item: JsonValue) => expressionReads(item, reads));
  if (!isJsonObject(operand)) return false;
  if (operator === "Record") return Object.values(operand).every((item) => expressionReads(item, reads));
  if (operator === ".") return pathReads(expression, reads);
  if (operator === "has") return hasReads(operand, reads);
  if (operator === "is") return operand.in === undefined && isRoot(operand.left);
  if (operator === "in") return membershipReads(operand);
  if (operator === "like") return expressionReads(operand.left, reads);
  if (operator === "if-then-else")
    return [operand.if, operand.then, operand.else].every((branch) => expressionReads(branch, reads));
  if (UNARY.has(operator)) return expressionReads(operand.arg, reads);
  return BINARY.has(operator) && expressionReads(operand.left, reads) && expressionReads(operand.right, reads);
}

function pathReads(expression: JsonValue | undefined, reads: Map<string, ReadPath>): boolean {
  const path = pathOf(expression);
  if (path === undefined || !isReadable(path)) return false;
  reads.set(path.join("."), path);
  return true;
}

function hasReads(operand: JsonObject, reads: Map<string, ReadPath>): boolean {
  const left = pathOf(operand.left);
  const names = Array.isArray(operand.attr) ? operand.attr : [operand.attr];
  if (left === undefined || !names.every((name: JsonValue | undefined) => typeof name === "string")) return false;
  const path = [...left, ...names.map(String)];
  if (!isReadable(path)) return false;
  reads.set(path.join("."), path);
  return true;
}

/** `principal in` roles and `action in` groups are constant in a slice; any other membership is not understood. */
function membershipReads(operand: JsonObject): boolean {
  const variable = isJsonObject(operand.left) ? operand.left.Var : undefined;
  const type = variable === "principal" ? "Role" : variable === "action" ? "Action" : undefined;
  if (type === undefined || !isJsonObject(operand.right)) return false;
  const members = Array.isArray(operand.right.Set) ? operand.right.Set : [operand.right];
  return members.every((member: JsonValue) => isJsonObject(member) && isLiteralOf(type, member.Value));
}

function pathOf(expression: JsonValue | undefined): ReadPath | undefined {
  const names: string[] = [];
  let current = expression;
  while (isJsonObject(current) && isJsonObject(current["."])) {
    const access: JsonObject = current["."];
    if (typeof access.attr !== "string") return undefined;
    names.unshift(access.attr);
    current = access.left;
  }
  return isRoot(current) && isJsonObject(current) ? [String(current.Var), ...names] : undefined;
}

/** Attributes of entities and context are one level deep, arguments two. Names with a dot would blur the paths. */
function isReadable(path: ReadPath): boolean {
  const depthMax = path[0] === "context" && path[1] === "arguments" ? 3 : 2;
  return path.length >= 2 && path.length <= depthMax && path.every((name) => !name.includes("."));
}

function isRoot(expression: JsonValue | undefined): boolean {
  return isJsonObject(expression) && ["principal", "resource", "context"].includes(String(expression.Var));
}

function isLiteralOf(type: string, value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  const uid = isJsonObject(value.__entity) ? value.__entity : value;
  return uid.type === `${NAMESPACE}::${type}` && typeof uid.id === "string";
}
