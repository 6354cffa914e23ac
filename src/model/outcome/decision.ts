/**
 * Decisions of the stages as values. A stage answers with what it learned or with a `Denial`; only bugs throw.
 *
 * Reasons are the frozen lower-case codes; on the wire they appear in upper case as `rationale_code` (CTR-0027).
 */

/** The stage that refused. */
export type Layer =
  | "validate"
  | "authenticate"
  | "gates"
  | "scope"
  | "workspace"
  | "policy"
  | "flow"
  | "approval"
  | "budget"
  | "call";

/** What must happen before an allowed call runs. */
export type Obligation = "ask" | "arm" | "stage";

/** One broken rule of a request (CTR-0031, CTR-0032). `field` is written as `file_read.path` or `shell_exec.env[3]`. */
export interface Violation {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** A refusal: who refused, by which rule, why, and the narrowest change that would allow the call. */
export interface Denial {
  readonly layer: Layer;
  /** Lower-case reason such as `workspace_blocked_zone`. */
  readonly reason: string;
  /**
   * Id of the deciding rule: a policy's `@id`, `INV-0007`, `LEASE:<id>`, `RBAC:<tool>`, `DEFAULT_DENY` … (CTR-0026).
   */
  readonly ruleId: string;
  /** For people: what happened and what to do next (CTR-0028). */
  readonly message: string;
  readonly fix?: string;
  readonly violations?: readonly Violation[];
  readonly approvalRef?: string;
  /** meao's id of the kind of request, `<tool>:execute` or `<tool>:danger`, for evidence. */
  readonly approvalId?: string;
  /** Program and arguments that a rule about commands refused, for the security audit; never shown. */
  readonly command?: readonly string[];
  /**
   * What was asked for, for the security audit and the operator's advice; never shown to the agent. Relative to its
   * root inside the workspace, absolute outside.
   */
  readonly targetPath?: string;
}

/** Either a value or a refusal. */
export type Verdict<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly denial: Denial };

/** The verdict that goes on with `value`. */
export function allow<T>(value: T): Verdict<T> {
  return { ok: true, value };
}

/** The verdict that ends the call. */
export function deny(denial: Denial): { readonly ok: false; readonly denial: Denial } {
  return { ok: false, denial };
}
