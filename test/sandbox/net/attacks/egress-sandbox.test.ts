/**
 * The way out of a sandbox seen from inside: what is allowed arrives, and there is no other way. Controls run the same
 * command in the machine's own network, to servers that the test made on loopback.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { EgressAttempt, EgressGrant } from "../../../../src/sandbox/sandbox.ts";
import { allowing, Internet } from "../../../support/egress.ts";
import { newSandboxPlace, own, perl, type SandboxPlace } from "../../../support/sandbox-place.ts";

let internet: Internet;
let place: SandboxPlace;

/** npm's own directory, wherever it was installed. */
const npm = dirname(dirname(realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim())));

beforeAll(() => {
  internet = new Internet();
  place = newSandboxPlace({ network: internet.network, toolchains: [npm] });
});
afterAll(() => {
  place.close();
  internet.close();
});

/** A way to the hosts of the list, and what is tried on it. */
function wayTo(...hosts: readonly string[]): { egress: EgressGrant; attempts: EgressAttempt[] } {
  const attempts: EgressAttempt[] = [];
  return { attempts, egress: { decide: allowing(...hosts), record: (attempt) => attempts.push(attempt) } };
}

const brief = (attempts: readonly EgressAttempt[]) =>
  attempts.map(({ host, port, via, outcome, reason }) => [host, port, via, outcome, reason]);

/** Asks the proxy with nothing but bash. */
const ask = (line: string, host: string) =>
  `exec 3<>/dev/tcp/127.0.0.1/3128; printf '%s\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n' '${line}' '${host}' >&3; cat <&3`;

test("the first command already finds the way out; what is not allowed is refused and recorded", async () => {
  await internet.http("a.example", 80, (_, response) => response.end("from a\n"));
  const { egress, attempts } = wayTo("a.example:80");
  const allowed = await place.run(ask("GET http://a.example/ HTTP/1.1", "a.example"), { egress });
  expect(allowed.stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n.*from a\n/s);
  expect(allowed.end).toMatchObject({
    exitCode: 0,
    enforced: { network: "proxy" },
    egress: { allowed: 1, refused: 0, failed: 0 },
  });
  const refused = await place.run(ask("CONNECT b.example:443 HTTP/1.1", "b.example:443"), { egress });
  expect(refused.stdout).toMatch(
    /^HTTP\/1\.1 403 Forbidden\r\n.*`b\.example:443` is none of the hosts of this call; name it there\n$/s,
  );
  expect(refused.end.egress).toEqual({ allowed: 0, refused: 1, failed: 0, unreported: 0, bytesOut: 0, bytesIn: 0 });
  expect(brief(attempts)).toEqual([
    ["a.example", 80, "request", "allowed", undefined],
    ["b.example", 443, "tunnel", "refused", "denied"],
  ]);
  const none = await place.run("exec 3<>/dev/tcp/127.0.0.1/3128");
  expect([none.end.exitCode, none.end.enforced?.network, none.end.egress]).toEqual([1, "none", undefined]);
});

test("Node's own client and servers inside find their way without settings", async () => {
  await internet.http("a.example", 80, (_, response) => response.end("from a"));
  const script = `const own = require("node:http").createServer((_, r) => r.end("from inside")).listen(0, async () => {
    const read = async (url) => (await fetch(url)).text();
    console.log(await read("http://a.example/"), await read("http://localhost:" + own.address().port));
    process.exit();
  });`;
  const { egress, attempts } = wayTo("a.example:80");
  const ran = await place.run(["node", "-e", script], { egress });
  expect([ran.stdout, ran.stderr]).toEqual(["from a from inside\n", ""]);
  expect(attempts.length).toBe(1);
});

test("there is no other way out: not by any socket, to any address", async () => {
  const tcp = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
  const tcp6 = createServer((socket) => socket.end("reached")).listen(0, "::1");
  const abstract = createServer((socket) => socket.end("reached")).listen(`\0handrail-test-${process.pid}`);
  const named = createServer((socket) => socket.end("reached")).listen(join(place.base, "socket"));
  const udp = createSocket("udp4").bind(0, "127.0.0.1");
  udp.on("message", (_, from) => udp.send("reached", from.port, from.address));
  const servers = [tcp, tcp6, abstract, named];
  onTestFinished(() => {
    for (const server of servers) server.close();
    udp.close();
  });
  await Promise.all([...servers, udp].map((server) => once(server, "listening")));
  chmodSync(join(place.base, "socket"), 0o777);
  const portOf = (address: unknown) => (address as { port: number }).port;
  const attempt = perl(`use Socket qw(:all);
    sub say_of { my ($name, $family, $type, $address, $sent) = @_; local $SIG{ALRM} = sub { die }; my $got = "none";
      eval { alarm 2; socket(my $s, $family, $type, 0) or die; connect($s, $address) or die; send($s, "x", 0) if $sent; sysread($s, $got, 100) or $got = "none"; alarm 0 };
      print "$name $got\\n" }
    say_of("tcp", PF_INET, SOCK_STREAM, pack_sockaddr_in(${portOf(tcp.address())}, inet_aton("127.0.0.1")));
    say_of("tcp6", PF_INET6, SOCK_STREAM, pack_sockaddr_in6(${portOf(tcp6.address())}, inet_pton(AF_INET6, "::1")));
    say_of("udp", PF_INET, SOCK_DGRAM, pack_sockaddr_in(${portOf(udp.address())}, inet_aton("127.0.0.1")), 1);
    say_of("abstract", PF_UNIX, SOCK_STREAM, pack_sockaddr_un("\\0handrail-test-${process.pid}"));
    say_of("named", PF_UNIX, SOCK_STREAM, pack_sockaddr_un("${join(place.base, "socket")}"));
    open my $routes, "<", "/proc/net/route"; my @all = <$routes>; print "routes ", @all > 1 ? "some" : "none", "\\n";
    my $name = gethostbyname("registry.npmjs.org"); print "name ", defined $name ? "some" : "none", "\\n";`);
  const { egress } = wayTo("a.example:80");
  const defended = await place.run(attempt, { egress });
  const none = "tcp none\ntcp6 none\nudp none\nabstract none\nnamed none\nroutes none\n";
  expect(defended.stdout).toBe(`${none}name none\n`);
  expect((await place.run(attempt)).stdout).toBe(`${none}name none\n`);
  const shared = ["user", "pid", "ipc", "uts", "cgroup"].map((kind) => `--unshare-${kind}`);
  const control = await place.runWithout({ options: [["--unshare-all"], ["--unshare-user"]], added: shared }, attempt);
  expect(control.stdout).toContain("tcp reached\ntcp6 reached\nudp reached\nabstract reached\nnamed none\n");
  const seen = await place.runWithout(
    {
      plan: (plan) => ({
        ...plan,
        mounts: [...plan.mounts, { kind: "read_only", source: place.base, target: place.base }],
      }),
    },
    attempt,
  );
  expect(seen.stdout).toContain("named reached\n");
});

test("the proxy's socket is no way round the proxy, and one command does not reach another's", async () => {
  await internet.http("a.example", 80, (_, response) => response.end("from a"));
  const { egress, attempts } = wayTo("a.example:80");
  const command = `stat -c '%a %F' /run/egress.sock; ls /run; rm /run/egress.sock 2>/dev/null || echo stays; chmod 777 /run/egress.sock 2>/dev/null || echo kept
    printf 'GET http://b.example/ HTTP/1.1\\r\\nHost: b.example\\r\\nConnection: close\\r\\n\\r\\n' | socat - UNIX-CONNECT:/run/egress.sock | head -1; ls /tmp | grep -i egress`;
  const ran = await place.run(command, { egress });
  expect(ran.stdout).toBe("600 socket\negress.sock\nstays\nkept\nHTTP/1.1 403 Forbidden\r\n");
  expect(brief(attempts)).toEqual([["b.example", 80, "request", "refused", "denied"]]);
});

test("`npm ci` installs through the proxy, and a package of another host is refused and recorded", async () => {
  const tarball = tinyPackage();
  await internet.http("registry.example", 80, (_, response) => response.end(tarball));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const { egress, attempts } = wayTo("registry.example:80");
  const install = async (host: string) => {
    project(`http://${host}/tiny/-/tiny-1.0.0.tgz`, integrity);
    return place.run(["node", join(npm, "bin", "npm-cli.js"), "ci", "--no-audit", "--no-fund", "--ignore-scripts"], {
      egress,
    });
  };
  const good = await install("registry.example");
  expect([good.end.exitCode, good.stderr]).toEqual([0, ""]);
  expect(readFileSync(join(place.root, "node_modules/tiny/index.js"), "utf8")).toBe("module.exports = 7;\n");
  const bad = await install("evil.example");
  expect(bad.end.exitCode).not.toBe(0);
  expect(bad.stderr).toContain("403");
  // whether as a request or through a tunnel is npm's choice
  expect(attempts.map(({ host, port, outcome }) => [host, port, outcome])).toEqual([
    ["registry.example", 80, "allowed"],
    ["evil.example", 80, "refused"],
  ]);
});

/** The package `tiny`, packed. */
function tinyPackage(): Buffer {
  const directory = join(place.outside, "package");
  mkdirSync(directory);
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "tiny", version: "1.0.0", main: "index.js" }));
  writeFileSync(join(directory, "index.js"), "module.exports = 7;\n");
  return execFileSync("tar", ["-czf", "-", "-C", place.outside, "package"]);
}

function project(resolved: string, integrity: string): void {
  const dependencies = { tiny: "1.0.0" };
  const packages = {
    "": { name: "project", version: "1.0.0", dependencies },
    "node_modules/tiny": { version: "1.0.0", resolved, integrity },
  };
  const files = {
    "package.json": { name: "project", version: "1.0.0", dependencies },
    "package-lock.json": { name: "project", version: "1.0.0", lockfileVersion: 3, requires: true, packages },
  };
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(place.root, name), JSON.stringify(content));
    own(join(place.root, name));
  }
}
