/**
 * The narrowest change that would let a refused call run: which permit, waiver, exception, lease, setting or trust.
 *
 * Each change is tried before it is told: the call is explained again as if the change were made, and what is still in
 * the way is looked at next. INVARIANT: what is told, taken together, lets the call run; where nothing does, nothing is
 * told but the reason.
 */

import { wideningKeys } from "../../config/config.ts";
import type { CallExplanation, KernelSettings } from "../../kernel/index.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { DEFAULT_MODE } from "../../model/people/gates.ts";
import type { Authenticated } from "../../session/session.ts";
import { declaredTool, describeOverride, effectiveTools } from "../operator/capability-overrides.ts";
import { planWorkspace, workspaceBy } from "../workspace/workspace-catalog.ts";
import type { Advice, AdviceParts, AdvisedExplanation, Assumed, ExplainedCall, NextStep } from "./advice.ts";
import { PolicyEdits } from "./advice-policy.ts";
import { adviseLease, adviseZone } from "./advice-scope.ts";

/** Changes that an explanation tries one upon the other before it says that nothing helps. */
const ADVICE_STEPS_MAX = 12;

/** Explains a call and finds the narrowest change that would let it run. */
export async function adviseCall(
  parts: AdviceParts,
  who: Authenticated,
  call: ExplainedCall,
): Promise<AdvisedExplanation> {
  const first = await parts.door.explain({ who, ...call });
  const notes = [...overrideNotes(parts, call.tool), ...(await notesOf(parts, who))];
  if (runs(first)) return { ...first, runs: true, advice: [], notes };
  const edits = new PolicyEdits(parts);
  try {
    const advice = await findAdvice(parts, edits, { who, call, explanation: first });
    return typeof advice === "string"
      ? { ...first, runs: false, advice: [], stuck: advice, notes }
      : { ...first, runs: false, advice, notes };
  } finally {
    edits.dispose();
  }
}

/** A call that would not run, and why. */
interface RefusedCall {
  readonly who: Authenticated;
  readonly call: ExplainedCall;
  readonly explanation: CallExplanation;
}

async function findAdvice(
  parts: AdviceParts,
  edits: PolicyEdits,
  refused: RefusedCall,
): Promise<readonly Advice[] | string> {
  const { who, call } = refused;
  let state: Assumed = { who, assuming: {}, changes: [] };
  let { explanation } = refused;
  for (let step = 0; step < ADVICE_STEPS_MAX; step += 1) {
    if (runs(explanation)) return [...state.changes, ...(await edits.advice(state.who.session.preset))];
    const needsArming = !explanation.armed && obligationsOf(explanation).some(({ obligation }) => obligation === "arm");
    const next = needsArming
      ? meetArming(state)
      : explanation.denial === undefined
        ? await edits.meet(state, explanation)
        : await meetDenial(parts, state, { tool: call.tool, denial: explanation.denial });
    if (typeof next === "string") return next;
    state = next;
    explanation = await parts.door.explain({ ...call, who: state.who, assuming: state.assuming });
  }
  return "no few changes would allow it; look at the rules that match, one after the other";
}

function runs(explanation: CallExplanation): boolean {
  const { denial, accesses, armed } = explanation;
  return (
    denial === undefined &&
    accesses.every(({ policy: { verdict } }) => verdict.decision === "allow") &&
    obligationsOf(explanation).every(({ obligation }) => armed && obligation === "arm")
  );
}

function obligationsOf({ accesses }: CallExplanation) {
  return accesses.flatMap(({ policy: { verdict } }) => (verdict.decision === "allow" ? verdict.obligations : []));
}

/** Arming ends by itself, and so is narrower than a permit that waives the need of it. */
function meetArming(state: Assumed): Assumed {
  const change = "arm it for a while: handrail arm --for 15m";
  return {
    ...state,
    assuming: { ...state.assuming, armed: true },
    changes: [...state.changes, { kind: "arming", change }],
  };
}

/** A tool, and what refuses its call. */
interface RefusedTool {
  readonly tool: string;
  readonly denial: Denial;
}

/** Rules of a file whose text is the only way to change them. */
const NEEDS_ITS_FILE: ReadonlySet<string> = new Set([
  "GATE:tools",
  "WORKSPACE:policy.json",
  "WORKSPACE:.flow/config.json",
]);

/** What to assume about a refusal that came before policy. */
async function meetDenial(parts: AdviceParts, state: Assumed, refused: RefusedTool): Promise<NextStep> {
  const { tool, denial } = refused;
  const { ruleId } = denial;
  const missing = requiredMode(parts, state, refused) ?? profileAdvice(state, refused);
  if (missing !== undefined) return missing;
  if (ruleId === "GATE:policy.json") return meetToolPolicy(parts, state, tool);
  if (NEEDS_ITS_FILE.has(ruleId)) return denial.fix ?? denial.message;
  if (ruleId.startsWith("GATE:")) return meetGate(parts, state, refused);
  if (ruleId.startsWith("RBAC:")) return meetRole(parts, state, tool);
  if (ruleId.startsWith("LEASE:")) return adviseLease(state, denial);
  if (ruleId.startsWith("WORKSPACE:")) return meetWorkspace(parts, state, refused);
  if (ruleId.startsWith("ZONE:")) return adviseZone(parts, state, denial);
  return `the rule ${ruleId} (${denial.layer}) refuses it, and no setting lifts that${denial.fix === undefined ? "" : `; ${denial.fix}`}`;
}

function meetGate({ operator, settings }: AdviceParts, state: Assumed, refused: RefusedTool): NextStep {
  const { tool, denial } = refused;
  const { ruleId } = denial;
  const now = state.assuming.settings ?? settings;
  const file = `${operator.path}/handrail.yaml`;
  const change =
    ruleId !== "GATE:master"
      ? `remove \`${tool}\` from \`tools.disabled\` in ${file}`
      : operator.settings.tools.enabled
        ? "start the kernel without `TOOLS_ENABLE=0`"
        : `set \`tools.enabled: true\` in ${file}, and do not start the kernel with \`TOOLS_ENABLE=0\``;
  const assumed: KernelSettings =
    ruleId === "GATE:master"
      ? { ...now, toolsEnabled: true }
      : { ...now, disabledTools: without(now.disabledTools, tool) };
  // The workspace's own list repeats what the operator switched off everywhere.
  const disabledTools = ruleId === "GATE:master" ? state.assuming.disabledTools : undefined;
  return {
    ...state,
    assuming: { ...state.assuming, settings: assumed, ...(disabledTools && { disabledTools }) },
    changes: [...state.changes, { kind: "setting", change }],
  };
}

/** A tool that one mode alone has. */
function requiredMode({ tools }: AdviceParts, state: Assumed, { tool, denial }: RefusedTool): NextStep | undefined {
  const mode = tools.find(({ name }) => name === tool)?.capability.requiredMode;
  const { session } = state.who;
  if (mode === undefined || !denial.ruleId.startsWith("MODE:") || session.mode === mode) return undefined;
  const change = `make a session in the mode \`${mode}\` (--mode ${mode})`;
  return {
    ...state,
    who: { ...state.who, session: { ...session, mode } },
    changes: [...state.changes, { kind: "session", change }],
  };
}

/** Without the mode or the skill, everything else is looked at. */
function profileAdvice(state: Assumed, { tool, denial: { ruleId } }: RefusedTool): NextStep | undefined {
  const [kind, name] = ruleId.split(":");
  if (kind !== "MODE" && kind !== "SKILL") return undefined;
  const { skill: _skill, ...unskilled } = state.who.session;
  const session = kind === "MODE" ? { ...state.who.session, mode: DEFAULT_MODE } : unskilled;
  const change = `make a session without the ${kind.toLowerCase()} \`${name}\`, or with one that allows this call of \`${tool}\``;
  return { ...state, who: { ...state.who, session }, changes: [...state.changes, { kind: "session", change }] };
}

/** The operator's policy.json as it would have to be. */
function meetToolPolicy({ operator, settings }: AdviceParts, state: Assumed, tool: string): NextStep {
  const now = state.assuming.settings ?? settings;
  const { rules } = now.gates;
  if (!rules.ok) return `no tool runs until this is corrected: ${rules.problem}`;
  const { policy } = rules;
  if (policy === undefined) return "the operator's policy.json refuses it";
  const change = policy.enabled
    ? `add \`${tool}\` to \`allowed_tools\` in ${operator.path}/policy.json`
    : `set \`tools_enabled\` to true in ${operator.path}/policy.json`;
  const opened = policy.enabled
    ? { ...policy, allows: (one: string) => one === tool || policy.allows(one) }
    : { ...policy, enabled: true };
  const gates = { ...now.gates, rules: { ...rules, policy: opened } };
  return {
    ...state,
    assuming: { ...state.assuming, settings: { ...now, gates } },
    changes: [...state.changes, { kind: "setting", change }],
  };
}

function meetRole({ tools, operator }: AdviceParts, state: Assumed, tool: string): NextStep {
  const role = tools.find(({ name }) => name === tool)?.capability.requiredRole;
  if (role === undefined || !operator.settings.roles.includes(role))
    return `\`${tool}\` is for a role that is not defined here`;
  const session = { ...state.who.session, role };
  const at = `--workspace ${session.serviceRoot}`;
  const change = `make a session with the role \`${role}\`, as the operator (handrail sessions create --as-operator --role ${role} ${at}) or once clients are granted it (handrail roles grant ${role} ${at})`;
  return { ...state, who: { ...state.who, session }, changes: [...state.changes, { kind: "session", change }] };
}

/** A tool that the workspace switched off, or a path that its own configuration would share if it were trusted. */
async function meetWorkspace(parts: AdviceParts, state: Assumed, { tool, denial }: RefusedTool): Promise<NextStep> {
  const { session } = state.who;
  const plan = await planWorkspace(() => parts.operator, session, parts);
  if (denial.ruleId === `WORKSPACE:${tool}`) {
    if (!plan.own.tools.disabled.includes(tool)) {
      const disabledTools = without(new Set(plan.disabledTools), tool);
      return { ...state, assuming: { ...state.assuming, disabledTools } };
    }
    const change = `remove \`${tool}\` from \`tools.disabled\` in ${session.serviceRoot}/handrail.yaml`;
    const others = parts.operator.settings.tools.disabled;
    const disabledTools = without(new Set([...others, ...plan.own.tools.disabled]), tool);
    return {
      ...state,
      assuming: { ...state.assuming, disabledTools },
      changes: [...state.changes, { kind: "setting", change }],
    };
  }
  const canTrust =
    plan.trust !== "trusted" &&
    wideningKeys(plan.own, plan.flow?.config).length > 0 &&
    state.assuming.workspace === undefined;
  if (!canTrust)
    return "the path lies outside of the workspace, and no setting of this workspace lifts that; name a file inside";
  const { rules } = await planWorkspace(() => parts.operator, session, { hidden: parts.hidden, assumeTrust: true });
  const change = `trust the workspace's own configuration: handrail trust --workspace ${session.serviceRoot}`;
  return {
    ...state,
    assuming: { ...state.assuming, workspace: workspaceBy(rules, session) },
    changes: [...state.changes, { kind: "trust", change }],
  };
}

function without(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set([...names].filter((one) => one !== name));
}

/** What the operator changed of the tool's own capability: the obligations and refusals come from there. */
function overrideNotes({ operator, tools }: AdviceParts, name: string): readonly string[] {
  const { overridden } = effectiveTools(
    tools.filter((tool) => tool.name === name).map(declaredTool),
    operator.settings,
  );
  return overridden.map(
    (one) =>
      `\`capabilities\` in ${operator.path}/handrail.yaml changes what the tool declares: ${describeOverride(one)}`,
  );
}

async function notesOf(parts: AdviceParts, { session }: Authenticated): Promise<readonly string[]> {
  const { own, trust, flow } = await planWorkspace(() => parts.operator, session, parts);
  const keys = wideningKeys(own, flow?.config);
  if (trust === "trusted" || keys.length === 0) return [];
  const why = trust === "changed" ? "has changed since it was trusted" : "is not trusted";
  return [
    `${session.serviceRoot}${keys.every((key) => key.startsWith("scope.")) ? "/.flow/config.json" : "/handrail.yaml"} ${why}, so ${keys.join(", ")} has no effect; \`handrail trust\` pins it as it is`,
  ];
}
