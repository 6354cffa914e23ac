/**
 * Real programs in commands, with keys that they know by placeholders alone, against servers that check the real ones.
 */
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { errorCode } from "../../../../src/base/errors.ts";
import { processesNaming } from "../../../support/sandbox-place.ts";
import { lockedBy, type PlacedSecret, type SecretPlace, secretPlace } from "../../../support/secret-place.ts";
import { comesTrue } from "../../../support/waiting.ts";

const KEY: PlacedSecret = {
  value: "sk-live-4f9Qm2Zx8Lw1Rt6Yb3Nc7Vd0",
  placeholder: "sk-live-AbCdEfGhIjKlMnOpQrStUv12",
  bindings: [{ to: "api.example", in: "header Authorization" }],
};
const LOGIN: PlacedSecret = {
  value: "Zq8wLm3Kt5Yb1Nc9Vd7Rf2Xs",
  placeholder: "AaBbCcDdEeFfGgHhIiJjKk11",
  bindings: [{ to: "pip.example", in: "basic" }],
};

const hasBearer = ({ headers }: IncomingMessage) => headers.authorization === `Bearer ${KEY.value}`;
const hasLogin = ({ headers }: IncomingMessage) =>
  headers.authorization === `Basic ${Buffer.from(`me:${LOGIN.value}`).toString("base64")}`;

/** Nothing of the place holds the value: no file of state, evidence or workspace, and no answer. */
function expectNowhere({ place }: SecretPlace, value: string, answers: readonly unknown[]): void {
  expect(JSON.stringify(answers)).not.toContain(value);
  for (const entry of readdirSync(place.base, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    expect(readFileSync(join(entry.parentPath, entry.name)).includes(value), entry.name).toBe(false);
  }
}

test.each([
  ["curl", 'curl -sS -H "Authorization: Bearer $API_KEY" https://api.example/v1'],
  [
    "Node",
    `node -e 'fetch("https://api.example/v1", { headers: { authorization: "Bearer " + process.env.API_KEY } }).then(async (r) => console.log(await r.text()))'`,
  ],
  [
    "Python's requests",
    `/usr/bin/python3 -c 'import os, requests; print(requests.get("https://api.example/v1", headers={"Authorization": "Bearer " + os.environ["API_KEY"]}).text)'`,
  ],
  [
    "Python's own library",
    `/usr/bin/python3 -c 'import os, urllib.request as u; print(u.urlopen(u.Request("https://api.example/v1", headers={"Authorization": "Bearer " + os.environ["API_KEY"]})).read().decode())'`,
  ],
])(
  "%s reaches the server with the key, and sees a placeholder",
  async (_, command) => {
    const place = await secretPlace({ "api.example": lockedBy(hasBearer) }, { API_KEY: KEY });
    const open = await place.run(command);
    expect([open.stdout.trim(), open.stderr]).toEqual(["open", ""]);
    const seen = await place.run('printf %s "$API_KEY"; env; : https://api.example');
    expect(seen.stdout).toContain(KEY.placeholder);
    expectNowhere(place, KEY.value, [open, seen]);
  },
  120_000,
);

test("commands in containers, too", async () => {
  const sandbox = { backend: "container", toolchains: [join(process.cwd(), ".toolchain")] };
  const place = await secretPlace({ "api.example": lockedBy(hasBearer) }, { API_KEY: KEY }, { sandbox });
  const { stdout, stderr } = await place.run('curl -sS -H "Authorization: Bearer $API_KEY" https://api.example/v1');
  expect([stdout, stderr]).toEqual(["open", ""]);
  const node = await place.run(
    `node -e 'fetch("https://api.example/v1", { headers: { authorization: "Bearer " + process.env.API_KEY } }).then(async (r) => console.log(await r.text()))'`,
  );
  expect([node.stdout, node.stderr]).toEqual(["open\n", ""]);
}, 120_000);

const isRoot = process.geteuid?.() === 0;

test("no process of the command holds the value, while the answer of an echoing server is in its memory", async () => {
  if (!isRoot) return; // nobody else reads the memory of another user's processes
  const echo = lockedBy(
    hasBearer,
    (request, response) => void response.end(`mark-of-the-answer ${request.headers.authorization}`),
  );
  const place = await secretPlace({ "api.example": echo }, { API_KEY: KEY });
  const word = `300.${process.pid}`;
  const running = place.run(
    `/usr/bin/python3 -c 'import os, requests, time; r = requests.get("https://api.example/v1", headers={"Authorization": "Bearer " + os.environ["API_KEY"]}); open("done", "w").write(r.text); time.sleep(200)' ${word}`,
  );
  const found = new Map<string, boolean>();
  await comesTrue(() => {
    for (const pid of processesNaming(word)) {
      const memory = memoryOf(Number(pid));
      if (!memory.includes("mark-of-the-answer")) continue;
      found.set("placeholder", memory.includes(KEY.placeholder));
      found.set("value", memory.includes(KEY.value));
      process.kill(Number(pid), "SIGKILL");
    }
    return found.size > 0;
  });
  await running;
  expect([...found]).toEqual([
    ["placeholder", true],
    ["value", false],
  ]);
}, 120_000);

/** All that a process can write, as far as it can be read while it runs; nothing of one that ends meanwhile. */
function memoryOf(pid: number): Buffer {
  const pieces: Buffer[] = [];
  let memory: number | undefined;
  try {
    memory = openSync(`/proc/${pid}/mem`, "r");
    for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
      const [, from = "", to = ""] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === "" || line.includes("[v")) continue;
      const [start, end] = [Number.parseInt(from, 16), Number.parseInt(to, 16)];
      const piece = Buffer.alloc(end - start);
      pieces.push(piece.subarray(0, readSync(memory, piece, 0, piece.length, start)));
    }
  } catch (error) {
    if (!["ESRCH", "ENOENT", "EIO"].includes(errorCode(error))) throw error;
    return Buffer.alloc(0); // it is looked at again
  } finally {
    if (memory !== undefined) closeSync(memory);
  }
  return Buffer.concat(pieces);
}

test("control: without the secret's binding the same command is refused by the server", async () => {
  const elsewhere = { ...KEY, bindings: [{ to: "other.example", in: "header Authorization" }] };
  const servers = { "api.example": lockedBy(hasBearer), "other.example": lockedBy(hasBearer) };
  const place = await secretPlace(servers, { API_KEY: elsewhere });
  const { stdout } = await place.run(
    `curl -sSk -H "Authorization: Bearer ${KEY.placeholder}" https://api.example/v1; : https://other.example`,
  );
  // a tunnel, in which nobody looks: the server gets the placeholder
  expect(stdout).toMatch(new RegExp(`^closed: .*Bearer ${KEY.placeholder}`));
}, 60_000);

test("npm reads a package whose registry wants a token", async () => {
  const packument = {
    name: "left",
    "dist-tags": { latest: "1.2.3" },
    versions: { "1.2.3": { name: "left", version: "1.2.3", dist: { tarball: "https://npm.example/left.tgz" } } },
  };
  const token = { ...KEY, bindings: [{ to: "npm.example", in: "header authorization" }] };
  const answer = lockedBy(hasBearer, (_, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(packument));
  });
  const place = await secretPlace({ "npm.example": answer }, { NPM_TOKEN: token });
  const { stdout, stderr } = await place.run(
    'npm view left version --registry=https://npm.example/ "--//npm.example/:_authToken=$NPM_TOKEN" --cache=/tmp/c',
  );
  expect([stdout.trim(), stderr]).toEqual(["1.2.3", ""]);
  expectNowhere(place, KEY.value, [stdout]);
}, 120_000);

test("pip reads an index that wants a login", async () => {
  const page = '<!DOCTYPE html><a href="/left-1.2.3-py3-none-any.whl">left-1.2.3-py3-none-any.whl</a>';
  const answer = lockedBy(hasLogin, (_, response) => void response.setHeader("content-type", "text/html").end(page));
  const place = await secretPlace({ "pip.example": answer }, { INDEX_PASSWORD: LOGIN });
  const { stdout, stderr } = await place.run(
    '/usr/bin/python3 -m pip --disable-pip-version-check index versions left --index-url "https://me:$INDEX_PASSWORD@pip.example/simple/"; : https://pip.example',
  );
  expect(`${stdout}${stderr}`).toContain("left (1.2.3)");
  expectNowhere(place, LOGIN.value, [stdout, stderr]);
}, 120_000);

test("git asks a remote that wants a password", async () => {
  const refs = `${"a".repeat(40)} refs/heads/main\n`;
  const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
  const first = line(`${"a".repeat(40)} HEAD\0agent=test\n`);
  const advertised = `${line("# service=git-upload-pack\n")}0000${first}${line(refs)}0000`;
  const answer = lockedBy(hasLogin, (_, response) => {
    response.setHeader("content-type", "application/x-git-upload-pack-advertisement").end(advertised);
  });
  const password = { ...LOGIN, bindings: [{ to: "git.example", in: "basic", path: "/team", methods: ["GET"] }] };
  const place = await secretPlace({ "git.example": answer }, { GIT_PASSWORD: password });
  const { stdout, stderr } = await place.run(
    'git -c protocol.version=0 ls-remote "https://me:$GIT_PASSWORD@git.example/team/a.git"; : https://git.example',
  );
  expect([stdout, stderr]).toEqual([`${"a".repeat(40)}\tHEAD\n${"a".repeat(40)}\trefs/heads/main\n`, ""]);
  expectNowhere(place, LOGIN.value, [stdout, stderr]);
}, 120_000);

const ACCESS_KEY = "AKIAEXAMPLE7EXAMPLE7";
const SIGNING: PlacedSecret = {
  value: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYqLmEXAMXYZ",
  placeholder: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123",
  bindings: [{ to: "aws.example", in: `aws ${ACCESS_KEY}` }],
};

/** Whether the signature is that of the request by the key, as AWS describes it. */
function isSigned(request: IncomingMessage, body: string, key: string): boolean {
  const { authorization = "" } = request.headers;
  const [, scope = "", names = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(authorization) ??
    [];
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const hmac = (by: string | Buffer, text: string) => createHmac("sha256", by).update(text).digest();
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const headers = names
    .split(";")
    .map((name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, " ")}\n`);
  const hash = String(request.headers["x-amz-content-sha256"] ?? sha256(body));
  const sorted = query.split("&").sort().join("&");
  const canonical = [request.method, path, sorted, headers.join(""), names, hash].join("\n");
  const text = ["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const signing = scope.split("/").reduce((by: string | Buffer, part) => hmac(by, part), `AWS4${key}`);
  return signature === hmac(signing, text).toString("hex");
}

test.each([
  [
    "S3",
    'print(c("s3").list_buckets()["Buckets"][0]["Name"])',
    '<?xml version="1.0"?><ListAllMyBucketsResult><Buckets><Bucket><Name>yes</Name></Bucket></Buckets></ListAllMyBucketsResult>',
  ],
  [
    "STS, whose body is signed",
    'print(c("sts").get_caller_identity()["Account"])',
    "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>yes</Account></GetCallerIdentityResult></GetCallerIdentityResponse>",
  ],
])(
  "boto3 signs with a placeholder, and the server gets the signature of the key: %s",
  async (_, script, answer) => {
    const seen: boolean[][] = [];
    const server = async (request: IncomingMessage, response: Parameters<ReturnType<typeof lockedBy>>[1]) => {
      let body = "";
      request.on("data", (piece) => {
        body += piece;
      });
      await once(request, "end");
      seen.push([isSigned(request, body, SIGNING.value), isSigned(request, body, SIGNING.placeholder)]);
      response.setHeader("content-type", "text/xml").end(answer);
    };
    const place = await secretPlace(
      { "aws.example": (...both) => void server(...both) },
      { AWS_SECRET_ACCESS_KEY: SIGNING },
    );
    const { stdout, stderr } = await place.run(
      `/usr/bin/python3 -c 'import boto3; c = lambda s: boto3.client(s, region_name="eu-central-1", endpoint_url="https://aws.example"); ${script}'`,
    );
    expect([stdout.trim(), stderr, seen]).toEqual(["yes", "", [[true, false]]]);
    expectNowhere(place, SIGNING.value, [stdout, stderr]);
  },
  120_000,
);
