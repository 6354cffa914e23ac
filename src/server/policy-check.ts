/** The logic of `handrail policy check`: every preset with the operator's files, and what is wrong with them. */

import { PRESET_NAMES } from "../model/preset.ts";
import { checkPolicies } from "../policy/check.ts";
import { formatProblem } from "../policy/policy.ts";
import { BUILT_IN_TOOLS } from "./built-in-tools.ts";
import { type Environment, operatorPath, readOperatorDirectory } from "./operator-directory.ts";
import { policyActions, policySources } from "./policies.ts";

/** What was found of one preset. */
export interface PresetCheck {
  readonly preset: string;
  readonly ok: boolean;
  readonly policies: number;
  readonly hash?: string;
  /** Lines of file, line, column and message. */
  readonly problems: readonly string[];
}

/** Checks one preset, or all. */
export async function checkPresets(
  environment: Environment,
  configDirectory: string | undefined,
  only: string | undefined,
): Promise<{ readonly ok: boolean; readonly presets: readonly PresetCheck[] }> {
  const operator = await readOperatorDirectory(configDirectory ?? operatorPath(environment));
  const presets: PresetCheck[] = [];
  for (const preset of only === undefined ? PRESET_NAMES : [only]) {
    const { problems, ...found } = await checkPolicies({
      sources: policySources(preset, operator),
      actions: policyActions(BUILT_IN_TOOLS),
      roles: operator.settings.roles,
    });
    presets.push({ preset, ...found, problems: problems.map(formatProblem) });
  }
  return { ok: presets.every((preset) => preset.ok), presets };
}
