/** Defines a tool's declaration of itself, in meao's shape with the additions of the tool kernel. */

import type { EffectClass } from "../outcome/effect.ts";
import type { DataClass, TrustLevel } from "../outcome/label.ts";
import type { Role } from "../people/role.ts";
import type { BudgetMember } from "../spending/budget.ts";

/** A tool's declaration: approval level, sandbox, network rules, labels, audit rules, required role. */
export interface ToolCapability {
  readonly effect: EffectClass;
  readonly risk: "low" | "medium" | "high";
  readonly approval: {
    readonly level: "auto" | "ask" | "always_deny";
    readonly dangerPatterns?: readonly RegExp[];
    readonly conditions?: {
      readonly methodRequiresApproval?: readonly string[];
      readonly unknownHostRequiresApproval?: boolean;
    };
  };
  readonly requiresArming?: boolean;
  /**
   * The tool itself bounds what it answers, by what the caller asked for or by a limit of its own, so that all of a
   * result is shown, up to what fits an answer.
   */
  readonly sizesResult?: true;
  /** It removes the files that it names: what could not be brought back is asked about. */
  readonly deletes?: true;
  readonly requiredRole?: Role;
  /** Only sessions that were made with this mode may use it. */
  readonly requiredMode?: string;
  /** The unit in which a call answers what it spent (`budget_consumed`); that of its effect class when absent. */
  readonly budgetUnit?: BudgetMember;
  readonly execution?: {
    readonly sandbox: "none" | "process" | "container";
    readonly networkDefault?: "none" | "proxy";
    /**
     * Managed directories, by name, that commands of this tool may write: what is installed belongs to whoever
     * installs.
     */
    readonly manages?: readonly ["node_modules"];
  };
  readonly network?: {
    readonly mode: "none" | "allowlist" | "any";
    readonly allowedHosts?: readonly string[];
    /** Providers of models that are known; absent: nobody has said which, so that each is asked about. */
    readonly allowedProviders?: readonly string[];
    readonly blockedPorts?: readonly number[];
    readonly blockPrivateIPs?: boolean;
    readonly blockMetadataEndpoints?: boolean;
  };
  readonly labels?: {
    readonly outputTrust?: Exclude<TrustLevel, "system">;
    readonly outputDataClass?: DataClass;
    readonly acceptsUntrusted?: boolean;
  };
  readonly audit?: { readonly logArgs?: boolean; readonly logOutput?: false };
}
