/** Hostile bytes: everything that two readers could understand differently is refused before decoding. */
import { create, fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { decodeRequest, decodeResponse, encodeRequest } from "../../src/wire/codec.ts";
import { readRequestId, WIRE_FIELDS_MAX } from "../../src/wire/scan.ts";
import { WireError } from "../../src/wire/wire-error.ts";

const ID = [0x0a, 0x01, 0x72]; // request_id: "r"
const READ = [0x52, 0x03, 0x0a, 0x01, 0x70]; // file_read { path: "p" }
const SHELL = [0x6a, 0x03, 0x0a, 0x01, 0x63]; // shell_exec { command: "c" }

function refusal(bytes: readonly number[]): WireError | undefined {
  try {
    decodeRequest(Uint8Array.from(bytes));
  } catch (error) {
    if (error instanceof WireError) return error;
    throw error;
  }
  return undefined;
}

describe("INV-0004: two variants of the oneof", () => {
  test("are refused, naming the rule and the byte", () => {
    const error = refusal([...ID, ...READ, ...SHELL]);
    const message = "a second variant of `tool` begins at byte 8; send exactly one";
    expect(error?.violation).toEqual({ field: "tool", rule: "mutually_exclusive", message });
    expect(error?.code).toBe("WIRE_INVALID");
  });

  test("are refused when they are the same variant twice, which would be merged", () => {
    const secondRead = [0x52, 0x02, 0x10, 0x07];
    expect(refusal([...ID, ...READ, ...secondRead])?.violation.rule).toBe("mutually_exclusive");
    const merged = fromBinary(ToolRequestSchema, Uint8Array.from([...ID, ...READ, ...secondRead]));
    expect(merged.tool.value).toMatchObject({ path: "p", offset: 7n }); // control: the library merges
  });

  test("are refused with a variant of this kernel too", () => {
    expect(refusal([...READ, 0xa2, 0x06, 0x03, 0x0a, 0x01, 0x6e])?.violation.rule).toBe("mutually_exclusive");
  });

  test("control: the library alone takes the last one silently", () => {
    expect(fromBinary(ToolRequestSchema, Uint8Array.from([...ID, ...READ, ...SHELL])).tool.case).toBe("shellExec");
  });

  test("one variant is taken, and none is left to the validator", () => {
    expect(decodeRequest(Uint8Array.from([...ID, ...READ])).tool.case).toBe("fileRead");
    expect(decodeRequest(Uint8Array.from(ID)).tool.case).toBeUndefined();
  });

  test("two results of a response are refused as well", () => {
    expect(() => decodeResponse(Uint8Array.from([0x12, 0x00, 0x1a, 0x00]))).toThrow(WireError);
  });
});

describe("malformed bytes are refused, saying what and where", () => {
  test.each<[string, number[], string]>([
    ["a field that comes twice", [...ID, ...ID], "field `request_id` comes twice at byte 3; send it once"],
    [
      "a wire type that is not the field's",
      [0x08, 0x01],
      "field `request_id` has wire type 0 at byte 0; its type needs 2",
    ],
    ["a length beyond the end", [0x0a, 0x05, 0x72], "a length of 5 bytes at byte 1 goes beyond the end at byte 3"],
    [
      "a huge length",
      [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f],
      "a length of 4294967295 bytes at byte 1 goes beyond the end at byte 6",
    ],
    [
      "an inner length beyond its message",
      [0x52, 0x03, 0x0a, 0x02, 0x70, 0x71],
      "a length of 2 bytes at byte 3 goes beyond the end at byte 5",
    ],
    ["a group", [0x0b, 0x0c], "field `request_id` has wire type 3 at byte 0; its type needs 2"],
    ["an unknown group", [0xc3, 0x3e, 0xc4, 0x3e], "wire type 3 before byte 2 is not used by this protocol"],
    ["an unknown wire type", [0xc7, 0x3e], "wire type 7 before byte 2 is not used by this protocol"],
    ["field number 0", [0x02, 0x00], "there is no field number 0, at byte 0"],
    [
      "a field number beyond 2^29",
      [0x82, 0x80, 0x80, 0x80, 0x10, 0x00],
      "there is no field number 536870912, at byte 0",
    ],
    ["a varint longer than it need be", [0xc0, 0x3e, 0x81, 0x00], "a number is longer than it need be at byte 2"],
    ["a tag longer than it need be", [0x8a, 0x00, 0x00], "a number is longer than it need be at byte 0"],
    [
      "a varint of more than 64 bits",
      [0xc0, 0x3e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
      "a number does not fit 64 bits at byte 2",
    ],
    ["a varint that does not end", [0xc0, 0x3e, 0x80], "the bytes end inside a number at byte 3"],
    ["text that is not UTF-8", [0x0a, 0x02, 0xc3, 0x28], "field `request_id` is not UTF-8 at byte 1"],
    ["an encoded surrogate", [0x0a, 0x03, 0xed, 0xa0, 0x80], "field `request_id` is not UTF-8 at byte 1"],
    ["a truth value of 2", [0x6a, 0x02, 0x20, 0x02], "field `network_access` is neither true nor false at byte 3"],
    [
      "more than 32 bits",
      [0x7a, 0x06, 0x28, 0x80, 0x80, 0x80, 0x80, 0x10],
      "field `temperature_scaled` does not fit 32 bits at byte 3",
    ],
    ["fixed bytes that are missing", [0xc5, 0x3e, 0x00], "a field that begins before byte 2 ends beyond byte 3"],
  ])("%s", (_, bytes, message) => {
    expect(refusal(bytes)?.violation).toEqual({ field: "", rule: "decode", message });
  });

  test("control: the library alone takes a wrong wire type, a second id and a too large number", () => {
    const decode = (bytes: number[]) => fromBinary(ToolRequestSchema, Uint8Array.from(bytes));
    expect(decode([0x08, 0x01, 0x72]).requestId).toBe("r");
    expect(decode([...ID, 0x0a, 0x01, 0x71]).requestId).toBe("q");
    expect(decode([0x7a, 0x06, 0x28, 0x80, 0x80, 0x80, 0x80, 0x10]).tool.value).toMatchObject({ temperatureScaled: 0 });
  });
});

test("deeply nested unknown bytes cost nothing: unknown fields are not entered, and groups are refused", () => {
  let nested: number[] = [];
  for (let depth = 0; depth < 60; depth += 1) nested = [0xc2, 0x3e, nested.length, ...nested].slice(0, 120);
  const bytes = [...ID, 0xc2, 0x3e, nested.length, ...nested];
  expect(decodeRequest(Uint8Array.from(bytes)).$unknown).toHaveLength(1);
  const groups = Uint8Array.from(Array.from({ length: 200_000 }, (_, index) => (index % 2 === 0 ? 0xc3 : 0x3e)));
  expect(() => decodeRequest(groups)).toThrow(WireError);
});

describe("many small fields", () => {
  const unknown = (count: number) =>
    Uint8Array.from({ length: 3 * count }, (_, index) => [0xc0, 0x3e, 0x01][index % 3] ?? 0);

  test("as many as the limit are kept, one more is refused before decoding", () => {
    expect(decodeRequest(unknown(WIRE_FIELDS_MAX)).$unknown).toHaveLength(WIRE_FIELDS_MAX);
    expect(() => decodeRequest(unknown(WIRE_FIELDS_MAX + 1))).toThrow(
      `more than ${WIRE_FIELDS_MAX} fields, at byte ${3 * WIRE_FIELDS_MAX}; send fewer`,
    );
  });

  test("entries of a list count as well; control: the library alone makes a value of each", () => {
    const count = 2 * WIRE_FIELDS_MAX;
    const entries = Uint8Array.from({ length: 2 * count }, (_, index) => (index % 2 === 0 ? 0x2a : 0x00));
    const bytes = Uint8Array.from([0x6a, 0x80, 0x80, 0x10, ...entries]);
    expect(() => decodeRequest(bytes)).toThrow("more than");
    const { tool } = fromBinary(ToolRequestSchema, bytes);
    expect(tool.case === "shellExec" && tool.value.env.length).toBe(count);
  });
});

describe("any bytes", () => {
  const request = create(ToolRequestSchema, {
    requestId: "request-1",
    sessionToken: "token",
    tool: {
      case: "shellExec",
      value: { command: "cargo test", timeoutMs: 300_000n, networkAccess: true, env: ["A=1", "B=ü"] },
    },
  });

  test("cut at every byte are refused or decode, and never throw anything else", () => {
    const bytes = encodeRequest(request);
    for (let length = 0; length < bytes.length; length += 1) {
      const error = refusal([...bytes.subarray(0, length)]);
      if (error === undefined) expect(encodeRequest(decodeRequest(bytes.subarray(0, length)))).toHaveLength(length);
      else expect(error.code).toBe("WIRE_INVALID");
    }
  });

  test("with one byte changed are refused or decode to what encodes again", () => {
    const bytes = encodeRequest(request);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (index, value) => {
        const changed = Uint8Array.from(bytes);
        changed[index] = value;
        if (refusal([...changed]) === undefined)
          expect(encodeRequest(decodeRequest(changed)).length).toBeLessThanOrEqual(changed.length);
      }),
      { numRuns: 2000 },
    );
  });

  test("that are garbage are refused or decode, and never throw anything else", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (garbage) => {
        const error = refusal([...garbage]);
        expect(error === undefined || error.message !== "").toBe(true);
        expect(typeof readRequestId(garbage)).toBe("string");
      }),
      { numRuns: 5000 },
    );
  });
});

describe("the id of a damaged request", () => {
  test("is read where it can be", () => {
    expect(readRequestId(Uint8Array.from([...ID, ...READ, ...SHELL]))).toBe("r");
    expect(readRequestId(Uint8Array.from([...SHELL, ...ID, 0x0a, 0x7f]))).toBe("r");
  });

  test.each<[string, number[]]>([
    ["damage comes before it", [0x0b, ...ID]],
    ["it is no text", [0x0a, 0x01, 0xff]],
    ["there is none", READ],
    ["it is longer than an id may be", [0x0a, 0x81, 0x02, ...new Array<number>(257).fill(0x61)]],
  ])("is empty when %s", (_, bytes) => {
    expect(readRequestId(Uint8Array.from(bytes))).toBe("");
  });
});
