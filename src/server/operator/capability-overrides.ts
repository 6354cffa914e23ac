/**
 * Capabilities as the operator left them: what `capabilities` of handrail.yaml changes of what tools declare.
 *
 * Tightening and loosening are both the operator's right; which of them a change is, is said wherever it is recorded or
 * shown. Pure. INVARIANT: nothing but the operator's own settings changes a capability, and what the operator does not
 * name stays as the tool declares it.
 */
import { fileInvalid } from "../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Settings } from "../../config/config.ts";
import { type CapabilityOverride, regularExpression } from "../../config/sections/capabilities.ts";
import { needsArming, problemsOfPatterns } from "../../kernel/index.ts";
import type { ToolCapability } from "../../model/tool/capability.ts";
import type { Tool } from "../../model/tool/tool.ts";

/** One changed part of a capability. */
export interface CapabilityChange {
  /** The key in handrail.yaml. */
  readonly key: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
  /** Less is asked or refused than the tool declares, or it cannot be said that it is not. */
  readonly loosens: boolean;
}

/** A tool whose capability the operator changed. */
export interface OverriddenTool {
  readonly tool: string;
  readonly changes: readonly CapabilityChange[];
}

/** The tools as the operator left them, and what was changed. */
export interface EffectiveTools {
  readonly tools: readonly Tool[];
  readonly overridden: readonly OverriddenTool[];
}

const originals = new WeakMap<Tool, Tool>();

/** The tool as its author declared it. */
export function declaredTool(tool: Tool): Tool {
  return originals.get(tool) ?? tool;
}

/** `tools` under `settings`. A tool that is not overridden is handed back itself. */
export function effectiveTools(
  tools: readonly Tool[],
  { capabilities }: Pick<Settings, "capabilities">,
): EffectiveTools {
  const overridden: OverriddenTool[] = [];
  const effective = tools.map((tool) => {
    const override = Object.hasOwn(capabilities, tool.name) ? capabilities[tool.name] : undefined;
    if (override === undefined) return tool;
    const changes = changesBy(tool.capability, override);
    if (changes.length === 0) return tool;
    overridden.push({ tool: tool.name, changes });
    return withCapability(tool, overriddenCapability(tool.capability, override));
  });
  return { tools: effective, overridden };
}

/**
 * Refuses overrides that could not be enforced: patterns that could be slow.
 * @param name the settings file, for messages
 * @throws KernelError CONFIG_INVALID naming every problem
 */
export function checkCapabilities({ capabilities }: Pick<Settings, "capabilities">, name: string): void {
  const problems = Object.entries(capabilities).flatMap(([tool, override]) => {
    const patterns = problemsOfPatterns(patternsOf(override) ?? []);
    return patterns.map((problem) => `capabilities.${tool}.danger_patterns: ${problem}`);
  });
  if (problems.length > 0) throw fileInvalid(name, problems);
}

/** An override for people, such as "`shell`: approval ask → auto (loosened)". */
export function describeOverride({ tool, changes }: OverriddenTool): string {
  const parts = changes.map(
    ({ key, before, after, loosens }) =>
      `${key} ${JSON.stringify(before)} → ${JSON.stringify(after)}${loosens ? " (loosened)" : ""}`,
  );
  return `\`${tool}\`: ${parts.join(", ")}`;
}

/** An override for the ledger. */
export function overrideFacts({ tool, changes }: OverriddenTool): JsonObject {
  const loosens = changes.some((change) => change.loosens);
  return { tool, changes: changes.map((change) => ({ ...change })), loosens, severity: loosens ? "warning" : "info" };
}

/** `tool` with another capability; everything else, whatever it is, is the tool's own. */
function withCapability(tool: Tool, capability: ToolCapability): Tool {
  const bound = new Map<PropertyKey, unknown>();
  const changed = new Proxy(tool, {
    get(target, name) {
      if (name === "capability") return capability;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      // Methods of a class reach for its private members, which a proxy does not have.
      if (!bound.has(name)) bound.set(name, value.bind(target));
      return bound.get(name);
    },
  });
  originals.set(changed, tool);
  return changed;
}

function patternsOf({ danger_patterns: texts }: CapabilityOverride): readonly RegExp[] | undefined {
  return texts?.flatMap((text) => regularExpression(text) ?? []);
}

function overriddenCapability(capability: ToolCapability, override: CapabilityOverride): ToolCapability {
  const { approval, network, audit, requiredRole, ...rest } = capability;
  const patterns = patternsOf(override) ?? approval.dangerPatterns;
  const methods = override.method_requires_approval ?? approval.conditions?.methodRequiresApproval;
  const unknownHost = override.unknown_host_requires_approval ?? approval.conditions?.unknownHostRequiresApproval;
  const conditions = {
    ...(methods !== undefined && { methodRequiresApproval: methods }),
    ...(unknownHost !== undefined && { unknownHostRequiresApproval: unknownHost }),
  };
  const role = override.required_role === undefined ? requiredRole : (override.required_role ?? undefined);
  const changedNetwork = overriddenNetwork(network, override);
  const logArgs = override.log_args ?? audit?.logArgs;
  return {
    ...rest,
    approval: {
      level: override.approval ?? approval.level,
      ...(patterns !== undefined && { dangerPatterns: patterns }),
      ...(Object.keys(conditions).length > 0 && { conditions }),
    },
    ...(override.requires_arming !== undefined && { requiresArming: override.requires_arming }),
    ...(role !== undefined && { requiredRole: role }),
    ...(changedNetwork !== undefined && { network: changedNetwork }),
    ...(logArgs !== undefined && { audit: { ...audit, logArgs } }),
    ...(override.sandbox !== undefined && { execution: { ...capability.execution, sandbox: override.sandbox } }),
  };
}

/** Network rules that begin with an override keep to its list of hosts, unless it says otherwise. */
function overriddenNetwork(
  network: ToolCapability["network"],
  override: CapabilityOverride,
): ToolCapability["network"] {
  const changed = {
    ...(override.network_mode !== undefined && { mode: override.network_mode }),
    ...(override.allowed_hosts !== undefined && { allowedHosts: override.allowed_hosts }),
    ...(override.allowed_providers !== undefined && { allowedProviders: override.allowed_providers }),
    ...(override.blocked_ports !== undefined && { blockedPorts: override.blocked_ports }),
    ...(override.block_private_ips !== undefined && { blockPrivateIPs: override.block_private_ips }),
    ...(override.block_metadata_endpoints !== undefined && {
      blockMetadataEndpoints: override.block_metadata_endpoints,
    }),
  };
  if (Object.keys(changed).length === 0) return network;
  return { mode: "allowlist", ...network, ...changed };
}

type Parts = Readonly<Record<keyof CapabilityOverride, JsonValue>>;

/** What is in force of each part, as handrail.yaml writes it. */
function partsOf(capability: ToolCapability): Parts {
  const { approval, network, audit, requiredRole, execution } = capability;
  return {
    approval: approval.level,
    requires_arming: needsArming(capability),
    required_role: requiredRole ?? null,
    danger_patterns: (approval.dangerPatterns ?? []).map(String),
    method_requires_approval: [...(approval.conditions?.methodRequiresApproval ?? [])],
    unknown_host_requires_approval: approval.conditions?.unknownHostRequiresApproval === true,
    network_mode: network?.mode ?? null,
    allowed_hosts: [...(network?.allowedHosts ?? [])],
    allowed_providers: network?.allowedProviders === undefined ? null : [...network.allowedProviders],
    blocked_ports: [...(network?.blockedPorts ?? [])],
    block_private_ips: network !== undefined && network.blockPrivateIPs !== false,
    block_metadata_endpoints: network !== undefined && network.blockMetadataEndpoints !== false,
    log_args: audit?.logArgs === true,
    sandbox: execution?.sandbox ?? "process",
  };
}

function changesBy(capability: ToolCapability, override: CapabilityOverride): readonly CapabilityChange[] {
  const before = partsOf(capability);
  const after = partsOf(overriddenCapability(capability, override));
  const keys = Object.keys(before) as (keyof CapabilityOverride)[];
  return keys
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => ({ key, before: before[key], after: after[key], loosens: loosens(key, before, after) }));
}

const LEVELS: readonly JsonValue[] = ["auto", "ask", "always_deny"];
const SANDBOXES: readonly JsonValue[] = ["none", "process", "container"];
const MODES: readonly JsonValue[] = [null, "any", "allowlist", "none"];

/** Whether less is asked or refused after a change of `key` than before. */
function loosens(key: keyof CapabilityOverride, partsBefore: Parts, partsAfter: Parts): boolean {
  const [before, after] = [partsBefore[key], partsAfter[key]];
  switch (key) {
    case "approval":
      return LEVELS.indexOf(after) < LEVELS.indexOf(before);
    case "sandbox":
      return SANDBOXES.indexOf(after) < SANDBOXES.indexOf(before);
    case "network_mode":
      return MODES.indexOf(after) < MODES.indexOf(before);
    case "required_role":
      return before !== null; // another role is other people
    case "danger_patterns":
    case "method_requires_approval":
    case "blocked_ports":
      return !holdsAll(after, before);
    case "allowed_hosts":
    case "allowed_providers":
      return !holdsAll(before, after);
    case "unknown_host_requires_approval":
      // A list refuses unknown hosts; asking about them is less than that.
      return after === (partsAfter.network_mode === "allowlist");
    case "requires_arming":
    case "block_private_ips":
    case "block_metadata_endpoints":
      return after === false;
    case "log_args":
      return after === true; // more of what agents say is kept in the clear
  }
}

function holdsAll(list: JsonValue, parts: JsonValue): boolean {
  const held = new Set(Array.isArray(list) ? list : []);
  return (Array.isArray(parts) ? parts : []).every((part) => held.has(part));
}
