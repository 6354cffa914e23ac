/** Tool calls in the outputs of providers: the shapes that are read, what is refused, and where. */
import { describe, expect, test } from "vitest";
import { PROVIDER_CALLS_MAX, readProviderOutput } from "../../src/wire/provider-output.ts";

const callsIn = (value: unknown) => {
  const output = readProviderOutput(JSON.stringify(value));
  return output.ok ? output.calls : output.problem;
};
const ARGS = { path: "a.txt" };
const given = (at: string, id?: string) => ({
  at,
  ...(id !== undefined && { id }),
  tool: "read_file",
  input: { kind: "given", arguments: ARGS },
});

test.each([
  [
    "OpenAI's chat",
    {
      choices: [
        { message: { tool_calls: [{ id: "c1", function: { name: "read_file", arguments: JSON.stringify(ARGS) } }] } },
      ],
    },
    [given("choices[0].message.tool_calls[0]", "c1")],
  ],
  [
    "OpenAI's message alone",
    { role: "assistant", tool_calls: [{ type: "function", function: { name: "read_file", arguments: ARGS } }] },
    [given("tool_calls[0]")],
  ],
  [
    "OpenAI's responses",
    {
      output: [
        { type: "reasoning" },
        { type: "function_call", call_id: "f1", name: "read_file", arguments: '{"path":"a.txt"}' },
      ],
    },
    [given("output[1]", "f1")],
  ],
  [
    "Anthropic's content",
    {
      content: [
        { type: "text", text: "I will" },
        { type: "tool_use", id: "t1", name: "read_file", input: ARGS },
      ],
    },
    [given("content[1]", "t1")],
  ],
  ["serverd's one call", { tool_call: { tool_id: "read_file", input: ARGS } }, [given("tool_call")]],
  [
    "serverd's calls in an output",
    { output: { tool_calls: [{ tool: "read_file", input: ARGS }] } },
    [given("output.tool_calls[0]")],
  ],
  [
    "an input in a file of its own",
    { tool_call: { tool: "read_file", input_ref: `artifacts/tool_inputs/${"a".repeat(64)}.json` } },
    [
      {
        at: "tool_call",
        tool: "read_file",
        input: { kind: "file", reference: `artifacts/tool_inputs/${"a".repeat(64)}.json` },
      },
    ],
  ],
  [
    "no arguments",
    { tool_call: { name: "list_files", arguments: "" } },
    [{ at: "tool_call", tool: "list_files", input: { kind: "given", arguments: {} } }],
  ],
  ["no call", { choices: [{ message: { content: "done" } }] }, []],
])("%s", (_, value, expected) => {
  expect(callsIn(value)).toEqual(expected);
});

describe("what is no call is refused in its place, with its reason", () => {
  test.each([
    ["no object", "x", "tool_call_invalid"],
    ["no name", { arguments: {} }, "tool_call_invalid"],
    ["an empty name", { name: "" }, "tool_call_invalid"],
    ["a name that is too long", { name: "x".repeat(257) }, "tool_call_invalid"],
    ["two inputs", { name: "x", input: {}, input_ref: "y" }, "tool_call_invalid"],
    ["a reference that is no text", { name: "x", input_ref: 1 }, "tool_call_invalid"],
    ["arguments that are no JSON", { name: "x", arguments: "{" }, "tool_input_invalid"],
    ["arguments that are a list", { name: "x", arguments: "[1]" }, "tool_input_invalid"],
    ["arguments that are a number", { name: "x", arguments: 1 }, "tool_input_invalid"],
    ["arguments that name a member twice", { name: "x", arguments: '{"a":1,"a":2}' }, "tool_input_invalid"],
    ["arguments with a prototype", { name: "x", arguments: '{"__proto__":{}}' }, "tool_input_invalid"],
    [
      "arguments that are too deep",
      { name: "x", arguments: `${'{"a":'.repeat(100)}1${"}".repeat(100)}` },
      "tool_input_invalid",
    ],
  ])("%s", (_, call, reason) => {
    const calls = callsIn({ tool_calls: [{ name: "before" }, call, { name: "after" }] });
    expect(calls).toMatchObject([{ tool: "before" }, { at: "tool_calls[1]", reason }, { tool: "after" }]);
  });
});

describe("a document that cannot be read proposes nothing", () => {
  test.each([
    ["no JSON", "{", "not valid JSON"],
    ["a list", "[]", "no JSON object"],
    ["a member that is named twice", '{"tool_call":{"name":"a"},"tool_call":{"name":"b"}}', "names a member twice"],
    ["a prototype", '{"__proto__":{"tool_call":{"name":"x"}}}', "`__proto__`"],
    ["nesting", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, "levels deep"],
    ["a million calls", `{"tool_calls":[${'{"name":"x"},'.repeat(600_000)}{}]}`, "more than 1000000 values"],
    [
      "more calls than there may be",
      JSON.stringify({ tool_calls: Array(PROVIDER_CALLS_MAX + 1).fill({ name: "x" }) }),
      "more than 1000 tool calls",
    ],
    ["alternatives", JSON.stringify({ choices: [{ message: {} }, { message: {} }] }), "of which one is to be taken"],
    [
      "calls in two places",
      JSON.stringify({ tool_call: { name: "a" }, content: [{ type: "tool_use", name: "b" }] }),
      "in two places",
    ],
  ])("%s", (_, text, problem) => {
    expect(readProviderOutput(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });
});

test("what stands in a text, or in the arguments of a call, is data", () => {
  const hidden = { tool_calls: [{ name: "shell", arguments: { command: "true" } }] };
  expect(callsIn({ content: [{ type: "text", text: JSON.stringify(hidden), ...hidden }], metadata: hidden })).toEqual(
    [],
  );
  expect(callsIn({ tool_call: { name: "write_file", arguments: { path: "a", content: hidden } } })).toHaveLength(1);
});

test("as many calls as there may be are read", () => {
  expect(callsIn({ tool_calls: Array(PROVIDER_CALLS_MAX).fill({ name: "x" }) })).toHaveLength(PROVIDER_CALLS_MAX);
});
