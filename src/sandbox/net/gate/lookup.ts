/**
 * The addresses of a host, looked up once and checked.
 *
 * Decides nothing about the host's name beyond that it stands for the internet, or for the one server that the operator
 * opened; who asks has decided before that it may be looked up at all, because a look-up already tells its name to
 * strangers. INVARIANT: one address that may not be reached refuses them all, so that no choice among them matters.
 */
import { Resolver } from "node:dns/promises";
import { networkInterfaces } from "node:os";

import { type Networks, networksOf } from "../../../names/address-class.ts";
import type { CanonicalHost } from "../../../names/host-name.ts";
import {
  type AddressProblem,
  addressProblem,
  hostProblem,
  openedAddressProblem,
  openedHostProblem,
  privateAddressProblem,
  privateHostProblem,
} from "./address.ts";

/** Milliseconds that looking a name up may take, all tries together. */
const EGRESS_LOOKUP_MS = 5000;
/** Milliseconds that one try of looking a name up may take before the next. */
const EGRESS_LOOKUP_TRY_MS = 1500;
/** Addresses of one name; a name with more is refused, because each is checked. */
const EGRESS_ADDRESSES_MAX = 64;

/**
 * Addresses of a name, of both versions; throws when there is no answer. It ends by itself, soon after the signal at
 * the latest.
 */
export type LookUp = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** What became of a look-up. */
export type Found =
  | { readonly kind: "addresses"; readonly addresses: readonly [string, ...string[]] }
  | { readonly kind: "refused"; readonly problem: AddressProblem; readonly address?: string }
  | { readonly kind: "unknown" };

/** How the addresses of a host are found and judged. */
export interface AddressRules {
  readonly lookUp: LookUp;
  /** The machine's own networks, which no host may lead to. */
  readonly own: Networks;
  /** Where else than in the public internet the operator says that this host may lie. */
  readonly near: Near;
}

/** `none`: nowhere else; `private`: in the operator's own network; `opened`: there, or on this machine. */
export type Near = "none" | "private" | "opened";

const PROBLEMS = {
  none: [hostProblem, addressProblem],
  private: [privateHostProblem, privateAddressProblem],
  opened: [openedHostProblem, openedAddressProblem],
} as const;

/** The addresses of `host` that are to be connected to, and no others. */
export async function checkedAddresses(host: CanonicalHost, rules: AddressRules, signal: AbortSignal): Promise<Found> {
  const { lookUp, own, near } = rules;
  const [ofHost, ofAddress] = PROBLEMS[near];
  const problem = ofHost(host, own);
  if (problem !== undefined)
    return { kind: "refused", problem, ...(host.kind === "address" && { address: host.host }) };
  if (host.kind === "address") return { kind: "addresses", addresses: [host.host] };
  const [first, ...rest] = await answers(host.host, lookUp, signal);
  if (first === undefined) return { kind: "unknown" };
  const addresses = [first, ...rest] as const;
  for (const address of addresses) {
    const refused = addresses.length > EGRESS_ADDRESSES_MAX ? "unreadable" : ofAddress(address, own);
    if (refused !== undefined) return { kind: "refused", problem: refused, address };
  }
  return { kind: "addresses", addresses };
}

async function answers(name: string, lookUp: LookUp, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await lookUp(name, AbortSignal.any([signal, AbortSignal.timeout(EGRESS_LOOKUP_MS)]));
  } catch {
    return []; // no answer is an answer: whoever asked is told that the name is not known
  }
}

/**
 * Asks name servers, past the machine's own tables of hosts, which name what is near. Not by the machine's library:
 * that waits in threads that everything else needs.
 * @param servers as `address:port`; the machine's when absent
 */
export function lookUpAt(servers?: readonly string[]): LookUp {
  return async (name, signal) => {
    const resolver = new Resolver({ timeout: EGRESS_LOOKUP_TRY_MS, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.throwIfAborted();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      if (v4.status === "rejected" && v6.status === "rejected") throw v4.reason;
      return [...(v4.status === "fulfilled" ? v4.value : []), ...(v6.status === "fulfilled" ? v6.value : [])];
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

/** The networks that this machine is in now. */
export function machineNetworks(): Networks {
  return networksOf(
    Object.values(networkInterfaces()).flatMap((interfaces) => (interfaces ?? []).flatMap(({ cidr }) => cidr ?? [])),
  );
}
