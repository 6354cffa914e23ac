/**
 * Flow control: what may leave, given what the principal has seen.
 *
 * Decides by the mark that follows a principal in a workspace, by where an access leads, and by what the tool declares.
 * Pure. INVARIANT: what cannot be judged counts as leaving to an unknown place; a rule here only ever denies or asks.
 */
import type { ToolCapability } from "../model/capability.ts";
import { allow, type Denial, deny, type Obligation, type Verdict } from "../model/decision.ts";
import type { EffectClass } from "../model/effect.ts";
import { isKnownHost } from "../model/host.ts";
import type { DataClass, Mark } from "../model/label.ts";

/** The mark of a principal that has seen nothing but what its user told it. */
export const INITIAL_MARK: Mark = { trustLevel: "user", dataClass: "internal" };

/** As much of an access as flow control looks at. */
export interface FlowAccess {
  readonly effect: EffectClass;
  readonly resource: { readonly kind: string; readonly host?: string };
}

/** What flow control wants to happen before a call runs; an operator's permit may waive it by its rule. */
export interface FlowObligation {
  readonly obligation: Obligation;
  readonly ruleId: "FC-2" | "FC-3";
}

/** Refuses what no person can allow either: secrets to anywhere, what is sensitive to an unknown host (FC-2), and untrusted content into a tool that refuses it (FC-3). */
export function judgeFlow(mark: Mark, capability: ToolCapability, accesses: readonly FlowAccess[]): Verdict<undefined> {
  for (const access of accesses) {
    const denial = leaves(access) ? egressDenial(mark.dataClass, capability, access) : undefined;
    if (denial) return deny(denial);
  }
  if (mark.trustLevel === "untrusted" && capability.effect === "exec" && capability.labels?.acceptsUntrusted === false) {
    return deny({
      layer: "flow",
      reason: "flow_untrusted_exec",
      ruleId: "FC-3",
      message:
        "untrusted content has been read in this workspace, and this tool runs nothing after that; ask the operator to look at what was read",
      fix: "a declassification of this principal by the operator (`handrail labels declassify`)",
    });
  }
  return allow(undefined);
}

/** What must happen first because of what the principal has seen: FC-2 for what leaves, FC-3 for tools that can leak. */
export function flowObligations(mark: Mark, capability: ToolCapability, access: FlowAccess | undefined): readonly FlowObligation[] {
  const asksEgress = access !== undefined && leaves(access) && egressAsks(mark.dataClass, capability, access);
  const asksLeak = mark.trustLevel === "untrusted" && canLeak(capability, access);
  if (!asksEgress && !asksLeak) return NONE;
  return [...(asksEgress ? [EGRESS] : []), ...(asksLeak ? [LEAK] : [])];
}

const NONE: readonly FlowObligation[] = [];
const EGRESS: FlowObligation = { obligation: "ask", ruleId: "FC-2" };
const LEAK: FlowObligation = { obligation: "ask", ruleId: "FC-3" };

/** Whether what the call sends leaves the machine. */
function leaves({ effect, resource }: FlowAccess): boolean {
  return effect === "network" || resource.kind === "host" || resource.kind === "model";
}

function isKnown(capability: ToolCapability, { resource }: FlowAccess): boolean {
  return resource.kind === "host" && isKnownHost(resource.host ?? "", capability.network?.allowedHosts ?? []);
}

function egressDenial(sent: DataClass, capability: ToolCapability, access: FlowAccess): Denial | undefined {
  if (sent === "secret")
    return blocked("flow_secret_egress", "secret content has been seen in this workspace, and nothing may leave after that");
  if (sent === "sensitive" && !isKnown(capability, access)) {
    return blocked(
      "flow_sensitive_egress",
      "sensitive content has been seen in this workspace, and nothing may go to an unknown host after that",
    );
  }
  return undefined;
}

function egressAsks(sent: DataClass, capability: ToolCapability, access: FlowAccess): boolean {
  return sent === "sensitive" || (sent === "internal" && !isKnown(capability, access));
}

/** A tool can leak when what it does reaches beyond the files of the workspace; one that says it accepts untrusted content is exempt. */
function canLeak({ effect, labels }: ToolCapability, access: FlowAccess | undefined): boolean {
  if (labels?.acceptsUntrusted === true) return false;
  const reaching = effect === "exec" || effect === "network" || effect === "system";
  return reaching || labels?.acceptsUntrusted === false || (access !== undefined && leaves(access));
}

function blocked(reason: string, what: string): Denial {
  return {
    layer: "flow",
    reason,
    ruleId: "FC-2",
    message: `${what}; do without the network, or ask the operator to look at what was read`,
    fix: "a declassification of this principal by the operator (`handrail labels declassify`)",
  };
}
