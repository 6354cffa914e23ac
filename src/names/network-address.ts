/**
 * What a host's name alone says about where it leads: to this machine, to a private network, to a cloud's metadata.
 *
 * Pure: no name is resolved here, so that a name which leads there by its address is met by whoever resolves it. Odd
 * spellings of addresses (`0x7f.1`, `2130706433`, `[::ffff:127.0.0.1]`) are read as a browser reads them.
 * INVARIANT: a name that cannot be read as a host is private.
 */

/** Where a name leads as far as it says. */
export type HostPlace = "public" | "private" | "metadata";

const METADATA_NAMES: ReadonlySet<string> = new Set(["metadata", "metadata.google.internal", "metadata.goog", "instance-data"]);
/** Addresses of metadata services: most clouds, Alibaba, AWS over IPv6. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192"]);
const METADATA_IPV6 = "fd00:ec2:0:0:0:0:0:254";
/** Names that never leave the machine or its network (RFC 6761, RFC 6762, RFC 8375). */
const LOCAL_SUFFIXES = ["localhost", "local", "internal", "home.arpa"];

/** IPv4 networks that are not the internet (RFC 6890), as address and number of leading bits. */
const PRIVATE_IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Where `host`, a name or an address with or without brackets, leads. */
export function placeOfHost(host: string): HostPlace {
  const name = normalised(host);
  if (name === undefined) return "private";
  if (name.startsWith("[")) return placeOfIpv6(name.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(name)) return placeOfIpv4(name);
  if (METADATA_NAMES.has(name)) return "metadata";
  return LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`)) ? "private" : "public";
}

/** Ordinary names, which a URL leaves as they are: their last label has letters alone, and so is no part of an address. */
const ORDINARY_NAME = /^(?:(?!xn--)[a-z0-9-]{1,63}\.){1,16}[a-z]{2,63}$/;

/** The host as a URL has it: lower case, addresses in their usual form, without the dot of the root. */
function normalised(host: string): string | undefined {
  if (ORDINARY_NAME.test(host)) return host;
  const bare = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  if (/[/?#@\\\s]/.test(bare) || bare === "") return undefined;
  const url = URL.parse(`http://${bare}/`);
  if (url === null || url.port !== "") return undefined;
  return url.hostname.replace(/\.$/, "");
}

function placeOfIpv4(address: string): HostPlace {
  if (METADATA_ADDRESSES.has(address)) return "metadata";
  const value = numberOf(address);
  return PRIVATE_IPV4.some(([network, bits]) => value >>> (32 - bits) === numberOf(network) >>> (32 - bits)) ? "private" : "public";
}

function numberOf(address: string): number {
  return address.split(".").reduce((value, part) => ((value << 8) | Number(part)) >>> 0, 0);
}

/** Only global unicast (2000::/3) is the internet, and of that not what carries an IPv4 address or is for documents. */
function placeOfIpv6(address: string): HostPlace {
  const groups = groupsOf(address);
  if (groups.map((group) => group.toString(16)).join(":") === METADATA_IPV6) return "metadata";
  const [first = 0, second = 0] = groups;
  const carried = carriedIpv4(groups);
  if (carried !== undefined) return placeOfIpv4(carried);
  const isUnicast = first >>> 13 === 1;
  const isSpecial = first === 0x2001 && (second < 0x200 || second === 0xdb8);
  return isUnicast && !isSpecial && first !== 0x3fff ? "public" : "private";
}

/** The IPv4 address inside: mapped, compatible, NAT64 (RFC 6052), 6to4. */
function carriedIpv4(groups: readonly number[]): string | undefined {
  const [first = 0, second = 0, third = 0, ...rest] = groups;
  if (first === 0x2002) return dotted(second, third);
  const [high = 0, low = 0] = rest.slice(3);
  const middle = [third, ...rest.slice(0, 3)];
  if (first === 0x64 && second === 0xff9b && middle.every((group) => group === 0)) return dotted(high, low);
  if (first !== 0 || second !== 0 || middle.slice(0, 2).some((group) => group !== 0)) return undefined;
  const [, , beforeLast = 0, last = 0] = middle;
  const isMapped = (beforeLast === 0 && (last === 0xffff || last === 0)) || (beforeLast === 0xffff && last === 0);
  return isMapped ? dotted(high, low) : undefined;
}

function dotted(high: number, low: number): string {
  return [high >>> 8, high & 255, low >>> 8, low & 255].join(".");
}

/** Eight groups; a URL leaves out one run of zeros. */
function groupsOf(address: string): readonly number[] {
  const [before = "", after] = address.split("::");
  const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [start, end] = [read(before), read(after ?? "")];
  return [...start, ...new Array<number>(after === undefined ? 0 : 8 - start.length - end.length).fill(0), ...end];
}
