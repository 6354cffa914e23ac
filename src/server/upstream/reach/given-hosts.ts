/** Lets a server's process reach the hosts that the operator named, through the gate of commands. */
import type { EgressGrant } from "../../../sandbox/net/egress.ts";
import type { EgressAttempt } from "../../../sandbox/net/gate/attempt.ts";
import type { UpstreamRecord } from "../records/pins.ts";

/** The way out; none where the operator named no host. @param record called with each attempt; must not throw */
export function egressOf(
  { hosts = [] }: Pick<UpstreamRecord, "hosts">,
  record: (attempt: EgressAttempt) => void,
): EgressGrant | undefined {
  if (hosts.length === 0) return undefined;
  const granted = new Set(hosts);
  return {
    decide: (host, port) =>
      granted.has(`${host}:${port}`)
        ? { kind: "allow" }
        : { kind: "deny", message: `\`${host}:${port}\` is none of the hosts that the operator named for this server` },
    record,
  };
}
