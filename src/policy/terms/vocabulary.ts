/**
 * Defines the policy vocabulary: entity types, their attributes and the context.
 *
 * Each stands here once as a schema table and once as values read from a request. The generated Cedar schema, the
 * entities handed to Cedar and the memo's key all come from here, so that they cannot disagree.
 *
 * INVARIANT: `describe` yields exactly the attributes that the tables name, each of its declared type, or nothing.
 */
import { unreachable } from "../../base/errors.ts";
import type { GitRefResource } from "../../model/place/access.ts";
import { type CommandResource, optionNames, programName, subcommandOf } from "../../model/place/command.ts";
import type { PolicyPrincipal, PolicyRequest, PolicyResource, PolicyValue, ResourceKind } from "./request.ts";

/** Types of attributes, as Cedar's JSON schema names them. */
export type AttributeType = "String" | "Long" | "Boolean" | "StringSet";

/** Attributes by name; a name that ends in `?` is optional. */
export type AttributeTable = Readonly<Record<string, AttributeType>>;

/** The namespace of all entity types and actions. */
export const NAMESPACE = "Handrail";

/** Attributes of `Session`. */
export const PRINCIPAL_ATTRIBUTES: AttributeTable = {
  workspace: "String",
  agent: "String",
  user: "String",
  mode: "String",
};

/** Attributes of `context` besides `arguments`, which differ by action. */
export const CONTEXT_ATTRIBUTES: AttributeTable = {
  armed: "Boolean",
  trust: "String",
  dataClass: "String",
  network: "Boolean",
  time: "Long",
  tool: "String",
  effect: "String",
  call: "String",
  onBranch: "Boolean",
  contained: "Boolean",
  lookUp: "Boolean",
};

/** Entity type and attributes of each resource kind. */
export const RESOURCE_TYPES: Readonly<
  Record<ResourceKind, { readonly entity: string; readonly attributes: AttributeTable }>
> = {
  file: {
    entity: "File",
    attributes: { path: "String", name: "String", directory: "String", root: "String", zone: "String" },
  },
  tool: { entity: "Tool", attributes: { name: "String" } },
  host: { entity: "Host", attributes: { host: "String", port: "Long" } },
  command: {
    entity: "Command",
    attributes: {
      binary: "String",
      name: "String",
      line: "String",
      arguments: "StringSet",
      options: "StringSet",
      subcommand: "String",
      dynamic: "Boolean",
      dangerous: "Boolean",
      dangers: "StringSet",
      inputFrom: "StringSet",
      via: "StringSet",
      characters: "StringSet",
    },
  },
  git_ref: {
    entity: "GitRef",
    attributes: {
      "remote?": "String",
      ref: "String",
      operation: "String",
      force: "Boolean",
      protected: "Boolean",
      dryRun: "Boolean",
      "commit?": "String",
    },
  },
  model: { entity: "Model", attributes: { provider: "String", model: "String" } },
  package: { entity: "Package", attributes: { manager: "String", name: "String", version: "String" } },
  artifact: { entity: "Artifact", attributes: { id: "String" } },
};

/** Values by attribute name; an absent optional attribute is `undefined`. */
export type AttributeValues = Readonly<Record<string, PolicyValue | undefined>>;

/** A request as policy sees it. */
export interface DescribedRequest {
  readonly principalId: string;
  readonly principal: AttributeValues;
  readonly resourceId: string;
  readonly resource: AttributeValues;
  readonly context: AttributeValues;
  readonly arguments: AttributeValues;
}

/**
 * `request` as policy sees it, or the name of the first value that has the wrong type.
 * @param argumentTypes the arguments that the action declares; others stay unseen
 */
export function describe(request: PolicyRequest, argumentTypes: AttributeTable): DescribedRequest | string {
  const described: DescribedRequest = {
    principalId: request.principal.sessionId,
    principal: principalValues(request.principal),
    resourceId: resourceId(request.resource),
    resource: resourceValues(request.resource),
    context: contextValues(request),
    arguments: argumentValues(request.arguments, argumentTypes),
  };
  if (!hasType(described.principalId, "String")) return "principal";
  if (!hasType(described.resourceId, "String")) return "resource";
  return (
    firstWrong("principal", described.principal, { types: PRINCIPAL_ATTRIBUTES }) ??
    firstWrong("resource", described.resource, { types: RESOURCE_TYPES[request.resource.kind].attributes }) ??
    firstWrong("context", described.context, { types: CONTEXT_ATTRIBUTES }) ??
    firstWrong("context.arguments", described.arguments, { types: argumentTypes, optional: true }) ??
    described
  );
}

/** The id of a resource's entity: what `resource == Handrail::File::"service:src/a.ts"` compares. */
export function resourceId(resource: PolicyResource): string {
  switch (resource.kind) {
    case "file":
      return `${resource.root}:${resource.path}`;
    case "tool":
      return resource.name;
    case "host":
      return `${resource.host}:${resource.port}`;
    case "command":
      return resource.line;
    case "git_ref":
      return `${resource.remote ?? ""}:${resource.ref}`;
    case "model":
      return `${resource.provider}/${resource.model}`;
    case "package":
      return `${resource.manager}:${resource.name}@${resource.version}`;
    case "artifact":
      return resource.id;
    default:
      return unreachable(resource);
  }
}

function resourceValues(resource: PolicyResource): AttributeValues {
  switch (resource.kind) {
    case "file": {
      const { path, root, zone } = resource;
      const slash = path.lastIndexOf("/");
      return { path, name: path.slice(slash + 1), directory: slash === -1 ? "." : path.slice(0, slash), root, zone };
    }
    case "tool":
      return { name: resource.name };
    case "host":
      return { host: resource.host, port: resource.port };
    case "command":
      return commandValues(resource);
    case "git_ref":
      return gitRefValues(resource);
    case "model":
      return { provider: resource.provider, model: resource.model };
    case "package":
      return { manager: resource.manager, name: resource.name, version: resource.version };
    case "artifact":
      return { id: resource.id };
    default:
      return unreachable(resource);
  }
}

function gitRefValues(resource: GitRefResource): AttributeValues {
  const { remote, ref, operation = "", commit } = resource;
  return {
    remote,
    ref,
    operation,
    commit,
    force: resource.force === true,
    protected: resource.protected === true,
    dryRun: resource.dryRun === true,
  };
}

function commandValues(command: CommandResource): AttributeValues {
  const { binary, line, dynamic, dangers } = command;
  return {
    binary,
    name: programName(binary),
    line,
    arguments: setOf(command.arguments),
    options: setOf(optionNames(command.arguments)),
    subcommand: subcommandOf(command.arguments),
    dynamic,
    dangerous: dangers.length > 0,
    dangers: setOf(dangers),
    inputFrom: setOf(command.inputFrom),
    via: setOf(command.via),
    characters: setOf(command.characters),
  };
}

/** Sorted, each once: equal sets are equal values, for the memo as well. */
function setOf(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

function principalValues(principal: PolicyPrincipal): AttributeValues {
  return { workspace: principal.workspace, agent: principal.agent, user: principal.user, mode: principal.mode };
}

function contextValues(request: PolicyRequest): AttributeValues {
  const { armed, trust, dataClass, network, time, call = "", onBranch = false, contained = false } = request.context;
  const { lookUp = false } = request.context;
  const { tool, effect } = request;
  return { armed, trust, dataClass, network, time, tool, effect, call, onBranch, contained, lookUp };
}

function argumentValues(given: PolicyRequest["arguments"], types: AttributeTable): AttributeValues {
  const values: Record<string, PolicyValue | undefined> = {};
  if (given === undefined) return values;
  for (const name in types) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) continue;
    // A value that is no scalar stays as a number that fails the type check below: it refuses the request.
    values[name] =
      typeof value === "string" || typeof value === "boolean" || typeof value === "number" ? value : Number.NaN;
  }
  return values;
}

function firstWrong(
  where: string,
  values: AttributeValues,
  { types, optional = false }: { readonly types: AttributeTable; readonly optional?: boolean },
): string | undefined {
  for (const declared in types) {
    const mayMiss = optional || declared.endsWith("?");
    const name = declared.endsWith("?") ? declared.slice(0, -1) : declared;
    const value = values[name];
    if (value === undefined ? !mayMiss : !hasType(value, types[declared])) return `${where}.${name}`;
  }
  return undefined;
}

// Text with a lone surrogate would reach Cedar as other text than the tool sees, hence the check for well-formedness.
function hasType(value: unknown, type: AttributeType | undefined): boolean {
  if (type === "String") return typeof value === "string" && value.isWellFormed();
  if (type === "Boolean") return typeof value === "boolean";
  if (type === "StringSet") return Array.isArray(value) && value.every((one) => hasType(one, "String"));
  return type === "Long" && Number.isSafeInteger(value);
}
