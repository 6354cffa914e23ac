// The printed answer says exactly what the result object says, whatever the text is, and a text stands in it once.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallResult } from "../../../../src/transports/mcp/answers/call-result.ts";
import { printAnswer } from "../../../../src/transports/mcp/answers/print-result.ts";

/** The result as MCP's object. */
const resultObject = ({ texts, structuredContent, isError, facts }: CallResult, meta: object = {}) => ({
  content: texts.map((text) => ({ type: "text", text })),
  ...(structuredContent && { structuredContent }),
  isError,
  _meta: { ...meta, "handrail/result": facts },
});

const parsed = (result: CallResult, id: string | number = 1) => JSON.parse(printAnswer(id, result)) as unknown;
const asObject = (result: CallResult, id: string | number = 1) =>
  JSON.parse(JSON.stringify({ jsonrpc: "2.0", id, result: resultObject(result) })) as unknown;

test("an answer is printed as its object is, whatever its texts, facts and structured content are", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary" }), { maxLength: 3 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined }),
      fc.boolean(),
      (texts, facts, structuredContent, isError) => {
        const result = {
          texts,
          facts,
          ...(structuredContent && { structuredContent }),
          isError,
          isMalformed: false,
        } as CallResult;
        expect(parsed(result)).toEqual(asObject(result));
        expect(parsed(result, 'a"b')).toEqual(asObject(result, 'a"b'));
      },
    ),
  );
});

test("members that every result of an era begins with stand before the rest, and its metadata beside ours", () => {
  const result: CallResult = { texts: ["t"], facts: { status: "success" }, isError: false, isMalformed: false };
  const line = printAnswer(1, result, { head: { resultType: "complete" }, meta: { server: "s" } });
  const { result: printed } = JSON.parse(line) as { result: object };
  expect(printed).toEqual({ resultType: "complete", ...resultObject(result, { server: "s" }) });
  expect(Object.keys(printed)[0]).toBe("resultType");
});
