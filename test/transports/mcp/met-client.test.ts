// Who a client says that it is, and when that counts.
import { expect, test } from "vitest";
import { MetClient } from "../../../src/transports/mcp/met-client.ts";

function met(naming: () => Promise<void> = async () => undefined) {
  const names: string[] = [];
  const onClient = (name: string) => {
    names.push(name);
    return naming();
  };
  return { names, client: new MetClient({ onClient, onError: () => undefined }) };
}

test("the first name counts; a client that changes it stays whom it was", async () => {
  const { names, client } = met();
  client.introduce({ name: "one" });
  client.introduce({ name: "two" });
  await client.ready();
  client.introduce({ name: "three" });
  expect([names, client.ready()]).toEqual([["one"], undefined]);
});

test.each([[undefined], [{}], [{ name: "" }], [{ name: 7 }], ["text"]])(
  "%j is no name; after a call none is taken",
  async (info) => {
    const { names, client } = met();
    client.introduce(info);
    await client.ready();
    client.introduce({ name: "later" });
    expect(names).toEqual([]);
  },
);

test("a call waits until its client is named, and none is made where that fails", async () => {
  let done: () => void = () => undefined;
  const slow = met(() => new Promise<void>((resolve) => (done = resolve)));
  slow.client.introduce({ name: "one" });
  let isReady = false;
  const ready = slow.client.ready()?.then(() => (isReady = true));
  await new Promise((turn) => setImmediate(turn));
  expect(isReady).toBe(false);
  done();
  await ready;
  const broken = met(() => Promise.reject(new Error("the store is down")));
  broken.client.introduce({ name: "one" });
  await expect(broken.client.ready()).rejects.toThrow("the store is down");
  await expect(broken.client.ready()).rejects.toThrow("the store is down");
});
