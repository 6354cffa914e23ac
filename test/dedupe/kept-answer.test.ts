// Which answers are kept, and that they come back with the same bytes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { decodeAnswer, encodeAnswer, isKept } from "../../src/dedupe/kept-answer.ts";
import type { ToolFailureCode } from "../../src/model/outcome/failure.ts";
import type { CallResponse, Outcome } from "../../src/model/tool/call.ts";
import { toToolResult } from "../../src/wire/index.ts";
import { encodeResponse, toWireResponse } from "../../src/wire/protobuf.ts";

const LABEL = {
  trustLevel: "user",
  dataClass: "internal",
  source: { origin: "tool:t", timestamp: "2026-01-01T00:00:00.000Z" },
} as const;

const json = fc.dictionary(
  fc.string({ unit: "grapheme" }),
  fc.jsonValue({ stringUnit: "grapheme" }),
) as fc.Arbitrary<JsonObject>;
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ kind: fc.constant("success"), data: json, label: fc.constant(LABEL), truncated: fc.boolean() }),
  fc.record({
    kind: fc.constant("success"),
    data: fc.constant({}),
    bytes: fc.uint8Array(),
    label: fc.constant(LABEL),
    truncated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("error"),
    code: fc.constantFrom<ToolFailureCode>("IO_ERROR", "OUTCOME_UNKNOWN"),
    message: fc.string({ unit: "grapheme" }),
    suggestion: fc.string({ unit: "grapheme" }),
    retryable: fc.boolean(),
    retryAfterMs: fc.nat(),
  }),
) as fc.Arbitrary<Outcome>;
const answer: fc.Arbitrary<CallResponse> = fc
  .record(
    {
      requestId: fc.string({ minLength: 1 }),
      outcome,
      durationMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
      rules: fc.array(fc.string()),
      ledgerSequence: fc.nat(),
    },
    { requiredKeys: ["requestId", "outcome", "durationMs", "rules"] },
  )
  .map((value) => value as CallResponse);

test("an answer that was kept and read back has the same bytes, as JSON and on the wire", () => {
  fc.assert(
    fc.property(answer, (first) => {
      const { answer: kept, basis } = decodeAnswer(encodeAnswer({ answer: first, basis: "rules" }));
      expect(basis).toBe("rules");
      expect(JSON.stringify(toToolResult(kept))).toBe(JSON.stringify(toToolResult(first)));
      expect(Buffer.from(encodeResponse(toWireResponse(kept)))).toEqual(
        Buffer.from(encodeResponse(toWireResponse(first))),
      );
    }),
  );
});

test("several members of an outcome may be bytes, members that are not known today too", () => {
  const first = {
    requestId: "r",
    outcome: {
      kind: "success",
      data: {},
      bytes: Buffer.from("one"),
      hash: Buffer.from("two"),
      label: LABEL,
      truncated: false,
    },
    durationMs: 1,
    rules: [],
  } as CallResponse;
  expect(decodeAnswer(encodeAnswer({ answer: first, basis: "rules" }))).toMatchObject({
    answer: first,
    basis: "rules",
  });
});

test("the mark of what an answer shows is kept with it; for an answer without one its label speaks", () => {
  const outcome = { kind: "success", data: {}, label: LABEL, truncated: false } as const;
  const answer: CallResponse = { requestId: "r", outcome, durationMs: 1, rules: [] };
  const seen = { trustLevel: "untrusted", dataClass: "internal" } as const;
  expect(decodeAnswer(encodeAnswer({ answer, basis: "rules", seen }))).toEqual({ answer, basis: "rules", seen });
  const labelled = { trustLevel: LABEL.trustLevel, dataClass: LABEL.dataClass };
  expect(decodeAnswer(encodeAnswer({ answer, basis: "rules" })).seen).toEqual(labelled);
  const damaged = JSON.stringify({ ...answer, parts: [], seen: { trustLevel: "godlike", dataClass: "public" } });
  expect(decodeAnswer({ text: damaged, bytes: new Uint8Array() }).seen).toEqual(labelled);
});

test("an answer that was kept without the rules it rests on rests on none of today", () => {
  const text = '{"requestId":"r","outcome":{"kind":"success"},"parts":[]}';
  expect(decodeAnswer({ text, bytes: new Uint8Array() }).basis).toBe("");
});

test.each(["", "null", "[]", "{}", '{"parts":[],"outcome":7}', '{"parts":[["bytes",4]],"outcome":{}}'])(
  "the record %j is refused as damaged",
  (text) => {
    expect(() => decodeAnswer({ text, bytes: new Uint8Array(3) })).toThrow(
      "an answer that was kept for replay cannot be read",
    );
  },
);

describe("what is kept", () => {
  const failed = (code: ToolFailureCode, retryable = false): Outcome => ({
    kind: "error",
    code,
    message: "m",
    suggestion: "s",
    retryable,
    retryAfterMs: 0,
  });
  const success: Outcome = { kind: "success", data: {}, label: LABEL, truncated: false };
  const denied: Outcome = { kind: "denied", denial: { layer: "policy", reason: "r", ruleId: "R", message: "m" } };
  const CASES: readonly (readonly [string, Outcome, "read" | "write", boolean | "done", boolean])[] = [
    ["a success", success, "write", true, true],
    ["a denial", denied, "write", false, false],
    ["a denial while the tool ran", denied, "write", true, false],
    ["a failure of a tool that ran", failed("FILE_NOT_FOUND"), "read", true, true],
    ["a passing failure of a tool that ran", failed("RESOURCE_BUSY", true), "write", true, false],
    ["a failure before the tool ran", failed("CANCELLED"), "write", false, false],
    ["a cancelled effect that may stand", failed("CANCELLED"), "write", true, true],
    ["a cancelled read", failed("CANCELLED"), "read", true, false],
    [
      "a passing failure to hand over the result of an effect",
      failed("STORE_UNAVAILABLE", true),
      "write",
      "done",
      true,
    ],
    ["a passing failure to hand over the result of a read", failed("STORE_UNAVAILABLE", true), "read", "done", false],
    ["an unknown outcome", failed("OUTCOME_UNKNOWN"), "write", true, true],
    [
      "an unknown outcome of a call that did not run but has an open intent",
      failed("OUTCOME_UNKNOWN"),
      "write",
      false,
      true,
    ],
  ];
  test("nothing of a failure that changed nothing, cancelled or not", () => {
    const execution = { effect: "write", ran: true, done: false } as const;
    for (const outcome of [failed("CANCELLED"), failed("FILE_NOT_FOUND")]) {
      expect([isKept(outcome, execution), isKept(outcome, { ...execution, unaffected: true })]).toEqual([true, false]);
    }
    expect(isKept(failed("OUTCOME_UNKNOWN"), { ...execution, unaffected: true })).toBe(true);
  });

  test.each(CASES)("%s", (_, outcomeOf, effect, ran, kept) => {
    expect(isKept(outcomeOf, { effect, ran: ran !== false, done: ran === "done" })).toBe(kept);
  });
});
