/** Messages of upstream servers with values without end: what checks them would run out of memory. */
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { MatchedChannel } from "../../../../src/server/upstream/talk/matched-channel.ts";
import { UpstreamProcess } from "../../../../src/server/upstream/talk/upstream-process.ts";

test("a line that comes byte by byte is copied once: the library's own buffer would copy all of it with each piece", async () => {
  const copied = vi.spyOn(Buffer, "concat");
  onTestFinished(() => copied.mockRestore());
  expect(await saidWhole(`{"jsonrpc":"2.0","id":1,"result":{"a":"${"x".repeat(5000)}"}}\n`, 1)).toEqual({
    failure: undefined,
    passed: 1,
  });
  expect(copied.mock.calls.length).toBeLessThan(10);
});

const said = (result: string) => saidWhole(`{"jsonrpc":"2.0","id":1,"result":${result}}\n`);

/** A process that says `line`, in pieces of `step` bytes; its failure, and how many messages passed. */
async function saidWhole(line: string, step = Number.POSITIVE_INFINITY) {
  const ended = Promise.withResolvers<{ exitCode: number; endedBy: undefined }>();
  let say: (piece: Uint8Array) => void = () => undefined;
  const process = new UpstreamProcess(({ input, output }) => {
    say = output.stdout;
    input(new PassThrough());
    return ended.promise;
  });
  let passed = 0;
  const channel = new MatchedChannel(process, 1000);
  channel.onmessage = () => {
    passed += 1;
  };
  await channel.start();
  await channel.send({ jsonrpc: "2.0", id: 1, method: "tools/call" });
  const bytes = Buffer.from(line);
  for (let at = 0; at < bytes.length; at += step) say(bytes.subarray(at, at + step));
  const { failure } = process;
  ended.resolve({ exitCode: 0, endedBy: undefined });
  return { failure, passed };
}

const zeros = (count: number) => `[${new Array<string>(count).fill("0").join(",")}]`;

test.each([
  ["parts", `{"content":${zeros(200_000)}}`],
  ["tools", `{"tools":${zeros(2000)}}`],
  ["values within a part", `{"content":[{"type":"text","text":"a","annotations":{"audience":${zeros(200_000)}}}]}`],
  ["words of a schema", `{"tools":[{"name":"a","inputSchema":{"type":"object","required":${zeros(200_000)}}}]}`],
  ["data", `{"content":[],"structuredContent":{"a":${zeros(1_500_000)}}}`],
])("an answer with %s without end ends the server before it is checked", async (_, result) => {
  expect(await said(result)).toEqual({ failure: expect.stringContaining("more values"), passed: 0 });
});

test.each([
  ["parts", `{"content":${zeros(1000)}}`],
  ["tools", `{"tools":${zeros(500)}}`],
  ["data", `{"content":[],"structuredContent":{"a":${zeros(200_000)}}}`],
])("control: as many %s as anyone needs are passed on", async (_, result) => {
  expect(await said(result)).toEqual({ failure: undefined, passed: 1 });
});

test("a message that is longer than one may be ends the server before it is whole; a shorter one is waited for", async () => {
  const begun = (megabytes: number) => `{"jsonrpc":"2.0","id":1,"result":{"a":"${"x".repeat(megabytes * 1_000_000)}`;
  expect(await saidWhole(begun(9))).toEqual({ failure: expect.stringContaining("no MCP server says"), passed: 0 });
  expect(await saidWhole(begun(7))).toEqual({ failure: undefined, passed: 0 }); // the control
});
