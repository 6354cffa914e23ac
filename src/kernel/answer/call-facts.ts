/**
 * Collects the facts that are recorded of a call.
 *
 * Whatever became of the call, they say who called what, what it would touch, and by which rules it was judged. Output
 * is never recorded, and arguments are recorded only for tools that say so.
 *
 * INVARIANT: what holds words of the caller or of a tool is redacted. Without redaction it is left out.
 */
import { blake3KeyedHex } from "../../base/hash.ts";
import type { JsonObject } from "../../base/json.ts";
import { INITIAL_MARK } from "../../flow/flow.ts";
import type { Known, ResolvedAccess } from "../call/stages.ts";
import { canonicalArguments } from "../declared/plain-arguments.ts";
import { TOOL_NAME } from "../declared/registry.ts";
import { isContained } from "../judge/decide.ts";
import { AT_ONCE_CHARACTERS_MAX } from "../redaction/limits.ts";
import { textLength } from "../redaction/long-texts.ts";
import { recordedArguments } from "../redaction/recorded-arguments.ts";
import { commandsFact } from "./exec-record.ts";
import { severityOf } from "./severity.ts";

/** What became of a call that ran. */
export type OutcomeFacts = {
  readonly success?: boolean;
  readonly truncated?: boolean;
  readonly secretsFound?: number;
  readonly outputBytes?: number;
  readonly resultHash?: string | undefined;
  readonly label?: { readonly dataClass: string; readonly trustLevel: string };
  readonly executionTime?: number;
};

/**
 * Facts of a call. What does not apply to it is `undefined`, so that most records have the same members: objects of one
 * shape are made and printed faster than those of many.
 */
export function callFacts(known: Known, argumentsKey: Uint8Array, outcome: OutcomeFacts = {}): JsonObject {
  const { call, session, ruling, run, holdings } = known;
  if (!call) return outcome;
  const words = wordsOf(known, recordedTool(known));
  const shown = clean(known, words);
  const isClean = shown === words;
  const digest = known.tool === undefined || recordsArguments(known) ? undefined : canonicalArguments(call.arguments);
  const approval = holdings?.approval;
  const facts = {
    tool: isClean ? words.tool : undefined,
    role: session?.role,
    preset: session?.preset,
    branch: session?.branchId,
    contained: containedFact(known),
    accesses: isClean ? words.accesses : undefined,
    mark: markFact(known),
    rules: ruling !== undefined && ruling.permits.length > 0 ? ruling.permits : undefined,
    obligations: obligationsFact(known),
    policy: known.policy?.hash,
    severity: severityOf(known),
    args: isClean ? words.args : undefined,
    argsDigest: digest === undefined ? undefined : blake3KeyedHex(argumentsKey, digest),
    argsBytes: digest === undefined ? undefined : Buffer.byteLength(digest),
    success: outcome.success,
    truncated: outcome.truncated,
    secretsFound: outcome.secretsFound,
    outputBytes: outcome.outputBytes,
    resultHash: outcome.resultHash,
    label: outcome.label,
    executionTime: outcome.executionTime,
  };
  if (isClean && run?.sandbox === undefined && approval === undefined) return facts;
  return {
    ...facts,
    ...(!isClean && shown),
    ...(run?.sandbox && { sandbox: run.sandbox, ...clean(known, commandsFact(run)) }),
    ...(approval && { approvalRef: approval.ref, approval_ref: approval.ref, approvalId: approval.id }),
  };
}

/** The name of the tool; what is registered under no name and could be none is the caller's own text, and stays out. */
export function recordedTool({ tool, call }: Pick<Known, "tool" | "call">): string {
  const name = tool?.name ?? call?.tool ?? "";
  return tool !== undefined || TOOL_NAME.test(name) ? name : `(no tool's name, ${name.length} characters)`;
}

/** Facts that hold words of the caller or of a tool, without their secrets; without redaction they are left out. */
export function clean({ redaction }: Pick<Known, "redaction">, facts: JsonObject): JsonObject {
  return redaction?.facts(facts) ?? {};
}

/** Said of calls whose commands reach nothing. */
function containedFact({ caller, tool, accesses }: Known): true | undefined {
  if (caller === undefined || tool === undefined || accesses === undefined) return undefined;
  return isContained(caller, tool, accesses) ? true : undefined;
}

/** What policy wants to happen first, as `ask dev.write-protected`. */
function obligationsFact({ ruling }: Known): readonly string[] | undefined {
  if (ruling === undefined || ruling.obligations.length === 0) return undefined;
  return ruling.obligations.map(({ obligation, ruleId }) => `${obligation} ${ruleId}`);
}

/** An access as evidence and prompts have it; what the caller wrote stands in it. */
export function accessFact(access: ResolvedAccess): JsonObject {
  const { resource, effect, action, carriesSecret, sendsNothing } = access;
  const fact: JsonObject = resource.kind === "file" ? fileFact(access) : { ...resource, effect };
  if (action === undefined && carriesSecret !== true && sendsNothing !== true) return fact;
  return {
    ...fact,
    ...(action !== undefined && { action }),
    ...(carriesSecret === true && { secret: true }),
    ...(sendsNothing === true && { sendsNothing }),
  };
}

/**
 * The zone, and whether a secret goes with it, is what lets a later policy be asked about the same access. The root is
 * named where it is not the service's.
 */
function fileFact({ resource, effect, target }: ResolvedAccess): JsonObject {
  if (target === undefined) return { kind: "file", effect, path: resource.kind === "file" ? resource.path : "" };
  const { place, zone } = target;
  if (place.root === "service") return { effect, kind: "file", path: place.path, zone };
  return { effect, kind: "file", path: place.path, root: place.root, zone };
}

/**
 * What the caller and the tool had words in. Members are absent where they do not apply: redaction leaves such an
 * object as it is.
 */
function wordsOf(
  known: Known,
  tool: string,
): { readonly tool: string; readonly accesses?: readonly JsonObject[]; readonly args?: JsonObject } {
  const { accesses: touched = [], redaction, call } = known;
  const accesses = touched.length > 0 ? touched.map(accessFact) : undefined;
  const args =
    redaction !== undefined && recordsArguments(known)
      ? recordedArguments(redaction, call?.arguments ?? {})
      : undefined;
  if (accesses === undefined) return args === undefined ? { tool } : { tool, args };
  return args === undefined ? { tool, accesses } : { tool, accesses, args };
}

/** Whether the arguments themselves are recorded: longer ones than an entry holds by their digest and size alone. */
function recordsArguments({ tool, call }: Known): boolean {
  return tool?.capability.audit?.logArgs === true && textLength(call?.arguments) <= AT_ONCE_CHARACTERS_MAX;
}

/** What the principal had seen, where it is not what everybody begins with: policy looks at it. */
function markFact({ caller }: Known): string | undefined {
  if (caller === undefined) return undefined;
  const { trustLevel, dataClass } = caller.mark;
  if (trustLevel === INITIAL_MARK.trustLevel && dataClass === INITIAL_MARK.dataClass) return undefined;
  return `${trustLevel} ${dataClass}`;
}
