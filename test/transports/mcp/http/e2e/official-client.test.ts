// The official client over HTTP, in every way in which it finds out the era, against a real kernel.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { sessionFeatures } from "../../../../../src/transports/mcp/features/session-features.ts";
import { bearer, serveMcpPlace } from "../../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../../support/memory-kernel.ts";

test.each(["modern", "legacy", "auto"] as const)(
  "the official client (%s) lists, calls, asks and ends",
  async (era) => {
    const kernel = await memoryKernel();
    writeFileSync(join(kernel.root, "one.txt"), "first line\n");
    const features = sessionFeatures({ door: kernel.door, sessionToken: kernel.token, newRequestId: () => "feature" });
    const door = await serveMcpPlace(kernel.door, { offers: { features } });
    const mode = era === "modern" ? { pin: "2026-07-28" } : era;
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    onTestFinished(() => client.close());
    const requestInit = { headers: bearer(kernel.token) };
    await client.connect(new StreamableHTTPClientTransport(new URL(door.url), { requestInit }));
    expect(client.getNegotiatedProtocolVersion()).toBe(era === "legacy" ? "2025-11-25" : "2026-07-28");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("read_file");
    const read = { name: "read_file", arguments: { path: "one.txt" } };
    expect(await client.callTool(read)).toMatchObject({ content: [{ type: "text", text: "first line\n" }] });
    const refused = await client.callTool({ name: "read_file", arguments: { path: "../outside" } });
    expect(refused).toMatchObject({ isError: true });
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(3);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    expect(door.errors).toEqual([]);
  },
);

test("without a token it does not get in", async () => {
  const kernel = await memoryKernel();
  const door = await serveMcpPlace(kernel.door);
  const client = new Client({ name: "test", version: "1" });
  await expect(client.connect(new StreamableHTTPClientTransport(new URL(door.url)))).rejects.toThrow();
});
