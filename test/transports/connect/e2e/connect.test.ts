/** The HTTP front door of a real `handrail serve`: three protocols, two addresses, administration apart from calls. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EntrySchema } from "../../../../src/gen/handrail/ledger/v1/ledger_pb.ts";
import { ToolRequestSchema } from "../../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { decodeResponse } from "../../../../src/wire/protobuf.ts";
import { collect, dataIn, handrail, spawnHandrail, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { lockOf } from "../../../support/file-lock.ts";
import { clientsOf, PROTOCOLS } from "../../../support/front-door.ts";
import { makePlace, type Place } from "../../../support/place.ts";
import { envelope, http1, rawConnection } from "../../../support/raw-http.ts";

let place: Place;
let server: ChildProcessWithoutNullStreams;
let front: { readonly socketPath: string; readonly port: number };
let token: string;
let admin: string;
let sequence = 0;

beforeAll(async () => {
  place = makePlace();
  place.put("config/handrail.yaml", "alert: { freeze: false }\n"); // one session is denied in every protocol
  server = spawnHandrail(place, ["serve", "--http", "127.0.0.1:0", "--http-socket"]);
  const output = collect(server);
  await until(() => output().stderr.includes("listening on"));
  const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(output().stderr)?.[1]);
  front = { socketPath: join(place.state, "handrail-http.sock"), port };
  token = dataIn<{ token: string }>(
    (await handrail(place, ["sessions", "create", "--workspace", place.workspace, "--json"])).stdout,
  ).token;
  admin = dataIn<{ token: string }>((await handrail(place, ["admin", "token", "--json"])).stdout).token;
  place.put("workspace/notes.md", "# Notes\n");
  place.put("workspace/.env", "KEY=1");
});

afterAll(async () => {
  const ended = once(server, "close");
  server.kill("SIGTERM");
  const [code] = await ended;
  const removed = statSync(front.socketPath, { throwIfNoEntry: false }) === undefined;
  place.remove();
  expect([code, removed]).toEqual([0, true]);
});

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });

function readRequest(path: string, sessionToken = token) {
  sequence += 1;
  return create(ToolRequestSchema, {
    requestId: `r-${sequence}`,
    sessionToken,
    tool: { case: "fileRead", value: { path } },
  });
}

describe.each(PROTOCOLS)("%s", (protocol) => {
  test("reads a file, is denied a secret and a sibling, and hears of a missing file", async () => {
    const { kernel } = clientsOf(front, protocol);
    const read = await kernel.execute(readRequest("notes.md"));
    expect(read.result).toMatchObject({ case: "success", value: { label: { dataClass: "internal" } } });
    expect(read.result.case === "success" && Buffer.from(read.result.value.inlineResult).toString()).toBe("# Notes\n");
    const codes = [];
    for (const path of [".env", "../sibling/a", "none"]) {
      const { result } = await kernel.execute(readRequest(path));
      if (result.case === "denied") codes.push(result.value.rationaleCode);
      if (result.case === "error") codes.push(result.value.errorCode);
    }
    expect(codes).toEqual(["WORKSPACE_BLOCKED_ZONE", "VALIDATION_FAILED", "FILE_NOT_FOUND"]);
  });

  test("a stream of a tool that reports nothing is its response", async () => {
    const events = [];
    for await (const { event } of clientsOf(front, protocol).kernel.executeStream(readRequest("notes.md")))
      events.push(event);
    expect(events).toMatchObject([{ case: "response", value: { result: { case: "success" } } }]);
  });

  test("lists the tools to whoever has a session, and to nobody else", async () => {
    const { kernel } = clientsOf(front, protocol, "tcp");
    const { tools } = await kernel.listTools({}, bearer(token));
    const read = tools.find(({ name }) => name === "read_file");
    expect(read?.effect).toBe("read");
    expect(JSON.parse(Buffer.from(read?.inputSchemaJson ?? []).toString())).toMatchObject({ type: "object" });
    await expect(kernel.listTools({}, bearer("ses_no.such"))).rejects.toMatchObject({ code: Code.Unauthenticated });
    await expect(kernel.listTools({}, bearer(admin))).rejects.toMatchObject({ code: Code.Unauthenticated });
    await expect(kernel.getReceipt({ requestId: "r" }, bearer(token))).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
  });

  test("administration wants its own credential, and that is no session", async () => {
    const clients = clientsOf(front, protocol);
    await expect(clients.admin.getHealth({}, bearer(token))).rejects.toMatchObject({ code: Code.Unauthenticated });
    await expect(clients.admin.getHealth({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    const health = await clients.admin.getHealth({}, bearer(admin));
    expect(health).toMatchObject({ ledgerWritable: true, ledgerProblem: "" });
    const { result } = await clients.kernel.execute(readRequest("notes.md", admin));
    expect(result).toMatchObject({ case: "denied", value: { rationaleCode: "SESSION_INVALID" } });
  });
});

test("INV-0004: two variants are refused by the kernel's decoder, whatever protocol carries them", async () => {
  const other = toBinary(
    ToolRequestSchema,
    create(ToolRequestSchema, { tool: { case: "shellExec", value: { command: "id" } } }),
  );
  const both = Buffer.concat([toBinary(ToolRequestSchema, readRequest("notes.md")), other]);
  expect(fromBinary(ToolRequestSchema, both).tool.case).toBe("shellExec"); // control: another decoder takes them
  const path = "/handrail.tool.v1.ToolKernel/Execute";
  const connection = await rawConnection(front.socketPath);
  connection.write(http1(path, { "content-type": "application/proto", connection: "close" }, both));
  const plain = Buffer.from(await connection.closed, "latin1");
  const response = decodeResponse(plain.subarray(plain.indexOf("\r\n\r\n") + 4));
  expect(response).toMatchObject({
    requestId: `r-${sequence}`,
    result: { case: "denied", value: { ruleId: "INV-0004" } },
  });
  const web = await rawConnection(front.socketPath);
  web.write(http1(path, { "content-type": "application/grpc-web+proto" }, envelope(both)));
  expect(await web.until(/grpc-status: ?0/i)).toContain("INV-0004");
  const json = await rawConnection(front.socketPath);
  json.write(
    http1(
      path,
      { "content-type": "application/json" },
      Buffer.from('{"requestId":"j","fileRead":{},"shellExec":null}'),
    ),
  );
  expect(await json.until(/"denied"/)).toContain('"ruleId":"INV-0004"');
});

test("the answer has the bytes that the framed socket gives, but for what time changes", async () => {
  const ask = async (contentType: string, body: Uint8Array) => {
    const connection = await rawConnection(front.socketPath);
    connection.write(
      http1("/handrail.tool.v1.ToolKernel/Execute", { "content-type": contentType, connection: "close" }, body),
    );
    const plain = Buffer.from(await connection.closed, "latin1");
    return decodeResponse(plain.subarray(plain.indexOf("\r\n\r\n") + 4));
  };
  const answer = await ask("application/proto", toBinary(ToolRequestSchema, readRequest(".env")));
  expect(answer).toMatchObject({ result: { case: "denied", value: { layer: "workspace", ruleId: "ZONE:secret" } } });
});

describe("a call that nobody waits for", () => {
  const edit = (path: string) => {
    sequence += 1;
    const value = { path, oldContent: "before", newContent: "after" };
    return create(ToolRequestSchema, {
      requestId: `r-${sequence}`,
      sessionToken: token,
      tool: { case: "fileEdit", value },
    });
  };

  async function outcomeOf(requestId: string): Promise<unknown> {
    let found: unknown;
    await until(async () => {
      const evidence = await readEvidence(place.state);
      found = evidence.find(({ entry }) => entry.requestId === requestId && entry.closes > 0)?.payload["errorCode"];
      return found !== undefined;
    });
    return found;
  }

  test.each(PROTOCOLS)("stops at its deadline, and that is recorded: %s", async (protocol) => {
    const path = `deadline-${sequence}.txt`;
    place.put(`workspace/${path}`, "before\n");
    await lockOf(place, path);
    const request = edit(path);
    // Client and kernel look at the same deadline; the answer of whoever is first counts.
    const call = clientsOf(front, protocol).kernel.execute(request, { timeoutMs: 300 });
    const ending = await call.then(
      ({ result }) => (result.case === "error" ? result.value.errorCode : result.case),
      (error: unknown) => ConnectError.from(error).code,
    );
    expect([Code.DeadlineExceeded, "CANCELLED"]).toContain(ending);
    expect(await outcomeOf(request.requestId)).toBe("CANCELLED");
    expect(readFileSync(join(place.workspace, path), "utf8")).toBe("before\n");
  });

  test.each(["grpc/2", "connect/1.1"] as const)(
    "stops when its client is gone, and that is recorded: %s",
    async (protocol) => {
      const path = `gone-${sequence}.txt`;
      place.put(`workspace/${path}`, "before\n");
      await lockOf(place, path);
      const request = edit(path);
      const leave = new AbortController();
      const failed = clientsOf(front, protocol).kernel.execute(request, { signal: leave.signal });
      const intended = async () =>
        (await readEvidence(place.state)).some(({ entry }) => entry.requestId === request.requestId && entry.intent);
      await Promise.all([
        until(intended).then(() => leave.abort()),
        expect(failed).rejects.toMatchObject({ code: Code.Canceled }),
      ]);
      expect(await outcomeOf(request.requestId)).toBe("CANCELLED");
      expect(readFileSync(join(place.workspace, path), "utf8")).toBe("before\n");
    },
  );
});

test("a server that is told to stop aborts what runs, answers it, and records it", async () => {
  const socket = join(place.base, "other-http.sock");
  const other = spawnHandrail(place, ["serve", "--socket", join(place.base, "other.sock"), "--http-socket", socket]);
  const output = collect(other);
  await until(() => output().stderr.includes("listening on"));
  place.put("workspace/stopped.txt", "before\n");
  await lockOf(place, "stopped.txt");
  sequence += 1;
  const value = { path: "stopped.txt", oldContent: "before", newContent: "after" };
  const request = create(ToolRequestSchema, {
    requestId: `r-${sequence}`,
    sessionToken: token,
    tool: { case: "fileEdit", value },
  });
  const answer = clientsOf({ socketPath: socket, port: 0 }, "grpc/2").kernel.execute(request);
  await until(async () =>
    (await readEvidence(place.state)).some(({ entry }) => entry.requestId === request.requestId && entry.intent),
  );
  const ended = once(other, "close");
  other.kill("SIGTERM");
  expect((await answer).result).toMatchObject({ case: "error", value: { errorCode: "CANCELLED" } });
  expect((await ended)[0]).toBe(0);
  const evidence = await readEvidence(place.state);
  expect(
    evidence.find(({ entry }) => entry.requestId === request.requestId && entry.closes > 0)?.payload,
  ).toMatchObject({
    errorCode: "CANCELLED",
  });
  expect(statSync(socket, { throwIfNoEntry: false })).toBeUndefined();
});

describe("content", () => {
  const content = Buffer.alloc(2_500_000, "0123456789");

  async function upload(kernel: ReturnType<typeof clientsOf>["kernel"], secret: string, hash?: Uint8Array) {
    async function* parts() {
      yield {
        part: { case: "header", value: { size: BigInt(content.length), ...(hash && { contentHash: hash }) } },
      } as const;
      for (let start = 0; start < content.length; start += 700_000) {
        yield { part: { case: "chunk", value: content.subarray(start, start + 700_000) } } as const;
      }
    }
    return kernel.putContent(parts(), bearer(secret));
  }

  test.each(PROTOCOLS)("goes up and comes back over %s", async (protocol) => {
    const { kernel } = clientsOf(front, protocol);
    const put = await upload(kernel, token);
    expect(put.response?.result.case).toBe("success");
    expect(put.size).toBe(BigInt(content.length));
    const pieces: Uint8Array[] = [];
    for await (const { part } of kernel.getContent(
      { contentHash: put.contentHash, offset: 10n, limit: 2_000_000n },
      bearer(token),
    )) {
      if (part.case === "chunk") pieces.push(part.value);
      else expect(part).toEqual({ case: "size", value: BigInt(content.length) });
    }
    expect(Buffer.concat(pieces).equals(content.subarray(10, 2_000_010))).toBe(true);
  });

  test("a wrong hash is refused by the kernel; a wrong token and an unknown hash too", async () => {
    const { kernel } = clientsOf(front, "grpc/2");
    expect((await upload(kernel, token, new Uint8Array(32))).response?.result.case).toBe("error");
    expect((await upload(kernel, "ses_no.such")).response?.result).toMatchObject({
      case: "denied",
      value: { rationaleCode: "SESSION_INVALID" },
    });
    const parts = [];
    for await (const { part } of kernel.getContent({ contentHash: new Uint8Array(32).fill(1) }, bearer(token)))
      parts.push(part);
    expect(parts).toMatchObject([{ case: "refused" }]);
  });
});

test.each(PROTOCOLS)("%s: a session that speaks a dialect is answered in its words", async (protocol) => {
  const { admin: service, kernel } = clientsOf(front, protocol);
  const { token: spoken, session } = await service.createSession(
    { workspace: place.workspace, dialect: "brio" },
    bearer(admin),
  );
  expect(session?.dialect).toBe("brio");
  const call = (name: string, args: object) => {
    sequence += 1;
    const value = { name, argumentsJson: Buffer.from(JSON.stringify(args)) };
    return kernel.execute(
      create(ToolRequestSchema, { requestId: `r-${sequence}`, sessionToken: spoken, tool: { case: "call", value } }),
    );
  };
  const read = await call("read_file", { path: "notes.md" });
  const text = read.result.case === "success" && Buffer.from(read.result.value.inlineResult).toString();
  expect(text).toContain("# Notes");
  expect((await call("read_file", { path: join(place.workspace, "notes.md") })).result.case).not.toBe("success");
  expect((await call("git_push", {})).result).toMatchObject({ case: "denied", value: { ruleId: "DIALECT:brio" } });
  await expect(
    service.createSession({ workspace: place.workspace, dialect: "none" }, bearer(admin)),
  ).rejects.toMatchObject({ code: Code.InvalidArgument });
});

describe("KernelAdmin", () => {
  test("makes, lists and revokes a session; the change counts from the next call on", async () => {
    const { admin: service, kernel } = clientsOf(front, "grpc/2");
    const made = await service.createSession({ workspace: place.workspace, agentId: "a", userId: "u" }, bearer(admin));
    expect((await kernel.execute(readRequest("notes.md", made.token))).result.case).toBe("success");
    const { sessions, truncated } = await service.listSessions({ limit: 1 }, bearer(admin));
    expect([sessions.map(({ id }) => id), truncated]).toEqual([[made.session?.id], true]);
    await service.revokeSession({ sessionId: made.session?.id ?? "" }, bearer(admin));
    expect((await kernel.execute(readRequest("notes.md", made.token))).result).toMatchObject({
      case: "denied",
      value: { rationaleCode: "SESSION_REVOKED" },
    });
    await expect(service.revokeSession({ sessionId: "ses_none" }, bearer(admin))).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
    await expect(service.createSession({ workspace: "." }, bearer(admin))).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });

  test("arms one session or all for a while, and nobody else does", async () => {
    const { admin: service } = clientsOf(front, "connect/1.1");
    const made = await service.createSession({ workspace: place.workspace }, bearer(admin));
    const sessionId = made.session?.id ?? "";
    const { arming } = await service.arm({ sessionId, durationMs: 60_000n }, bearer(admin));
    expect(arming).toMatchObject({ sessionId, armedBy: "admin" });
    expect((arming?.untilMs ?? 0n) - (arming?.armedAtMs ?? 0n)).toBe(60_000n);
    await expect(service.arm({ durationMs: 60_000n }, bearer(made.token))).rejects.toMatchObject({
      code: Code.Unauthenticated,
    });
    await service.arm({ durationMs: 60_000n }, bearer(admin));
    expect((await service.disarm({ sessionId }, bearer(admin))).armings).toMatchObject([{ sessionId: "" }]);
    expect((await service.disarm({}, bearer(admin))).armings).toEqual([]);
    for (const wrong of [{ durationMs: 0n }, { durationMs: 86_400_001n }, { sessionId: "ses_none", durationMs: 1n }])
      await expect(service.arm(wrong, bearer(admin))).rejects.toMatchObject({ code: Code.InvalidArgument });
    for (const unknown of [{ mode: "none" }, { skill: "none" }])
      await expect(
        service.createSession({ workspace: place.workspace, ...unknown }, bearer(admin)),
      ).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
  });

  test("leases are made, narrowed, renewed and released, and rule the sessions under them", async () => {
    const { admin: service, kernel } = clientsOf(front, "connect/2");
    const { lease } = await service.createLease(
      { lifetimeMs: 60_000n, scope: { tools: [{ patterns: ["read_file"] }] } },
      bearer(admin),
    );
    const scope = { readPaths: [{ patterns: ["docs/**"] }] };
    const derived = await service.deriveLease({ parentId: lease?.id ?? "", lifetimeMs: 60_000n, scope }, bearer(admin));
    expect(derived.lease?.scope).toMatchObject({
      tools: [{ patterns: ["read_file"] }],
      readPaths: [{ patterns: ["docs/**"] }],
    });
    const made = await service.createSession(
      { workspace: place.workspace, leaseId: derived.lease?.id ?? "" },
      bearer(admin),
    );
    expect((await kernel.execute(readRequest("notes.md", made.token))).result).toMatchObject({
      case: "denied",
      value: { rationaleCode: "LEASE_SCOPE" },
    });
    const renewed = await service.renewLease({ leaseId: lease?.id ?? "", lifetimeMs: 3_600_000n }, bearer(admin));
    expect(renewed.lease?.expiresAtMs).toBeGreaterThan(lease?.expiresAtMs ?? 0n);
    const released = await service.releaseLease({ leaseId: lease?.id ?? "" }, bearer(admin));
    expect(released.lease?.releasedAtMs).toBeGreaterThan(0n);
    expect((await kernel.execute(readRequest("docs/a", made.token))).result).toMatchObject({
      case: "denied",
      value: { rationaleCode: "LEASE_EXPIRED" },
    });
    expect((await service.listLeases({}, bearer(admin))).leases.map(({ id }) => id)).toContain(derived.lease?.id);
  });

  test("leases have budgets: what a derived one may spend is the less of both", async () => {
    const { admin: service, kernel } = clientsOf(front, "connect/2");
    const { lease } = await service.createLease(
      { lifetimeMs: 60_000n, budget: { calls: 1n, bytes: 5_000_000n } },
      bearer(admin),
    );
    expect(lease?.budget).toMatchObject({ calls: 1n, bytes: 5_000_000n });
    const budget = { calls: 7n, costMicros: 0n };
    const derived = await service.deriveLease(
      { parentId: lease?.id ?? "", lifetimeMs: 60_000n, budget },
      bearer(admin),
    );
    expect(derived.lease?.budget).toMatchObject({ calls: 1n, bytes: 5_000_000n, costMicros: 0n });
    expect(derived.lease?.budget?.tokens).toBeUndefined();
    const made = await service.createSession(
      { workspace: place.workspace, leaseId: lease?.id ?? "", budget: { tokens: 3n } },
      bearer(admin),
    );
    const first = await kernel.execute(readRequest("notes.md", made.token));
    expect(first.result.case === "success" && first.result.value.budgetConsumed).toBeGreaterThan(0n);
    expect((await kernel.execute(readRequest("notes.md", made.token))).result).toMatchObject({
      case: "denied",
      value: { rationaleCode: "BUDGET_EXCEEDED", layer: "budget" },
    });
    const tooMuch = service.createLease({ lifetimeMs: 60_000n, budget: { calls: 2n ** 53n } }, bearer(admin));
    await expect(tooMuch).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  test("gives the ledger's entries as their own bytes, and verifies it", async () => {
    const { admin: service } = clientsOf(front, "connect/1.1");
    const { records, headSequence } = await service.listEntries({ fromSequence: 1n, count: 5 }, bearer(admin));
    expect(records.map(({ entry }) => fromBinary(EntrySchema, entry).sequence)).toEqual([1n, 2n, 3n, 4n, 5n]);
    const last = await service.listEntries({ count: 3 }, bearer(admin));
    expect(fromBinary(EntrySchema, last.records.at(-1)?.entry ?? new Uint8Array()).sequence).toBe(last.headSequence);
    expect(last.headSequence).toBeGreaterThanOrEqual(headSequence);
    const report = await service.verifyLedger({}, bearer(admin));
    expect(report).toMatchObject({ ok: true, problems: [] });
    expect(report.entries).toBeGreaterThanOrEqual(headSequence);
  });

  test("checks the policies as they are on disk", async () => {
    const { admin: service } = clientsOf(front, "connect/1.1");
    const { ok, presets } = await service.checkPolicy({ preset: "dev" }, bearer(admin));
    expect([ok, presets.map(({ preset, ok: good }) => [preset, good])]).toEqual([true, [["dev", true]]]);
    await expect(service.checkPolicy({ preset: "none" }, bearer(admin))).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
  });

  test("a wrong credential is recorded, and a new one replaces the one before", async () => {
    const { admin: service } = clientsOf(front, "connect/1.1");
    await expect(service.getHealth({}, bearer("adm_wrong"))).rejects.toMatchObject({ code: Code.Unauthenticated });
    const before = admin;
    admin = dataIn<{ token: string }>((await handrail(place, ["admin", "token", "--json"])).stdout).token;
    await expect(service.getHealth({}, bearer(before))).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect((await service.getHealth({}, bearer(admin))).tools).toBeGreaterThan(3);
    const stored = readFileSync(join(place.state, "admin.hash"), "utf8");
    expect([stored.includes(admin), statSync(join(place.state, "admin.hash")).mode & 0o777]).toEqual([false, 0o600]);
    const evidence = await readEvidence(place.state);
    expect(evidence.some(({ payload }) => payload["ruleId"] === "ADMIN:credential")).toBe(true);
    expect(evidence.filter(({ entry }) => entry.eventType === "admin_credential_made")).toHaveLength(2);
  });
});

test("an address that other machines reach is refused unless it is asked for", async () => {
  const refused = await handrail(place, ["serve", "--socket", join(place.base, "b.sock"), "--http", "0.0.0.0:0"]);
  expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining("this port has no encryption")]);
  const bad = await handrail(place, ["serve", "--socket", join(place.base, "b.sock"), "--http", "nowhere"]);
  expect([bad.code, bad.stderr]).toEqual([64, expect.stringContaining("`nowhere` is no address")]);
  const taken = await handrail(place, [
    "serve",
    "--socket",
    join(place.base, "b.sock"),
    "--http",
    `127.0.0.1:${front.port}`,
  ]);
  const used = `handrail: cannot listen at \`127.0.0.1\` port ${front.port} (another program listens there); choose another with --http\n`;
  expect([taken.code, taken.stderr]).toEqual([1, used]);
  expect(statSync(join(place.base, "b.sock"), { throwIfNoEntry: false })).toBeUndefined();
  expect(statSync(front.socketPath).mode & 0o777).toBe(0o600);
});
