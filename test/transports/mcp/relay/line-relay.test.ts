// The relay between a client's standard streams and a kernel elsewhere: lines both ways, and a kernel that goes away.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { LineRelay } from "../../../../src/transports/mcp/relay/line-relay.ts";
import { openLines, parseKernelAddress } from "../../../../src/transports/mcp/relay/lines-connection.ts";
import { initialize, type Line, legacy, modern } from "../../../support/mcp-connection.ts";
import { BOUND } from "../../../support/mcp-desk.ts";
import { serveMcpPlace } from "../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

const READ = { name: "read_file", arguments: { path: "one.txt" } };

function relayed(open: ConstructorParameters<typeof LineRelay>[0]["open"]) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const problems: string[] = [];
  let text = "";
  output.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const relay = new LineRelay({ open, report: (problem) => void problems.push(problem), retryMs: [1, 1] }, output);
  const served = relay.run(input);
  const lines = () =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Line & { readonly result?: object });
  const answer = (id: unknown) =>
    vi.waitFor(() => {
      const found = lines().find((line) => line.id === id);
      if (found === undefined) throw new Error("there is no answer");
      return found;
    }, BOUND);
  return {
    problems,
    lines,
    answer,
    say: (...messages: readonly object[]) => {
      for (const message of messages) input.write(`${JSON.stringify(message)}\n`);
    },
    async end() {
      input.end();
      await served;
    },
  };
}

async function served() {
  const kernel = await memoryKernel();
  writeFileSync(join(kernel.root, "one.txt"), "first line\n");
  return { kernel, door: await serveMcpPlace(kernel.door) };
}

test.each(["tcp", "unix"])("both eras pass over %s, and the end of the client ends it", async (kind) => {
  const { kernel, door } = await served();
  const address = kind === "tcp" ? `http://127.0.0.1:${door.port}` : `unix:${door.socketPath}`;
  const client = relayed(() => openLines(parseKernelAddress(address), kernel.token));
  client.say(modern(1, "tools/call", READ), initialize(), legacy(2, "tools/call", READ));
  for (const id of [1, 2])
    expect(await client.answer(id)).toMatchObject({ result: { isError: false, content: [{ text: "first line\n" }] } });
  expect(await client.answer("init")).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  await client.end();
  expect([client.problems, client.lines().length, door.errors]).toEqual([[], 3, []]);
});

test("a call whose kernel goes away is answered, not repeated; the next one finds the kernel that came back", async () => {
  const { kernel, door } = await served();
  let calls = 0;
  const hanging = await serveMcpPlace({
    ...kernel.door,
    execute: () => {
      calls += 1;
      return new Promise(() => undefined);
    },
  });
  let port = hanging.port;
  const client = relayed(() => openLines(parseKernelAddress(`http://127.0.0.1:${port}`), kernel.token));
  client.say(initialize(), { jsonrpc: "2.0", method: "notifications/initialized" }, legacy(1, "tools/call", READ));
  await vi.waitFor(() => expect(calls).toBe(1), BOUND);
  port = door.port;
  await hanging.close();
  expect(await client.answer(1)).toMatchObject({
    error: { message: expect.stringContaining("look before you repeat") },
  });
  client.say(legacy(2, "tools/call", READ));
  expect(await client.answer(2)).toMatchObject({ result: { isError: false } });
  await client.end();
  // the handshake that was repeated for the second kernel is answered to nobody
  expect(client.lines().map(({ id }) => id)).toEqual(["init", 1, 2]);
  expect(calls).toBe(1);
});

test("a kernel that is away, a token that is none and what is no kernel are said to each request", async () => {
  const { door } = await served();
  const free = await serveMcpPlace((await memoryKernel()).door);
  await free.close();
  for (const [port, token, said] of [
    [free.port, "t", /no kernel answers at http:.*ECONNREFUSED.*handrail serve/],
    [door.port, "t", /does not know this session token.*sessions create/],
  ] as const) {
    const client = relayed(() => openLines(parseKernelAddress(`http://127.0.0.1:${port}`), token));
    client.say(modern(1, "server/discover"), modern(2, "server/discover"));
    for (const id of [1, 2])
      expect(await client.answer(id)).toMatchObject({ error: { message: expect.stringMatching(said) } });
    await client.end();
  }
});

test.each(["127.0.0.1:1", "https://kernel.example", "http://h/path", "http://u@h", "unix:relative", ""])(
  "%j is no address of a kernel",
  (text) => {
    expect(() => parseKernelAddress(text)).toThrow(/is no address of a kernel; write http/);
  },
);
