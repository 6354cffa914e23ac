// Clients whose messages have values without end: the library, which remembers each wrong one, never sees them.
import { expect, test } from "vitest";
import { byId, exchange, initialize, legacy, META, modern, READ_CALL } from "../../../support/mcp-connection.ts";

const zeros = (count: number) => new Array<number>(count).fill(0);
const MANY = 20_000;
const TOO_MANY = { error: { code: -32602, message: "the request has too many values; send fewer" } };

test("a handshake with values without end is refused; the next one, which has few, is not", async () => {
  const greedy = initialize();
  const clientInfo = { name: "x", version: "1", icons: zeros(MANY) };
  const answers = await exchange([{ ...greedy, id: 1, params: { ...greedy.params, clientInfo } }, initialize()]);
  const { "1": refused, ...others } = byId(answers);
  expect(refused).toMatchObject(TOO_MANY);
  expect(Object.values(others)).toMatchObject([{ result: { protocolVersion: "2025-11-25" } }]);
});

test.each([
  legacy("l", "prompts/get", { name: "explain_code", arguments: Object.fromEntries(zeros(MANY).entries()) }),
  legacy("l", "completion/complete", { ref: { type: "ref/prompt", name: "x" }, argument: zeros(MANY) }),
  legacy("l", "tools/call", { ...READ_CALL, _meta: { a: zeros(MANY) } }),
  modern("l", "tools/call", { ...READ_CALL, inputResponses: zeros(MANY) }),
  modern("l", "tools/list", {}, { ...META, "com.example/more": zeros(MANY) }),
])("a request with values without end is refused: $id $method", async (request) => {
  const answers = byId(await exchange([initialize(), request]));
  expect(answers["l"]).toMatchObject(TOO_MANY);
});

test("control: what a call takes is the kernel's to bound, and few values pass", async () => {
  const many = { name: "read_file", arguments: { path: "a.txt", more: zeros(MANY) } };
  const requests = [legacy("l", "tools/call", many), modern("m", "tools/call", many)];
  const answers = byId(await exchange([initialize(), ...requests]));
  expect(answers["l"]).toMatchObject({ result: { isError: false } });
  expect(answers["m"]).toMatchObject({ result: { resultType: "complete" } });
});
