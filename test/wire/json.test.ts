/** Requests written as proto3 JSON. */
import { create, fromJson, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { requestFromJson } from "../../src/wire/json.ts";
import { WireError } from "../../src/wire/wire-error.ts";

const request = create(ToolRequestSchema, {
  requestId: "r",
  sessionToken: "s",
  tool: {
    case: "inference",
    value: { provider: "p", model: "m", promptHash: new Uint8Array(32).fill(9), maxTokens: 5n, temperatureScaled: 70 },
  },
});

function refusal(text: string): WireError {
  try {
    requestFromJson(text);
  } catch (error) {
    if (error instanceof WireError) return error;
    throw error;
  }
  throw new Error("the text was taken");
}

test("a request is read in camelCase and in the proto's own names", () => {
  expect(requestFromJson(JSON.stringify(toJson(ToolRequestSchema, request)))).toEqual(request);
  expect(requestFromJson(JSON.stringify(toJson(ToolRequestSchema, request, { useProtoFieldName: true })))).toEqual(
    request,
  );
});

test("a `null` stands for an absent field", () => {
  const text = '{"requestId":"r","dedupeKey":null,"shellExec":{"command":"ls","env":null}}';
  expect(requestFromJson(text)).toEqual(
    create(ToolRequestSchema, { requestId: "r", tool: { case: "shellExec", value: { command: "ls" } } }),
  );
});

test("INV-0004: two variants are refused by name", () => {
  const error = refusal('{"fileRead":{"path":"a"},"shell_exec":{"command":"ls"}}');
  expect(error.violation).toEqual({
    field: "tool",
    rule: "mutually_exclusive",
    message: "the request carries both `file_read` and `shell_exec`; send exactly one variant of `tool`",
  });
});

test("INV-0004: a variant that is `null` counts as one", () => {
  expect(refusal('{"fileRead":null,"shellExec":{"command":"ls"}}').violation.rule).toBe("mutually_exclusive");
});

test("a field given under both of its names is refused; control: JSON alone has two members", () => {
  const text = '{"requestId":"a","request_id":"b"}';
  expect(refusal(text).message).toBe("the request names the field `request_id` twice; remove one");
  expect(Object.keys(JSON.parse(text) as object)).toHaveLength(2);
});

describe("what is no request is refused without quoting its values", () => {
  test.each([
    ["[]", "the request is not a JSON object"],
    ['{"requestId":"hunter2"', "the request is not valid JSON"],
    ['{"requestId":"a","requestId":"b"}', "the request is refused: an object names a member twice"],
    ['{"bogus":1}', "the request has an unknown field `bogus`; remove it"],
    ['{"fileRead":{"paht":"a"}}', "the request has an unknown field `file_read.paht`; remove it"],
    ['{"fileRead":"hunter2"}', "the field `file_read` is not a JSON object"],
    ['{"shellExec":{"env":"hunter2"}}', "the field `shell_exec.env` has the wrong JSON type"],
    ['{"requestId":{"a":"hunter2"}}', "the field `request_id` has the wrong JSON type"],
    ['{"sessionToken":12345}', "the request is not proto3 JSON of a `ToolRequest`; check the types of its fields"],
    [
      '{"fileRead":{"limit":"hunter2"}}',
      "the request is not proto3 JSON of a `ToolRequest`; check the types of its fields",
    ],
    [
      '{"fileWrite":{"content":"!!!"}}',
      "the request is not proto3 JSON of a `ToolRequest`; check the types of its fields",
    ],
  ])("%s", (text, message) => {
    expect(refusal(text).violation).toEqual({ field: "", rule: "decode", message });
  });

  test("an unknown name is shown in part only", () => {
    expect(refusal(`{"${"x".repeat(10_000)}":1}`).message.length).toBeLessThan(200);
  });

  test("control: the library's own message quotes the value", () => {
    expect(() => fromJson(ToolRequestSchema, { fileRead: { limit: "hunter2" } })).toThrow("hunter2");
  });
});
