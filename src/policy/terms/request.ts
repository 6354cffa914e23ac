/**
 * Defines a policy request: one access of one call, with everything that a rule may look at.
 *
 * Nothing is decided here. The values come from the kernel (session, workspace guard, labels), never from the agent
 * directly. Only `arguments` and the resource's own names carry what the agent wrote.
 *
 * INVARIANT: a request is plain data and is never changed.
 */

import type { Obligation } from "../../model/outcome/decision.ts";
import type { EffectClass } from "../../model/outcome/effect.ts";
import type { DataClass, TrustLevel } from "../../model/outcome/label.ts";
import type { Role } from "../../model/people/role.ts";
import type { Resource, WorkspaceRoot } from "../../model/place/access.ts";
import type { Zone } from "../../model/place/zone.ts";

/** A file as the workspace guard resolved it: `path` is relative to `root`, `.` is the root itself. */
export interface PolicyFile {
  readonly kind: "file";
  readonly path: string;
  readonly root: WorkspaceRoot;
  readonly zone: Zone;
}

/** Everything a policy can have as its resource. */
export type PolicyResource = PolicyFile | Exclude<Resource, { kind: "file" }>;

/** Kinds of resource; each is one entity type of the schema. */
export const RESOURCE_KINDS = ["file", "tool", "host", "command", "git_ref", "model", "package", "artifact"] as const;
/** One kind of resource. */
export type ResourceKind = PolicyResource["kind"];

/** Who acts: a session in its role. */
export interface PolicyPrincipal {
  readonly sessionId: string;
  readonly workspace: string;
  readonly agent: string;
  readonly user: string;
  readonly role: Role;
  readonly mode: string;
}

/** The circumstances of a call. */
export interface PolicyContext {
  readonly armed: boolean;
  readonly trust: TrustLevel;
  readonly dataClass: DataClass;
  /** Whether the call asks for the network. */
  readonly network: boolean;
  /** Seconds since the Unix epoch, whole. */
  readonly time: number;
  /** The call in full, as the kernel names it; absent where its resources say all of it, or nobody knows. */
  readonly call?: string;
  /** Whether the session works on a branch, whatever the call touches; not so where nothing is said. */
  readonly onBranch?: boolean;
  /**
   * Whether what runs is in a sandbox that reaches nothing, and what it does to files is judged before it lands; not so
   * where nothing is said.
   */
  readonly contained?: boolean;
  /** Whether its commands only look something up, such as `gh pr view`; not so where nothing is said. */
  readonly lookUp?: boolean;
}

/** The name of a call that has none: it is too long, or no text. */
export const UNNAMED_CALL = "?";

/** A value that policy text can compare. */
export type PolicyValue = string | number | boolean | readonly string[];

/** What the tool's own declaration asks for, with the rule that says so, such as `CAPABILITY:shell`. */
export interface CapabilityObligation {
  readonly obligation: Obligation;
  readonly ruleId: string;
  /** Why, for people. */
  readonly reason?: string;
}

/** One access of one call. */
export interface PolicyRequest {
  readonly principal: PolicyPrincipal;
  /** Name of the registered action: the tool, or one of its operations such as `git:push`. */
  readonly action: string;
  readonly tool: string;
  /** What happens to this very resource; a tool that executes may read one file and write another. */
  readonly effect: EffectClass;
  readonly resource: PolicyResource;
  readonly context: PolicyContext;
  /** Arguments by name; only those that the action declares reach policy. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly capabilityObligations?: readonly CapabilityObligation[];
  /** What happens stays on a branch until it is merged, so that rules which stage are met. */
  readonly isStaged?: boolean;
}
