/**
 * Modes and skills: what they leave of what a session may do.
 *
 * Decides whether a tool, a path and an input are still allowed. Trusts what the operator defined and nothing else.
 * INVARIANTS: a mode or a skill that is not defined, or no longer, allows nothing; neither allows what anything else
 * denies.
 */
import { type KernelError, usageError } from "../base/errors.ts";
import { blake3Hex } from "../base/hash.ts";
import { canonicalJson, type JsonObject } from "../base/json.ts";
import type { Denial, Obligation } from "../model/outcome/decision.ts";
import { DEFAULT_MODE, type ModeProfile, type OperatorGates, type SkillManifest } from "../model/people/gates.ts";
import type { Session } from "../model/people/session.ts";

/** What of a session decides which mode and skill hold. */
export type ProfileNames = Pick<Session, "mode" | "skill">;
/** Where modes and skills are looked up. */
export type Profiles = Pick<OperatorGates, "modes" | "skills">;

/** A session, and where its mode and skill are looked up. */
interface ProfileHolder {
  readonly session: ProfileNames;
  readonly gates: Profiles;
}

/** Whether the session's mode and skill allow the tool at all. */
export function checkProfile(
  { mode, skill }: ProfileNames,
  { modes, skills }: Profiles,
  tool: string,
): Denial | undefined {
  if (mode !== DEFAULT_MODE && modes.get(mode)?.tools.has(tool) !== true)
    return modeDenial(mode, modes.get(mode), tool);
  if (skill !== undefined && skills.get(skill)?.tools.has(tool) !== true)
    return skillDenial(skill, skills.get(skill), tool);
  return undefined;
}

/** Whether the session's mode leaves a path to the tool. `path` is written as leases write it. */
export function checkProfilePath(
  { session: { mode }, gates: { modes } }: ProfileHolder,
  tool: string,
  path: string,
): Denial | undefined {
  if (mode === DEFAULT_MODE) return undefined;
  const left = modes.get(mode)?.tools.get(tool);
  if (left?.allowsPath(path) === true) return undefined;
  return {
    layer: "scope",
    reason: "tool_not_allowed",
    ruleId: `MODE:${mode}`,
    message: `the mode \`${mode}\` does not leave \`${path}\` to \`${tool}\`; work on a path that it names`,
    fix: `the path among \`narrow.${tool}.paths\` of the mode \`${mode}\``,
    targetPath: path,
  };
}

/**
 * Whether the session's skill lets the tool run with this input.
 * @param input the arguments as JSON, or `undefined` where they are none: bytes that are no text
 */
export function checkSkillInput(
  { session: { skill }, gates: { skills } }: ProfileHolder,
  tool: string,
  input: JsonObject | undefined,
): Denial | undefined {
  if (skill === undefined) return undefined;
  const constraint = skills.get(skill)?.tools.get(tool);
  if (constraint === undefined) return undefined;
  const refuse = (reason: string, message: string): Denial => ({
    layer: "scope",
    reason,
    ruleId: `SKILL:${skill}`,
    message,
    fix: `an input that satisfies \`tools.${tool}.input\` of the skill \`${skill}\``,
  });
  if (input === undefined)
    return refuse(
      "skill_tool_input_invalid",
      `the skill \`${skill}\` judges the input of \`${tool}\`, and bytes that are no UTF-8 text cannot be judged; send text`,
    );
  const problem = constraint.problemOf(input);
  if (problem === undefined) return undefined;
  if (problem.kind === "unreadable")
    return refuse(
      "skill_tool_input_unreadable",
      `the skill \`${skill}\` cannot judge the input of \`${tool}\`: ${problem.message}; send less`,
    );
  return refuse(
    "skill_tool_constraint_failed",
    `the skill \`${skill}\` allows \`${tool}\` with other inputs only: ${problem.message}`,
  );
}

/** What the session's mode asks for before the tool runs. */
export function profileObligations(
  { mode }: ProfileNames,
  { modes }: Profiles,
  tool: string,
): readonly { readonly obligation: Obligation; readonly ruleId: string }[] {
  const left = mode === DEFAULT_MODE ? undefined : modes.get(mode)?.tools.get(tool);
  if (left === undefined) return NONE;
  const ruleId = `MODE:${mode}`;
  return [
    ...(left.requiresApproval ? [{ obligation: "ask", ruleId } as const] : []),
    ...(left.requiresArming ? [{ obligation: "arm", ruleId } as const] : []),
  ];
}

const NONE: readonly never[] = [];

/** What a mode and a skill left in force, with its hash: it is recorded with the session. */
export interface AppliedProfile {
  readonly hash: string;
  readonly document: JsonObject;
}

/** What of `tools` a mode and a skill leave, and with which constraints. */
export function appliedProfile(
  { mode, skill }: ProfileNames,
  { modes, skills }: Profiles,
  tools: readonly string[],
): AppliedProfile {
  const names: ProfileNames = { mode, ...(skill !== undefined && { skill }) };
  const left = tools.filter((tool) => checkProfile(names, { modes, skills }, tool) === undefined).sort();
  const document: JsonObject = {
    schema: "handrail.mode_applied.v1",
    ...names,
    tools: left.map((tool) => ({
      tool,
      ...narrowingFacts(modes.get(mode), tool),
      ...constraintFacts(skill, skills, tool),
    })),
  };
  return { hash: `blake3:${blake3Hex(canonicalJson(document))}`, document };
}

function narrowingFacts(mode: ModeProfile | undefined, tool: string): JsonObject {
  const left = mode?.tools.get(tool);
  return {
    ...(left?.paths && { paths: left.paths }),
    ...(left?.requiresApproval && { requires_approval: true }),
    ...(left?.requiresArming && { requires_arming: true }),
  };
}

/** Schemas can be large, so that the record names them by their hash. */
function constraintFacts(skill: string | undefined, skills: Profiles["skills"], tool: string): JsonObject {
  const constraint = skill === undefined ? undefined : skills.get(skill)?.tools.get(tool);
  return constraint === undefined ? {} : { input: `blake3:${blake3Hex(canonicalJson(constraint.schema))}` };
}

function modeDenial(name: string, mode: ModeProfile | undefined, tool: string): Denial {
  const message =
    mode === undefined
      ? `the mode \`${name}\` is not defined, so it allows no tool; ask the operator for a session in another mode`
      : `the mode \`${name}\` does not allow \`${tool}\`; use one of the tools that it leaves, or ask for a session in another mode`;
  return {
    layer: "scope",
    reason: "tool_not_allowed",
    ruleId: `MODE:${name}`,
    message,
    fix: `a session in a mode that allows \`${tool}\``,
  };
}

function skillDenial(name: string, skill: SkillManifest | undefined, tool: string): Denial {
  const message =
    skill === undefined
      ? `the skill \`${name}\` is not defined, so it allows no tool; ask the operator for a session with another skill`
      : `the skill \`${name}\` does not allow \`${tool}\`; use one of the tools that it names, or ask for a session without it`;
  return {
    layer: "scope",
    reason: "skill_tool_not_allowed",
    ruleId: `SKILL:${name}`,
    message,
    fix: `a session with a skill that allows \`${tool}\``,
  };
}

/** What a session that asks for a mode or a skill is told where there is none of that name. */
export function undefinedProfile(kind: "mode" | "skill", name: string): KernelError {
  return usageError(`there is no ${kind} \`${name}\`; \`handrail ${kind}s list\` shows those that there are`);
}
