/** CTR-0022 and CTR-0023: whatever is handed in, there is exactly one response, and it bears the request's own id. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type ToolRequest, ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { decodeResponse, encodeRequest, readRequestId } from "../../src/wire/protobuf.ts";
import { memoryKernel, testTool } from "../support/memory-kernel.ts";

const never = new AbortController().signal;
const path = fc.oneof(
  fc.constantFrom("a.txt", "dir/b.txt", ".", ".env", "../x", "/etc/passwd", "a\0b", "", "CLAUDE.md"),
  fc.string(),
);
const toolName = fc.oneof(
  fc.constantFrom("read_file", "write_file", "edit_file", "list_files", "broken", "shell", ""),
  fc.string(),
);

const variant: fc.Arbitrary<ToolRequest["tool"]> = fc.oneof(
  path.map((value) => create(ToolRequestSchema, { tool: { case: "fileRead", value: { path: value } } }).tool),
  path.map(
    (value) =>
      create(ToolRequestSchema, { tool: { case: "fileWrite", value: { path: value, content: Buffer.from("x") } } })
        .tool,
  ),
  path.map(
    (value) =>
      create(ToolRequestSchema, {
        tool: { case: "fileEdit", value: { path: value, oldContent: "x", newContent: "y" } },
      }).tool,
  ),
  fc
    .string()
    .map((value) => create(ToolRequestSchema, { tool: { case: "shellExec", value: { command: value } } }).tool),
  fc
    .tuple(toolName, fc.json())
    .map(
      ([name, json]) =>
        create(ToolRequestSchema, { tool: { case: "call", value: { name, argumentsJson: Buffer.from(json) } } }).tool,
    ),
);

test("wire requests, valid or not, each get one response under their id", async () => {
  const { door, token } = await memoryKernel({ tools: [broken()] });
  const wellFormed = fc.string({ unit: "grapheme", maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(wellFormed, fc.boolean(), variant, async (requestId, known, tool) => {
      const request = encodeRequest(
        create(ToolRequestSchema, { requestId, sessionToken: known ? token : "ses_x.y", tool }),
      );
      const response = decodeResponse(await door.executeBytes(request, never));
      expect(response.requestId).toBe(requestId);
      expect(response.result.case).toMatch(/^(success|denied|error)$/);
    }),
    { numRuns: 300 },
  );
});

test("garbage, cut and bent requests each get one refusal, under the id that can still be read", async () => {
  const { door, token } = await memoryKernel({ tools: [broken()] });
  const whole = wholeRequest(token);
  const garbage = fc.uint8Array({ maxLength: 200 });
  const cut = fc.nat({ max: whole.length - 1 }).map((length) => whole.subarray(0, length));
  const change = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }));
  const bent = change.map(([at, bits]) => whole.with(at, (whole[at] ?? 0) ^ bits));
  await fc.assert(
    fc.asyncProperty(fc.oneof(garbage, cut, bent), async (bytes) => {
      const response = decodeResponse(await door.executeBytes(bytes, never));
      expect(response.requestId).toBe(readRequestId(bytes));
      expect(response.result.case).toMatch(
        isOtherRequest(bytes, token) ? /^(success|denied|error)$/ : /^(denied|error)$/,
      );
      if (response.result.case === "denied") expect(response.result.value.ruleId).not.toBe(""); // CTR-0026
    }),
    { numRuns: 300 },
  );
});

test("a bent byte may make another request that is whole, and it is taken as what it says", async () => {
  const { door, token } = await memoryKernel();
  const whole = wholeRequest(token);
  const tag = whole.lastIndexOf(READ_TAG);
  const written = whole.with(tag, WRITE_TAG);
  expect([isOtherRequest(written, token), isOtherRequest(whole.subarray(0, tag), token)]).toEqual([true, false]);
  expect(isOtherRequest(whole.with(tag - 1, 0), token)).toBe(false); // the token's last letter
  const response = decodeResponse(await door.executeBytes(written, never));
  expect(response).toMatchObject({ requestId: "bent", result: { case: "success" } });
});

test.each([
  ["a path", "read_file", `${"x".repeat(299)}😀`],
  ["a tool's name", `${"x".repeat(63)}😀`, "a.txt"],
])(
  "%s that is cut for the message is never cut inside a character, which no answer could carry",
  async (_, name, value) => {
    const { door, token } = await memoryKernel();
    const call = { name, argumentsJson: Buffer.from(JSON.stringify({ path: value })) };
    const request = encodeRequest(
      create(ToolRequestSchema, { requestId: "r", sessionToken: token, tool: { case: "call", value: call } }),
    );
    expect(decodeResponse(await door.executeBytes(request, never))).toMatchObject({
      requestId: "r",
      result: { value: { message: expect.stringContaining("\ufffd") } },
    });
  },
);

test("calls by name with any arguments each get one response under their id", async () => {
  const { door, token } = await memoryKernel({ tools: [broken()] });
  const args = fc.oneof(
    fc.anything(),
    fc.record({ path, content: fc.string() }),
    path.map((value) => ({ path: value })),
  );
  await fc.assert(
    fc.asyncProperty(fc.string(), toolName, args, async (requestId, tool, given) => {
      const response = await door.execute(
        { kind: "call", requestId, sessionToken: token, tool, arguments: given as JsonObject },
        never,
      );
      expect(response.requestId).toBe(requestId);
      expect(["success", "denied", "error"]).toContain(response.outcome.kind);
    }),
    { numRuns: 500 },
  );
});

/** Tags of the fields `file_read` and `file_write`, which one changed bit makes of each other. */
const READ_TAG = (10 << 3) | 2;
const WRITE_TAG = (11 << 3) | 2;

/** A request to read a file, as bytes. */
function wholeRequest(token: string): Uint8Array {
  const tool = { case: "fileRead", value: { path: "a.txt" } } as const;
  return Uint8Array.from(encodeRequest(create(ToolRequestSchema, { requestId: "bent", sessionToken: token, tool })));
}

/**
 * Whether the bytes are, for protobuf's own reader and writer, a request of this session that is whole: it says what it
 * says.
 */
function isOtherRequest(bytes: Uint8Array, token: string): boolean {
  try {
    const request = fromBinary(ToolRequestSchema, bytes);
    const isSame = Buffer.from(toBinary(ToolRequestSchema, request)).equals(bytes);
    return isSame && request.sessionToken === token && request.requestId !== "" && request.tool.case !== undefined;
  } catch {
    return false; // these are no bytes of a message
  }
}

/** A tool with a bug, so that internal errors take part. */
function broken() {
  return testTool("broken", () => {
    throw new TypeError("a bug");
  });
}
