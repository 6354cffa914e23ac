/**
 * What is recorded of a call, whatever became of it: who called what, what it would touch, by which rules it was judged.
 *
 * Never output, and arguments only of tools that say so. INVARIANT: what holds words of the caller or of a tool is
 * redacted; without redaction it is left out.
 */
import { blake3KeyedHex } from "../../base/hash.ts";
import type { JsonObject } from "../../base/json.ts";
import { INITIAL_MARK } from "../../flow/flow.ts";
import type { Trail } from "../call/trail.ts";
import { canonicalArguments } from "../declared/plain-arguments.ts";
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
 * Facts of a call. What does not apply to it is `undefined`, so that most records have the same members: objects of one shape
 * are made and printed faster than those of many.
 */
export function callFacts(trail: Trail, argumentsKey: Uint8Array, outcome: OutcomeFacts = {}): JsonObject {
  const { call, session, rules, obligations, sandboxed, approval } = trail;
  if (!call) return outcome;
  const words = wordsOf(trail, call.tool);
  const shown = clean(trail, words);
  const isClean = shown === words;
  const digest = trail.tool === undefined || logsArguments(trail) ? undefined : canonicalArguments(call.arguments);
  const facts = {
    tool: isClean ? words.tool : undefined,
    role: session?.role,
    preset: session?.preset,
    accesses: isClean ? words.accesses : undefined,
    mark: markFact(trail),
    rules: rules.length > 0 ? rules : undefined,
    obligations: obligations.length > 0 ? obligations : undefined,
    policy: trail.policyHash,
    severity: severityOf(trail),
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
  if (isClean && sandboxed === undefined && approval === undefined) return facts;
  return {
    ...facts,
    ...(!isClean && shown),
    ...(sandboxed && { sandbox: sandboxed, ...clean(trail, commandsFact(trail)) }),
    ...(approval && { approvalRef: approval.ref, approvalId: approval.id }),
  };
}

/** Facts that hold words of the caller or of a tool, without their secrets; without redaction they are left out. */
export function clean(trail: Trail, facts: JsonObject): JsonObject {
  return trail.redaction?.facts(facts) ?? {};
}

/** An access as evidence and prompts have it; what the caller wrote stands in it. */
export function accessFact(access: Trail["accesses"][number]): JsonObject {
  const { resource, effect, action, carriesSecret } = access;
  const fact: JsonObject = resource.kind === "file" ? fileFact(access) : { ...resource, effect };
  if (action === undefined && carriesSecret !== true) return fact;
  return { ...fact, ...(action !== undefined && { action }), ...(carriesSecret === true && { secret: true }) };
}

/** The zone, and whether a secret goes with it, is what lets a later policy be asked about the same access. The root is named where it is the project. */
function fileFact({ resource, effect, target }: Trail["accesses"][number]): JsonObject {
  if (target === undefined) return { kind: "file", effect, path: resource.kind === "file" ? resource.path : "" };
  const { place, zone } = target;
  if (place.root !== "project") return { effect, kind: "file", path: place.path, zone };
  return { effect, kind: "file", path: place.path, root: place.root, zone };
}

/** What the caller and the tool had words in. Members are absent where they do not apply: redaction leaves such an object as it is. */
function wordsOf(
  trail: Trail,
  tool: string,
): { readonly tool: string; readonly accesses?: readonly JsonObject[]; readonly args?: JsonObject } {
  const accesses = trail.accesses.length > 0 ? trail.accesses.map(accessFact) : undefined;
  const { redaction, call } = trail;
  const args = redaction !== undefined && logsArguments(trail) ? recordedArguments(redaction, call?.arguments ?? {}) : undefined;
  if (accesses === undefined) return args === undefined ? { tool } : { tool, args };
  return args === undefined ? { tool, accesses } : { tool, accesses, args };
}

function logsArguments({ tool }: Trail): boolean {
  return tool?.capability.audit?.logArgs === true;
}

/** What the principal had seen, where it is not what everybody begins with: policy looks at it. */
function markFact({ caller }: Trail): string | undefined {
  if (caller === undefined) return undefined;
  const { trustLevel, dataClass } = caller.mark;
  if (trustLevel === INITIAL_MARK.trustLevel && dataClass === INITIAL_MARK.dataClass) return undefined;
  return `${trustLevel} ${dataClass}`;
}
