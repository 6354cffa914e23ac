/** Clients that share no code with the kernel: `buf curl` (Go) and a Python program with generated code. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type DescFile, fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testPython } from "../../../../scripts/setup/system-commands.mjs";
import { file_handrail_tool_v1_kernel } from "../../../../src/gen/handrail/tool/v1/kernel_pb.ts";
import { file_handrail_tool_v1_tool } from "../../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { collect, dataIn, environmentOf, handrail, spawnHandrail, until } from "../../../support/command-line.ts";
import { makePlace, type Place } from "../../../support/place.ts";
import { MAIN } from "../../../support/program.ts";

const run = promisify(execFile);
const BUF = fileURLToPath(new URL("../../../../node_modules/@bufbuild/buf/bin/buf", import.meta.url));
const EXAMPLE = fileURLToPath(new URL("../../../../examples/python-client/", import.meta.url));
const PYTHON = testPython(process.env);
const RUN_MS_MAX = 25_000;

let place: Place;

beforeAll(() => {
  place = makePlace();
});

afterAll(() => place.remove());

describe("buf curl with the published descriptor", () => {
  let server: ReturnType<typeof spawnHandrail>;
  let schema: string;
  let port: number;
  let token: string;

  beforeAll(async () => {
    place.put("workspace/notes.md", "# Notes\n");
    server = spawnHandrail(place, ["serve", "--http", "127.0.0.1:0", "--http-socket"]);
    const output = collect(server);
    await until(() => output().stderr.includes("listening on"));
    port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(output().stderr)?.[1]);
    schema = join(place.base, "handrail.binpb");
    const { stdout } = await run(process.execPath, [MAIN, "wire", "descriptor"], {
      encoding: "buffer",
      env: environmentOf(place),
    });
    writeFileSync(schema, stdout);
    token = dataIn<{ token: string }>(
      (await handrail(place, ["sessions", "create", "--workspace", place.workspace, "--json"])).stdout,
    ).token;
  });

  afterAll(async () => {
    const ended = once(server, "close");
    server.kill("SIGTERM");
    await ended;
  });

  const over = {
    "connect over TCP": () => ["--protocol", "connect"],
    "gRPC-Web over TCP": () => ["--protocol", "grpcweb"],
    "gRPC over TCP": () => ["--protocol", "grpc", "--http2-prior-knowledge"],
    "connect over the Unix socket": () => [
      "--protocol",
      "connect",
      "--unix-socket",
      join(place.state, "handrail-http.sock"),
    ],
    "gRPC over the Unix socket": () => [
      ...["--protocol", "grpc", "--http2-prior-knowledge"],
      ...["--unix-socket", join(place.state, "handrail-http.sock")],
    ],
  };

  async function curl(method: string, how: readonly string[], data: object): Promise<unknown> {
    const host = how.includes("--unix-socket") ? "localhost" : `127.0.0.1:${port}`;
    const words = [
      "curl",
      "--schema",
      schema,
      ...how,
      "-H",
      `authorization: Bearer ${token}`,
      "-d",
      JSON.stringify(data),
    ];
    const url = `http://${host}/handrail.tool.v1.ToolKernel/${method}`;
    const { stdout } = await run(process.execPath, [BUF, ...words, url], {
      env: environmentOf(place),
      timeout: RUN_MS_MAX,
    });
    return JSON.parse(stdout);
  }

  test.each(Object.entries(over))(
    "calls a tool, streams one, and lists them: %s",
    async (_, how) => {
      const request = { requestId: "b-1", sessionToken: token, fileRead: { path: "notes.md" } };
      const read = { requestId: "b-1", success: { inlineResult: Buffer.from("# Notes\n").toString("base64") } };
      expect(await curl("Execute", how(), request)).toMatchObject(read);
      expect(await curl("ExecuteStream", how(), request)).toMatchObject({ response: read });
      expect(await curl("ListTools", how(), {})).toMatchObject({
        tools: expect.arrayContaining([expect.objectContaining({ name: "read_file" })]),
      });
    },
    60_000,
  );
});

describe("the Python client", () => {
  test("lists, reads, is denied, streams, stores and fetches", async () => {
    const words = [
      join(EXAMPLE, "main.py"),
      "--handrail",
      `${process.execPath} --disable-warning=ExperimentalWarning ${MAIN}`,
    ];
    const { stdout } = await run(PYTHON, words, { env: environmentOf(place), timeout: RUN_MS_MAX });
    expect(stdout).toContain("read notes.md: b'# Notes\\n'");
    expect(stdout).toContain("denied by INV-0007");
    expect(stdout).toContain("stored and fetched: 2560000 bytes");
  });

  test.each([
    ["tool", file_handrail_tool_v1_tool],
    ["kernel", file_handrail_tool_v1_kernel],
  ])("has code generated from the contract as it is: %s", async (name, file) => {
    const program = `from handrail.tool.v1 import ${name}_pb2 as m; print(m.DESCRIPTOR.serialized_pb.hex())`;
    const { stdout } = await run(PYTHON, ["-B", "-c", program], {
      cwd: join(EXAMPLE, "generated"),
      env: environmentOf(place),
      timeout: RUN_MS_MAX,
    });
    expect(outline(fromBinary(FileDescriptorProtoSchema, Buffer.from(stdout.trim(), "hex")))).toEqual(
      outline((file as DescFile).proto),
    );
  });
});

/** What a descriptor says to clients: messages with their fields, and methods. */
function outline({ messageType, service }: FileDescriptorProto): object {
  return {
    messages: messageType.map(({ name, field }) => [
      name,
      field.map((one) => [one.name, one.number, one.type, one.label, one.typeName]),
    ]),
    methods: service.flatMap(({ name, method }) =>
      method.map((one) => [name, one.name, one.inputType, one.outputType, one.clientStreaming, one.serverStreaming]),
    ),
  };
}
