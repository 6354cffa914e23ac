/**
 * Classifies addresses and host names: an agent's traffic may go to the public internet alone.
 *
 * It decides by the registries of special addresses, default deny. Of IPv6 only the range that is given out for global
 * use passes, and every form that carries an IPv4 address (mapped, compatible, 6to4, Teredo, NAT64) is refused whatever
 * it carries.
 *
 * INVARIANT: what cannot be read is refused.
 */
import {
  type AddressClass,
  classOfAddress,
  classOfHost,
  type Networks,
  type SpecialClass,
} from "../../../names/address-class.ts";
import type { CanonicalHost } from "../../../names/host-name.ts";

/** Why a host or an address is not reached. */
export type AddressProblem = SpecialClass | "own_network" | "own_port";

/**
 * Why `address` is not reached, or `undefined` when it may be.
 * @param own networks that this machine is in: their public addresses are as near as private ones
 */
export function addressProblem(address: string, own?: Networks): AddressProblem | undefined {
  const problem = problemOf(classOfAddress(address));
  if (problem !== undefined) return problem;
  const family = address.includes(":") ? "ipv6" : "ipv4";
  return own?.[family].check(address, family) ? "own_network" : undefined;
}

/** Why `host` is not even looked up, or `undefined`. */
export function hostProblem(host: CanonicalHost, own?: Networks): AddressProblem | undefined {
  return host.kind === "address" ? addressProblem(host.host, own) : problemOf(classOfHost(host));
}

function problemOf(found: AddressClass): AddressProblem | undefined {
  return found === "public" ? undefined : found;
}

/**
 * Where a server of the operator's own network lies. Never: where a cloud answers, and what stands for many or for
 * nobody.
 */
const OF_OWN_NETWORKS: ReadonlySet<AddressProblem> = new Set(["private", "shared", "own_network"]);

/** Why a server that the operator opens is not reached at `address`, or `undefined` when it may be. */
export function privateAddressProblem(address: string, own?: Networks): AddressProblem | undefined {
  const problem = addressProblem(address, own);
  return problem !== undefined && OF_OWN_NETWORKS.has(problem) ? undefined : problem;
}

/** Why a server that the operator opens for fetching is not reached at `address`: this machine is its own to open. */
export function openedAddressProblem(address: string, own?: Networks): AddressProblem | undefined {
  const problem = privateAddressProblem(address, own);
  return problem === "loopback" ? undefined : problem;
}

/** Why such a server is not even looked up. */
export function openedHostProblem(host: CanonicalHost, own?: Networks): AddressProblem | undefined {
  const problem = host.kind === "address" ? openedAddressProblem(host.host, own) : hostProblem(host);
  return problem === "metadata" || host.kind === "address" ? problem : undefined;
}

/**
 * Why a server that the operator opens is not even looked up: names of this machine and of a cloud's metadata, whoever
 * asks for them.
 */
export function privateHostProblem(host: CanonicalHost, own?: Networks): AddressProblem | undefined {
  if (host.kind === "address") return privateAddressProblem(host.host, own);
  const problem = hostProblem(host);
  return problem === "metadata" || problem === "loopback" ? problem : undefined;
}
