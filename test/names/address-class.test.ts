// Where a host's name leads as far as the name says.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { placeOfHost } from "../../src/names/address-class.ts";
import { canonicalHost } from "../../src/names/host-name.ts";
import { hostProblem } from "../../src/sandbox/net/gate/address.ts";

test.each([
  ...[
    "example.com",
    "EXAMPLE.com.",
    "localhost.example.com",
    "8.8.8.8",
    "1.1.1.1",
    "172.15.0.1",
    "172.32.0.1",
    "100.63.255.255",
    "100.128.0.1",
  ],
  ...["9.255.255.255", "11.0.0.1", "169.253.1.1", "223.255.255.255", "2606:4700::1111", "[2606:4700::1111]"],
  ...["xn--bcher-kva.example", "metadata.example.com", "internal.example", "0x7f.com", "1.2.3.com"],
])("`%s` is public", (host) => {
  expect(placeOfHost(host)).toBe("public");
});

test.each([
  ...[
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "printer.local",
    "db.internal",
    "nas.home.arpa",
    "10.2.3.0x4",
    "127.0.0.1",
    "127.1",
    "0",
    "0.0.0.0",
    "10.0.0.1",
  ],
  ...[
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.1.1",
    "100.64.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
  ],
  ...[
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "0x7f000001",
    "127.0.0.1.",
    "::1",
    "::",
    "[::1]",
    "fe80::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
  ],
  ...[
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:0:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::808:808",
    "2002:7f00:1::",
    "2001:db8::1",
  ],
  ...[
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::",
    "192.88.99.1",
    "192.175.48.1",
    "3ffe::1",
    "0x08080808",
    "134744072",
  ],
  ...[
    "nas.lan",
    "wiki.corp",
    "router.home",
    "db.intranet",
    "localhost.localdomain",
    "2001::1",
    "3fff::1",
    "１２７.0.0.1",
    "①②⑦.0.0.1",
  ],
])("`%s` is private", (host) => {
  expect(placeOfHost(host)).toBe("private");
});

test.each([
  "169.254.169.254",
  "0xa9fea9fe",
  "2852039166",
  "::ffff:169.254.169.254",
  "64:ff9b::a9fe:a9fe",
  "fd00:ec2::254",
  "metadata.google.internal",
  "100.100.100.200",
  "metadata",
  ...[
    "168.63.129.16",
    "169.254.170.23",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fe80::a9fe:a9fe",
    "169.254.0.23",
    "192.0.0.192",
  ],
  ...["instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com", "METADATA.", "0xa83f8110"],
  ...["2002:a9fe:a9fe::1", "::169.254.169.254", "64:ff9b:1:a9fe:a9:fe00::", "2001:0:a9fe:a9fe::", "2001::5601:5601"],
])("`%s` is a metadata service", (host) => {
  expect(placeOfHost(host)).toBe("metadata");
});

test.each([
  "",
  " ",
  "a b",
  "a/b",
  "user@example.com",
  "example.com:80",
  "exa\nmple.com",
  "256.256.256.256",
  "1.2.3.4.5",
  "[::1",
  "%",
  "a?b",
  "a#b",
])("`%s` is no host, and counts as private", (host) => {
  expect(placeOfHost(host)).toBe("private");
});

/** Addresses of IPv4 near the borders of special ranges, and anywhere. */
const quads = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)),
  fc.tuple(fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224), fc.nat(255), fc.nat(255), fc.nat(255)),
  fc.constantFrom(
    ...["169.254.169.254", "168.63.129.16", "192.88.99.1", "8.8.8.8"].map((text) => text.split(".").map(Number)),
  ),
);
const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
const hexGroup = (high = 0, low = 0) => ((high << 8) | low).toString(16);
const embedded = (prefix: string, [a, b, c, d]: readonly number[]) => `${prefix}${hexGroup(a, b)}:${hexGroup(c, d)}`;

const hosts = fc.oneof(
  fc
    .tuple(quads, fc.constantFrom("decimal", "octal", "hex", "number", "short", "dot", "zeros"))
    .map(([quad, form]) => spelled(quad, form)),
  groups.map((each) => each.map((group) => group.toString(16)).join(":")),
  fc
    .tuple(fc.constantFrom(0x2001, 0x2002, 0x2620, 0x3ffe, 0x3fff, 0xfd00, 0xfe80), groups)
    .map(([first, rest]) => [first, ...rest.slice(1)].map((group) => group.toString(16)).join(":")),
  fc
    .tuple(quads, fc.constantFrom("::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "2001::"))
    .map(([quad, prefix]) => embedded(prefix, quad)),
  fc.tuple(quads, fc.constantFrom("2002:", "2001:0:")).map(([quad, prefix]) => `${embedded(prefix, quad)}::1`),
  fc.tuple(quads, fc.constantFrom("::ffff:", "::")).map(([quad, prefix]) => `[${prefix}${quad.join(".")}]`),
  fc
    .tuple(
      fc.constantFrom("a", "db.x", "A-b", "ü", "metadata", "instance-data"),
      fc.constantFrom(
        "",
        ".com",
        ".lan",
        ".CORP",
        ".home",
        ".home.arpa.",
        ".local",
        ".ec2.internal",
        ".localdomain",
        ".google.internal",
        ".goog",
      ),
    )
    .map(([name, end]) => `${name}${end}`),
  fc.string({ maxLength: 20 }),
);

function spelled(quad: readonly number[], form: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = quad;
  switch (form) {
    case "octal":
      return quad.map((octet) => `0${octet.toString(8)}`).join(".");
    case "hex":
      return quad.map((octet) => `0x${octet.toString(16)}`).join(".");
    case "number":
      return String(((a << 24) | (b << 16) | (c << 8) | d) >>> 0);
    case "short":
      return `${a}.${b}.${(c << 8) | d}`;
    case "dot":
      return `${quad.join(".")}.`;
    case "zeros":
      return quad.map((octet) => String(octet).padStart(3, "0")).join(".");
    default:
      return quad.join(".");
  }
}

test("the kernel's rule calls nothing public that the proxy refuses, however it is written", () => {
  const seen = { public: 0, private: 0, metadata: 0 };
  fc.assert(
    fc.property(hosts, (host) => {
      const place = placeOfHost(host);
      seen[place] += 1;
      const canonical = canonicalHost(host);
      const problem = canonical === undefined ? "no host" : hostProblem(canonical);
      expect({ host, place: place === "public" }).toEqual({ host, place: problem === undefined });
      if (problem === "metadata") expect({ host, place }).toEqual({ host, place: "metadata" });
    }),
    { numRuns: 3000 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
});

test("every spelling of a metadata address that a browser reads is one", () => {
  const forms = ["decimal", "octal", "hex", "number", "short", "dot", "zeros"].map((form) =>
    spelled([169, 254, 169, 254], form),
  );
  const read = forms.filter((form) => URL.parse(`http://${form}/`)?.hostname === "169.254.169.254");
  expect(read.length).toBeGreaterThanOrEqual(6);
  expect(read.map((form) => [form, placeOfHost(form)])).toEqual(read.map((form) => [form, "metadata"]));
});

test("the classifier imports nothing of `node:net` that opens anything", () => {
  const text = readFileSync("src/names/address-class.ts", "utf8");
  expect(text.match(/^import .*"node:.*$/gm)).toEqual(['import { BlockList, isIP } from "node:net";']);
  expect(text).not.toMatch(/import\(|require\(/);
});
