/**
 * One gate: every way out reads a target as the same host and port, and comes to the same about it, or does not read it
 * at all. Ten thousand targets in the long form of this test.
 */
import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { server as serverSetting } from "../../../../src/config/sections/servers.ts";
import { networksOf, placeOfHost } from "../../../../src/names/address-class.ts";
import { canonicalHost } from "../../../../src/names/host-name.ts";
import { webAddress } from "../../../../src/names/web-address.ts";
import { WebFetcher } from "../../../../src/sandbox/net/fetch/fetcher.ts";
import type { EgressNetwork } from "../../../../src/sandbox/net/gate/admission.ts";
import type { EgressAttempt } from "../../../../src/sandbox/net/gate/attempt.ts";
import { tunnelTarget } from "../../../../src/sandbox/net/proxy/proxy-request.ts";
import { addressProblem, hostOf } from "../../../../src/tools/git/calls/remotes.ts";
import { type OpenProxy, openProxy } from "../../../support/egress.ts";
import { searching } from "../../../support/thorough.ts";

const TARGETS = searching({ shortly: 1500, thoroughly: 10_000 });
const AT_ONCE = 16;

const octet = fc.oneof(fc.nat(255), fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 254, 255));
const v4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join("."));
const oddV4 = fc.oneof(
  octet.map((one) => `127.${one}`),
  fc.nat(0xffffffff).map(String),
  fc.nat(0xffffffff).map((one) => `0x${one.toString(16)}`),
  fc.tuple(octet, octet, octet, octet).map((parts) => parts.map((one) => `0${one.toString(8)}`).join(".")),
);
const v6 = fc.oneof(
  fc.ipV6(),
  v4.map((address) => `::ffff:${address}`),
  v4.map((address) => `64:ff9b::${address}`),
  fc.constantFrom("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "2002:7f00:1::", "ff02::1", "2606:4700::1111"),
);
const label = fc.stringMatching(/^[a-z0-9_-]{1,8}$/);
const name = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join(".")),
  fc.constantFrom(
    "localhost",
    "metadata.google.internal",
    "printer.local",
    "router.lan",
    "bücher.example",
    "xn--bcher-kva.example",
  ),
  fc.constantFrom("EXAMPLE.com", "example.com.", "ex%61mple.com", "example。com", "a..b", "-a.example", "a_b.example"),
);
const host = fc.oneof(
  name,
  v4,
  oddV4,
  v6.map((address) => `[${address}]`),
);
const port = fc.oneof(fc.constantFrom(22, 25, 80, 443, 3389, 8443), fc.integer({ min: 1, max: 65_535 }));
const targets = fc.tuple(host, port);

/** An address for each name, of any kind, the same one whoever asks; some have none. */
const ADDRESSES = [
  "93.184.216.34",
  "10.0.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "100.64.0.1",
  "::1",
  "fd00::1",
  "2606:4700::1111",
];
const addressOf = (of: string) => {
  const sum = [...of].reduce((total, character) => total + character.charCodeAt(0), 0) % (ADDRESSES.length + 1);
  return ADDRESSES[sum];
};

const network: EgressNetwork = {
  lookUp: async (of) => {
    const address = addressOf(of);
    return address === undefined ? [] : [address];
  },
  // port 1 of loopback takes no connection
  connect: () => connect({ host: "127.0.0.1", port: 1 }),
  ownNetworks: () => networksOf([]),
  isOwnPort: () => false,
};

/** Attempts of one command that are recorded one by one. */
const OF_ONE_COMMAND = 1000;

let fetcher: WebFetcher;
beforeAll(() => {
  fetcher = new WebFetcher({ network, isOpened: () => false });
});
afterAll(() => fetcher.close());

/** How each way out reads the target: `host port`, or nothing. */
function readings(written: string, at: number): Readonly<Record<string, string | undefined>> {
  const authority = `${written}:${at}`;
  const web = webAddress(`https://${authority}/a`);
  const tunnel = tunnelTarget({
    method: "CONNECT",
    url: authority,
    httpVersion: "1.1",
    rawHeaders: ["Host", authority],
  });
  const git = addressProblem(`https://${authority}/a`) === undefined ? hostOf(`https://${authority}/a`) : undefined;
  const setting = serverSetting.safeParse(authority);
  return {
    web: "problem" in web ? undefined : `${web.host.host} ${web.port}`,
    tunnel: tunnel.kind === "refusal" ? undefined : `${tunnel.host.host} ${tunnel.port}`,
    git: git && `${git.host} ${git.port}`,
    setting: setting.success ? `${setting.data.host} ${setting.data.port}` : undefined,
  };
}

async function byTunnel(proxy: OpenProxy, of: string, at: number): Promise<string> {
  const authority = `${of.includes(":") ? `[${of}]` : of}:${at}`;
  const socket = connect({ path: proxy.path });
  socket.on("error", () => socket.destroy());
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  let answer = "";
  socket.on("data", (piece: Buffer) => {
    answer += piece.toString("latin1");
  });
  await once(socket, "close");
  return answer;
}

async function byFetch(of: string, at: number): Promise<EgressAttempt | undefined> {
  const url = `https://${of.includes(":") ? `[${of}]` : of}:${at}/a`;
  let attempt: EgressAttempt | undefined;
  const request = { url, method: "GET", headers: {}, format: "raw", timeoutMs: 20_000, bytesMax: 1000 } as const;
  await fetcher
    .fetch(request, {
      judge: async () => undefined,
      record: (one) => {
        attempt = one;
      },
      signal: new AbortController().signal,
    })
    .catch(() => undefined);
  return attempt;
}

test(`every way out reads ${TARGETS} targets alike, or not at all`, () => {
  let read = 0;
  fc.assert(
    fc.property(targets, ([written, at]) => {
      const found = Object.entries(readings(written, at)).filter(([, one]) => one !== undefined);
      const plain = canonicalHost(written);
      if (found.length > 0) read += 1;
      for (const [way, one] of found) expect([way, one]).toEqual([way, `${plain?.host} ${at}`]);
      // whatever one of them reads plainly, the proxy does: nothing can be asked about and then not be reached
      if (plain !== undefined) expect(readings(written, at)["tunnel"]).toBe(`${plain.host} ${at}`);
    }),
    { numRuns: TARGETS },
  );
  expect(read).toBeGreaterThan(TARGETS / 2);
});

test(`fetching and the commands' proxy come to the same about ${TARGETS} targets, and the kernel's rule is no milder`, async () => {
  const sample = fc.sample(targets, { numRuns: TARGETS, seed: 7 });
  const known = sample.flatMap(([written, at]) => {
    const plain = canonicalHost(written);
    return plain === undefined ? [] : [{ of: plain.host, kind: plain.kind, at }];
  });
  const fetched: (readonly [(typeof known)[number], EgressAttempt | undefined])[] = [];
  const bySaid = new Map<string, Omit<EgressAttempt, "durationMs">>();
  for (let from = 0; from < known.length; from += OF_ONE_COMMAND) {
    const left = known.slice(from, from + OF_ONE_COMMAND);
    const proxy = await openProxy({ network }, () => ({ kind: "allow" }));
    const compareAll = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        expect((await byTunnel(proxy, next.of, next.at)).startsWith("HTTP/1.1 200")).toBe(false);
        fetched.push([next, await byFetch(next.of, next.at)]);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, compareAll));
    for (const one of proxy.attempts()) bySaid.set(`${one.host} ${one.port}`, one);
    await proxy.close();
  }
  const seen = new Map<string, number>();
  for (const [{ of, kind, at }, ours] of fetched) {
    const said = bySaid.get(`${of} ${at}`);
    const addressIf = (one: Pick<EgressAttempt, "outcome" | "address"> | undefined) =>
      one?.outcome === "refused" ? one.address : undefined;
    expect([of, at, ours?.outcome, ours?.reason, addressIf(ours)]).toEqual([
      of,
      at,
      said?.outcome,
      said?.reason,
      addressIf(said),
    ]);
    const reason = String(said?.reason);
    seen.set(reason, (seen.get(reason) ?? 0) + 1);
    // what the gate refuses by its address alone, the kernel's rule does not call public
    if (kind === "address" && reason.startsWith("address_")) expect(placeOfHost(of)).not.toBe("public");
  }
  // every kind of answer was met, so that agreeing means something
  for (const reason of ["blocked_port", "no_connection", "unknown_host", "address_private", "address_loopback"])
    expect([reason, (seen.get(reason) ?? 0) > 0]).toEqual([reason, true]);
});
