/** Messages of upstream servers with values without end: what checks them would run out of memory. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { MatchedChannel } from "../../../../src/server/upstream/talk/matched-channel.ts";
import { UpstreamProcess } from "../../../../src/server/upstream/talk/upstream-process.ts";

/** A process that says `result` as its answer; its failure, and how many messages passed. */
async function said(result: string) {
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
  say(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}\n`));
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
