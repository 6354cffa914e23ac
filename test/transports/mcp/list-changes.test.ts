// Clients hear that the tools they were shown are others now, in both eras.
import { expect, test, vi } from "vitest";
import { connectTo, initialize, legacy, modern } from "../../support/mcp-connection.ts";
import { BOUND } from "../../support/mcp-desk.ts";
import { memoryKernel } from "../../support/memory-kernel.ts";

async function place() {
  const kernel = await memoryKernel();
  let isNarrowed = false;
  const door = {
    ...kernel.door,
    offered: async (token: string) => {
      const all = await kernel.door.offered(token);
      return isNarrowed ? all.filter(({ name }) => name !== "write_file") : all;
    },
  };
  const connection = connectTo(door, kernel.token);
  const changes = () => connection.lines().filter(({ method }) => method === "notifications/tools/list_changed");
  return {
    connection,
    changes,
    narrow: () => {
      isNarrowed = true;
    },
  };
}

test("a legacy client that has listed them", async () => {
  const { connection, changes, narrow } = await place();
  connection.write(initialize(), { jsonrpc: "2.0", method: "notifications/initialized" }, legacy(1, "tools/list"));
  await connection.until(2);
  narrow();
  await vi.waitFor(() => expect(changes()).toHaveLength(1), BOUND);
  connection.write(legacy(2, "tools/list"));
  await connection.until(4);
  const listed = JSON.stringify(connection.lines().find(({ id }) => id === 2));
  expect(listed).toContain('"read_file"');
  expect(listed).not.toContain('"write_file"');
  await connection.end();
});

test("a modern client that has subscribed, until it ends the subscription", async () => {
  const { connection, changes, narrow } = await place();
  connection.write(modern("s", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
  const [acknowledged] = await connection.until(1);
  expect(acknowledged).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  narrow();
  await vi.waitFor(() => expect(changes()).toHaveLength(1), BOUND);
  expect(changes()[0]).toMatchObject({ params: { _meta: { "io.modelcontextprotocol/subscriptionId": "s" } } });
  connection.write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "s" } });
  await connection.end();
});

test("nobody else", async () => {
  const { connection, changes, narrow } = await place();
  connection.write(
    modern("s", "subscriptions/listen", { notifications: { promptsListChanged: true } }),
    modern(1, "tools/list"),
  );
  await connection.until(2);
  narrow();
  // longer than the list is looked at, as the tests above show
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(changes()).toEqual([]);
  connection.input.destroy();
});
