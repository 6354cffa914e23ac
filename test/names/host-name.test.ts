/** How hosts are written, and the one form they have. */
import { expect, test } from "vitest";
import { isKnownHost } from "../../src/names/host.ts";
import { canonicalHost } from "../../src/names/host-name.ts";

const form = (text: string) => canonicalHost(text)?.host;

test("a name has one form however it is written", () => {
  expect(canonicalHost("Registry.NPMJS.org.")).toEqual({ kind: "name", host: "registry.npmjs.org" });
  expect(
    ["bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "bücher。example", "_dmarc.example", "a"].map(form),
  ).toEqual([
    "xn--bcher-kva.example",
    "xn--bcher-kva.example",
    "xn--bcher-kva.example",
    "xn--bcher-kva.example",
    "_dmarc.example",
    "a",
  ]);
});

test("an address has one form, and only the plain ways to write it are taken", () => {
  expect(canonicalHost("8.8.8.8")).toEqual({ kind: "address", host: "8.8.8.8" });
  expect(["[2606:4700:0:0::1111]", "2606:4700::1111", "::FFFF:127.0.0.1", "255.255.255.255"].map(form)).toEqual([
    "2606:4700::1111",
    "2606:4700::1111",
    "::ffff:7f00:1",
    "255.255.255.255",
  ]);
  const odd = [
    ...[
      "2130706433",
      "0x7f000001",
      "0x7f.1",
      "127.1",
      "127.0.1",
      "0177.0.0.1",
      "127.0.0.01",
      "256.1.1.1",
      "1.2.3.4.5",
      "0x",
      "a.1",
      "1.2.3.4.",
    ],
    ...[
      "１２７.0.0.1",
      "127。0。0。1",
      "①.2.3.4",
      "fe80::1%eth0",
      "[fe80::1%25eth0]",
      "[::1",
      "::1]",
      "1::2::3",
      "::ffff:127.1",
      ":",
      "[127.0.0.1]",
    ],
  ];
  expect(odd.filter((text) => canonicalHost(text) !== undefined)).toEqual([]);
});

test("what is not clearly a host is none", () => {
  const bad = [
    ...[
      "",
      ".",
      "..",
      ".a",
      "a..b",
      "-a.example",
      "a-.example",
      "a b",
      "a\tb",
      "a\0b",
      "a/b",
      "a\\b",
      "a@b",
      "a#b",
      "a?b",
      "a%2eb",
      "a*b",
      "*.a",
    ],
    ...[
      "xn--",
      "a℀b.example",
      "a\u202eb",
      `${"a".repeat(64)}.example`,
      `${"a.".repeat(130)}a`,
      "ü".repeat(300),
      "ü@b",
      "a:b",
    ],
  ];
  expect(bad.filter((text) => canonicalHost(text) !== undefined)).toEqual([]);
  expect([`${"a".repeat(63)}.example`, `${"a.".repeat(126)}a`].map((text) => canonicalHost(text)?.kind)).toEqual([
    "name",
    "name",
  ]);
});

test("lists compare the one form; `*.` is for names below, never the apex, and never addresses", () => {
  const patterns = ["*.github.com", "BÜCHER.example.", "93.184.216.34", "*.0.0.1", "*"];
  const known = ["api.github.com", "a.b.GitHub.com.", "xn--bcher-kva.example", "93.184.216.34"];
  const unknown = [
    "github.com",
    "evilgithub.com",
    "github.com.evil.example",
    "gıthub.com",
    "аpi.gіthub.com",
    "127.0.0.1",
    "x",
    "",
    "a..github.com",
  ];
  expect([...known, ...unknown].filter((host) => isKnownHost(host, patterns))).toEqual(known);
});
