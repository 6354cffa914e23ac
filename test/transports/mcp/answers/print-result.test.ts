// The printed answer says exactly what the result object says, whatever the text is.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type CallResult, printAnswer } from "../../../../src/transports/mcp/answers/print-result.ts";

/** The result as MCP's object. */
const resultObject = ({ text, structuredContent, isError }: CallResult) => ({
  content: [{ type: "text", text }],
  structuredContent,
  isError,
});

const parsed = (result: CallResult, id: string | number = 1) => JSON.parse(printAnswer(id, result)) as unknown;
const asObject = (result: CallResult, id: string | number = 1) =>
  JSON.parse(JSON.stringify({ jsonrpc: "2.0", id, result: resultObject(result) })) as unknown;

test("an answer whose text stands in its data is printed like any other", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.boolean(),
      fc.boolean(),
      (text, more, inData, isError) => {
        const data = inData ? { ...more, content: text } : more;
        const result = {
          text,
          structuredContent: { status: "success", data, metadata: { rules: [] } },
          isError,
          isMalformed: false,
        } as CallResult;
        expect(parsed(result)).toEqual(asObject(result));
      },
    ),
  );
});

test("an answer without data, with data alone, and with an id that is text", () => {
  for (const structuredContent of [
    { status: "error", error: { code: "X" } },
    { data: { content: "t" } },
    {},
    { data: ["t"] },
  ]) {
    const result = { text: "t", structuredContent, isError: true, isMalformed: false } as CallResult;
    expect(parsed(result, 'a"b')).toEqual(asObject(result, 'a"b'));
  }
});

test("members that every result of an era begins with stand before the rest", () => {
  const result = { text: "t", structuredContent: { data: { content: "t" } }, isError: false, isMalformed: false };
  const { result: printed } = JSON.parse(printAnswer(1, result, { resultType: "complete" })) as { result: object };
  expect(printed).toEqual({ resultType: "complete", ...resultObject(result) });
  expect(Object.keys(printed)[0]).toBe("resultType");
});
