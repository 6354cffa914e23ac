// Servers that send more than anybody has room for: packs without end, objects that grow when they are made out, trees
// that grow when they are checked out. Plain git takes each of them, up to the 200 MB at which the test's server itself
// ends; through the kernel they end at the bound, which is named, and leave nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NO_GIT_REMOTES } from "../../../../../src/model/work/git-remote.ts";
import { git } from "../../../../../src/tools/git/git.ts";
import { newCertificate } from "../../../../support/certificate.ts";
import { Internet } from "../../../../support/egress.ts";
import { plainGit } from "../../../../support/git-place.ts";
import { gitServer, seed } from "../../../../support/git-server.ts";
import {
  commitOf,
  copies,
  hostileServer,
  objectName,
  packed,
  packHead,
  wholePack,
} from "../../../../support/hostile-git.ts";
import { memoryKernel } from "../../../../support/memory-kernel.ts";
import { noise } from "../../../../support/noise.ts";
import { freshPlace } from "../../../../support/place.ts";
import { processesNaming, testedBackend } from "../../../../support/sandbox-place.ts";

const MB = 2 ** 20;
const CONTROL_BYTES_MAX = 200 * MB;
const HOST = "git.example";
const ADDRESS = `https://${HOST}/team/service.git`;

const PLAIN_ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
};

interface Bounds {
  readonly received?: number;
  readonly written?: number;
  readonly memory?: number;
}

async function world(listener: RequestListener) {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(join(place.base, "tls"), HOST);
  const served = { listener };
  await internet.https(HOST, 443, certificate, (request, response) => served.listener(request, response));
  /** @param given in MB */
  const kernelOf = async ({ received = 1024, written = 4096, memory = 512 }: Bounds) => {
    const kernel = await memoryKernel({
      tools: [git],
      preset: "open",
      backend: testedBackend,
      session: { role: "release_manager" },
      network: internet.network,
      sandbox: { memory_mb: memory },
      gitRemotes: {
        ...NO_GIT_REMOTES,
        limits: { receivedBytesMax: received * MB, writtenBytesMax: written * MB },
        authorities: () => certificate.cert,
      },
    });
    const ask = async (operation: string, args: readonly string[], cwd?: string): Promise<string> => {
      const { outcome } = await kernel.call("git", { operation, args, ...(cwd !== undefined && { cwd }) });
      if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
      if (outcome.kind === "denied") return `${outcome.denial.reason}: ${outcome.denial.message}`;
      return outcome.kind === "error"
        ? `${outcome.code}: ${outcome.message} (${outcome.suggestion})`
        : `success: ${JSON.stringify(outcome.data)}`;
    };
    return { kernel, ask };
  };
  /** Plain git beside this process, which plays the server. */
  const plainly = async (...args: readonly string[]): Promise<number | null> => {
    const port = internet.servers.get("93.184.216.34:443");
    const where = [
      "-c",
      `http.sslCAInfo=${certificate.certFile}`,
      "-c",
      `http.curloptResolve=${HOST}:${port}:127.0.0.1`,
    ];
    const address = `https://${HOST}:${port}/team/service.git`;
    const words = args.map((word) => (word === ADDRESS ? address : word));
    const child = spawn("git", [...where, ...words], {
      cwd: place.base,
      env: PLAIN_ENVIRONMENT,
      stdio: "ignore",
      timeout: 120_000,
    });
    const [code] = (await once(child, "close")) as [number | null];
    return code;
  };
  return { place, internet, certificate, served, kernelOf, plainly };
}

/** Kills the process if it is git; one that ends by itself, as others do with the first, was not killed. */
function isGitKilled(id: string): boolean {
  try {
    return readFileSync(`/proc/${id}/comm`, "latin1").startsWith("git") && process.kill(Number(id), "SIGKILL");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return false;
    throw error;
  }
}

/** Bytes of all files below `directory`. */
function bytesIn(directory: string): number {
  const names = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: "utf8" }) : [];
  return names.reduce(
    (sum, name) => sum + (statSync(join(directory, name)).isFile() ? statSync(join(directory, name)).size : 0),
    0,
  );
}

/** A pack of ever further files, until the server has sent what a control may take. */
function* endless(): Generator<Uint8Array> {
  yield packHead(100_000);
  const content = noise(MB);
  for (let sent = 0; sent < CONTROL_BYTES_MAX; sent += MB) {
    content.writeUInt32BE(sent, 0);
    yield packed("blob", content, undefined, 0);
  }
}

/** A pack of some kilobytes with one file of `bytes`, which is made of copies of another. */
function bomb(bytes: number): { readonly name: string; readonly pack: Buffer } {
  const small = Buffer.alloc(MB, "x");
  const large = Buffer.alloc(bytes, "x");
  const { tree, commit, name } = commitOf({ "large.txt": objectName("blob", large) });
  const delta = packed("delta", copies(small.length, bytes / small.length), objectName("blob", small));
  return { name, pack: wholePack([packed("commit", commit), packed("tree", tree), packed("blob", small), delta]) };
}

describe("a pack without end", () => {
  const { name } = commitOf({ "a.txt": objectName("blob", Buffer.from("a")) });

  test("a clone ends at what may be received, and leaves nothing; plain git takes all that is sent", async () => {
    let sent = 0;
    const count = (bytes: number) => {
      sent += bytes;
    };
    const { plainly, kernelOf, place } = await world(hostileServer(name, endless, count));
    expect(await plainly("-c", "fetch.unpackLimit=1", "clone", ADDRESS, "plain")).not.toBe(0);
    expect(sent).toBeGreaterThan(CONTROL_BYTES_MAX);
    sent = 0;
    const { kernel, ask } = await kernelOf({ received: 8 });
    expect(await ask("CLONE", [ADDRESS, "service"])).toMatch(
      /^GIT_FAILED: git clone was ended, because the remote sent more than 8 MiB, which `git\.limits\.received_mb` allows \(.*larger `git\.limits\.received_mb`\)$/,
    );
    expect(sent).toBeLessThan(64 * MB);
    expect(readdirSync(kernel.root)).toEqual([]);
    expect(existsSync(join(place.base, "plain"))).toBe(false);
  });

  test("a fetch ends at what may be written, leaves no half a pack, and the repository goes on", async () => {
    const own = freshPlace();
    const server = gitServer(join(own.base, "served"));
    const bare = server.add("team/service.git");
    seed(bare, join(own.base, "seed"), { "a.txt": "alpha\n" });
    const { served, kernelOf, plainly, place } = await world(server.listener);
    const { kernel, ask } = await kernelOf({ written: 8 });
    expect(await ask("CLONE", [ADDRESS, "service"])).toMatch(/^success/);
    const packs = join(kernel.root, "service/.git/objects/pack");
    const before = readdirSync(packs).sort();
    // another git is at work there, and what it has begun is its own
    writeFileSync(join(packs, "tmp_pack_others"), "begun");
    served.listener = hostileServer(name, endless);

    await plainly("init", "--bare", "--quiet", "plain.git");
    await plainly("-C", "plain.git", "-c", "fetch.unpackLimit=1", "fetch", ADDRESS, "main");
    expect(bytesIn(join(place.base, "plain.git"))).toBeGreaterThan(CONTROL_BYTES_MAX / 2);

    expect(await ask("FETCH", [], "service")).toMatch(
      /it wrote more than 8 MiB, which `git\.limits\.written_mb` allows/,
    );
    expect(readdirSync(packs).sort()).toEqual([...before, "tmp_pack_others"].sort());
    served.listener = server.listener;
    const other = plainGit(join(own.base, "seed"));
    const second = other.commit("more", { "b.txt": "beta\n" });
    other.git("push", "--quiet", bare.directory, "main");
    expect(await ask("PULL", ["origin", "main"], "service")).toContain(second);
    expect(plainGit(join(kernel.root, "service")).git("fsck", "--full", "--strict")).toBe("");
  });
});

test("a git that is killed in the middle leaves nothing; plain git leaves its half", async () => {
  const unique = `https://${HOST}/team/killed-${process.pid}.git`;
  const { name } = commitOf({ "a.txt": objectName("blob", Buffer.from("a")) });
  const begun = { bytes: 0 };
  const hanging = hostileServer(name, endless, (bytes) => {
    begun.bytes += bytes;
  });
  const { kernelOf, place, internet, certificate } = await world(hanging);
  const killed = async (): Promise<number> => {
    await vi.waitFor(() => expect(begun.bytes).toBeGreaterThan(4 * MB), { timeout: 120_000, interval: 5 });
    const ids = processesNaming(`killed-${process.pid}.git`).filter(isGitKilled);
    begun.bytes = 0;
    return ids.length;
  };
  const port = internet.servers.get("93.184.216.34:443");
  const where = ["-c", `http.sslCAInfo=${certificate.certFile}`, "-c", `http.curloptResolve=${HOST}:${port}:127.0.0.1`];
  const plain = spawn("git", [...where, "clone", unique.replace(HOST, `${HOST}:${port}`), "plain"], {
    cwd: place.base,
    env: PLAIN_ENVIRONMENT,
    stdio: "ignore",
  });
  const gone = once(plain, "close");
  expect(await killed()).toBeGreaterThan(0);
  await gone;
  expect(existsSync(join(place.base, "plain/.git/HEAD"))).toBe(true);

  const { kernel, ask } = await kernelOf({});
  const asking = ask("CLONE", [unique, "service"]);
  expect(await killed()).toBeGreaterThan(0);
  expect(await asking).toMatch(/^(?:GIT_FAILED|OUTCOME_UNKNOWN)/);
  expect(readdirSync(kernel.root)).toEqual([]);
});

describe("what grows when it is made out", () => {
  test("a file made of copies ends at the memory of a run, and leaves nothing; with more memory, as in plain git, it is made", async () => {
    const { name, pack } = bomb(128 * MB);
    expect(pack.length).toBeLessThan(64 * 1024);
    const { plainly, kernelOf, place } = await world(hostileServer(name, () => [pack]));
    expect(await plainly("clone", ADDRESS, "plain")).toBe(0);
    expect(bytesIn(join(place.base, "plain"))).toBeGreaterThan(128 * MB);
    const small = await kernelOf({ memory: 64 });
    expect(await small.ask("CLONE", [ADDRESS, "service"])).toMatch(
      /needed more memory than it may use.*larger `sandbox\.memory_mb`/,
    );
    expect(readdirSync(small.kernel.root)).toEqual([]);
    const large = await kernelOf({ memory: 1024 });
    expect(await large.ask("CLONE", [ADDRESS, "service"])).toMatch(/^success/);
  });

  test("a tree of many times the same file ends at what may be written, and leaves nothing; plain git checks it out", async () => {
    const own = freshPlace();
    const server = gitServer(join(own.base, "served"));
    const zeros = "0".repeat(10 * MB);
    seed(
      server.add("team/service.git"),
      join(own.base, "seed"),
      Object.fromEntries([..."abcdefghij"].map((name) => [`${name}.txt`, zeros])),
    );
    const { plainly, kernelOf, place } = await world(server.listener);
    expect(await plainly("clone", ADDRESS, "plain")).toBe(0);
    expect(bytesIn(join(place.base, "plain/.git"))).toBeLessThan(MB);
    expect(bytesIn(join(place.base, "plain"))).toBeGreaterThan(100 * MB);
    const { kernel, ask } = await kernelOf({ written: 16 });
    mkdirSync(join(kernel.root, "empty"));
    for (const directory of ["service", "empty"])
      expect(await ask("CLONE", [ADDRESS, directory])).toMatch(
        /it wrote more than 16 MiB, which `git\.limits\.written_mb` allows/,
      );
    expect([readdirSync(kernel.root), readdirSync(join(kernel.root, "empty"))]).toEqual([["empty"], []]);
    expect(await ask("CLONE", [ADDRESS, "."])).toMatch(/FILE_EXISTS/);
  });

  test("an answer that is packed once more is bounded by what it becomes", async () => {
    const content = Buffer.alloc(64 * MB, "y");
    const { tree, commit, name } = commitOf({ "y.txt": objectName("blob", content) });
    const pack = wholePack([packed("commit", commit), packed("tree", tree), packed("blob", content, undefined, 0)]);
    const zipped = gzipSync(Buffer.concat([Buffer.from("0008NAK\n"), pack]));
    expect(zipped.length).toBeLessThan(MB);
    const plain = hostileServer(name, () => []);
    const { plainly, kernelOf, place } = await world((request, response) => {
      if (request.method === "GET") return plain(request, response);
      request.resume();
      response
        .writeHead(200, { "content-type": "application/x-git-upload-pack-result", "content-encoding": "gzip" })
        .end(zipped);
    });
    expect(await plainly("clone", ADDRESS, "plain")).toBe(0);
    expect(bytesIn(join(place.base, "plain"))).toBeGreaterThan(64 * MB);
    const { kernel, ask } = await kernelOf({ received: 4, written: 16 });
    expect(await ask("CLONE", [ADDRESS, "service"])).toMatch(/it wrote more than 16 MiB/);
    expect(readdirSync(kernel.root)).toEqual([]);
  });
});
