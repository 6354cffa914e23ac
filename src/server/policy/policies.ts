/**
 * The inputs of policy: the presets that ship with Handrail, the operator's files and examples, and the tools.
 */
import { readFileSync } from "node:fs";
import { configInvalid } from "../../base/errors.ts";
import type { EffectClass } from "../../model/outcome/effect.ts";
import { isPresetName } from "../../model/people/preset.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { createPolicyEngine, type PolicyEngine, type ValidatedPolicies } from "../../policy/policy.ts";
import { PRESETS } from "../../policy/presets.ts";
import { type ActionDeclaration, COMMIT_ACTION } from "../../policy/terms/action.ts";
import type { PolicySource } from "../../policy/terms/problem.ts";
import type { ResourceKind } from "../../policy/terms/request.ts";
import { isOwnTool } from "../operator/built-in-tools.ts";
import { declaredTool } from "../operator/capability-overrides.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { packageFile } from "../operator/package-files.ts";
import type { ExampleInputs } from "./policy-examples.ts";

/** What an engine is made of. */
export interface PolicyInputs {
  readonly tools: readonly Tool[];
  readonly operator: OperatorDirectory;
  readonly validated?: ValidatedPolicies;
}

/** The policy texts in force under `preset`: the base rules, the preset, then the operator's files. */
export function policySources(preset: string, operator: OperatorDirectory): readonly PolicySource[] {
  if (!isPresetName(preset))
    throw configInvalid(`there is no preset \`${preset}\`; use one of ${Object.keys(PRESETS).join(", ")}`);
  const shipped = PRESETS[preset].files.map((name) => ({
    name: `presets/${name}`,
    text: readPreset(name),
    origin: "preset" as const,
  }));
  const own = operator.policies.map(({ name, text }) => ({
    name: `policy/${name}`,
    text,
    origin: "operator" as const,
  }));
  return [...shipped, ...own];
}

/** Kinds of resource that tools touch besides files: fewer kinds make validation faster. */
const FILES: readonly ResourceKind[] = ["file", "tool"];
const ARTIFACTS: readonly ResourceKind[] = ["artifact", "tool"];
const REFERENCES: readonly ResourceKind[] = ["file", "git_ref", "tool"];
const REMOTES: readonly ResourceKind[] = ["file", "git_ref", "host", "tool"];
const RESOURCES: Readonly<Record<string, readonly ResourceKind[]>> = {
  git: REMOTES,
  merge_branch: REFERENCES,
  git_status: REFERENCES,
  git_diff: REFERENCES,
  git_add: REFERENCES,
  git_commit: REFERENCES,
  git_checkout: REFERENCES,
  git_push: REMOTES,
  put_content: ARTIFACTS,
  artifact_publish: ARTIFACTS,
  artifact_fetch: ARTIFACTS,
  inference: ["model", "artifact"],
};

/** What other tools may touch, by what they do. */
const BY_EFFECT: Readonly<Partial<Record<EffectClass, readonly ResourceKind[]>>> = {
  exec: [...FILES, "command", "host"],
  network: [...FILES, "host", "model"],
  system: [...FILES, "command", "package", "host"],
};

/**
 * The actions that policy can be asked about: `commit`, and each of every registered tool, foreign unless it is one of
 * `own`, or the kernel's own without that.
 */
export function policyActions(tools: readonly Tool[], own?: readonly Tool[]): readonly ActionDeclaration[] {
  const isOwn = (tool: Tool) => (own === undefined ? isOwnTool(declaredTool(tool)) : own.includes(declaredTool(tool)));
  const names = new Set(tools.map(({ name }) => name));
  const declared = tools.flatMap((tool) => {
    const foreign = !isOwn(tool);
    // another tool's action is declared by that one
    const actions = Object.entries(tool.actions ?? {}).filter(([name]) => !names.has(name));
    return [[tool.name, tool.capability.effect] as const, ...actions].map(([name, effect]) => ({
      name,
      effect,
      resources: RESOURCES[name] ?? RESOURCES[tool.name] ?? BY_EFFECT[effect] ?? FILES,
      ...(foreign && { foreign }),
    }));
  });
  return [...declared, COMMIT_ACTION];
}

/** Builds the engine of a preset. */
export function buildEngine(preset: string, inputs: PolicyInputs): Promise<PolicyEngine> {
  const { tools, operator, validated } = inputs;
  const { roles } = operator.settings;
  const sources = policySources(preset, operator);
  return createPolicyEngine({ actions: policyActions(tools), sources, roles, ...(validated && { validated }) });
}

/**
 * Judges the examples beside the operator's policies.
 * @throws KernelError POLICY_INVALID naming every example that fails
 */
export async function requireKeptExamples(inputs: PolicyInputs): Promise<void> {
  if ((inputs.operator.examples ?? []).length === 0) return;
  // Most kernels have no examples, and need not load what judges them.
  const { requireExamples } = await import("./policy-examples.ts");
  await requireExamples(exampleInputs(inputs));
}

/** What the examples of `inputs` are judged against. */
export function exampleInputs({ tools, operator, validated }: PolicyInputs): ExampleInputs {
  return {
    examples: (operator.examples ?? []).map(({ name, text }) => ({ name: `policy/${name}`, text })),
    sources: (preset) => policySources(preset, operator),
    settings: operator.settings,
    tools,
    actions: policyActions(tools),
    ...(validated && { validated }),
  };
}

function readPreset(name: string): string {
  try {
    return readFileSync(packageFile(`presets/${name}`), "utf8");
  } catch (error) {
    throw configInvalid(`the shipped policy \`presets/${name}\` cannot be read; install handrail again`, error);
  }
}
