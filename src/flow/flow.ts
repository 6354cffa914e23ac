/**
 * Flow control: what may leave, given what the principal has seen.
 *
 * Decides by the mark that follows a principal in a workspace, by where an access leads, and by what the tool declares.
 * Pure. INVARIANT: what cannot be judged counts as leaving to an unknown place; a rule here only ever denies or asks.
 */

import { allow, type Denial, deny, type Obligation, type Verdict } from "../model/outcome/decision.ts";
import type { EffectClass } from "../model/outcome/effect.ts";
import type { DataClass, Mark } from "../model/outcome/label.ts";
import type { ToolCapability } from "../model/tool/capability.ts";
import { isKnownHost } from "../names/host.ts";

/** The mark of a principal that has seen nothing but what its user told it. */
export const INITIAL_MARK: Mark = { trustLevel: "user", dataClass: "internal" };

/** As much of an access as flow control looks at. */
export interface FlowAccess {
  readonly effect: EffectClass;
  readonly resource: { readonly kind: string; readonly host?: string; readonly provider?: string };
  /** What is written or sent there holds a definite secret. */
  readonly carriesSecret?: boolean;
  /** It is only asked what it has: nothing that was seen goes there, so no person is asked. Denials stay. */
  readonly sendsNothing?: boolean;
}

/** What flow control wants to happen before a call runs; an operator's permit may waive it by its rule. */
export interface FlowObligation {
  readonly obligation: Obligation;
  readonly ruleId: "FC-2" | "FC-3" | "FC:secret-write";
}

/**
 * Refuses what no person can allow either: secrets to anywhere, whether they were seen or stand in the call itself;
 * what is sensitive to an unknown host or provider (FC-2), and untrusted content into a tool that refuses it (FC-3). A
 * secret of the operator's is named in the call, and put in for the host that it is bound to.
 */
export function judgeFlow(mark: Mark, capability: ToolCapability, accesses: readonly FlowAccess[]): Verdict<undefined> {
  for (const access of accesses) {
    if (access.carriesSecret === true && leaves(access)) return deny(CARRIED);
    const denial = leaves(access) ? egressDenial(mark.dataClass, capability, access) : undefined;
    if (denial) return deny(denial);
  }
  if (
    mark.trustLevel === "untrusted" &&
    capability.effect === "exec" &&
    capability.labels?.acceptsUntrusted === false
  ) {
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

/**
 * What must happen first because of what the principal has seen: FC-2 for what leaves, FC-3 for tools that can leak; or
 * because of what the call carries: FC:secret-write for a definite secret.
 */
export function flowObligations(
  mark: Mark,
  capability: ToolCapability,
  access: FlowAccess | undefined,
): readonly FlowObligation[] {
  const asksEgress =
    access !== undefined &&
    access.sendsNothing !== true &&
    leaves(access) &&
    egressAsks(mark.dataClass, capability, access);
  const asksLeak = mark.trustLevel === "untrusted" && canLeak(capability, access);
  const asksSecret = access?.carriesSecret === true;
  if (!asksEgress && !asksLeak && !asksSecret) return NONE;
  return [...(asksEgress ? [EGRESS] : []), ...(asksLeak ? [LEAK] : []), ...(asksSecret ? [SECRET_WRITE] : [])];
}

const NONE: readonly FlowObligation[] = [];
const EGRESS: FlowObligation = { obligation: "ask", ruleId: "FC-2" };
/**
 * Asks about a tool that can leak after untrusted content: about the call, and so alike about everything that it
 * touches.
 */
export const LEAK_RULE = "FC-3";
const LEAK: FlowObligation = { obligation: "ask", ruleId: LEAK_RULE };
const SECRET_WRITE: FlowObligation = { obligation: "ask", ruleId: "FC:secret-write" };

/** Whether what the call sends leaves the machine. */
function leaves({ effect, resource }: FlowAccess): boolean {
  return effect === "network" || resource.kind === "host" || resource.kind === "model";
}

function isKnown({ network }: ToolCapability, { resource }: FlowAccess): boolean {
  if (resource.kind === "model") return network?.allowedProviders?.includes(resource.provider ?? "") === true;
  return resource.kind === "host" && isKnownHost(resource.host ?? "", network?.allowedHosts ?? []);
}

/**
 * A model is asked for by its provider. Where nobody has said which providers are known, a person is asked about each.
 */
function isUnknown(capability: ToolCapability, access: FlowAccess): boolean {
  if (access.resource.kind === "model" && capability.network?.allowedProviders === undefined) return false;
  return !isKnown(capability, access);
}

function egressDenial(sent: DataClass, capability: ToolCapability, access: FlowAccess): Denial | undefined {
  if (sent === "secret")
    return blocked(
      "flow_secret_egress",
      "secret content has been seen in this workspace, and nothing may leave after that",
    );
  if (sent === "sensitive" && isUnknown(capability, access)) {
    const where = access.resource.kind === "model" ? "a provider" : "a host";
    return blocked(
      "flow_sensitive_egress",
      `sensitive content has been seen in this workspace, and nothing may go to ${where} that is not known after that`,
    );
  }
  return undefined;
}

/**
 * What leaves holds a definite secret. A placeholder or a name is none: the kernel puts the value in, towards its
 * binding alone.
 */
export const CARRIED: Denial = {
  layer: "flow",
  reason: "flow_secret_egress",
  ruleId: "FC:secret-egress",
  message:
    "the arguments hold a secret, and nothing that leaves may; name it instead, as `{{secret:NAME}}` or by its variable in a command",
  fix: "the secret bound to that host by the operator (`handrail secrets add`), or an entry in `redaction.allow` if it is none",
};

function egressAsks(sent: DataClass, capability: ToolCapability, access: FlowAccess): boolean {
  return sent === "sensitive" || (sent === "internal" && !isKnown(capability, access));
}

/**
 * A tool can leak when what it does reaches beyond the files of the workspace; one that says it accepts untrusted
 * content is exempt.
 */
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
