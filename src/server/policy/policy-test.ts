/**
 * The logic of `handrail policy test`: the examples beside the operator's or a candidate's policies, and the shipped
 * ones.
 */
import { readFileSync } from "node:fs";
import { configInvalid } from "../../base/errors.ts";
import { defaultSettings } from "../../config/config.ts";
import { PRESET_NAMES } from "../../model/people/preset.ts";
import { BUILT_IN_TOOLS } from "../operator/built-in-tools.ts";
import { effectiveTools } from "../operator/capability-overrides.ts";
import {
  type Environment,
  type OperatorDirectory,
  operatorPath,
  readCandidateDirectory,
  readOperatorDirectory,
} from "../operator/operator-directory.ts";
import { packageFile } from "../operator/package-files.ts";
import { knownTools } from "../upstream/known-tools.ts";
import { exampleInputs, policySources } from "./policies.ts";
import { type ExampleReport, runExamples } from "./policy-examples.ts";

/** Where the policies are that are meant: the operator's directory, or a candidate for it. */
export interface PolicyPlace {
  readonly environment: Environment;
  readonly configDirectory?: string;
  /** A directory laid out like the operator's, or one with the policy files alone. */
  readonly candidate?: string;
}

/** What came of the operator's (or the candidate's) examples, and of those of the shipped presets. */
export interface PolicyTest {
  readonly ok: boolean;
  readonly directory: string;
  readonly own: ExampleReport;
  readonly shipped: ExampleReport;
}

/**
 * Reads what `place` names.
 * @throws KernelError CONFIG_INVALID or USAGE
 */
export async function readPolicyPlace({
  environment,
  configDirectory,
  candidate,
}: PolicyPlace): Promise<OperatorDirectory> {
  const current = await readOperatorDirectory(configDirectory ?? operatorPath(environment));
  return candidate === undefined ? current : readCandidateDirectory(candidate, current);
}

/**
 * Runs all examples.
 * @throws KernelError POLICY_INVALID when the policies themselves are not valid
 */
export async function testPolicies(place: PolicyPlace): Promise<PolicyTest> {
  const operator = await readPolicyPlace(place);
  const { tools } = effectiveTools(await knownTools(operator), operator.settings);
  const own = await runExamples(exampleInputs({ tools, operator }));
  const shipped = await testPresets();
  return { ok: own.ok && shipped.ok, directory: operator.path, own, shipped };
}

/** The examples of the shipped presets, against the presets alone. */
export function testPresets(): Promise<ExampleReport> {
  const alone: OperatorDirectory = { path: "", exists: false, settings: defaultSettings(), policies: [] };
  const inputs = exampleInputs({ tools: BUILT_IN_TOOLS, operator: alone });
  const examples = ["base", ...PRESET_NAMES].map((name) => ({
    name: `presets/${name}.test.yaml`,
    text: readExamples(`${name}.test.yaml`),
  }));
  return runExamples({ ...inputs, examples, sources: (preset) => policySources(preset, alone) });
}

function readExamples(name: string): string {
  try {
    return readFileSync(packageFile(`presets/${name}`), "utf8");
  } catch (error) {
    throw configInvalid(`the shipped examples \`presets/${name}\` cannot be read; install handrail again`, error);
  }
}
