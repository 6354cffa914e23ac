/** The codec: tag numbers, determinism and round trips of the protocol. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hex, utf8 } from "../../src/base/bytes.ts";
import { KernelError } from "../../src/base/errors.ts";
import {
  file_handrail_tool_v1_tool,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  ToolResponseSchema,
} from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { decodeRequest, decodeResponse, encodeRequest, encodeResponse } from "../../src/wire/codec.ts";

const text = fc.string({ unit: "grapheme", maxLength: 200 });
const bytes = fc.uint8Array({ maxLength: 200 }).map((value) => new Uint8Array(value));
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const uint32 = fc.nat(0xffff_ffff);
const texts = fc.array(text, { maxLength: 5 });
/** Unknown fields: numbers that no message uses, with payloads as the decoder keeps them. */
const unknown = fc.array(
  fc.oneof(
    fc.record({
      no: fc.integer({ min: 1000, max: 2 ** 29 - 1 }),
      wireType: fc.constant(0),
      data: fc.constantFrom(Uint8Array.of(5), Uint8Array.of(0x80, 1)),
    }),
    fc.record({
      no: fc.integer({ min: 1000, max: 9000 }),
      wireType: fc.constant(2),
      data: fc.constant(Uint8Array.of(3, 1, 2, 3)),
    }),
    fc.record({
      no: fc.integer({ min: 1000, max: 9000 }),
      wireType: fc.constant(5),
      data: fc.constant(Uint8Array.of(1, 2, 3, 4)),
    }),
    fc.record({
      no: fc.integer({ min: 1000, max: 9000 }),
      wireType: fc.constant(1),
      data: fc.constant(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)),
    }),
  ),
  { maxLength: 3 },
);

const variant = fc.oneof(
  fc.constant({ case: undefined }),
  fc.record({
    case: fc.constant("fileRead" as const),
    value: fc.record({ path: text, offset: uint64, limit: uint64 }),
  }),
  fc.record({
    case: fc.constant("fileWrite" as const),
    value: fc.record({ path: text, content: bytes, createOnly: fc.boolean(), append: fc.boolean() }),
  }),
  fc.record({
    case: fc.constant("fileEdit" as const),
    value: fc.record({ path: text, oldContent: text, newContent: text }),
  }),
  fc.record({
    case: fc.constant("shellExec" as const),
    value: fc.record({ command: text, cwd: text, timeoutMs: uint64, networkAccess: fc.boolean(), env: texts }),
  }),
  fc.record({ case: fc.constant("gitOp" as const), value: fc.record({ operation: text, args: texts, cwd: text }) }),
  fc.record({
    case: fc.constant("inference" as const),
    value: fc.record({
      provider: text,
      model: text,
      promptHash: bytes,
      maxTokens: uint64,
      temperatureScaled: uint32,
      systemPromptHash: bytes,
    }),
  }),
  fc.record({
    case: fc.constant("artifactPublish" as const),
    value: fc.record({ artifactId: text, contentHash: bytes, category: text, metadata: texts }),
  }),
  fc.record({ case: fc.constant("call" as const), value: fc.record({ name: text, argumentsJson: bytes }) }),
);

const requests: fc.Arbitrary<ToolRequest> = fc
  .record({ requestId: text, sessionToken: text, dedupeKey: text, tool: variant, unknown, nested: unknown })
  .map(({ unknown: fields, nested, ...init }) => {
    const request = create(ToolRequestSchema, init as Parameters<typeof create<typeof ToolRequestSchema>>[1]);
    if (fields.length > 0) request.$unknown = fields;
    if (nested.length > 0 && request.tool.value !== undefined) request.tool.value.$unknown = nested;
    return request;
  });

const responses: fc.Arbitrary<ToolResponse> = fc
  .record({
    requestId: text,
    result: fc.oneof(
      fc.record({
        case: fc.constant("success" as const),
        value: fc.record({
          resultHash: bytes,
          inlineResult: bytes,
          budgetConsumed: uint64,
          durationMs: uint64,
          label: fc.record({ trustLevel: text, dataClass: text, origin: text, timestamp: text }),
          truncated: fc.boolean(),
          receipt: bytes,
        }),
      }),
      fc.record({
        case: fc.constant("denied" as const),
        value: fc.record({
          ruleId: text,
          rationaleCode: text,
          message: text,
          layer: text,
          approvalRef: text,
          fix: text,
          violations: fc.array(fc.record({ field: text, rule: text, message: text }), { maxLength: 3 }),
        }),
      }),
      fc.record({
        case: fc.constant("error" as const),
        value: fc.record({ errorCode: text, message: text, retryable: fc.boolean(), retryAfterMs: uint64 }),
      }),
    ),
  })
  .map((init) => create(ToolResponseSchema, init as Parameters<typeof create<typeof ToolResponseSchema>>[1]));

describe("round trips", () => {
  test("CTR-0002: decoding what was encoded gives the same request, unknown fields included", () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(decodeRequest(encodeRequest(request))).toEqual(request);
      }),
      { numRuns: 300 },
    );
  });

  test("CTR-0002: decoding what was encoded gives the same response", () => {
    fc.assert(
      fc.property(responses, (response) => {
        expect(decodeResponse(encodeResponse(response))).toEqual(response);
      }),
      { numRuns: 200 },
    );
  });

  test("CTR-0001: the same request gives the same bytes, also after a round trip", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const first = hex(encodeRequest(request));
        expect(hex(encodeRequest(request))).toBe(first);
        expect(hex(encodeRequest(decodeRequest(encodeRequest(request))))).toBe(first);
      }),
      { numRuns: 200 },
    );
  });

  test("a byte order mark at the start of text survives", () => {
    const request = create(ToolRequestSchema, {
      requestId: "\ufeffr",
      tool: { case: "fileEdit", value: { oldContent: "\ufeff" } },
    });
    expect(decodeRequest(encodeRequest(request))).toEqual(request);
  });
});

describe("bytes of other encoders", () => {
  test("a request assembled by hand from APM2's tags decodes", () => {
    const path = utf8("/workspace/src/main.rs");
    const read = [0x0a, path.length, ...path, 0x10, 0x05, 0x18, 0x80, 0x08];
    const assembled = Uint8Array.from([
      0x0a,
      0x01,
      0x72,
      0x12,
      0x01,
      0x73,
      0x1a,
      0x01,
      0x64,
      0x52,
      read.length,
      ...read,
    ]);
    const expected = create(ToolRequestSchema, {
      requestId: "r",
      sessionToken: "s",
      dedupeKey: "d",
      tool: { case: "fileRead", value: { path: "/workspace/src/main.rs", offset: 5n, limit: 1024n } },
    });
    expect(decodeRequest(assembled)).toEqual(expected);
    expect(hex(encodeRequest(expected))).toBe(hex(assembled));
  });

  test("fields in another order decode to the same request, and encode in the order of the tags", () => {
    const reversed = Uint8Array.from([0x52, 0x03, 0x0a, 0x01, 0x70, 0x12, 0x01, 0x73, 0x0a, 0x01, 0x72]);
    const inOrder = Uint8Array.from([0x0a, 0x01, 0x72, 0x12, 0x01, 0x73, 0x52, 0x03, 0x0a, 0x01, 0x70]);
    expect(hex(encodeRequest(decodeRequest(reversed)))).toBe(hex(inOrder));
  });
});

describe("what has no encoding", () => {
  test.each([
    ["half of a surrogate pair", { requestId: "\ud800" }],
    ["half of a surrogate pair in a list", { tool: { case: "gitOp" as const, value: { args: ["\udfff"] } } }],
    ["a negative limit", { tool: { case: "fileRead" as const, value: { limit: -1n } } }],
  ])("%s is refused instead of being changed", (_, init) => {
    const request = create(ToolRequestSchema, init);
    expect(() => encodeRequest(request)).toThrow(KernelError);
  });

  test("control: the library alone replaces half of a surrogate pair silently", () => {
    const request = create(ToolRequestSchema, { requestId: "\ud800" });
    expect(fromBinary(ToolRequestSchema, toBinary(ToolRequestSchema, request)).requestId).toBe("\ufffd");
  });
});

test("messages, field names, types and tag numbers are those of APM2, additions have tags of 100 or more", () => {
  const described = Object.fromEntries(
    file_handrail_tool_v1_tool.messages.map((message) => [
      message.name,
      message.fields.map(
        (field) =>
          `${field.number} ${field.oneof === undefined ? "" : `${field.oneof.name}:`}${field.name} ${typeName(field)}`,
      ),
    ]),
  );
  expect(described).toEqual({
    ToolRequest: [
      "1 request_id string",
      "2 session_token string",
      "3 dedupe_key string",
      "10 tool:file_read FileRead",
      "11 tool:file_write FileWrite",
      "12 tool:file_edit FileEdit",
      "13 tool:shell_exec ShellExec",
      "14 tool:git_op GitOperation",
      "15 tool:inference InferenceCall",
      "16 tool:artifact_publish ArtifactPublish",
      "100 tool:call GenericCall",
    ],
    FileRead: ["1 path string", "2 offset uint64", "3 limit uint64"],
    FileWrite: ["1 path string", "2 content bytes", "3 create_only bool", "4 append bool"],
    FileEdit: ["1 path string", "2 old_content string", "3 new_content string"],
    ShellExec: [
      "1 command string",
      "2 cwd string",
      "3 timeout_ms uint64",
      "4 network_access bool",
      "5 env repeated string",
    ],
    GitOperation: ["1 operation string", "2 args repeated string", "3 cwd string"],
    InferenceCall: [
      "1 provider string",
      "2 model string",
      "3 prompt_hash bytes",
      "4 max_tokens uint64",
      "5 temperature_scaled uint32",
      "6 system_prompt_hash bytes",
    ],
    ArtifactPublish: [
      "1 artifact_id string",
      "2 content_hash bytes",
      "3 category string",
      "4 metadata repeated string",
    ],
    GenericCall: ["1 name string", "2 arguments_json bytes"],
    ToolResponse: [
      "1 request_id string",
      "2 result:success ToolSuccess",
      "3 result:denied ToolDenied",
      "4 result:error ToolError",
    ],
    ToolSuccess: [
      "1 result_hash bytes",
      "2 inline_result bytes",
      "3 budget_consumed uint64",
      "4 duration_ms uint64",
      "100 label Label",
      "101 truncated bool",
      "102 receipt bytes",
    ],
    Label: ["1 trust_level string", "2 data_class string", "3 origin string", "4 timestamp string"],
    ToolDenied: [
      "1 rule_id string",
      "2 rationale_code string",
      "3 message string",
      "100 layer string",
      "101 approval_ref string",
      "102 fix string",
      "103 violations repeated ValidationError",
    ],
    ToolError: ["1 error_code string", "2 message string", "3 retryable bool", "4 retry_after_ms uint64"],
    ValidationError: ["1 field string", "2 rule string", "3 message string"],
  });
});

const SCALAR_NAMES: { readonly [scalar: number]: string } = {
  4: "uint64",
  8: "bool",
  9: "string",
  12: "bytes",
  13: "uint32",
};

function typeName(field: (typeof file_handrail_tool_v1_tool.messages)[number]["fields"][number]): string {
  if (field.message !== undefined) return `${field.fieldKind === "list" ? "repeated " : ""}${field.message.name}`;
  if (field.fieldKind === "list") return `repeated ${SCALAR_NAMES[field.scalar ?? 0]}`;
  return field.fieldKind === "scalar" ? (SCALAR_NAMES[field.scalar] ?? "") : "";
}
