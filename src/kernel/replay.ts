/**
 * Decides whether a call with a dedupe key goes on, gets the first answer again, or fails.
 *
 * This is replay protection as the pipeline meets it. The call passed scope, policy and flow before. A call that had to
 * wait for another one passes them once more.
 */
import { blake3Hex } from "../base/hash.ts";
import { canonicalJson } from "../base/json.ts";
import { callDigest } from "../dedupe/dedupe.ts";
import type { Denial } from "../model/outcome/decision.ts";
import type { LeaseScope } from "../model/people/lease.ts";
import type { Kernel } from "./answer/kernel.ts";
import { goneContent } from "./answer/replayed-content.ts";
import { stillAllowed } from "./ask/recheck.ts";
import type { Ended } from "./call/ended.ts";
import type { KernelParts } from "./call/parts.ts";
import type { Granted } from "./call/stages.ts";
import { canonicalArguments } from "./declared/plain-arguments.ts";

const RULES_CHANGED: Denial = {
  layer: "policy",
  reason: "tool_policy_invalid",
  ruleId: "DEDUPE:rules_changed",
  message:
    "the call was executed before, under policies, workspace rules, redaction rules or a lease that have changed since, so its answer is " +
    "not given again; look at the workspace, and use another dedupe key if the call is still wanted",
};

/**
 * Names everything by which the machine is judged while a tool runs: where links lead, the files of a tree, the
 * artifacts behind a hash; and by which what it returned was redacted. An answer holds what those rules let through,
 * and no analysis of the call names it.
 */
function basisOf({ caller, policy }: Granted, redaction: string): string {
  const { session, lease, place, gates } = caller;
  const { role, mode, skill = "" } = session;
  const rules = [policy.hash, place.rules ?? "", redaction, gates.hash, role, mode, skill, lease.id] as const;
  const known = bases.get(lease.scope);
  if (known?.disabledTools === place.disabledTools && known.rules.every((rule, index) => rule === rules[index]))
    return known.basis;
  const [policyHash, placeRules, redactionRules, gateRules, ...who] = rules;
  const named = [
    policyHash,
    placeRules,
    [...place.disabledTools].sort(),
    redactionRules,
    gateRules,
    ...who,
    { ...lease.scope },
  ];
  const basis = blake3Hex(canonicalJson(named));
  bases.set(lease.scope, { rules, disabledTools: place.disabledTools, basis });
  return basis;
}

/** The last basis under each scope: the calls of a session follow each other under the same rules. */
const bases = new WeakMap<
  LeaseScope,
  { readonly rules: readonly string[]; readonly disabledTools: ReadonlySet<string>; readonly basis: string }
>();

/**
 * How the call ends here, or `undefined` when it goes on: then, if it has a key, with a claim in its holdings.
 * @throws KernelError STORE_UNAVAILABLE or STORE_CORRUPT when nobody can say whether it was executed before
 */
export function replayed(
  { parts }: Kernel,
  granted: Granted,
  signal: AbortSignal,
): undefined | Promise<Ended | undefined> {
  return granted.call.dedupeKey === "" ? undefined : enter(parts, granted, signal);
}

async function enter(parts: KernelParts, granted: Granted, signal: AbortSignal): Promise<Ended | undefined> {
  const { call, session, tool, redaction, holdings } = granted;
  const digest = callDigest(parts.argumentsKey, call, canonicalArguments(call.arguments));
  const keyed = { sessionId: session.id, dedupeKey: call.dedupeKey, call: digest };
  const repeatable = tool.capability.effect === "read";
  const entry = await parts.dedupe.enter(
    { ...keyed, basis: basisOf(granted, redaction.digest(parts.argumentsKey)), repeatable },
    signal,
  );
  if (entry.kind === "go_on") holdings.takeClaim(entry.claim);
  if (entry.kind === "failure") return entry;
  if (entry.kind === "stale") return { kind: "denial", denial: RULES_CHANGED };
  if (entry.waited) {
    const still = await stillAllowed(parts, granted);
    if (!still.ok) return { kind: "denial", denial: still.denial };
  }
  if (entry.kind !== "replay") return undefined;
  const gone = await goneContent(parts, granted, entry.answer);
  return gone ? { kind: "failure", failure: gone } : entry;
}
