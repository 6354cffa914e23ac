/**
 * Gates: the master gate, the operator's tool policy and specs, and the policy that a workspace brings (serverd). They
 * only ever take away: what they do not refuse is looked at by everything that follows.
 *
 * INVARIANT: specs or a policy that cannot be read let no tool run; what is wrong with them is the operator's to know.
 */
import { isUtf8 } from "node:buffer";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { allow, type Denial, deny, type Verdict } from "../../model/outcome/decision.ts";
import type { OperatorGates, ToolPolicy } from "../../model/people/gates.ts";
import type { CapabilityObligation } from "../../policy/terms/request.ts";
import { checkProfile, checkSkillInput, profileObligations } from "../../session/profile.ts";
import type { KernelSettings } from "../call/parts.ts";
import type { Judged } from "../call/stages.ts";
import { type Demands, NO_DEMANDS } from "../declared/capability-obligations.ts";

/** The master gate: whether any tool may run, and this one in particular. */
export function checkMasterGate(
  { toolsEnabled, disabledTools, gates }: KernelSettings,
  tool: string,
): Verdict<undefined> {
  if (!toolsEnabled)
    return refuse(
      "tools_disabled",
      "GATE:master",
      "tools are switched off by the operator (TOOLS_ENABLE or tools.enabled)",
    );
  const { rules } = gates;
  if (!rules.ok) return deny(unusableRules(rules.reason));
  if (disabledTools.has(tool))
    return refuse("tool_not_allowed", `GATE:${tool}`, `\`${tool}\` is switched off by the operator`);
  if (rules.policy === undefined) return allow(undefined);
  const denial = checkToolPolicy(rules.policy, tool, OPERATOR);
  return denial ? deny(denial) : allow(undefined);
}

const POLICY_RULE = "GATE:policy.json";
const WORKSPACE_RULE = "WORKSPACE:policy.json";
const OPERATOR: PolicyOwner = { layer: "gates", ruleId: POLICY_RULE, whose: "the operator's policy.json" };
const WORKSPACE: PolicyOwner = { layer: "scope", ruleId: WORKSPACE_RULE, whose: "the workspace's policy.json" };

function unusableRules(reason: "tool_policy_invalid" | "tool_spec_invalid"): Denial {
  const [ruleId, what] =
    reason === "tool_policy_invalid" ? [POLICY_RULE, "tool policy is"] : ["GATE:tools", "tool specs are"];
  return {
    layer: "gates",
    reason,
    ruleId,
    message: `the operator's ${what} not valid, so no tool runs; ask the operator to correct it`,
    fix: "the operator runs `handrail doctor` and corrects what it names",
  };
}

/** Who a tool policy is from, as its refusals say it. */
interface PolicyOwner {
  readonly layer: Denial["layer"];
  readonly ruleId: string;
  readonly whose: string;
}

function checkToolPolicy(policy: ToolPolicy, tool: string, { layer, ruleId, whose }: PolicyOwner): Denial | undefined {
  if (!policy.enabled)
    return { layer, reason: "tools_disabled", ruleId, message: `${whose} switches all tools off; ask the operator` };
  if (policy.allows(tool)) return undefined;
  const name = tool.slice(0, 64).toWellFormed();
  const message = `${whose} does not allow \`${name}\`; use another tool`;
  return { layer, reason: "tool_not_allowed", ruleId, message, fix: `\`${name}\` among \`allowed_tools\` of ${whose}` };
}

/** Whether mode, skill and the workspace allow the tool. */
export function checkToolGates(
  { session, place, gates }: Pick<Judged, "session" | "place" | "gates">,
  tool: string,
): Denial | undefined {
  const denial = checkProfile(session, gates, tool);
  if (denial !== undefined) return denial;
  if (place.disabledTools.has(tool)) {
    return {
      layer: "scope",
      reason: "tool_not_allowed",
      ruleId: `WORKSPACE:${tool}`,
      message: `\`${tool}\` is switched off in this workspace`,
      fix: `\`${tool}\` taken out of \`tools.disabled\` in handrail.yaml`,
    };
  }
  return place.toolPolicy && checkToolPolicy(place.toolPolicy, tool, WORKSPACE);
}

/** Whether the input fits what a spec and the session's skill say of inputs. */
export function checkInput(
  { session, gates }: Judged,
  tool: string,
  args: Readonly<Record<string, unknown>>,
): Denial | undefined {
  const spec = gates.rules.ok ? gates.rules.specs.get(tool)?.input : undefined;
  if (spec === undefined && session.skill === undefined) return undefined;
  const input = jsonInput(args);
  const problem =
    spec &&
    (input === undefined ? { message: "bytes that are no UTF-8 text cannot be judged" } : spec.problemOf(input));
  if (problem === undefined) return checkSkillInput({ session, gates }, tool, input);
  return {
    layer: "call",
    reason: "tool_input_invalid",
    ruleId: `SPEC:${tool}`,
    message: `the arguments do not fit the operator's spec of \`${tool}\`: ${problem.message}`,
    fix: `arguments as \`input_schema\` of the operator's spec of \`${tool}\` describes them`,
  };
}

/** Arguments as JSON: bytes stand as the text that they are. `undefined` when some are no text. */
function jsonInput(args: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const input: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(args)) {
    if (!(value instanceof Uint8Array)) input[name] = value as JsonValue;
    else if (isUtf8(value))
      input[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8");
    else return undefined;
  }
  return input;
}

/** `demands`, and what specs, tool policies and the session's mode demand of every call of the tool. */
export function withGateDemands({ session, place, gates }: Judged, tool: string, demands: Demands): Demands {
  const { rules } = gates;
  const due: CapabilityObligation[] = [...profileObligations(session, gates, tool)];
  const spec = rules.ok ? rules.specs.get(tool) : undefined;
  if (spec?.requiresApproval) due.push({ obligation: "ask", ruleId: `SPEC:${tool}` });
  if (spec?.requiresArming) due.push({ obligation: "arm", ruleId: `SPEC:${tool}` });
  if (rules.ok && rules.policy) due.push(...policyDemands(rules.policy, tool, POLICY_RULE));
  if (place.toolPolicy) due.push(...policyDemands(place.toolPolicy, tool, WORKSPACE_RULE));
  if (due.length === 0) return demands;
  return demands === NO_DEMANDS ? due : [...demands, ...due];
}

function policyDemands(policy: ToolPolicy, tool: string, ruleId: string): readonly CapabilityObligation[] {
  return [
    ...(policy.requireApproval.has(tool) ? [{ obligation: "ask", ruleId } as const] : []),
    ...(policy.requireArming.has(tool) ? [{ obligation: "arm", ruleId } as const] : []),
  ];
}

/** Whether a spec speaks of a tool that is not here. */
export function isSpecified({ rules }: OperatorGates, tool: string): boolean {
  return rules.ok && rules.specs.has(tool);
}

function refuse(reason: string, ruleId: string, message: string): Verdict<never> {
  return deny({ layer: "gates", reason, ruleId, message });
}
