/**
 * Golden bytes: what was once written must be read for ever, and written the same way. The vectors were made once and
 * compared with an independent encoder; this test only reads them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DescMessage, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { hex } from "../../src/base/bytes.ts";
import {
  file_handrail_tool_v1_tool,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  ToolResponseSchema,
} from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { decodeRequest, decodeResponse, encodeRequest, encodeResponse } from "../../src/wire/protobuf.ts";

const DIRECTORY = import.meta.dirname;
const NAMES = readdirSync(DIRECTORY)
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length))
  .sort();

interface Vector {
  readonly type: "ToolRequest" | "ToolResponse";
  readonly message: JsonValue;
}

function bytesOf(name: string): Uint8Array {
  return Uint8Array.from(Buffer.from(readFileSync(join(DIRECTORY, `${name}.hex`), "utf8").trim(), "hex"));
}

function vectorOf(name: string): Vector {
  return JSON.parse(readFileSync(join(DIRECTORY, `${name}.json`), "utf8")) as Vector;
}

/** Decodes, encodes and prints one vector with the codec of its type. */
function roundTrip<M extends Message>(
  schema: DescMessage,
  bytes: Uint8Array,
  json: JsonValue,
  codec: { readonly decode: (bytes: Uint8Array) => M; readonly encode: (message: M) => Uint8Array },
) {
  const decoded = codec.decode(bytes);
  return {
    json: toJson(schema, decoded, { useProtoFieldName: true }),
    hex: hex(codec.encode(decoded)),
    hexFromJson: hex(codec.encode(fromJson(schema, json) as M)),
  };
}

test("CTR-0001, CTR-0002: there is a vector of every variant of both messages", () => {
  const variants = new Set(NAMES.flatMap((name) => Object.keys(vectorOf(name).message as object)));
  const fields = file_handrail_tool_v1_tool.messages
    .filter(({ name }) => name === "ToolRequest" || name === "ToolResponse")
    .flatMap((message) => message.fields.map(({ name }) => name));
  expect([...variants].sort()).toEqual([...new Set(fields)].sort());
});

describe.each(NAMES)("%s", (name) => {
  test("decodes to its JSON, and encodes to its bytes", () => {
    const { type, message } = vectorOf(name);
    const bytes = bytesOf(name);
    const found =
      type === "ToolRequest"
        ? roundTrip<ToolRequest>(ToolRequestSchema, bytes, message, { decode: decodeRequest, encode: encodeRequest })
        : roundTrip<ToolResponse>(ToolResponseSchema, bytes, message, {
            decode: decodeResponse,
            encode: encodeResponse,
          });
    expect(found).toEqual({ json: message, hex: hex(bytes), hexFromJson: hex(bytes) });
  });
});

test("CTR-0002: fields of a newer client come back unchanged, nested ones included", () => {
  const bytes = bytesOf("unknown-fields");
  const decoded = decodeRequest(bytes);
  expect(decoded.tool).toMatchObject({ case: "fileRead", value: { path: "a" } });
  expect(decoded.$unknown?.map(({ no }) => no)).toEqual([6256, 98_423]);
  expect(decoded.tool.value?.$unknown?.map(({ no }) => no)).toEqual([111]);
  expect(hex(encodeRequest(decoded))).toBe(hex(bytes));
});
