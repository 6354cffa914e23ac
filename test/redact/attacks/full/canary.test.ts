/**
 * Canaries: secrets in files, names, arguments and the environment go through every tool and every front door, and are
 * then looked for in every answer and every byte that the kernel has written. The control shows that they are found
 * without rules.
 */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, toJsonString } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { INLINE_RESULT_BYTES_MAX } from "../../../../src/base/limits.ts";
import {
  ToolRequestSchema,
  type ToolResponse,
  ToolResponseSchema,
} from "../../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { createRedactor } from "../../../../src/redact/redact.ts";
import { NO_RULES } from "../../../../src/redact/rule-set.ts";
import { createKernel } from "../../../../src/server/doors/library.ts";
import { connectFramed } from "../../../../src/transports/framed/index.ts";
import { collect, dataIn, handrail, startHandrail, until } from "../../../support/command-line.ts";
import { clientsOf } from "../../../support/front-door.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";
import { freshPlace } from "../../../support/place.ts";
import { connectRpc } from "../../../support/rpc-client.ts";

/** Put together here, so that this file holds no secret. */
const AWS = ["AKIA", "Z7QK3LMN", "2PXWRTV4"].join("");
const CODE_HOST = ["ghp", "_", "x7Kq2LmN9pRs4TvW8yZa3BcD6eFgH1jK5MnP"].join("");
const VALUE = ["v4Xc", "?+/ü ", "9LqT7m", "&=Wz"].join("");
const PRIVATE_KEY = generateKeyPairSync("rsa", {
  modulusLength: 1024,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
}).privateKey;
const ENVIRONMENT = { CANARY_PASSWORD: VALUE };

/** Every secret in every form in which it was planted. */
const NEEDLES: readonly Buffer[] = [
  AWS,
  CODE_HOST,
  VALUE,
  Buffer.from(VALUE).toString("base64").replace(/=+$/, "").slice(0, -1),
  Buffer.from(VALUE).toString("hex"),
  encodeURIComponent(VALUE),
  JSON.stringify(VALUE).slice(1, -1),
  ...PRIVATE_KEY.split("\n").slice(1, 4),
].map((text) => Buffer.from(text));

const LEAK = [
  `aws_access_key_id = ${AWS}`,
  `token: ${CODE_HOST}`,
  `plain ${VALUE} end`,
  `base64 ${Buffer.from(VALUE).toString("base64")} end`,
  `hex ${Buffer.from(VALUE).toString("hex")} end`,
  `url https://host.example/?q=${encodeURIComponent(VALUE)}`,
  PRIVATE_KEY,
  "tail",
  "",
].join("\n");

/** The documents of every call are kept, so that a secret could stand in them. */
const ALL_DOCUMENTS = "evidence: { documents: all }\n";

/** Names that carry a secret; the others cannot stand in a path. */
const NAMED = `named ${AWS} file.txt`;

function plant(root: string): void {
  writeFileSync(join(root, "leak.txt"), LEAK);
  writeFileSync(join(root, NAMED), LEAK);
  writeFileSync(join(root, "large.txt"), `${"filler line\n".repeat(50_000)}${LEAK}${"filler line\n".repeat(50_000)}`);
  writeFileSync(join(root, "wide.txt"), Buffer.from(LEAK, "utf16le"));
}

type Call = (tool: string, args: JsonObject, dedupeKey?: string) => Promise<unknown>;

/** Every tool, in every way in which it could show what it met. */
async function tour(call: Call): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  const go = async (...args: Parameters<Call>) => void answers.push(await call(...args));
  await go("read_file", { path: "leak.txt" }, "kept");
  await go("read_file", { path: "leak.txt" }, "kept");
  await go("read_file", { path: "leak.txt", encoding: "base64" });
  await go("read_file", { path: "leak.txt", offset: 30, limit: 200 });
  await go("read_file", { path: "wide.txt", encoding: "base64" });
  await go("read_file", { path: "large.txt", max_bytes: INLINE_RESULT_BYTES_MAX, limit: 900_000 });
  await go("read_file", { path: `missing ${AWS}` });
  await go("read_file", { path: `secrets/${AWS}` });
  await go("read_file", { path: "leak.txt", [AWS]: CODE_HOST });
  await go("list_files", { path: "." });
  await go("search_file", { path: ".", regex: "token|plain|base64|hex|url|aws|KEY", context: 3 });
  await go("search_file", { path: "leak.txt", regex: `${AWS}(` });
  await go("count_matches", { path: ".", regex: AWS });
  await go("search_knowledge", { query: "token plain base64 aws key secret" });
  await go("search_knowledge", { query: AWS });
  await go("find_usage", { symbol: "token" });
  await go("find_usage", { symbol: AWS });
  await go("diagnostics", { paths: ["leak.txt"] });
  await go("rename_symbol", { symbol: "token", new_name: "other", defined_in: "leak.txt" });
  await go("get_related_tests", { file_path: "leak.txt" });
  await go("get_system_map", {});
  await go("get_task_context", { task_id: AWS });
  await go("get_task_context", { task_id: "T-1", path: "leak.txt" });
  await go(
    "edit_file",
    { path: "leak.txt", edits: [{ operation: "replace", spec: "tail", content: "end" }] },
    "edited",
  );
  await go("edit_file", { path: "leak.txt", edits: [{ operation: "replace", spec: "nothing", content: "x" }] });
  await go("write_file", { path: "new.txt", content: LEAK }, "written");
  await go("put_content", { content: LEAK });
  await go("put_content", { content: Buffer.from(LEAK).toString("base64"), encoding: "base64" });
  const stored = await call("put_content", { content: "clean" });
  const hash = /[0-9a-f]{64}/.exec(JSON.stringify(stored))?.[0] ?? "";
  await go("artifact_publish", {
    artifact_id: `a.${AWS}`,
    content_hash: hash,
    category: "report",
    metadata: [`key=${AWS}`],
  });
  await go("artifact_fetch", { artifact_id: `a.${AWS}` });
  await go("delete_file", { path: NAMED });
  await go(`tool.${AWS}`, { path: VALUE });
  return answers;
}

/** The files below `directory`, with what stands in them. */
function bytesBelow(directory: string): readonly { readonly name: string; readonly bytes: Buffer }[] {
  const all = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  // what stood in the workspace is kept as it stood, so that it can be brought back
  const files = all.filter(({ parentPath }) => !parentPath.includes("/cas/before"));
  return files.map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }));
}

/** Where a needle stands: the place, and which needle. */
function found(places: readonly { readonly name: string; readonly bytes: Buffer }[]): readonly string[] {
  return places.flatMap(({ name, bytes }) =>
    NEEDLES.flatMap((needle, index) =>
      bytes.includes(needle) || Buffer.from(name).includes(needle) ? [`${name}: needle ${index}`] : [],
    ),
  );
}

const shown = (name: string, value: unknown) => ({
  name,
  bytes: Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
});

test("the library: no answer, no report and no file of the state holds a canary", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", ALL_DOCUMENTS);
  plant(place.workspace);
  const reports: unknown[] = [];
  const kernel = await createKernel({
    environment: ENVIRONMENT,
    stateDirectory: place.state,
    configDirectory: place.config,
    onWarning: (message) => void reports.push(message),
  });
  const session = await kernel.openSession({ workspace: place.workspace });
  const answers = await tour((tool, args, dedupeKey) =>
    session.call(tool, args, dedupeKey === undefined ? {} : { dedupeKey }),
  );
  const uploaded = await session.putContent(Buffer.from(LEAK));
  await kernel.close();
  expect(
    found([
      shown("answers", answers),
      shown("upload", uploaded),
      shown("reports", reports),
      ...bytesBelow(place.state),
    ]),
  ).toEqual([]);
  expect(JSON.stringify(answers).match(/\[REDACTED:/g)?.length).toBeGreaterThan(40);
});

test("control: without rules and known values the answers, the ledger and the store hold the canaries", async () => {
  const settings = { documents: "all" } as const;
  const kernel = await memoryKernel({ redactor: createRedactor({ rules: NO_RULES }), settings });
  plant(kernel.root);
  const answers = await tour((tool, args, dedupeKey) =>
    kernel.call(tool, args, dedupeKey === undefined ? {} : { dedupeKey }),
  );
  await kernel.kept.close();
  await kernel.content.close();
  const inAnswers = new Set(found([shown("answers", answers)]));
  expect(inAnswers.size).toBe(NEEDLES.length);
  expect(found([shown("ledger", kernel.ledger.events)])).not.toEqual([]);
  expect(found(bytesBelow(kernel.state)).map((line) => line.split(":")[0])).toEqual(
    expect.arrayContaining(["dedupe.db", "content.db"]),
  );
});

test("MCP: nothing that the process writes holds a canary", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", ALL_DOCUMENTS);
  plant(place.workspace);
  const client = await connectRpc(place, [], "2025-11-25", ENVIRONMENT);
  const answers = await tour((tool, args) => client.request("tools/call", { name: tool, arguments: args }));
  client.process.stdin.end();
  await client.ended;
  expect(found([shown("answers", answers), shown("stderr", client.stderr()), ...bytesBelow(place.state)])).toEqual([]);
  expect(JSON.stringify(answers).match(/\[REDACTED:/g)?.length).toBeGreaterThan(40);
});

test("framed, RPC and the command line: nothing that the processes write holds a canary", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", ALL_DOCUMENTS);
  plant(place.workspace);
  const server = startHandrail(place, ["serve", "--http-socket"], { environment: ENVIRONMENT });
  const output = collect(server);
  await until(() => output().stderr.includes("handrail-http.sock"));
  await until(() => output().stderr.includes("handrail.sock"));
  const { token } = dataIn<{ token: string }>(
    (await handrail(place, ["sessions", "create", "--workspace", place.workspace, "--json"])).stdout,
  );
  const framed = await connectFramed(join(place.state, "handrail.sock"));
  const { kernel } = clientsOf({ socketPath: join(place.state, "handrail-http.sock"), port: 0 }, "grpc/2");
  let last = 0;
  const requestOf = (tool: string, args: JsonObject) =>
    create(ToolRequestSchema, {
      requestId: `r-${++last}`,
      sessionToken: token,
      tool: { case: "call", value: { name: tool, argumentsJson: Buffer.from(JSON.stringify(args)) } },
    });
  const plain = ({ result }: ToolResponse) =>
    `${result.case === "success" ? Buffer.from(result.value.inlineResult).toString() : ""} ${toJsonString(ToolResponseSchema, create(ToolResponseSchema, { result }))}`;
  const answers = [
    ...(await tour(async (tool, args) => plain(await framed.execute(requestOf(tool, args))))),
    ...(await tour(async (tool, args) => plain(await kernel.execute(requestOf(tool, args))))),
  ];
  for (const [path, offset] of [
    ["leak.txt", 0],
    ["leak.txt", 25],
    ["large.txt", 0],
  ] as const) {
    const request = create(ToolRequestSchema, {
      requestId: `r-${++last}`,
      sessionToken: token,
      tool: { case: "fileRead", value: { path, offset: BigInt(offset) } },
    });
    answers.push(plain(await framed.execute(request)));
  }
  const called = await handrail(
    place,
    ["call", "read_file", "--workspace", place.workspace, "--json", '{"path":"leak.txt"}'],
    {
      environment: ENVIRONMENT,
    },
  );
  await framed.close();
  const ended = once(server, "close");
  server.kill("SIGTERM");
  await ended;
  expect(
    found([
      shown("answers", answers.join("\n")),
      shown("output", output()),
      shown("call", called),
      ...bytesBelow(place.state),
    ]),
  ).toEqual([]);
  expect(answers.join("\n").match(/\[REDACTED:/g)?.length).toBeGreaterThan(60);
  expect(called.stdout).toContain("[REDACTED:");
});
