// Headers that repeat arguments of a call have to go with them, where a tool's schema asks for such headers.
import { expect, test } from "vitest";
import { refuseArgumentHeaders } from "../../../../src/transports/mcp/http/argument-headers.ts";

const SCHEMA = {
  type: "object",
  properties: { region: { type: "string", "x-mcp-header": "Region" }, count: { "x-mcp-header": "Count" }, other: {} },
};
const coded = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;
const check = (headers: Record<string, string>, args: unknown, schema: object = SCHEMA) =>
  refuseArgumentHeaders({ headers } as never, schema as never, args)?.error.code;

test.each([
  [{}, {}],
  [{}, undefined],
  [{}, { region: null }],
  [{ "mcp-param-region": "eu" }, { region: "eu" }],
  [{ "mcp-param-region": " eu " }, { region: "eu" }],
  [{ "mcp-param-region": coded("e ü") }, { region: "e ü" }],
  [{ "mcp-param-region": "=?base64?ZXU=" }, { region: "=?base64?ZXU=" }],
  [{ "mcp-param-count": "3", "mcp-param-other": "x" }, { count: 3 }],
])("%j goes with %j", (headers, args) => expect(check(headers as never, args)).toBeUndefined());

test.each([
  [{}, { region: "eu" }],
  [{ "mcp-param-region": "us" }, { region: "eu" }],
  [{ "mcp-param-region": "eu" }, {}],
  [{ "mcp-param-region": "eu" }, undefined],
  [{ "mcp-param-region": "=?base64?ZXU?=" }, { region: "eu" }],
  [{ "mcp-param-region": "=?base64?ZX!U=?=" }, { region: "eu" }],
  [{ "mcp-param-count": "[object Object]" }, { count: {} }],
])("%j does not go with %j", (headers, args) => expect(check(headers as never, args)).toBe(-32020));

test("a schema that asks for none, or for what is no header, asks for nothing", () => {
  for (const properties of [undefined, {}, { region: {} }, { region: true }, { region: { "x-mcp-header": "a b" } }])
    expect(check({}, { region: "eu" }, { type: "object", properties })).toBeUndefined();
});
