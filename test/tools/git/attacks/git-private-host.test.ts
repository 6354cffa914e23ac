// A git server in the operator's own network, which may be reached at its host and port, and every way to make more of
// that. Each attack is tried with the one defence away as well: with another decision, or in a kernel whose operator
// says otherwise. All servers are the test's own, on loopback.
import { existsSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_GIT_REMOTES } from "../../../../src/model/work/git-remote.ts";
import { canonicalHost } from "../../../../src/names/host-name.ts";
import { admit, type EgressNetwork } from "../../../../src/sandbox/net/gate/admission.ts";
import type { SecureWay } from "../../../../src/sandbox/net/gate/secure-way.ts";
import { listensAt } from "../../../../src/sandbox/net/proxy/own-ports.ts";
import { git } from "../../../../src/tools/git/git.ts";
import { shell } from "../../../../src/tools/shell/shell.ts";
import { newCertificate } from "../../../support/certificate.ts";
import { Internet } from "../../../support/egress.ts";
import { gitServer, seed } from "../../../support/git-server.ts";
import { type MemoryKernelOptions, memoryKernel } from "../../../support/memory-kernel.ts";
import { freshPlace } from "../../../support/place.ts";
import { testedBackend } from "../../../support/sandbox-place.ts";

const HOST = "git.corp";
const PORT = 8443;
const PRIVATE = "10.20.30.40";
const ADDRESS = `https://${HOST}:${PORT}/team/service.git`;
const OPENED = [`${HOST}:${PORT}`];

/** A git server for `HOST` at a private address, and a kernel that opens the hosts of `opened`. */
async function world(
  opened: readonly string[],
  options: Partial<MemoryKernelOptions> & { readonly listener?: RequestListener } = {},
) {
  const { listener, ...more } = options;
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(join(place.base, "tls"), HOST, "other.corp");
  const server = gitServer(join(place.base, "served"));
  seed(server.add("team/service.git"), join(place.base, "seed"), { "a.txt": "alpha\n" });
  await internet.https(HOST, PORT, certificate, listener ?? server.listener);
  const [at = 0] = internet.servers.values();
  internet.servers.set(`${PRIVATE}:${PORT}`, at);
  internet.names.set(HOST, [PRIVATE]);
  const kernel = await memoryKernel({
    tools: [git, shell],
    preset: "open",
    backend: testedBackend,
    session: { role: "release_manager" },
    network: internet.network,
    gitRemotes: { ...NO_GIT_REMOTES, authorization: () => undefined, authorities: () => certificate.cert },
    privateGitHosts: opened,
    ...more,
  });
  const ask = async (tool: string, args: object): Promise<string> => {
    const { outcome } = await kernel.call(tool, { ...args });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    if (outcome.kind === "denied") return `${outcome.denial.ruleId}: ${outcome.denial.message}`;
    return outcome.kind === "error"
      ? `${outcome.code}: ${outcome.message} (${outcome.suggestion})`
      : `success: ${JSON.stringify(outcome.data)}`;
  };
  const cloned = (address = ADDRESS, directory = "service") =>
    ask("git", { operation: "CLONE", args: [address, directory] });
  return { internet, certificate, kernel, ask, cloned };
}

test("the server that the operator names is reached at its private address, and fetched from again; without that it is not", async () => {
  const { kernel, cloned, ask, internet } = await world(OPENED);
  expect(await cloned()).toMatch(/^success/);
  expect(await ask("git", { operation: "FETCH", cwd: "service" })).toMatch(/^success/);
  expect(new Set(internet.connected)).toEqual(new Set([`${PRIVATE}:${PORT}`]));
  expect(kernel.ledger.of("network_reached").at(-1)?.payload).toMatchObject({
    host: HOST,
    port: PORT,
    outcome: "allowed",
  });

  const closed = await world([]);
  expect(await closed.cloned()).toMatch(/^NETWORK:git:private.*git\.private_hosts/s);
  expect([closed.internet.connected, existsSync(join(closed.kernel.root, "service"))]).toEqual([[], false]);
});

test.each(["git.internal", "git.lan", "10.20.30.40", "[fd12:3456::1]"])(
  "%s is refused by its name before anybody connects, unless it is named with its port",
  async (name) => {
    const host = name.replaceAll(/[[\]]/g, "");
    const address = `https://${name}:${PORT}/team/service.git`;
    const closed = await world([`${host}:${PORT + 1}`]);
    expect(await closed.cloned(address)).toMatch(/^(?:NETWORK:git:private|GIT_FAILED: .*address_)/);
    expect(closed.internet.connected).toEqual([]);
    const open = await world([`${host}:${PORT}`]);
    open.internet.names.set(name, [PRIVATE]);
    // it is connected to, and does not prove to be the host
    expect(await open.cloned(address)).toMatch(/was not reached \((?:certificate|no_connection)\)/);
    expect(open.internet.connected.length).toBeGreaterThan(0);
  },
);

describe("what is opened is one host and one port", () => {
  test("another port, another host at the same address, and a name below it stay closed", async () => {
    const { internet, cloned } = await world(OPENED);
    const at = internet.servers.get(`${PRIVATE}:${PORT}`) ?? 0;
    for (const port of [443, 9443]) internet.servers.set(`${PRIVATE}:${port}`, at);
    for (const name of ["other.corp", `a.${HOST}`]) internet.names.set(name, [PRIVATE]);
    for (const other of [`${HOST}:9443`, HOST, `other.corp:${PORT}`, `a.${HOST}:${PORT}`])
      expect([other, await cloned(`https://${other}/team/service.git`)]).toEqual([
        other,
        expect.stringMatching(/^NETWORK:git:private/),
      ]);
    expect(internet.connected).toEqual([]);
    const control = await world([...OPENED, "other.corp:8443"]);
    control.internet.names.set("other.corp", [PRIVATE]);
    expect(await control.cloned(`https://other.corp:${PORT}/team/service.git`)).toMatch(/^success/);
  });

  test("a server that sends elsewhere in the own network is not followed; where that is opened, too, it is still not", async () => {
    const reached: string[] = [];
    const listener: RequestListener = ({ url = "", headers }, response) => {
      reached.push(`${headers.host}${url}`);
      response.writeHead(302, { location: `https://other.corp:${PORT}${url}` }).end();
    };
    const { internet, cloned } = await world([...OPENED, `other.corp:${PORT}`], { listener });
    internet.names.set("other.corp", [PRIVATE]);
    expect(await cloned()).toMatch(/returned error: 302/);
    expect(reached).toEqual([`${HOST}:${PORT}/team/service.git/info/refs?service=git-upload-pack`]);
    expect(internet.lookedUp).toEqual([HOST]);
  });

  test("commands of a shell do not reach it, though they may name it; what they may reach, they do", async () => {
    const seen: string[] = [];
    const { ask, internet } = await world(OPENED);
    await internet.http("plain.example", 80, ({ url = "" }, response) => {
      seen.push(url);
      response.end("hello");
    });
    internet.names.set(HOST, [PRIVATE]);
    const command = (url: string) => `curl --silent --show-error --max-time 5 --insecure ${url}`;
    expect(await ask("shell", { command: command("http://plain.example/hello"), network_access: true })).toContain(
      "hello",
    );
    expect(seen).toEqual(["/hello"]);
    const refused = await ask("shell", {
      command: command(`https://${HOST}:${PORT}/team/service.git/HEAD`),
      network_access: true,
    });
    expect(refused).toMatch(/address_private|403/);
    expect(internet.connected.filter((to) => to.startsWith(PRIVATE))).toEqual([]);
  });

  test("a server that does not prove who it is is not spoken to", async () => {
    const reached: string[] = [];
    const { internet, cloned } = await world(OPENED);
    const place = freshPlace();
    const liar = newCertificate(join(place.base, "liar"), HOST);
    await internet.https(HOST, PORT, liar, ({ url = "" }, response) => void response.end(reached.push(url)));
    const at = internet.servers.get(`93.184.216.34:${PORT}`) ?? 0;
    internet.servers.set(`${PRIVATE}:${PORT}`, at);
    internet.names.set(HOST, [PRIVATE]);
    expect(await cloned()).toMatch(/was not reached \(certificate\)/);
    expect(reached).toEqual([]);
  });
});

describe("whatever name servers say, some addresses are never reached", () => {
  const WAY: SecureWay = { admit: () => ({}), isPrivate: true, message: "" };
  const { isPrivate: _, ...PUBLIC_WAY } = WAY;
  const target = { host: canonicalHost(HOST) ?? { kind: "name" as const, host: HOST }, port: PORT };

  function network(
    answers: readonly (readonly string[])[],
    more: Partial<EgressNetwork> = {},
  ): EgressNetwork & { readonly asked: () => number } {
    const { network: base } = new Internet();
    let asked = 0;
    return {
      ...base,
      lookUp: async () => answers[Math.min(asked++, answers.length - 1)] ?? [],
      ...more,
      asked: () => asked,
    };
  }

  async function admitted(own: EgressNetwork, secure: SecureWay | undefined = WAY): Promise<string> {
    const rules = { decide: () => ({ kind: "allow" as const }), blockedPorts: [], ...(secure && { secure }) };
    const said = await admit(target, { rules, network: own }, new AbortController().signal);
    return said.kind === "admitted" ? said.addresses.join(" ") : said.reason;
  }

  test.each([
    ["169.254.169.254", "address_metadata"],
    ["169.254.170.2", "address_metadata"],
    ["fd00:ec2::254", "address_metadata"],
    ["100.100.100.200", "address_metadata"],
    ["169.254.1.1", "address_link_local"],
    ["fe80::1", "address_link_local"],
    ["127.0.0.1", "address_loopback"],
    ["::1", "address_loopback"],
    ["0.0.0.0", "address_unspecified"],
    ["::ffff:10.0.0.1", "address_embeds_ipv4"],
    ["64:ff9b::a00:1", "address_embeds_ipv4"],
    ["224.0.0.1", "address_multicast"],
    ["255.255.255.255", "address_broadcast"],
  ])("%s: %s, alone and beside one that may be reached", async (address, reason) => {
    expect(await admitted(network([[address]]))).toBe(reason);
    expect(await admitted(network([[PRIVATE, address]]))).toBe(reason);
    expect(await admitted(network([[PRIVATE]]))).toBe(PRIVATE);
  });

  test.each(["10.1.2.3", "172.16.0.9", "192.168.1.5", "100.64.0.1", "fd12:3456::1", "93.184.216.34"])(
    "%s is reached where it is opened",
    async (address) => {
      expect(await admitted(network([[address]]))).toBe(address);
      if (address !== "93.184.216.34") expect(await admitted(network([[address]]), PUBLIC_WAY)).toMatch(/^address_/);
    },
  );

  test("an answer that changes is judged anew, and what was judged is what is connected to", async () => {
    const own = network([[PRIVATE], ["169.254.169.254"], ["127.0.0.1"]]);
    expect([await admitted(own), await admitted(own), await admitted(own), own.asked()]).toEqual([
      PRIVATE,
      "address_metadata",
      "address_loopback",
      3,
    ]);
    // through a whole run: the second request of one clone is told another address
    const { internet, cloned } = await world(OPENED);
    internet.servers.set(`127.0.0.1:${PORT}`, internet.servers.get(`${PRIVATE}:${PORT}`) ?? 0);
    const { lookUp } = internet.network;
    let told = 0;
    Object.assign(internet.network, {
      lookUp: async (name: string, signal: AbortSignal) => {
        told += 1;
        await lookUp(name, signal);
        return told === 1 ? [PRIVATE] : ["127.0.0.1"];
      },
    });
    expect(await cloned()).toMatch(/was not reached \(address_loopback\)/);
    expect([internet.connected, told]).toEqual([[`${PRIVATE}:${PORT}`], 2]);
  });

  test("ports of the kernel itself are not reached, at whatever address of this machine", async () => {
    const { internet, cloned } = await world(OPENED);
    internet.ownPorts.add(`${PRIVATE}:${PORT}`);
    expect(await cloned()).toMatch(/was not reached \(address_own_port\)/);
    expect(internet.connected).toEqual([]);
    internet.ownPorts.clear();
    expect(await cloned()).toMatch(/^success/);
    // the machine's own answer: this process listens where the test's server is
    const port = internet.servers.get(`${PRIVATE}:${PORT}`) ?? 0;
    expect([
      listensAt("127.0.0.1", port),
      listensAt("::1", port),
      listensAt("127.0.0.1", 1),
      listensAt(PRIVATE, port),
    ]).toEqual([true, true, false, false]);
  });
});
