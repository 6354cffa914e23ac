// Where a host's name leads as far as the name says.
import { expect, test } from "vitest";
import { placeOfHost } from "../../src/names/network-address.ts";

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
  ...[
    "9.255.255.255",
    "11.0.0.1",
    "169.253.1.1",
    "223.255.255.255",
    "2606:4700::1111",
    "[2606:4700::1111]",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
  ],
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
  ...["2001::1", "3fff::1", "１２７.0.0.1", "①②⑦.0.0.1"],
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
