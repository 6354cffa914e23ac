/** The logic of `handrail policy check`: every preset with the operator's files, and what is wrong with them. */

import { PRESET_NAMES } from "../../model/people/preset.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { checkPolicies } from "../../policy/check.ts";
import { formatProblem } from "../../policy/policy.ts";
import { effectiveTools } from "../operator/capability-overrides.ts";
import {
  type Environment,
  type OperatorDirectory,
  operatorPath,
  readOperatorDirectory,
} from "../operator/operator-directory.ts";
import { knownTools } from "../upstream/known-tools.ts";
import { exampleInputs, policyActions, policySources } from "./policies.ts";
import { formatFailure, runExamples } from "./policy-examples.ts";

/** What was found of one preset. */
export interface PresetCheck {
  readonly preset: string;
  readonly ok: boolean;
  readonly policies: number;
  readonly hash?: string;
  /** Lines of file, line, column and message. */
  readonly problems: readonly string[];
}

/** What was found of all. */
export interface PolicyReport {
  readonly ok: boolean;
  readonly presets: readonly PresetCheck[];
  /** Examples that fail or cannot be read, as lines; they are judged once every policy is valid. */
  readonly examples: readonly string[];
}

/** Checks one preset, or all, and the examples beside the operator's policies. */
export async function checkPresets(
  environment: Environment,
  configDirectory: string | undefined,
  only: string | undefined,
): Promise<PolicyReport> {
  const operator = await readOperatorDirectory(configDirectory ?? operatorPath(environment));
  const tools = await knownTools(operator);
  const presets: PresetCheck[] = [];
  for (const preset of only === undefined ? PRESET_NAMES : [only]) {
    const { problems, ...found } = await checkPolicies({
      sources: policySources(preset, operator),
      actions: policyActions(tools),
      roles: operator.settings.roles,
    });
    presets.push({ preset, ...found, problems: problems.map(formatProblem) });
  }
  const valid = presets.every((preset) => preset.ok);
  const examples = valid ? await failingExamples(operator, tools) : [];
  return { ok: valid && examples.length === 0, presets, examples };
}

async function failingExamples(operator: OperatorDirectory, known: readonly Tool[]): Promise<readonly string[]> {
  const { tools } = effectiveTools(known, operator.settings);
  const { problems, results } = await runExamples(exampleInputs({ tools, operator }));
  return [...problems, ...results.filter(({ ok }) => !ok).map(formatFailure)];
}
