// `call_tool` stands for the call that it names, and for nothing else.
import { expect, test } from "vitest";
import { namedCall } from "../../../../src/kernel/dialect/named-call.ts";
import type { ToolCall } from "../../../../src/model/tool/call.ts";

const call = (args: object) => ({ tool: "call_tool", variant: "call", arguments: args }) as unknown as ToolCall;

test.each([
  ["more than name and arguments", { name: "read_file", arguments: { path: "a" }, path: "b" }],
  ["itself", { name: "call_tool", arguments: { name: "read_file" } }],
  ["no name", { arguments: {} }],
  ["a list of arguments", { name: "read_file", arguments: ["a"] }],
])("a call that names %s is refused", (_, args) => {
  expect(namedCall(call(args))).toMatchObject({ ok: false });
});

test("control: a call that names a tool is that tool's call", () => {
  expect(namedCall(call({ name: "read_file", arguments: { path: "a" } }))).toMatchObject({
    ok: true,
    value: { tool: "read_file", arguments: { path: "a" } },
  });
});
