/**
 * The framed socket of a real `handrail serve`: sessions made by another process, calls over the wire, files on the
 * disk.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
} from "../../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { connectFramed } from "../../../../src/transports/framed/index.ts";
import { collect, dataIn, handrail, spawnHandrail, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { makePlace, type Place } from "../../../support/place.ts";

let place: Place;
let server: ChildProcessWithoutNullStreams;
let client: Awaited<ReturnType<typeof connectFramed>>;
let token: string;
let sequence = 0;

beforeAll(async () => {
  place = makePlace();
  server = spawnHandrail(place, ["serve"]);
  const output = collect(server);
  await until(() => output().stderr.includes("listening on"));
  client = await connectFramed(join(place.state, "handrail.sock"));
  token = (await makeSession()).token;
});

afterAll(async () => {
  await client.close();
  const ended = once(server, "close");
  server.kill("SIGTERM");
  const [code] = await ended;
  const removed = statSync(join(place.state, "handrail.sock"), { throwIfNoEntry: false }) === undefined;
  place.remove();
  expect([code, removed]).toEqual([0, true]);
});

async function makeSession(...words: string[]): Promise<{ readonly id: string; readonly token: string }> {
  const { stdout } = await handrail(place, ["sessions", "create", "--workspace", place.workspace, "--json", ...words]);
  return dataIn(stdout);
}

type Variant = NonNullable<MessageInitShape<typeof ToolRequestSchema>["tool"]>;

function requestOf(tool: Variant, sessionToken = token): ToolRequest {
  sequence += 1;
  return create(ToolRequestSchema, { requestId: `r-${sequence}`, sessionToken, tool });
}

function send(tool: Variant, sessionToken = token): Promise<ToolResponse> {
  return client.execute(requestOf(tool, sessionToken));
}

/** The inline result of a success. */
async function bytesOf(tool: Variant): Promise<Buffer> {
  const { result } = await send(tool);
  if (result.case !== "success") throw new Error(`not a success: ${JSON.stringify(result)}`);
  return Buffer.from(result.value.inlineResult);
}

/** How a call was refused or failed. */
async function failureOf(tool: Variant): Promise<readonly unknown[]> {
  const { result } = await send(tool);
  if (result.case === "error") return [result.value.errorCode];
  return result.case === "denied"
    ? [result.value.rationaleCode, result.value.layer, result.value.ruleId]
    : [result.case];
}

const content = (path: string) => readFileSync(join(place.workspace, path));

describe("file_read", () => {
  const whole = Buffer.from([0x00, 0xff, 0xfe, 0x0d, 0x0a, 0xc3, 0x28, 0x41, 0x42, 0x43]);

  test("CTR-0004, CTR-0005: answers raw bytes, whole and in parts, also those that are no text", async () => {
    place.put("workspace/raw.bin", whole);
    const read = (offset: bigint, limit: bigint) =>
      bytesOf({ case: "fileRead", value: { path: "raw.bin", offset, limit } });
    expect(await read(0n, 0n)).toEqual(whole);
    expect(await read(3n, 4n)).toEqual(whole.subarray(3, 7));
    expect(await read(7n, 100n)).toEqual(whole.subarray(7));
    expect(await read(7n, 0n)).toEqual(whole.subarray(7));
    expect(await read(10n, 1n)).toEqual(Buffer.alloc(0));
    expect(await read(2n ** 60n, 1n)).toEqual(Buffer.alloc(0));
  });

  test("says what does not exist, and refuses what may not be read", async () => {
    place.put("workspace/.env", "KEY=1");
    expect(await failureOf({ case: "fileRead", value: { path: "none" } })).toEqual(["FILE_NOT_FOUND"]);
    expect(await failureOf({ case: "fileRead", value: { path: ".env" } })).toEqual([
      "WORKSPACE_BLOCKED_ZONE",
      "workspace",
      "ZONE:secret",
    ]);
    expect(await failureOf({ case: "fileRead", value: { path: "../x" } })).toEqual([
      "VALIDATION_FAILED",
      "validate",
      "INV-0007",
    ]);
  });
});

describe("file_write", () => {
  const bytes = Buffer.from([0xff, 0x00, 0x0a]);

  test("writes the bytes as they are", async () => {
    await bytesOf({ case: "fileWrite", value: { path: "new/file.bin", content: bytes } });
    expect(content("new/file.bin")).toEqual(bytes);
  });

  test("CTR-0008: append adds at the end", async () => {
    await bytesOf({ case: "fileWrite", value: { path: "log", content: bytes, append: true } });
    await bytesOf({ case: "fileWrite", value: { path: "log", content: Buffer.from("more"), append: true } });
    expect(content("log")).toEqual(Buffer.concat([bytes, Buffer.from("more")]));
  });

  test("CTR-0007: create_only makes a file and never replaces one", async () => {
    const value = { path: "once", content: Buffer.from("first"), createOnly: true };
    await bytesOf({ case: "fileWrite", value });
    expect(await failureOf({ case: "fileWrite", value: { ...value, content: bytes } })).toEqual(["FILE_EXISTS"]);
    expect(content("once").toString()).toBe("first");
  });

  test("INV-0012: append and create_only exclude each other", async () => {
    const value = { path: "both", content: bytes, createOnly: true, append: true };
    expect(await failureOf({ case: "fileWrite", value })).toEqual(["VALIDATION_FAILED", "validate", "INV-0012"]);
  });
});

describe("file_edit", () => {
  const edit = (oldContent: string) =>
    ({ case: "fileEdit", value: { path: "text", oldContent, newContent: "X" } }) as const;

  test("CTR-0009, CTR-0010: changes what matches exactly once, and nothing else", async () => {
    place.put("workspace/text", "one two two three\n");
    expect(await failureOf(edit("four"))).toEqual(["MATCH_COUNT_MISMATCH"]);
    expect(await failureOf(edit("two"))).toEqual(["MATCH_COUNT_MISMATCH"]);
    expect(content("text").toString()).toBe("one two two three\n");
    await bytesOf(edit("one"));
    expect(content("text").toString()).toBe("X two two three\n");
  });
});

describe("the other variants", () => {
  const hash = new Uint8Array(32);

  test("call reaches tools that have no variant of their own", async () => {
    place.put("workspace/listed/inner", "");
    const call = { name: "list_files", argumentsJson: Buffer.from('{"path":"listed"}') };
    expect(JSON.parse((await bytesOf({ case: "call", value: call })).toString())).toMatchObject({
      status: "success",
      data: { entries: [{ path: "inner", kind: "file", size_bytes: 0 }] },
    });
  });

  test.each([
    ["inference", { case: "inference", value: { provider: "p", model: "m", promptHash: hash, maxTokens: 1n } }],
  ] satisfies [string, Variant][])("%s is answered: there is no such tool here", async (_, tool) => {
    expect(await failureOf(tool)).toEqual(["TOOL_SPEC_MISSING", "gates", "TOOL:unknown"]);
  });

  test("git_op is the tool `git`", async () => {
    expect(await failureOf({ case: "gitOp", value: { operation: "STATUS" } })).toEqual(["NOT_SUPPORTED"]);
    expect(await failureOf({ case: "gitOp", value: { operation: "PUSH" } })).toEqual([
      "PERMISSION_DENIED",
      "policy",
      "base.push-release-manager-only",
    ]);
  });

  test("shell_exec is the tool `shell`", async () => {
    const tool: Variant = { case: "shellExec", value: { command: "chroot . ls" } };
    expect(await failureOf(tool)).toEqual(["TOOL_APPROVAL_REQUIRED", "approval", "danger.other-user"]);
  });

  test("CTR-0020: artifact_publish of content that is not stored fails, and succeeds once it is", async () => {
    const publish = (contentHash: Uint8Array): Variant => ({
      case: "artifactPublish",
      value: { artifactId: "a", contentHash, category: "c" },
    });
    expect(await failureOf(publish(hash))).toEqual(["CONTENT_NOT_FOUND"]);
    const put = { name: "put_content", argumentsJson: Buffer.from('{"content":"kept"}') };
    const { data } = JSON.parse((await bytesOf({ case: "call", value: put })).toString());
    const published = JSON.parse((await bytesOf(publish(Buffer.from(data.content_hash, "hex")))).toString());
    expect(published).toMatchObject({ status: "success", data: { artifact_id: "a", content_hash: data.content_hash } });
  });
});

describe("a session that speaks a dialect", () => {
  const call = (name: string, args: object) =>
    ({ case: "call", value: { name, argumentsJson: Buffer.from(JSON.stringify(args)) } }) as const;

  test("uses its words in `call`, and is answered in them; the other variants are as ever", async () => {
    place.put("workspace/spoken.txt", "one\n");
    const { token: spoken } = await makeSession("--dialect", "meao");
    const { result } = await send(call("read", { path: "spoken.txt" }), spoken);
    const answer = result.case === "success" ? JSON.parse(Buffer.from(result.value.inlineResult).toString()) : result;
    expect(answer).toMatchObject({ data: { success: true, output: "one\n" } });
    const typed = await send({ case: "fileRead", value: { path: "spoken.txt" } }, spoken);
    expect(typed.result.case).toBe("success");
  });

  test("has no other words, and reaches nothing more by them", async () => {
    place.put("workspace/.env", "KEY=1");
    const { token: spoken } = await makeSession("--dialect", "meao");
    const own = await send(call("read_file", { path: "spoken.txt" }), spoken);
    expect(own.result).toMatchObject({ case: "denied", value: { ruleId: "DIALECT:meao" } });
    const secret = await send(call("read", { path: ".env" }), spoken);
    expect(secret.result).toMatchObject({ case: "denied", value: { ruleId: "ZONE:secret" } });
    const without = await send(call("read", { path: "spoken.txt" }));
    expect(without.result.case).toBe("denied");
  });
});

test("64 calls in flight on one connection are each answered by their id", async () => {
  const names = Array.from({ length: 64 }, (_, index) => `many/${index}`);
  const writes = await Promise.all(
    names.map((path) => send({ case: "fileWrite", value: { path, content: Buffer.from(path) } })),
  );
  expect(writes.map(({ result }) => result.case)).toEqual(names.map(() => "success"));
  const reads = await Promise.all(names.map((path) => bytesOf({ case: "fileRead", value: { path } })));
  expect(reads.map(String)).toEqual(names);
  const evidence = await readEvidence(place.state);
  const ids = new Set(writes.map(({ requestId }) => requestId));
  const outcomes = evidence.filter(({ entry }) => ids.has(entry.requestId) && entry.closes > 0);
  expect(new Set(outcomes.map(({ entry }) => entry.requestId)).size).toBe(64);
});

test("a revocation by another process takes effect with the next call", async () => {
  const { id, token: own } = await makeSession();
  const read = () =>
    send({ case: "call", value: { name: "list_files", argumentsJson: Buffer.from('{"path":"."}') } }, own);
  expect((await read()).result.case).toBe("success");
  expect((await handrail(place, ["sessions", "revoke", id])).code).toBe(0);
  expect((await read()).result).toMatchObject({
    case: "denied",
    value: { rationaleCode: "SESSION_REVOKED", layer: "authenticate" },
  });
});

test("the socket and the state belong to their owner alone, and a second server does not take the socket", async () => {
  expect(statSync(join(place.state, "handrail.sock")).mode & 0o777).toBe(0o600);
  expect(statSync(place.state).mode & 0o777).toBe(0o700);
  const second = await handrail(place, ["serve"]);
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("is in use by a running kernel")]);
  expect(
    (await send({ case: "call", value: { name: "list_files", argumentsJson: Buffer.from('{"path":"."}') } })).result
      .case,
  ).toBe("success");
});
