/** Looking names up at a server of the test, and connecting to what was found. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { networksOf } from "../../../../src/names/address-class.ts";
import { canonicalHost } from "../../../../src/names/host-name.ts";
import { connectToAddresses } from "../../../../src/sandbox/net/gate/connection.ts";
import { checkedAddresses, type LookUp, lookUpAt, machineNetworks } from "../../../../src/sandbox/net/gate/lookup.ts";

const NONE = networksOf([]);
const never = new AbortController().signal;
const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A name server that answers with these addresses, or not at all. */
async function nameServer(
  v4: string | undefined,
  v6: string | undefined,
): Promise<{ address: string; asked: () => number }> {
  const socket: Socket = createSocket("udp4");
  let asked = 0;
  socket.on("message", (question, from) => {
    asked += 1;
    const end = question.indexOf(0, 12) + 5; // the name, its zero, type and class
    const isV4 = question.readUInt16BE(end - 4) === 1;
    const address = isV4 ? v4 : v6;
    if (address === "silent") return;
    const head = Buffer.from(question.subarray(0, end));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(address === undefined ? 0 : 1, 6);
    head.writeUInt16BE(0, 10);
    const data = address === undefined ? undefined : bytesOf(address);
    const record =
      data === undefined ? [] : [Buffer.from([0xc0, 12, 0, isV4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]), data];
    socket.send(Buffer.concat([head, ...record]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  closing.push(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked: () => asked };
}

function bytesOf(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const words = address.split(":").map((word) => Number.parseInt(word, 16)); // written in full here
  return Buffer.from(words.flatMap((word) => [word >> 8, word & 255]));
}

const rules = (lookUp: LookUp, own = NONE) => ({ lookUp, own, near: "none" as const });
const host = (name: string) => canonicalHost(name) ?? { kind: "name" as const, host: name };

test("addresses of both versions are found, and one that is not public refuses all", async () => {
  const good = await nameServer("93.184.216.34", "2606:2800:220:1:0:0:0:1");
  expect(await checkedAddresses(host("a.example"), rules(lookUpAt([good.address])), never)).toEqual({
    kind: "addresses",
    addresses: ["93.184.216.34", "2606:2800:220:1::1"],
  });
  const mixed = await nameServer("93.184.216.34", "0:0:0:0:0:0:0:1");
  expect(await checkedAddresses(host("a.example"), rules(lookUpAt([mixed.address])), never)).toEqual({
    kind: "refused",
    problem: "loopback",
    address: "::1",
  });
  const one = await nameServer("93.184.216.34", undefined);
  expect(await checkedAddresses(host("a.example"), rules(lookUpAt([one.address])), never)).toMatchObject({
    addresses: ["93.184.216.34"],
  });
  const none = await nameServer(undefined, undefined);
  expect(await checkedAddresses(host("a.example"), rules(lookUpAt([none.address])), never)).toEqual({
    kind: "unknown",
  });
});

test("what is near is not looked up, and neither are addresses", async () => {
  const server = await nameServer("93.184.216.34", undefined);
  const lookUp = lookUpAt([server.address]);
  expect(await checkedAddresses(host("localhost"), rules(lookUp), never)).toEqual({
    kind: "refused",
    problem: "loopback",
  });
  expect(await checkedAddresses(host("10.0.0.1"), rules(lookUp), never)).toEqual({
    kind: "refused",
    problem: "private",
    address: "10.0.0.1",
  });
  expect(await checkedAddresses(host("8.8.8.8"), rules(lookUp), never)).toEqual({
    kind: "addresses",
    addresses: ["8.8.8.8"],
  });
  expect(await checkedAddresses(host("8.8.8.8"), rules(lookUp, networksOf(["8.8.8.1/24"])), never)).toMatchObject({
    problem: "own_network",
  });
  expect(server.asked()).toBe(0);
});

test("a server that does not answer is given up when the command ends", async () => {
  const silent = await nameServer("silent", "silent");
  const ended = new AbortController();
  const found = checkedAddresses(host("a.example"), rules(lookUpAt([silent.address])), ended.signal);
  while (silent.asked() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  ended.abort();
  expect(await found).toEqual({ kind: "unknown" });
});

test("too many addresses are not gone through", async () => {
  const many = async () => Array.from({ length: 65 }, (_, index) => `93.184.216.${index}`);
  expect(await checkedAddresses(host("a.example"), rules(many), never)).toMatchObject({
    kind: "refused",
    problem: "unreadable",
  });
  expect(
    await checkedAddresses(
      host("a.example"),
      rules(async () => (await many()).slice(1)),
      never,
    ),
  ).toMatchObject({ kind: "addresses" });
});

test("the networks of this machine can be read", () => {
  expect(machineNetworks().ipv4.check("127.0.0.1")).toBe(true);
});

test("the next address is tried when one takes no connection, and no name is ever looked up", async () => {
  const server = createServer((socket) => socket.on("error", () => socket.destroy()).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  const { port } = server.address() as { port: number };
  const socket = connectToAddresses(["127.0.0.2", "127.0.0.1"], port);
  await once(socket, "connect");
  expect(socket.remoteAddress).toBe("127.0.0.1");
  socket.destroy();
});
