// The quick way to encode a success writes what the general way writes.
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ToolResponseSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { decodeResponse, encodeResponse } from "../../src/wire/codec.ts";
import { successBytes } from "../../src/wire/success-bytes.ts";

const text = fc.oneof(fc.constant(""), fc.string({ unit: "grapheme" }), fc.string({ minLength: 120, maxLength: 300 }));
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.integer({ min: 100, max: 20_000 }).map((length) => new Uint8Array(length).fill(7)),
);

test("CTR-0001: a success has the same bytes whichever way it is encoded", () => {
  const fields = fc.record(
    {
      resultHash: bytes,
      inlineResult: bytes,
      budgetConsumed: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 53n - 1n })),
      durationMs: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 53n - 1n })),
      label: fc.record({ trustLevel: text, dataClass: text, origin: text, timestamp: text }),
      truncated: fc.boolean(),
    },
    { requiredKeys: ["budgetConsumed", "durationMs", "label", "truncated"] },
  );
  fc.assert(
    fc.property(text, fields, (requestId, value) => {
      const general = encodeResponse(create(ToolResponseSchema, { requestId, result: { case: "success", value } }));
      const quick = successBytes(requestId, value);
      expect(Buffer.compare(quick, general)).toBe(0);
      expect(decodeResponse(quick).requestId).toBe(requestId);
    }),
    { numRuns: 500 },
  );
});

test("half of a surrogate pair is refused, as in the general way", () => {
  const label = { trustLevel: "verified", dataClass: "internal", origin: "tool:\ud800", timestamp: "" };
  expect(() => successBytes("r", { budgetConsumed: 0n, durationMs: 1n, label, truncated: false })).toThrow(
    "half of a surrogate pair",
  );
});
