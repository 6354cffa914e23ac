/** Which addresses are the public internet. */
import { isIP } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { networksOf } from "../../../../src/names/address-class.ts";
import { canonicalHost } from "../../../../src/names/host-name.ts";
import { addressProblem, hostProblem } from "../../../../src/sandbox/net/gate/address.ts";

const EDGES: Readonly<Record<string, readonly string[]>> = {
  unspecified: ["0.0.0.0", "::"],
  loopback: ["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"],
  private: [
    "10.0.0.0",
    "10.255.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.168.0.0",
    "192.168.255.255",
    "fc00::",
    "fdff::1",
    "fec0::1",
  ],
  link_local: ["169.254.0.0", "169.254.255.255", "fe80::1", "febf::1"],
  metadata: [
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "169.254.0.23",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "2002:a83f:8110::",
  ],
  shared: ["100.64.0.0", "100.127.255.255"],
  multicast: ["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff::"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1"],
  benchmarking: ["198.18.0.0", "198.19.255.255", "2001:2::1"],
  broadcast: ["255.255.255.255"],
  embeds_ipv4: [
    "::ffff:8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::8.8.8.8",
    "::ffff:0:808:808",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "2001::1",
    "2002:7f00:1::",
  ],
  reserved: [
    "0.0.0.1",
    "0.255.255.255",
    "192.0.0.1",
    "192.88.99.1",
    "240.0.0.0",
    "255.255.255.254",
    "100::1",
    "2001:1ff::1",
    "2001:20::1",
    "3ffe::1",
    "4000::",
    "5f00::1",
    "1::1",
  ],
  unreadable: [
    "",
    "localhost",
    "127.1",
    "0x7f000001",
    "2130706433",
    "fe80::1%eth0",
    "2606:4700::1%1",
    "[::1]",
    "1.2.3.4/8",
  ],
};
const PUBLIC = [
  ...[
    "1.0.0.0",
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
  ],
  ...[
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
  ],
  ...[
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00::",
    "2003::1",
    "3fff:1000::",
  ],
];

test("each kind of address that is not of the public internet is refused by its name, up to its borders", () => {
  for (const [problem, addresses] of Object.entries(EDGES)) {
    expect(addresses.map((address) => [address, addressProblem(address)])).toEqual(
      addresses.map((address) => [address, problem]),
    );
  }
  expect(PUBLIC.map((address) => [address, addressProblem(address)])).toEqual(
    PUBLIC.map((address) => [address, undefined]),
  );
});

test("no form of IPv6 brings an IPv4 address past the check", () => {
  const quads = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
  fc.assert(
    fc.property(
      quads,
      fc.constantFrom("::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "2002:"),
      (quad, prefix) => {
        const [a, b, c, d] = quad;
        const words = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const forms = prefix === "2002:" ? [`2002:${words}::`] : [`${prefix}${quad.join(".")}`, `${prefix}${words}`];
        for (const address of forms) {
          expect(isIP(address)).toBe(6);
          expect(addressProblem(address)).toBeDefined();
          expect(addressProblem(canonicalHost(address)?.host ?? "")).toBeDefined();
        }
      },
    ),
  );
});

test("of IPv6 only the range for global use passes, whatever the address", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (words) => {
      const address = words.map((word) => word.toString(16)).join(":");
      const isGlobal = ((words[0] ?? 0) & 0xe000) === 0x2000;
      if (!isGlobal) expect(addressProblem(address)).toBeDefined();
    }),
  );
});

test("networks that the machine itself is in are as near as private ones", () => {
  const own = networksOf(["93.184.216.10/24", "2606:2800:220:1::5/64"]);
  expect(
    ["93.184.216.34", "93.184.217.1", "2606:2800:220:1::ffff", "2606:2800:220:2::1"].map((address) =>
      addressProblem(address, own),
    ),
  ).toEqual(["own_network", undefined, "own_network", undefined]);
});

test("names for the machine or the network around it are not looked up", () => {
  const problem = (name: string) => hostProblem(canonicalHost(name) ?? { kind: "name", host: name });
  const names = [
    "localhost",
    "a.LOCALHOST.",
    "printer.local",
    "metadata.google.internal",
    "x.internal",
    "metadata.goog",
    "nas.home.arpa",
    "127.0.0.1",
    "[::1]",
  ];
  expect(names.map(problem)).toEqual([
    ...["loopback", "loopback", "link_local", "metadata", "private", "metadata", "private", "loopback", "loopback"],
  ]);
  expect(["localhost.example", "internal.example", "example.com", "arpa", "home.example"].map(problem)).toEqual(
    Array(5).fill(undefined),
  );
});
