/**
 * Derives the obligations that a tool's capability puts on a call before it runs.
 *
 * What policy and flow control ask is not part of it. The declaration counts as the operator left it: the level,
 * arming, danger patterns and methods for the call as a whole, and unknown hosts for each host. Every obligation has a
 * rule of its own, so a waiver lifts no more than it names.
 *
 * Pure. INVARIANT: an argument that cannot be judged asks.
 */
import type { Access } from "../../model/place/access.ts";
import type { ToolCapability } from "../../model/tool/capability.ts";
import { isKnownHost } from "../../names/host.ts";
import type { CapabilityObligation } from "../../policy/terms/request.ts";
import { dangersOf } from "./danger-patterns.ts";

/** What is looked at of a tool. */
interface Declared {
  readonly name: string;
  readonly capability: ToolCapability;
}

/** What the call as a whole asks for; made once, when its arguments are known. */
export type Demands = readonly CapabilityObligation[];

/** Nothing: for what a call meets after its demands were met. */
export const NO_DEMANDS: Demands = [];

/** What a call of `tool` with `args`, which makes `accesses`, asks for. */
export function demandsOf(tool: Declared, args: unknown, accesses: readonly Access[]): Demands {
  const standing = standingDemands(tool);
  const { dangerPatterns, conditions } = tool.capability.approval;
  if (conditions === undefined && (dangerPatterns === undefined || dangerPatterns.length === 0)) return standing;
  const due = [...standing];
  const methods = conditions?.methodRequiresApproval ?? [];
  const method = methods.length === 0 ? undefined : methodAsks(methods, args);
  if (method !== undefined) due.push({ obligation: "ask", ruleId: `CAPABILITY:${tool.name}:method`, reason: method });
  if (conditions?.unknownHostRequiresApproval === true && hidesItsHost(tool, accesses))
    due.push(unknownHost(tool, "the call names no host"));
  for (const { name, reason } of dangersOf(dangerPatterns, args)) {
    due.push({ obligation: "ask", ruleId: `DANGER:${tool.name}:${name}`, reason });
  }
  return due;
}

/** What every call of `tool` asks for, whatever its arguments. */
export function standingDemands({ name, capability }: Declared): Demands {
  const { approval } = capability;
  const arms = needsArming(capability);
  if (approval.level === "auto" && !arms) return NO_DEMANDS;
  const ruleId = `CAPABILITY:${name}`;
  const due: CapabilityObligation[] = [];
  if (approval.level !== "auto") due.push({ obligation: "ask", ruleId, reason: `\`${name}\` asks for every call` });
  if (arms) due.push({ obligation: "arm", ruleId, reason: `\`${name}\` runs only while armed` });
  return due;
}

/** A tool of high risk needs arming unless it says, or the operator says for it, that it does not. */
export function needsArming({ requiresArming, risk }: ToolCapability): boolean {
  return requiresArming ?? risk === "high";
}

/** What one host asks for. */
export function hostDemand(
  { name, capability }: Declared,
  resource: { readonly kind: string; readonly host?: string },
): CapabilityObligation | undefined {
  if (capability.approval.conditions?.unknownHostRequiresApproval !== true || resource.kind !== "host")
    return undefined;
  if (isKnownHost(resource.host ?? "", capability.network?.allowedHosts ?? [])) return undefined;
  return unknownHost({ name }, `\`${name}\` does not know the host`);
}

function unknownHost({ name }: Pick<Declared, "name">, reason: string): CapabilityObligation {
  return { obligation: "ask", ruleId: `CAPABILITY:${name}:host`, reason };
}

/** A tool that reaches the network without saying where cannot be said to go to a known host. */
function hidesItsHost({ capability }: Declared, accesses: readonly Access[]): boolean {
  return capability.effect === "network" && !accesses.some(({ resource }) => resource.kind === "host");
}

/** Why the method of a call asks; a call that names none uses the schema's default, or none at all. */
function methodAsks(methods: readonly string[], args: unknown): string | undefined {
  const method = methodIn(args);
  if (method === undefined) return undefined;
  if (typeof method !== "string") return "the method is no text";
  const upper = method.trim().toUpperCase();
  return methods.some((asking) => asking.toUpperCase() === upper) ? `the method ${shown(upper)} asks` : undefined;
}

/** The method that a call names, as it was sent; `undefined` where it names none. */
export function methodIn(args: unknown): unknown {
  return typeof args === "object" && args !== null ? Reflect.get(args, "method") : undefined;
}

/** A method that the declaration names, which is short. */
function shown(method: string): string {
  return `\`${method.slice(0, 16)}\``;
}
