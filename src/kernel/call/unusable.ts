/**
 * Builds the denial that tells an agent that a configuration cannot be used.
 *
 * The operator's configuration is not the agent's to know: it is named, but its problems stay in the kernel's log. What
 * is wrong with the workspace's own files is told, because the agent works on it.
 */
import type { KernelError } from "../../base/errors.ts";
import type { Denial } from "../../model/outcome/decision.ts";

/** The denial that an unusable configuration answers every call with; `undefined` for any other error. */
export function unusable(error: KernelError): Denial | undefined {
  const told = TOLD[error.code]?.(error);
  return (
    told && { layer: "gates", reason: "tool_policy_invalid", ruleId: `CONFIG:${error.code.toLowerCase()}`, ...told }
  );
}

type Told = Pick<Denial, "message"> & { readonly fix: string };

const TOLD: Partial<Record<KernelError["code"], (error: KernelError) => Told>> = {
  POLICY_INVALID: () => ({
    message: "the operator's policy is not valid, so nothing is allowed; ask the operator to correct it",
    fix: "the operator runs `handrail policy check` and corrects what it names",
  }),
  CONFIG_INVALID: () => ({
    message:
      "the operator's configuration is not valid for this session, so nothing is allowed; ask the operator to correct it",
    fix: "the operator runs `handrail doctor` and corrects what it names, or what the kernel's log says",
  }),
  WORKSPACE_INVALID: (error) => ({
    message: `the workspace's own configuration is not valid, so nothing is allowed: ${error.message}`,
    fix: "correct the file that is named, outside of the kernel, and send the call again",
  }),
};
