/**
 * Judges the examples that stand beside policies.
 *
 * Each example is decided by the pipeline's own functions, in a workspace that exists only in thought, with the zones
 * that the operator's settings give it.
 *
 * INVARIANT: an example counts as kept only if it was really decided. One that cannot be judged has failed.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { KernelError } from "../../base/errors.ts";
import { canonicalJson } from "../../base/json.ts";
import { noWorkspaceSettings, type Settings } from "../../config/config.ts";
import { zoneRulesOf } from "../../config/zone-rules.ts";
import { INITIAL_MARK, judgeFlow } from "../../flow/flow.ts";
import {
  type ImaginedAccess,
  imagineAccesses,
  imagineCall,
  patternsReady,
  placed,
  ToolRegistry,
} from "../../kernel/index.ts";
import type { Verdict } from "../../model/outcome/decision.ts";
import type { Mark } from "../../model/outcome/label.ts";
import { NO_GATES } from "../../model/people/gates.ts";
import { type Lease, UNRESTRICTED_SCOPE } from "../../model/people/lease.ts";
import { DEFAULT_PRESET, PRESET_NAMES, type PresetName } from "../../model/people/preset.ts";
import type { Session } from "../../model/people/session.ts";
import { WORKSPACE_ALIAS, type Workspace } from "../../model/place/workspace.ts";
import { compileZones } from "../../model/place/zone.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { type ExampleSource, type PolicyExample, parseExamples } from "../../policy/examples.ts";
import {
  createPolicyEngine,
  formatProblem,
  type PolicyEngine,
  type PolicySource,
  type ValidatedPolicies,
} from "../../policy/policy.ts";
import { type ActionDeclaration, withCanonicalActions } from "../../policy/terms/action.ts";
import { REQUEST_REFUSED } from "../../policy/terms/verdict.ts";
import type { Redactor } from "../../redact/redact.ts";
import { handrailVersion } from "../operator/package-files.ts";

/** Examples judged, or recorded calls replayed, before others get their turn. */
export const POLICY_EXAMPLES_PER_TURN = 64;
/** Failing examples and faults of example files that one refusal lists; the rest are counted. */
const POLICY_PROBLEMS_LISTED_MAX = 32;

/** What examples are judged against. */
export interface ExampleInputs {
  readonly examples: readonly ExampleSource[];
  /** The policies in force under a preset. */
  readonly sources: (preset: PresetName) => readonly PolicySource[];
  readonly settings: Settings;
  readonly tools: readonly Tool[];
  readonly actions: readonly ActionDeclaration[];
  readonly validated?: ValidatedPolicies;
}

/** What came of one example under one preset. */
export interface ExampleResult {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly preset: PresetName;
  /** What it asks, for people. */
  readonly request: string;
  readonly ok: boolean;
  readonly expected: string;
  readonly found: string;
}

/** What came of all: nothing was judged when a file could not be read. */
export interface ExampleReport {
  readonly ok: boolean;
  /** Faults of the files, as lines of file, line, column and message. */
  readonly problems: readonly string[];
  readonly results: readonly ExampleResult[];
}

/**
 * Judges every example under every preset that it names.
 * @throws KernelError POLICY_INVALID when the policies themselves are not valid
 */
export async function runExamples(inputs: ExampleInputs): Promise<ExampleReport> {
  const { examples, problems } = await parseExamples(inputs.examples);
  if (problems.length > 0) return { ok: false, problems: problems.map(formatProblem), results: [] };
  const registry = registryOf(inputs.tools);
  const redactor = await redactorOf(inputs.settings);
  await patternsReady();
  for (const name of new Set(examples.map(({ tool }) => tool))) await registry.prepare(name);
  const results: ExampleResult[] = [];
  for (const [preset, group] of byPreset(examples, inputs.settings.preset ?? DEFAULT_PRESET)) {
    const engine = await createPolicyEngine({
      // An example may speak of a tool that this kernel does not have; the vocabulary, and so the hash, is the same.
      actions: withCanonicalActions(inputs.actions),
      sources: inputs.sources(preset),
      roles: inputs.settings.roles,
      ...(inputs.validated && { validated: inputs.validated }),
    });
    const judgedBy = { preset, engine, registry, redactor, inputs };
    try {
      for (const [index, example] of group.entries()) {
        if (index % POLICY_EXAMPLES_PER_TURN === POLICY_EXAMPLES_PER_TURN - 1) await nextTurn();
        results.push(resultOf(example, preset, judge(example, judgedBy)));
      }
    } finally {
      engine.dispose();
    }
  }
  return { ok: results.every(({ ok }) => ok), problems: [], results };
}

/**
 * Refuses policies whose examples fail.
 * @throws KernelError POLICY_INVALID naming every example that fails, with file, line and column
 */
export async function requireExamples(inputs: ExampleInputs): Promise<void> {
  if (inputs.examples.length === 0) return;
  const key = keyOf(inputs);
  if (inputs.validated?.has(key)) return;
  const report = await runExamples(inputs);
  if (report.ok) return inputs.validated?.remember(key);
  const lines = [...report.problems, ...report.results.filter(({ ok }) => !ok).map(formatFailure)];
  const more = lines.length - POLICY_PROBLEMS_LISTED_MAX;
  throw new KernelError(
    "POLICY_INVALID",
    `the examples beside the policies fail:\n${lines.slice(0, POLICY_PROBLEMS_LISTED_MAX).join("\n")}${more > 0 ? `\nand ${more} more` : ""}`,
  );
}

/** A failed example as one line: file, line, column, what was expected and what was found. */
export function formatFailure(result: ExampleResult): string {
  const { file, line, column, preset, request, expected, found } = result;
  return `${file}:${line}:${column}: ${request} under preset \`${preset}\` should be ${expected}, but is ${found}`;
}

/**
 * What a secret in the arguments of an example is, by the operator's rules; what the environment holds is no part of an
 * example.
 */
async function redactorOf({ redaction }: Settings): Promise<Redactor> {
  const { openRedactor } = await import("../operator/redaction.ts");
  return openRedactor(redaction, {}, { name: "handrail.yaml" });
}

function byPreset(
  examples: readonly PolicyExample[],
  chosen: PresetName,
): ReadonlyMap<PresetName, readonly PolicyExample[]> {
  const groups = new Map<PresetName, PolicyExample[]>();
  for (const example of examples) {
    for (const preset of example.presets.length === 0 ? [chosen] : new Set(example.presets)) {
      const group = groups.get(preset) ?? [];
      group.push(example);
      groups.set(preset, group);
    }
  }
  return groups;
}

function registryOf(tools: readonly Tool[]): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

/** Equal keys, equal answers: everything that an example's decision rests on. */
function keyOf({ examples, sources, settings, actions, tools }: ExampleInputs): string {
  const policies = PRESET_NAMES.map((name) => sources(name).map(({ name: file, text }) => [file, text]));
  const { files, roles, preset, workspaces, redaction } = settings;
  const facts = {
    examples,
    policies,
    actions,
    tools: registryOf(tools).hash(),
    files,
    roles,
    preset,
    workspaces,
    redaction,
    version: handrailVersion(),
  };
  return `examples ${canonicalJson(JSON.parse(JSON.stringify(facts)))}`;
}

type Decided = ReturnType<typeof imagineCall>;

/** What an example is judged by: the parts of a kernel that decide. */
interface ExampleKernel {
  readonly preset: PresetName;
  readonly engine: PolicyEngine;
  readonly registry: ToolRegistry;
  readonly redactor: Redactor;
  readonly inputs: ExampleInputs;
}

function judge(
  example: PolicyExample,
  { preset, engine, registry, redactor, inputs }: ExampleKernel,
): Decided | string {
  const { settings, actions } = inputs;
  if (!settings.roles.includes(example.role))
    return `not judged: the role \`${example.role}\` is not defined in handrail.yaml`;
  const session = placed(sessionOf(example, preset), example.context.onBranch ?? false);
  const time = example.context.time ?? Math.floor(Date.UTC(2026, 0, 1) / 1000);
  const tool = registry.get(example.tool);
  const { armed, network } = example.context;
  if (tool !== undefined && example.resource === undefined && armed === undefined && network === undefined) {
    const place = { workspace: workspaceOf(example, settings, session.serviceRoot), disabledTools: NO_TOOLS };
    const caller = { session, lease: LEASE, place, mark: markOf(example), armed: false, gates: NO_GATES };
    const args = example.arguments ?? {};
    return imagineCall({ registry, policy: engine, redactor, caller, tool: tool.name, args, nowMs: time * 1000 });
  }
  if (example.arguments !== undefined)
    return tool === undefined
      ? `not judged: no tool \`${example.tool}\` is registered that could say what its arguments touch; name the \`resource\` instead`
      : "not judged: `armed` and `network` go with a `resource`, not with `arguments`";
  const action = withCanonicalActions(actions).find(({ name }) => name === example.tool);
  if (action === undefined) return `not judged: there is no action \`${example.tool}\``;
  const effect = example.effect ?? action.effect;
  const accesses: readonly ImaginedAccess[] = [
    { resource: example.resource ?? { kind: "tool", name: example.tool }, effect },
  ];
  const capability = tool?.capability ?? {
    effect: action.effect,
    risk: "low" as const,
    approval: { level: "auto" as const },
  };
  const decided = imagineAccesses(engine, {
    session,
    tool: { name: example.tool, capability },
    accesses,
    context: { ...example.context, time },
  });
  if (!decided.ok) return decided;
  const flow = judgeFlow(markOf(example), capability, accesses);
  return flow.ok ? decided : flow;
}

function markOf({ context }: PolicyExample): Mark {
  return {
    trustLevel: context.trust ?? INITIAL_MARK.trustLevel,
    dataClass: context.dataClass ?? INITIAL_MARK.dataClass,
  };
}

const NO_TOOLS: ReadonlySet<string> = new Set();
const LEASE: Lease = {
  id: "lea_example",
  scope: UNRESTRICTED_SCOPE,
  budget: {},
  createdAtMs: 0,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
};

function sessionOf(example: PolicyExample, preset: PresetName): Session {
  const root = example.workspace ?? WORKSPACE_ALIAS;
  return {
    id: "ses_example",
    tokenHash: "",
    userId: example.user ?? "user",
    agentId: example.agent ?? "agent",
    role: example.role,
    serviceRoot: root,
    projectRoot: root,
    isolationLevel: "STRICT",
    leaseId: LEASE.id,
    mode: "default",
    preset,
    createdAtMs: 0,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
  };
}

/** The zones are those of the operator's settings, unless the example says in which zone its files lie. */
function workspaceOf(example: PolicyExample, settings: Settings, root: string): Workspace {
  const granted = settings.workspaces.find(({ path }) => path === root)?.files;
  const rules = zoneRulesOf(settings, granted, noWorkspaceSettings());
  const { zone } = example;
  return {
    serviceRoot: root,
    projectRoot: root,
    sharedPaths: rules.shared,
    zones:
      zone === undefined
        ? compileZones(rules, "")
        : { classify: () => zone, restriction: () => undefined, isAboveRule: () => false },
  };
}

function resultOf(example: PolicyExample, preset: PresetName, decided: Decided | string): ExampleResult {
  const { file, line, column } = example;
  const found = typeof decided === "string" ? { kept: false, text: decided } : compare(example, decided);
  return {
    file,
    line,
    column,
    preset,
    request: requestText(example),
    ok: found.kept,
    expected: expectedText(example),
    found: found.text,
  };
}

function compare(
  example: PolicyExample,
  decided: Verdict<{ permits: readonly string[]; obligations: readonly { obligation: string; ruleId: string }[] }>,
) {
  if (!decided.ok) {
    const { ruleId, layer, message } = decided.denial;
    // A call that has no meaning is denied whatever policy says: only an example that names that refusal means it.
    if ((layer === "call" || ruleId === REQUEST_REFUSED) && example.by !== ruleId)
      return { kept: false, text: `not judged: ${ruleId} (${layer}) refuses the example itself: ${message}` };
    const kept = example.expected === "deny" && (example.by === undefined || example.by === ruleId);
    return { kept, text: `denied by ${ruleId} (${layer})` };
  }
  const { permits, obligations } = decided.value;
  const due = [...new Set(obligations.map(({ obligation, ruleId }) => `${obligation} ${ruleId}`))];
  const kept =
    example.expected === "allow" &&
    (example.by === undefined || permits.includes(example.by)) &&
    sameObligations(example.obligations ?? [], due);
  return { kept, text: `allowed by ${permits.join(", ")}${due.length === 0 ? "" : `, needing ${due.join(", ")}`}` };
}

/** `wanted` names obligations with or without their rule; each must be due, and nothing else may be. */
function sameObligations(wanted: readonly string[], due: readonly string[]): boolean {
  const names = (want: string, one: string) => want === one || want === one.split(" ")[0];
  return (
    wanted.every((want) => due.some((one) => names(want, one))) &&
    due.every((one) => wanted.some((want) => names(want, one)))
  );
}

function requestText({ tool, arguments: args, resource, role, zone, workspace }: PolicyExample): string {
  const facts = {
    ...(args && { arguments: args }),
    ...(resource && { resource }),
    ...(zone && { zone }),
    ...(workspace && { workspace }),
  };
  const detail = Object.keys(facts).length === 0 ? "" : ` ${JSON.stringify(facts)}`;
  return `\`${tool}\`${detail} by role \`${role}\``;
}

function expectedText({ expected, by, obligations }: PolicyExample): string {
  const rule = by === undefined ? "" : ` by ${by}`;
  if (expected === "deny") return `denied${rule}`;
  return `allowed${rule}${obligations === undefined || obligations.length === 0 ? "" : `, needing ${obligations.join(", ")}`}`;
}
