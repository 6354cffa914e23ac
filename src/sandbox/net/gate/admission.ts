/**
 * Decides whether a host and port may be reached, and at which addresses.
 *
 * It is the one gate for everything that leaves. It decides in this order: ports that are closed for all, what the call
 * may reach, what the name stands for. It trusts the decision that is handed in for the second, and nobody for the
 * third.
 *
 * INVARIANTS: a host that was not allowed is not looked up, so that no name leaves as a question. A decision that fails
 * denies.
 */

import type { Networks } from "../../../names/address-class.ts";
import type { CanonicalHost } from "../../../names/host-name.ts";
import type { AddressProblem } from "./address.ts";
import type { EgressReason } from "./attempt.ts";
import type { Connect } from "./connection.ts";
import { checkedAddresses, type LookUp } from "./lookup.ts";
import type { SecureWay } from "./secure-way.ts";

/** What a decision says. `message` is safe for the agent, and says what to do. */
export type EgressVerdict = { readonly kind: "allow" } | { readonly kind: "deny"; readonly message: string };

/** Decides on a host in its one form. */
export type DecideEgress = (host: string, port: number) => EgressVerdict | Promise<EgressVerdict>;

/** What may be reached. */
export interface EgressRules {
  readonly decide: DecideEgress;
  /** Closed whatever is decided. */
  readonly blockedPorts: readonly number[];
  /** Where it is there, nothing else leaves. */
  readonly secure?: SecureWay;
  /** The operator opened this very server for fetching, wherever it is. */
  readonly isOpened?: boolean;
}

/** How the machine's network is used. */
export interface EgressNetwork {
  readonly lookUp: LookUp;
  readonly connect: Connect;
  readonly ownNetworks: () => Networks;
  /** Whether this process itself listens at a port of an address; where that cannot be found out it does. */
  readonly isOwnPort: (address: string, port: number) => boolean;
}

/** Ports that are closed where nobody says otherwise: remote shells and desktops, and mail. */
export const BLOCKED_PORTS: readonly number[] = [22, 23, 25, 3389];

/** Where to. */
export interface Target {
  readonly host: CanonicalHost;
  readonly port: number;
}

/** Why something is not passed on; `status` is HTTP's. */
export interface EgressRefusal {
  readonly kind: "refusal";
  readonly outcome: "refused" | "failed";
  readonly status: 400 | 403 | 408 | 431 | 502 | 503 | 504;
  readonly reason: EgressReason;
  /** For the agent. */
  readonly message: string;
  readonly address?: string;
  /** Names of the secrets that were on their way. */
  readonly secrets?: readonly string[];
}

/** May be reached, at one of these addresses. */
export interface Admitted {
  readonly kind: "admitted";
  readonly addresses: readonly [string, ...string[]];
}

/** Whether `target` may be reached. */
export async function admit(
  target: Target,
  { rules, network }: { readonly rules: EgressRules; readonly network: EgressNetwork },
  signal: AbortSignal,
): Promise<Admitted | EgressRefusal> {
  const { host, port } = target;
  const name = host.host;
  if (rules.blockedPorts.includes(port))
    return refused("blocked_port", `port \`${port}\` is closed for every host; use https`);
  const verdict = await decided(rules.decide, name, port);
  if (verdict === undefined)
    return refused("undecided", `it could not be decided whether \`${name}\` may be reached; tell the operator`);
  if (verdict.kind === "deny") return refused("denied", verdict.message);
  const near = rules.isOpened === true ? "opened" : rules.secure?.isPrivate === true ? "private" : "none";
  const found = await checkedAddresses(host, { lookUp: network.lookUp, own: network.ownNetworks(), near }, signal);
  switch (found.kind) {
    case "addresses":
      for (const address of found.addresses)
        if (near !== "none" && network.isOwnPort(address, port))
          return { ...refused("address_own_port", notOurs(name, port)), address };
      return { kind: "admitted", addresses: found.addresses };
    case "unknown":
      return failed(
        "unknown_host",
        `no address is known for \`${name}\`; look at how it is written, or try again in a moment`,
      );
    case "refused":
      return {
        ...refused(`address_${found.problem}`, notPublic(name, found.problem)),
        ...(found.address !== undefined && { address: found.address }),
      };
  }
}

async function decided(decide: DecideEgress, host: string, port: number): Promise<EgressVerdict | undefined> {
  try {
    return await decide(host, port);
  } catch {
    return undefined; // recorded as undecided, and denied
  }
}

/** The refusal of what may not be reached. */
export function refused(reason: EgressReason, message: string): EgressRefusal {
  return { kind: "refusal", outcome: "refused", status: 403, reason, message };
}

/** The refusal of what could not be reached. */
export function failed(reason: EgressReason, message: string): EgressRefusal {
  return { kind: "refusal", outcome: "failed", status: reason === "timeout" ? 504 : 502, reason, message };
}

function notOurs(name: string, port: number): string {
  return `\`${name}\` leads to port \`${port}\` of the kernel itself, which nothing in the sandbox may reach; use the server's own address`;
}

/** Says no address: what a name stands for inside the machine's network is not the agent's to learn. */
function notPublic(name: string, problem: AddressProblem): string {
  const where =
    problem === "unreadable"
      ? "an address that cannot be read"
      : `an address that is not public (${problem.replaceAll("_", " ")})`;
  return `\`${name}\` leads to ${where}, which nothing in the sandbox may reach; use a host of the internet`;
}
