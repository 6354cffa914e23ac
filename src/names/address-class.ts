/**
 * Classifies hosts and addresses: the public internet, or which special range or name. Every gate decides from this one
 * table.
 *
 * Pure: no name is resolved here, so whoever resolves a name classifies its addresses too. `node:net` serves for
 * `BlockList` and `isIP`, which open nothing. INVARIANTS: default deny: what cannot be read is not public, and of IPv6
 * only the range for global use is. An address that carries an IPv4 address is not public whatever it carries, and a
 * metadata service when that is one.
 */
import { BlockList, isIP } from "node:net";
import { type CanonicalHost, canonicalHost } from "./host-name.ts";

/** What an address or a name is, when it is not of the public internet. */
export type SpecialClass =
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
  | "unreadable";

/** What an address or a name is. */
export type AddressClass = "public" | SpecialClass;

/** Networks by version: one list of both would take an address for its mapped form and the other way round. */
export interface Networks {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

/** A row of the registry: class, source, networks; for networks that carry an IPv4 address, at which octets. */
type Row = readonly [
  kind: SpecialClass,
  source: string,
  networks: readonly string[],
  carried?: readonly (readonly number[])[],
];

const LAST_FOUR = [[12, 13, 14, 15]] as const;
/** A network of one's own chooses how long the prefix of its NAT64 is (RFC 6052, section 2.2). */
const ANY_PREFIX = [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], ...LAST_FOUR] as const;

/** In order: the first row that holds an address names it. */
const RANGES: readonly Row[] = [
  // Instances find their credentials at metadata services; some of these lie in ranges that are otherwise public or
  // private.
  ["metadata", "AWS, Azure, Google Cloud, Oracle, OpenStack and others", ["169.254.169.254/32", "fe80::a9fe:a9fe/128"]],
  ["metadata", "AWS: ECS and EKS credentials; EC2, ECS and EKS over IPv6", ["169.254.170.0/24", "fd00:ec2::/32"]],
  ["metadata", "Alibaba Cloud", ["100.100.100.200/32"]],
  ["metadata", "Azure: services of the machine's host", ["168.63.129.16/32"]],
  ["metadata", "Google Cloud over IPv6", ["fd20:ce::254/128"]],
  ["metadata", "Oracle Cloud", ["192.0.0.192/32"]],
  ["metadata", "Tencent Cloud", ["169.254.0.23/32"]],
  ["unspecified", "RFC 1122, RFC 4291", ["0.0.0.0/32", "::/128"]],
  ["loopback", "RFC 1122, RFC 4291", ["127.0.0.0/8", "::1/128"]],
  ["private", "RFC 1918", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]],
  ["private", "RFC 4193; RFC 3879 for the retired site-local range", ["fc00::/7", "fec0::/10"]],
  ["link_local", "RFC 3927, RFC 4291", ["169.254.0.0/16", "fe80::/10"]],
  ["shared", "RFC 6598", ["100.64.0.0/10"]],
  ["documentation", "RFC 5737", ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"]],
  ["documentation", "RFC 3849, RFC 9637", ["2001:db8::/32", "3fff::/20"]],
  ["benchmarking", "RFC 2544, RFC 5180", ["198.18.0.0/15", "2001:2::/48"]],
  ["broadcast", "RFC 8190", ["255.255.255.255/32"]],
  ["multicast", "RFC 5771, RFC 4291", ["224.0.0.0/4", "ff00::/8"]],
  [
    "embeds_ipv4",
    "RFC 4291, RFC 2765: compatible, mapped, translated",
    ["::/96", "::ffff:0:0/96", "::ffff:0:0:0/96"],
    LAST_FOUR,
  ],
  ["embeds_ipv4", "RFC 6052: NAT64", ["64:ff9b::/96"], LAST_FOUR],
  ["embeds_ipv4", "RFC 8215: NAT64 of a network's own", ["64:ff9b:1::/48"], ANY_PREFIX],
  ["embeds_ipv4", "RFC 4380: Teredo, its server and its client, inverted", ["2001::/32"], [[4, 5, 6, 7], ...LAST_FOUR]],
  ["embeds_ipv4", "RFC 3056: 6to4", ["2002::/16"], [[2, 3, 4, 5]]],
  ["reserved", "RFC 791: this network", ["0.0.0.0/8"]],
  ["reserved", "RFC 6890, RFC 2928: protocol assignments", ["192.0.0.0/24", "2001::/23"]],
  ["reserved", "RFC 7534, RFC 7535: AS112", ["192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"]],
  ["reserved", "RFC 7450: multicast tunnels", ["192.52.193.0/24"]],
  ["reserved", "RFC 7526: retired 6to4 relays", ["192.88.99.0/24"]],
  ["reserved", "RFC 1112: future use", ["240.0.0.0/4"]],
  ["reserved", "RFC 3701: retired test network", ["3ffe::/16"]],
];

/** The last labels of names that stand for the machine itself or a network around it, wherever they lead. */
const LOCAL_NAMES: Readonly<Record<string, SpecialClass>> = {
  localhost: "loopback", // RFC 6761
  localdomain: "loopback", // the usual end of `localhost.localdomain`
  local: "link_local", // RFC 6762
  internal: "private", // reserved by ICANN for private use
  "home.arpa": "private", // RFC 8375
  // RFC 6762, appendix G: names that networks use for themselves
  intranet: "private",
  private: "private",
  lan: "private",
  home: "private",
  corp: "private",
};
const METADATA_NAMES: ReadonlySet<string> = new Set([
  ...["metadata", "instance-data", "instance-data.ec2.internal"],
  ...["metadata.google.internal", "metadata.goog", "metadata.azure.internal", "metadata.tencentyun.com"],
]);

const LISTS = RANGES.map(([kind, , networks, carried]) => ({ kind, networks: networksOf(networks), carried }));
const GLOBAL = networksOf(["0.0.0.0/0", "2000::/3"]);

/** The class of `host`, by its name alone if it has one. */
export function classOfHost({ kind, host }: CanonicalHost): AddressClass {
  if (kind === "address") return classOfAddress(host);
  if (METADATA_NAMES.has(host)) return "metadata";
  const labels = host.split(".");
  return LOCAL_NAMES[labels.slice(-1).join(".")] ?? LOCAL_NAMES[labels.slice(-2).join(".")] ?? "public";
}

/** The class of an address without brackets; one with a zone is unreadable. */
export function classOfAddress(address: string): AddressClass {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return "unreadable";
  const family = version === 4 ? "ipv4" : "ipv6";
  const row = LISTS.find(({ networks }) => networks[family].check(address, family));
  if (row?.carried !== undefined) return carriesMetadata(address, row.carried) ? "metadata" : row.kind;
  return row?.kind ?? (GLOBAL[family].check(address, family) ? "public" : "reserved");
}

/** Both as it stands there and inverted: what tunnels hide is read in every way. */
function carriesMetadata(address: string, places: readonly (readonly number[])[]): boolean {
  const octets = octetsOf(address);
  const carried = places.map((place) => place.map((at) => octets[at] ?? 0));
  const inverted = carried.map((four) => four.map((octet) => octet ^ 0xff));
  return [...carried, ...inverted].some((four) => classOfAddress(four.join(".")) === "metadata");
}

/** The sixteen octets of an IPv6 address; a URL writes it in groups and leaves out one run of zeros. */
function octetsOf(address: string): readonly number[] {
  const [before = "", after] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [start, end] = [read(before), read(after ?? "")];
  const groups = [...start, ...new Array<number>(8 - start.length - end.length).fill(0), ...end];
  return groups.flatMap((group) => [group >>> 8, group & 0xff]);
}

/** Where a name leads as far as it says. */
export type HostPlace = "public" | "private" | "metadata";

/**
 * Where `host`, in whatever spelling, leads. Only a host in a form that all programs read alike is public; an odd
 * spelling of an address (`0x7f.1`, `2130706433`) is private, or a metadata service where a browser would read one.
 */
export function placeOfHost(host: string): HostPlace {
  const canonical = canonicalHost(host);
  const read = canonical ?? asBrowserReads(host);
  const found = read === undefined ? "unreadable" : classOfHost(read);
  if (found === "metadata") return "metadata";
  return found === "public" && canonical !== undefined ? "public" : "private";
}

function asBrowserReads(host: string): CanonicalHost | undefined {
  const bare = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  if (/[/?#@\\\s]/.test(bare) || bare === "") return undefined;
  const url = URL.parse(`http://${bare}/`);
  return url === null || url.port !== "" ? undefined : canonicalHost(url.hostname);
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
