/** Defines by what of the configuration in force upstream servers are reached. */

import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { BrokeredSecret } from "../../../model/reach/secrets.ts";
import type { SecretBroker } from "../../../sandbox/net/broker/broker.ts";
import type { EgressNetwork } from "../../../sandbox/net/gate/admission.ts";
import type { EgressAttempt } from "../../../sandbox/net/gate/attempt.ts";
import type { OperatorDirectory } from "../../operator/operator-directory.ts";

/** The configuration in force, and where what was tried is recorded. */
export interface UpstreamMeans {
  readonly operator: () => OperatorDirectory;
  /** The secrets whose values are hidden now; none where the operator names none. */
  readonly broker: () => Promise<SecretBroker | undefined>;
  /** The machine's own network when absent. */
  readonly network?: EgressNetwork;
  /** Records an attempt of that server; must not throw. */
  readonly record: (server: string, attempt: EgressAttempt) => void;
}

/** The secret of that name with its value. @throws ToolFailure PERMISSION_DENIED where it has none now */
export function secretOf(broker: SecretBroker | undefined, name: string): BrokeredSecret & { readonly value: string } {
  const secret = broker?.secrets.find((one) => one.name === name);
  if (secret?.value !== undefined) return { ...secret, value: secret.value };
  throw new FailureWithoutEffect(
    "PERMISSION_DENIED",
    `the secret \`${name}\` of the server cannot be read`,
    `tell the operator: \`handrail secrets check ${name}\` says why`,
  );
}
