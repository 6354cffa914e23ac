/** What was decided about a call, for the handles of its tool: how to judge what turns up while it runs, and how to ask again. */
import type { Verdict } from "../../model/outcome/decision.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import { recheck } from "../ask/recheck.ts";
import type { PolicyJudge, TreeJudge } from "../call/judges.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Caller, Trail } from "../call/trail.ts";
import { judgeArtifactBy, judgeByPolicy, judgeTreeByPolicy } from "../judge/decide.ts";
import type { ArtifactJudge } from "./content-access.ts";

/** What was decided about the call, and how to ask again. */
export interface CallRules {
  readonly judge: PolicyJudge;
  /** The same for the many files of a tree. */
  readonly judgeTree: TreeJudge;
  readonly judgeArtifact: ArtifactJudge;
  readonly policy: PolicyEngine;
  /** Whether the call may still run now; asked after every wait. */
  readonly recheck: () => Promise<Verdict<undefined>>;
}

/** The rules of the call of `trail`, which `policy` allowed. */
export function callRules(parts: KernelParts, trail: Trail, caller: Caller, policy: PolicyEngine): CallRules {
  const tool = trail.tool as NonNullable<Trail["tool"]>;
  const nowMs = trail.receivedAtMs;
  return {
    policy,
    judge: judgeByPolicy(policy, caller, tool, nowMs),
    judgeTree: judgeTreeByPolicy(policy, caller, tool, nowMs),
    judgeArtifact: judgeArtifactBy(policy, caller, tool, nowMs),
    recheck: () => recheck(parts, trail, policy),
  };
}
