/** What the policy tests share: the shipped presets, a registry of actions, and requests with defaults. */
import { readFileSync } from "node:fs";
import type { EffectClass } from "../../src/model/outcome/effect.ts";
import type { PresetName } from "../../src/model/people/preset.ts";
import type { Zone } from "../../src/model/place/zone.ts";
import { createPolicyEngine, type PolicyEngine, type PolicySource } from "../../src/policy/policy.ts";
import { PRESETS } from "../../src/policy/presets.ts";
import { type ActionDeclaration, COMMIT_ACTION, withCanonicalActions } from "../../src/policy/terms/action.ts";
import {
  type PolicyContext,
  type PolicyFile,
  type PolicyRequest,
  RESOURCE_KINDS,
} from "../../src/policy/terms/request.ts";

export const ROLES = ["dev", "sre", "release_manager", "product_owner", "guest"];

/** Every canonical action, one tool of a plugin, and a push that declares an argument. */
export const ACTIONS: readonly ActionDeclaration[] = [
  ...withCanonicalActions([]).filter((action) => action.name !== "git_push" && action.name !== "create_branch"),
  { name: "create_branch", effect: "control", resources: ["file"] },
  {
    name: "git_push",
    effect: "network",
    resources: ["git_ref", "host"],
    arguments: { confirm: "Boolean", remote: "String" },
  },
  { name: "plugin__lookup", effect: "read", resources: ["tool"], foreign: true },
  { name: "everywhere", effect: "exec", resources: RESOURCE_KINDS },
  COMMIT_ACTION,
];

export function presetSources(name: PresetName): readonly PolicySource[] {
  return PRESETS[name].files.map((file) => ({
    name: file,
    text: readFileSync(new URL(`../../presets/${file}`, import.meta.url), "utf8"),
    origin: "preset" as const,
  }));
}

export function operator(text: string, name = "own.cedar"): PolicySource {
  return { name, text, origin: "operator" };
}

export function engineOf(sources: readonly PolicySource[]): Promise<PolicyEngine> {
  return createPolicyEngine({ actions: ACTIONS, sources, roles: ROLES });
}

export function file(zone: Zone = "own", path = "src/a.ts"): PolicyFile {
  return { kind: "file", path, root: "service", zone };
}

export interface RequestParts {
  readonly role?: string;
  readonly action?: string;
  readonly effect?: EffectClass;
  readonly resource?: PolicyRequest["resource"];
  readonly context?: Partial<PolicyContext>;
  readonly sessionId?: string;
  readonly mode?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly capabilityObligations?: PolicyRequest["capabilityObligations"];
}

/** A request of role `dev` that reads `src/a.ts`, but for what `parts` says. */
export function request(parts: RequestParts = {}): PolicyRequest {
  const action = parts.action ?? "read_file";
  return {
    principal: {
      sessionId: parts.sessionId ?? "ses_1",
      workspace: "/srv/shop",
      agent: "agent-1",
      user: "ada",
      role: parts.role ?? "dev",
      mode: parts.mode ?? "default",
    },
    action,
    tool: action.split(":")[0] ?? action,
    effect: parts.effect ?? "read",
    resource: parts.resource ?? file(),
    context: {
      armed: false,
      trust: "user",
      dataClass: "internal",
      network: false,
      time: 1_790_000_000,
      ...parts.context,
    },
    ...(parts.arguments === undefined ? {} : { arguments: parts.arguments }),
    ...(parts.capabilityObligations === undefined ? {} : { capabilityObligations: parts.capabilityObligations }),
  };
}
