/**
 * Loads policy: the presets that ship with Handrail and the operator's files. One engine per preset, made when it is
 * first needed; its loading is recorded with its hash before it decides anything. Policies that are not valid are
 * remembered as such and refuse every call of that preset; any other failure may pass, and the next call tries again.
 */
import { readFileSync } from "node:fs";
import { KernelError } from "../base/errors.ts";
import type { EventSink } from "../model/event.ts";
import { isPresetName } from "../model/preset.ts";
import type { Tool } from "../model/tool.ts";
import type { ActionDeclaration } from "../policy/action.ts";
import { createPolicyEngine, type PolicyEngine, type ValidatedPolicies } from "../policy/policy.ts";
import { PRESETS } from "../policy/presets.ts";
import type { PolicySource } from "../policy/problem.ts";
import { BUILT_IN_TOOLS } from "./built-in-tools.ts";
import type { OperatorDirectory } from "./operator-directory.ts";

const PRESET_DIRECTORY = new URL("../../presets/", import.meta.url);

/** What an engine is made of. */
export interface PolicyInputs {
  readonly tools: readonly Tool[];
  readonly operator: OperatorDirectory;
  readonly roles: readonly string[];
  readonly validated?: ValidatedPolicies;
}

/** The policy texts in force under `preset`: the base rules, the preset, then the operator's files. */
export function policySources(preset: string, operator: OperatorDirectory): readonly PolicySource[] {
  if (!isPresetName(preset))
    throw new KernelError("CONFIG_INVALID", `there is no preset \`${preset}\`; use one of ${Object.keys(PRESETS).join(", ")}`);
  const shipped = PRESETS[preset].files.map((name) => ({ name: `presets/${name}`, text: readPreset(name), origin: "preset" as const }));
  const own = operator.policies.map(({ name, text }) => ({ name: `policy/${name}`, text, origin: "operator" as const }));
  return [...shipped, ...own];
}

/** The actions that policy can be asked about: one per registered tool, foreign unless it is one of `own`. */
export function policyActions(tools: readonly Tool[], own: readonly Tool[] = BUILT_IN_TOOLS): readonly ActionDeclaration[] {
  return tools.map((tool) => ({
    name: tool.name,
    effect: tool.capability.effect,
    resources: ["file", "tool"] as const,
    ...(!own.includes(tool) && { foreign: true }),
  }));
}

/** Builds the engine of a preset. */
export function buildEngine(preset: string, inputs: PolicyInputs): Promise<PolicyEngine> {
  const { tools, operator, roles, validated } = inputs;
  const sources = policySources(preset, operator);
  return createPolicyEngine({ actions: policyActions(tools), sources, roles, ...(validated && { validated }) });
}

/** Engines by preset, each built once and recorded when loaded. */
export function createPolicyCatalog(
  inputs: PolicyInputs,
  ledger: EventSink,
  nowMs: () => number,
): (preset: string) => Promise<PolicyEngine> {
  const built = rememberedBy((preset) => buildEngine(preset, inputs));
  return rememberedBy(async (preset) => {
    const engine = await built(preset);
    const payload = { preset, policy: engine.hash, operatorFiles: inputs.operator.policies.map((file) => file.name) };
    await ledger.record({ type: "policy_loaded", sessionId: "", actor: "operator", requestId: "", timeMs: nowMs(), payload }, "durable");
    return engine;
  });
}

/** Makes each preset's value once. Only a failure that lies in the policies themselves is kept: it lasts until a restart. */
function rememberedBy<T>(make: (preset: string) => Promise<T>): (preset: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (preset) => {
    const found = known.get(preset);
    if (found) return found;
    const making = make(preset);
    known.set(preset, making);
    making.catch((error: unknown) => {
      const lasts = error instanceof KernelError && (error.code === "POLICY_INVALID" || error.code === "CONFIG_INVALID");
      if (!lasts) known.delete(preset);
    });
    return making;
  };
}

function readPreset(name: string): string {
  try {
    return readFileSync(new URL(name, PRESET_DIRECTORY), "utf8");
  } catch (error) {
    throw new KernelError("CONFIG_INVALID", `the shipped policy \`presets/${name}\` cannot be read; install handrail again`, error);
  }
}
