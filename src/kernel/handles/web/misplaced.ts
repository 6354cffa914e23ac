/** Refuses a call that uses a secret outside its binding, or whose secret cannot be read. */
import { FailureWithoutEffect, Refusal } from "../../../model/outcome/failure.ts";
import { SecretMisplaced } from "../../../sandbox/net/fetch/hop-secrets.ts";

/** The reason of such a refusal. */
export const MISMATCH = "secret_binding_mismatch";

/** `error` as the call ends by it; any other error is handed back. */
export function misplaced(error: unknown): unknown {
  if (!(error instanceof SecretMisplaced)) return error;
  const { kind, secret, message } = error.problem;
  if (kind === "unavailable")
    return new FailureWithoutEffect("PERMISSION_DENIED", message, "ask the operator to run `handrail secrets check`");
  return new Refusal({
    layer: "flow",
    reason: MISMATCH,
    ruleId: `SECRET:${secret}`,
    message,
    fix: `a binding of \`${secret}\` for this request, under \`secrets\` in handrail.yaml`,
  });
}
