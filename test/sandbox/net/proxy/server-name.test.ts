/** What the first bytes of a TLS client say, read from a real client and from broken ones. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { readFirstBytes } from "../../../../src/sandbox/net/proxy/server-name.ts";

let real: Buffer;
let nameless: Buffer;

beforeAll(async () => {
  real = await helloOf("registry.example");
  nameless = await helloOf(undefined);
});

/** The first bytes of Node's own client. */
async function helloOf(servername: string | undefined): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const client = connectTls({
    host: "127.0.0.1",
    port,
    rejectUnauthorized: false,
    ...(servername !== undefined && { servername }),
  });
  client.on("error", () => client.destroy()); // there is no server to answer it
  const [socket] = (await once(server, "connection")) as [Socket];
  const [bytes] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  server.close();
  return bytes;
}

/** The same message in records of `size` bytes. */
function inRecords(bytes: Buffer, size: number): Buffer {
  const message = bytes.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

test("the name is found as a real client writes it, also in pieces and in many records", () => {
  const named = { kind: "hello", serverName: "registry.example" };
  expect(readFirstBytes(real)).toEqual(named);
  expect(readFirstBytes(Buffer.concat([real, Buffer.from("what follows")]))).toEqual(named);
  expect([1, 3, 4, 7, 100].map((size) => readFirstBytes(inRecords(real, size)))).toEqual(Array(5).fill(named));
  for (let length = 0; length < real.length; length += 1)
    expect(readFirstBytes(real.subarray(0, length))).toEqual({ kind: "more" });
});

test("a client may name nobody; what is no TLS is something else", () => {
  expect(readFirstBytes(nameless)).toEqual({ kind: "hello", serverName: undefined });
  expect(
    ["GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n", "\x80\x2e\x01\x03\x01"].map(
      (text) => readFirstBytes(Buffer.from(text, "latin1")).kind,
    ),
  ).toEqual(["other", "other", "other"]);
});

test("what begins like TLS and is not whole is broken, never something else", () => {
  const changed = (at: number, value: number) => {
    const copy = Buffer.from(real);
    copy[at] = value;
    return readFirstBytes(copy).kind;
  };
  expect({
    version: changed(1, 2),
    emptyRecord: readFirstBytes(Buffer.from([22, 3, 1, 0, 0])).kind,
    longRecord: readFirstBytes(Buffer.from([22, 3, 1, 0xff, 0xff])).kind,
    otherMessage: changed(5, 2),
    longMessage: changed(6, 1),
    session: changed(5 + 4 + 34, 255),
    alertWithin: readFirstBytes(
      Buffer.concat([inRecords(real, 100).subarray(0, 105), Buffer.from([21, 3, 1, 0, 2, 1, 0])]),
    ).kind,
  }).toEqual({
    version: "broken",
    emptyRecord: "broken",
    longRecord: "broken",
    otherMessage: "broken",
    longMessage: "broken",
    session: "broken",
    alertWithin: "broken",
  });
  const name = real.indexOf("registry.example");
  const twice = Buffer.from(real);
  twice.writeUInt16BE(twice.readUInt16BE(name - 5) - 1, name - 5); // the list ends before the name does
  expect(readFirstBytes(twice).kind).toBe("broken");
});

test("no bytes make it fail, and none that begin like TLS are taken for something else", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const { kind } = readFirstBytes(Buffer.from([22, 3, 1, ...bytes]));
      expect(["hello", "broken", "more"]).toContain(kind);
    }),
  );
  fc.assert(
    fc.property(fc.nat(real.length - 1), fc.nat(255), (at, value) => {
      const copy = Buffer.from(real);
      copy[at] = value;
      expect(["hello", "broken", "more", "other"]).toContain(readFirstBytes(copy).kind);
    }),
  );
});
