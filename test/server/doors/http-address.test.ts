// Which addresses HTTP is served on: loopback unless the operator says otherwise.
import { expect, test } from "vitest";
import { isLoopback, parseTcpAddress, tcpAddress } from "../../../src/server/doors/http-address.ts";
import { refusePages } from "../../../src/transports/connect/wire/guard.ts";

const nothing = () => undefined;

test.each([
  ["7465", "127.0.0.1", 7465],
  ["127.0.0.1:0", "127.0.0.1", 0],
  ["localhost:80", "127.0.0.1", 80],
  ["[::1]:65535", "::1", 65_535],
  ["10.0.0.1:1", "10.0.0.1", 1],
])("%s is an address", (text, host, port) => {
  expect(parseTcpAddress(text)).toEqual({ host, port });
});

test.each([
  "",
  "localhost",
  "example.com:80",
  "127.0.0.1:65536",
  "::1:80",
  "[::1]",
  "127.0.0.1:x",
  "300.0.0.1:80",
  "http://127.0.0.1:80",
])("`%s` is none", (text) => {
  expect(() => parseTcpAddress(text)).toThrow(/is no address/);
});

test("only loopback addresses are taken without being asked for", () => {
  const hosts = [
    "127.0.0.1",
    "127.9.9.9",
    "::1",
    "::ffff:127.0.0.1",
    "0.0.0.0",
    "::",
    "10.0.0.1",
    "192.168.1.1",
    "128.0.0.1",
    "::2",
  ];
  expect(hosts.filter(isLoopback)).toEqual(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]);
  for (const host of hosts) {
    const take = () => tcpAddress({ host, port: 0 }, undefined, nothing);
    if (isLoopback(host)) expect(take().allowedHosts).toEqual({ names: [] });
    else expect(take).toThrow(/no encryption/);
    expect(tcpAddress({ host, port: 0 }, { names: ["kernel.internal"] }, nothing).allowedHosts).toEqual({
      names: ["kernel.internal"],
    });
  }
});

test("names are compared in lower case, and what cannot be a host name is refused", () => {
  const take = (names: readonly string[]) => tcpAddress({ host: "10.0.0.1", port: 0 }, { names }, nothing);
  const { allowedHosts } = take(["Kernel.Example", "BOX_1"]);
  expect(allowedHosts).toEqual({ names: ["kernel.example", "box_1"] });
  expect(refusePages({}, ["KERNEL.example:7465"], allowedHosts)).toBeUndefined();
  expect(refusePages({}, ["other.example"], allowedHosts)).toMatchObject({ status: 421 });
  for (const name of [
    "",
    "kernel.example:80",
    "http://kernel",
    "a b",
    "*.example",
    "-a",
    "a..b",
    "kernel.example.",
    "ü.example",
    "x".repeat(254),
  ]) {
    expect(() => take([name])).toThrow(/is no host name/);
  }
});
