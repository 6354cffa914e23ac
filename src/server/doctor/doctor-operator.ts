/** The findings of `handrail doctor` about what the operator wrote: one for each mistake, with its place. */
import { FileError } from "../../base/errors.ts";
import { DEFAULT_PRESET } from "../../model/people/preset.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { ownTools } from "../operator/built-in-tools.ts";
import { describeOverride, effectiveTools } from "../operator/capability-overrides.ts";
import type { Environment, OperatorDirectory } from "../operator/operator-directory.ts";
import { problemOfGates } from "../operator/operator-gates.ts";
import { unknownTools } from "../operator/unknown-tools.ts";
import { checkPresets } from "../policy/policy-check.ts";
import { trustReports } from "../workspace/trust.ts";
import { adviceIn, attemptMany, type Finding, type Found, faultOf, mistakeFinding } from "./finding.ts";
import { placedLine } from "./mistakes.ts";

/** What mends a directory that cannot be used, where the fault itself does not say it. */
const MEND_FILE = "correct it there; docs/reference/configuration.md lists every key";

/** Whether the operator's directory can be used, and each mistake in its settings, modes, skills and tool specs. */
export function operatorFindings(
  read: () => Promise<OperatorDirectory>,
  directory: string,
): Promise<readonly Finding[]> {
  const check = "operator directory";
  return attemptMany({ check, fix: MEND_FILE, directory }, async () => {
    const operator = await read();
    const tools = ownTools(operator.settings);
    const problems = operator.narrowing?.problems ?? [];
    if (problems.length > 0) throw new FileError("no tool runs", problems);
    const gates = problemOfGates(operator, tools);
    const said = [...unknownTools(operator.settings, tools).map(misspelt), ...(gates === undefined ? [] : [gates])];
    if (said.length > 0) return said.map((message) => faultOf(check, message, MEND_FILE));
    return operator.exists
      ? `${operator.path}, preset ${operator.settings.preset ?? DEFAULT_PRESET}`
      : `${operator.path} is absent; defaults apply (\`handrail init\` makes it)`;
  });
}

function misspelt(warning: string): string {
  return `handrail.yaml: ${warning.replaceAll("; ", ", ")}; correct the spelling`;
}

/** Each mistake in a policy once, however many presets it is part of, and each example that fails. */
export function policyFindings(
  {
    environment,
    configDirectory,
  }: { readonly environment: Environment; readonly configDirectory?: string | undefined },
  directory: string,
): Promise<readonly Finding[]> {
  const check = "policies";
  const fix = "correct the file; `handrail policy check` looks at it again";
  return attemptMany({ check, fix, directory }, async () => {
    const report = await checkPresets(environment, configDirectory, undefined);
    if (report.ok) return `${report.presets.length} presets are valid`;
    const lines = new Set([...report.presets.flatMap(({ ok, problems }) => (ok ? [] : problems)), ...report.examples]);
    const mistakes = await Promise.all([...lines].map((line) => placedLine(line, directory)));
    return mistakes.map((mistake) => ({ ...mistakeFinding(check, mistake, fix), detail: mistake.message, fix }));
  });
}

/** What the operator loosened is no fault, but is said, so that it is meant. */
export function capabilityFindings(
  { path, settings }: OperatorDirectory,
  tools: readonly Tool[] = [],
): Promise<readonly Finding[]> {
  return attemptMany({ check: "capabilities", fix: MEND_FILE, directory: path }, async () => {
    const { overridden } = effectiveTools([...ownTools(settings), ...tools], settings);
    if (overridden.length === 0) return "every tool is as it declares itself";
    return overridden.map((one): Found => {
      const detail = describeOverride(one);
      if (!one.changes.some(({ loosens }) => loosens)) return { status: "ok", detail };
      return { status: "advisory", detail, fix: `remove \`capabilities.${one.tool}\` unless it is meant` };
    });
  });
}

/**
 * A workspace that changed since it was trusted is no fault: its own configuration only narrows until it is trusted
 * again.
 */
export function trustFindings({ path, trusted = [] }: OperatorDirectory): Promise<readonly Finding[]> {
  const check = "trusted workspaces";
  return attemptMany({ check, fix: "run `handrail trust` there again", directory: path }, async () => {
    const reports = await trustReports(trusted);
    const others = reports.filter(({ state }) => state !== "trusted");
    if (others.length === 0) return `${reports.length} trusted, all as they were`;
    return others.map(
      ({ workspace, state }): Found => ({
        status: "advisory",
        ...adviceIn(
          `\`${workspace}\` (${state}): not trusted as it is now; look at it and run \`handrail trust\`, or \`--revoke\``,
          "",
        ),
      }),
    );
  });
}
