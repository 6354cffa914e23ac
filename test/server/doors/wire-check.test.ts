/** `wire validate`: the verdict over bytes and over JSON is the same. */
import { create, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { checkRequest } from "../../../src/server/doors/wire-check.ts";
import { encodeRequest } from "../../../src/wire/protobuf.ts";

function both(init: Parameters<typeof create<typeof ToolRequestSchema>>[1]) {
  const request = create(ToolRequestSchema, init);
  const fromBytes = checkRequest(encodeRequest(request));
  expect(checkRequest(JSON.stringify(toJson(ToolRequestSchema, request)))).toEqual(fromBytes);
  return fromBytes;
}

test("a valid request is valid", () => {
  expect(both({ requestId: "r", sessionToken: "s", tool: { case: "fileRead", value: { path: "a" } } })).toEqual({
    valid: true,
    violations: [],
  });
});

test("an invalid request has all its violations", () => {
  const check = both({
    requestId: "r",
    tool: { case: "fileWrite", value: { path: "../a", createOnly: true, append: true } },
  });
  expect(check.valid).toBe(false);
  expect(check.violations.map(({ field, rule }) => `${field} ${rule}`)).toEqual([
    "session_token required",
    "file_write.path no_path_traversal",
    "file_write mutually_exclusive",
  ]);
});

test("INV-0004: two variants are `tool`/`mutually_exclusive`, in bytes and in JSON", () => {
  const bytes = Uint8Array.from([0x52, 0x00, 0x5a, 0x00]);
  expect(checkRequest(bytes).violations).toMatchObject([{ field: "tool", rule: "mutually_exclusive" }]);
  expect(checkRequest('{"fileRead":{},"fileWrite":{}}').violations).toMatchObject([
    { field: "tool", rule: "mutually_exclusive" },
  ]);
});

test("what cannot be decoded is one violation that says what and where", () => {
  const message = "a length of 5 bytes at byte 1 goes beyond the end at byte 3";
  expect(checkRequest(Uint8Array.of(0x0a, 5, 0x61))).toEqual({
    valid: false,
    violations: [{ field: "", rule: "decode", message }],
  });
  expect(checkRequest("no")).toEqual({
    valid: false,
    violations: [{ field: "", rule: "decode", message: "the request is not valid JSON" }],
  });
});

test("an empty message has no tool", () => {
  expect(both({}).violations.map(({ field }) => field)).toEqual(["request_id", "session_token", "tool"]);
});
