/**
 * Which addresses and names an agent's traffic may go to: those of the public internet, and nothing else.
 *
 * Decides by the registries of special addresses, default deny: of IPv6 only the range that is given out for global use passes, and every form that
 * carries an IPv4 address (mapped, compatible, 6to4, Teredo, NAT64) is refused whatever it carries. INVARIANT: what cannot be read is refused.
 */
import { BlockList, isIP } from "node:net";
import type { CanonicalHost } from "../../../names/host-name.ts";

/** Why a host or an address is not reached. */
export type AddressProblem =
  | "unspecified"
  | "loopback"
  | "private"
  | "link_local"
  | "metadata"
  | "shared"
  | "multicast"
  | "documentation"
  | "benchmarking"
  | "broadcast"
  | "embeds_ipv4"
  | "reserved"
  | "own_network"
  | "own_port"
  | "unreadable";

/** In order: the first that holds an address names it. */
const KINDS: readonly (readonly [AddressProblem, readonly string[]])[] = [
  // of clouds: instances find their credentials there; the last two lie in ranges that are otherwise public or private
  ["metadata", ["169.254.169.254/32", "169.254.170.0/24", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"]],
  ["metadata", ["fd00:ec2::/32", "fd20:ce::254/128"]],
  ["unspecified", ["0.0.0.0/32", "::/128"]],
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"]],
  ["link_local", ["169.254.0.0/16", "fe80::/10"]],
  ["shared", ["100.64.0.0/10"]],
  ["documentation", ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"]],
  ["benchmarking", ["198.18.0.0/15", "2001:2::/48"]],
  ["broadcast", ["255.255.255.255/32"]],
  ["multicast", ["224.0.0.0/4", "ff00::/8"]],
  ["embeds_ipv4", ["::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16"]],
  // "this" network, protocol assignments, direct delegation and retired relays, future use; of IPv6 what the registries keep for protocols
  ["reserved", ["0.0.0.0/8", "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24", "240.0.0.0/4"]],
  ["reserved", ["2001::/23", "2620:4f:8000::/48", "3ffe::/16"]],
];

/** Networks by version: one list of both would take an address for its mapped form and the other way round. */
export interface Networks {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

const LISTS = KINDS.map(([problem, networks]) => [problem, networksOf(networks)] as const);
const GLOBAL = networksOf(["0.0.0.0/0", "2000::/3"]);

/** Names that stand for the machine itself or a network around it, wherever they lead. */
const LOCAL_NAMES: Readonly<Record<string, AddressProblem>> = {
  localhost: "loopback",
  localdomain: "loopback",
  local: "link_local",
  internal: "private",
  intranet: "private",
  lan: "private",
  home: "private",
  corp: "private",
  "home.arpa": "private",
};
const METADATA_NAMES = ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.azure.internal"];

/**
 * Why `address` is not reached, or `undefined` when it may be.
 * @param own networks that this machine is in: their public addresses are as near as private ones
 */
export function addressProblem(address: string, own?: Networks): AddressProblem | undefined {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return "unreadable";
  const family = version === 4 ? "ipv4" : "ipv6";
  for (const [problem, networks] of LISTS) if (networks[family].check(address, family)) return problem;
  if (!GLOBAL[family].check(address, family)) return "reserved";
  return own?.[family].check(address, family) ? "own_network" : undefined;
}

/** Why `host` is not even looked up, or `undefined`. */
export function hostProblem({ kind, host }: CanonicalHost, own?: Networks): AddressProblem | undefined {
  if (kind === "address") return addressProblem(host, own);
  if (METADATA_NAMES.includes(host)) return "metadata";
  const labels = host.split(".");
  return LOCAL_NAMES[labels.slice(-1).join(".")] ?? LOCAL_NAMES[labels.slice(-2).join(".")];
}

/** Where a server of the operator's own network lies. Never: where a cloud answers, and what stands for many or for nobody. */
const OF_OWN_NETWORKS: ReadonlySet<AddressProblem> = new Set(["private", "shared", "own_network"]);

/** Why a server that the operator opens is not reached at `address`, or `undefined` when it may be. */
export function privateAddressProblem(address: string, own?: Networks): AddressProblem | undefined {
  const problem = addressProblem(address, own);
  return problem !== undefined && OF_OWN_NETWORKS.has(problem) ? undefined : problem;
}

/** Why a server that the operator opens is not even looked up: names of this machine and of a cloud's metadata, whoever asks for them. */
export function privateHostProblem({ kind, host }: CanonicalHost, own?: Networks): AddressProblem | undefined {
  if (kind === "address") return privateAddressProblem(host, own);
  if (METADATA_NAMES.includes(host)) return "metadata";
  return LOCAL_NAMES[host.split(".").at(-1) ?? ""] === "loopback" ? "loopback" : undefined;
}

/** The networks that are written as `address/bits`. */
export function networksOf(written: readonly string[]): Networks {
  const networks = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of written) {
    const [address = "", bits] = network.split("/");
    const family = address.includes(":") ? "ipv6" : "ipv4";
    networks[family].addSubnet(address, Number(bits), family);
  }
  return networks;
}
