/** CTR-0022 and CTR-0023: whatever is handed in, there is exactly one response, and it bears the request's own id. */
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type ToolRequest, ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { decodeResponse, encodeRequest, readRequestId } from "../../src/wire/protobuf.ts";
import { memoryKernel, testTool } from "../support/memory-kernel.ts";

const never = new AbortController().signal;
const path = fc.oneof(fc.constantFrom("a.txt", "dir/b.txt", ".", ".env", "../x", "/etc/passwd", "a\0b", "", "CLAUDE.md"), fc.string());
const toolName = fc.oneof(fc.constantFrom("read_file", "write_file", "edit_file", "list_files", "broken", "shell", ""), fc.string());

const variant: fc.Arbitrary<ToolRequest["tool"]> = fc.oneof(
  path.map((value) => create(ToolRequestSchema, { tool: { case: "fileRead", value: { path: value } } }).tool),
  path.map((value) => create(ToolRequestSchema, { tool: { case: "fileWrite", value: { path: value, content: Buffer.from("x") } } }).tool),
  path.map(
    (value) => create(ToolRequestSchema, { tool: { case: "fileEdit", value: { path: value, oldContent: "x", newContent: "y" } } }).tool,
  ),
  fc.string().map((value) => create(ToolRequestSchema, { tool: { case: "shellExec", value: { command: value } } }).tool),
  fc
    .tuple(toolName, fc.json())
    .map(([name, json]) => create(ToolRequestSchema, { tool: { case: "call", value: { name, argumentsJson: Buffer.from(json) } } }).tool),
);

test("wire requests, valid or not, each get one response under their id", async () => {
  const { door, token } = await memoryKernel({ tools: [broken()] });
  const wellFormed = fc.string({ unit: "grapheme", maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(wellFormed, fc.boolean(), variant, async (requestId, known, tool) => {
      const request = encodeRequest(create(ToolRequestSchema, { requestId, sessionToken: known ? token : "ses_x.y", tool }));
      const response = decodeResponse(await door.executeBytes(request, never));
      expect(response.requestId).toBe(requestId);
      expect(response.result.case).toMatch(/^(success|denied|error)$/);
    }),
    { numRuns: 300 },
  );
});

test("garbage, cut and bent requests each get one refusal, under the id that can still be read", async () => {
  const { door, token } = await memoryKernel({ tools: [broken()] });
  const whole = encodeRequest(
    create(ToolRequestSchema, { requestId: "bent", sessionToken: token, tool: { case: "fileRead", value: { path: "a.txt" } } }),
  );
  const cut = fc.nat({ max: whole.length - 1 }).map((length) => whole.subarray(0, length));
  const bent = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 })).map(([at, change]) => {
    const bytes = Uint8Array.from(whole);
    bytes[at] = (bytes[at] ?? 0) ^ change;
    return bytes;
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), cut, bent), async (bytes) => {
      const response = decodeResponse(await door.executeBytes(bytes, never));
      expect(response.requestId).toBe(readRequestId(bytes));
      expect(response.result.case).toMatch(/^(denied|error)$/);
      if (response.result.case === "denied") expect(response.result.value.ruleId).not.toBe(""); // CTR-0026
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["a path", "read_file", `${"x".repeat(299)}😀`],
  ["a tool's name", `${"x".repeat(63)}😀`, "a.txt"],
])("%s that is cut for the message is never cut inside a character, which no answer could carry", async (_, name, value) => {
  const { door, token } = await memoryKernel();
  const call = { name, argumentsJson: Buffer.from(JSON.stringify({ path: value })) };
  const request = encodeRequest(create(ToolRequestSchema, { requestId: "r", sessionToken: token, tool: { case: "call", value: call } }));
  expect(decodeResponse(await door.executeBytes(request, never))).toMatchObject({
    requestId: "r",
    result: { value: { message: expect.stringContaining("\ufffd") } },
  });
});

test("calls by name with any arguments each get one response under their id", async () => {
  const { door, token } = await memoryKernel({ tools: [broken()] });
  const args = fc.oneof(
    fc.anything(),
    fc.record({ path, content: fc.string() }),
    path.map((value) => ({ path: value })),
  );
  await fc.assert(
    fc.asyncProperty(fc.string(), toolName, args, async (requestId, tool, given) => {
      const response = await door.execute({ kind: "call", requestId, sessionToken: token, tool, arguments: given as JsonObject }, never);
      expect(response.requestId).toBe(requestId);
      expect(["success", "denied", "error"]).toContain(response.outcome.kind);
    }),
    { numRuns: 500 },
  );
});

/** A tool with a bug, so that internal errors take part. */
function broken() {
  return testTool("broken", () => {
    throw new TypeError("a bug");
  });
}
