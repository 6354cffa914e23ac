/** What upstream servers ask of their client: refused, or granted and answered by the person who called. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import type { PersonAnswer, PersonForm } from "../../../../src/model/tool/person-question.ts";
import { hashOf, readOffered, type UpstreamGrant } from "../../../../src/server/upstream/records/pins.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { connectTo, legacy } from "../../../support/mcp-connection.ts";
import { bareServer, described, upstreamPlace } from "../../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };
const TOOLS = [described("say")];
const [SAY] = readOffered(TOOLS) as Exclude<ReturnType<typeof readOffered>, string>;
if (SAY === undefined) throw new Error("the double offers a tool");
const PIN = { name: "say", hash: hashOf(SAY) };
const SCHEMA = { type: "object", properties: { name: { type: "string" } } };
const ELICITATION = { asksFor: "elicitation/create", question: { message: "Who?", requestedSchema: SCHEMA } };
const ROOTS = { asksFor: "roots/list" };
const SAMPLING = { asksFor: "sampling/createMessage", question: { messages: [], maxTokens: 1 } };

/** A server with these grants, and a person who answers like this. */
function granting(
  grants: readonly UpstreamGrant[],
  answer: PersonAnswer = { kind: "accept", content: { name: "Ann" } },
) {
  const bare = bareServer({ grants });
  const seen: PersonForm[] = [];
  const askPerson = async (form: PersonForm) => {
    seen.push(form);
    return answer;
  };
  const said = async (signal = new AbortController().signal) =>
    (await bare.server.call(PIN, { text: "a" }, { signal, askPerson })).text;
  return { ...bare, seen, said };
}

test.each<[string, JsonObject, readonly UpstreamGrant[]]>([
  ["roots", ROOTS, []],
  ["roots", ROOTS, ["elicitation"]],
  ["elicitation", ELICITATION, []],
  ["elicitation", ELICITATION, ["roots"]],
  ["sampling", SAMPLING, ["roots", "elicitation"]],
])("what was not granted is refused: %s", TIMEOUT, async (_, how, grants) => {
  const { behave, said, seen } = granting(grants);
  behave({ tools: TOOLS, ...how });
  expect(JSON.parse(await said())).toMatchObject({ code: -32601 });
  expect(seen).toEqual([]);
});

test("what was granted is answered: where the server works, and what the person says", TIMEOUT, async () => {
  const { behave, said, seen } = granting(["roots", "elicitation"]);
  behave({ tools: TOOLS, ...ROOTS });
  expect(JSON.parse(await said())).toMatchObject({ roots: [{ uri: "file:///workspace" }] });
  behave({ tools: TOOLS, ...ELICITATION });
  expect(JSON.parse(await said())).toEqual({ action: "accept", content: { name: "Ann" } });
  expect(seen).toMatchObject([{ schema: SCHEMA }]);
});

test.each<PersonAnswer>([{ kind: "decline" }, { kind: "cancel" }])(
  "a person may say no: %s",
  TIMEOUT,
  async (answer) => {
    const { behave, said } = granting(["elicitation"], answer);
    behave({ tools: TOOLS, ...ELICITATION });
    expect(JSON.parse(await said())).toEqual({ action: answer.kind });
  },
);

test("a modern server's question is answered as well", TIMEOUT, async () => {
  const { behave, said, seen } = granting(["elicitation"]);
  behave({ tools: TOOLS, modern: true, call: "asks" });
  expect(JSON.parse(await said())).toMatchObject({ q: { action: "accept" } });
  expect(seen).toHaveLength(1);
});

test(
  "a question is shown as a stranger's, in lines that are seen; an address to open is declined",
  TIMEOUT,
  async () => {
    const { behave, said, seen } = granting(["elicitation"]);
    const message = "Approve this:\n~~~\n\u202eevil\u200b";
    behave({ tools: TOOLS, ...ELICITATION, question: { message, requestedSchema: SCHEMA } });
    await said();
    expect(seen[0]?.message).toMatch(/^The server `double`, a program of somebody else's/);
    expect(
      seen[0]?.message
        .split("\n")
        .slice(1)
        .every((line) => line.startsWith("│ ")),
    ).toBe(true);
    expect(seen[0]?.message).not.toMatch(/[\u202e\u200b]/);
    const url = { mode: "url", message: "open", url: "https://evil.example/", elicitationId: "1" };
    behave({ tools: TOOLS, ...ELICITATION, question: url });
    expect(await said()).not.toContain("accept");
    const long = { message: "x".repeat(20_000), requestedSchema: SCHEMA };
    behave({ tools: TOOLS, ...ELICITATION, question: long });
    expect(JSON.parse(await said())).toEqual({ action: "decline" });
    expect(seen).toHaveLength(1);
  },
);

test("a server that may ask people has one call open at once, so that no other person is asked", TIMEOUT, async () => {
  const { server, behave, seen } = granting(["elicitation"]);
  behave({ tools: TOOLS, ...ELICITATION });
  const names = ["Ann", "Ben", "Cem"];
  const calls = names.map((name) =>
    server.call(
      PIN,
      { text: name },
      {
        signal: new AbortController().signal,
        askPerson: async (form) => {
          seen.push(form);
          return { kind: "accept", content: { name } };
        },
      },
    ),
  );
  const said = (await Promise.all(calls)).map(({ text }) => JSON.parse(text).content.name);
  expect(said).toEqual(names);
  expect(seen).toHaveLength(3);
});

test("the client that called is asked through the kernel, without secrets; another one is not", TIMEOUT, async () => {
  const place = await upstreamPlace();
  const secret = ["AKIA", "Z7QK3LMN", "2PXWRTV4"].join("");
  place.behave({ tools: TOOLS });
  await place.bring("double", { ...place.double, grants: ["elicitation"] });
  const question = { message: `Who has ${secret}?`, requestedSchema: SCHEMA };
  place.behave({ tools: TOOLS, ...ELICITATION, question });
  const { token } = await place.kernel.administration.createSession({
    workspace: place.workspace,
    userId: "ann",
    agentId: "agent",
  });
  const connection = connectTo(place.kernel.door, token);
  const clientInfo = { name: "test", version: "1" };
  const hello = legacy("init", "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo,
  });
  const call = legacy(1, "tools/call", { name: "mcp.double.say", arguments: { text: "a" } });
  connection.write(hello, { jsonrpc: "2.0", method: "notifications/initialized" }, call);
  const asked = () => connection.lines().find(({ method }) => method === "elicitation/create");
  await expect.poll(asked, { timeout: 60_000 }).toBeDefined();
  expect(JSON.stringify(asked())).toContain("a program of somebody else's");
  expect(JSON.stringify(asked())).not.toContain(secret);
  connection.write({ jsonrpc: "2.0", id: asked()?.["id"], result: { action: "accept", content: { name: "Ann" } } });
  const answered = () => JSON.stringify(connection.lines().find(({ id }) => id === 1) ?? "");
  await expect.poll(answered, { timeout: 60_000 }).toContain("Ann");
  await connection.end();
  // a caller that cannot be asked
  expect(await place.call("mcp.double.say", { text: "a" })).toMatchObject({ data: { text: '{"action":"cancel"}' } });
  await place.kernel.close();
  const added = (await readEvidence(place.state)).find(({ entry }) => entry.eventType === "upstream_added");
  expect(added?.payload).toMatchObject({ grants: ["elicitation"] });
});
