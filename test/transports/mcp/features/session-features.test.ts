// What a session is offered beside tools: stored content as resources, prompts, completions; each by its rights.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../../src/base/json.ts";
import type { Tool } from "../../../../src/model/tool/tool.ts";
import { upstreamTool } from "../../../../src/tools/upstream/upstream-tool.ts";
import { sessionFeatures } from "../../../../src/transports/mcp/features/session-features.ts";
import { answering } from "../../../support/answering-tool.ts";
import { initialize, legacy, modern } from "../../../support/mcp-connection.ts";
import { bearer, modernHeaders, post, serveMcpPlace } from "../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

const LARGE = "0123456789abcde\n".repeat(80_000);

async function place({ tools = [] }: { readonly tools?: readonly Tool[] } = {}) {
  const kernel = await memoryKernel({ tools: [answering(() => ({ text: LARGE })), ...tools] });
  writeFileSync(join(kernel.root, "one.txt"), "first line\n");
  let last = 0;
  const newRequestId = () => `f${++last}`;
  const features = sessionFeatures({ door: kernel.door, sessionToken: kernel.token, newRequestId });
  const door = await serveMcpPlace(kernel.door, { offers: { features } });
  const ask = async (method: string, params: object = {}) => {
    const message = modern(1, method, params);
    const { messages } = await post(door, message, { ...bearer(kernel.token), ...modernHeaders(message) });
    return messages[0] as { readonly result: JsonObject; readonly error?: JsonObject };
  };
  return { kernel, door, ask };
}

const ANSWERING = { name: "answering", arguments: {} };

test("a result that is too large has a link, and is read in ranges that make the whole", async () => {
  const { ask } = await place();
  const { result } = await ask("tools/call", ANSWERING);
  const content = result["content"] as readonly JsonObject[];
  const link = content.find(({ type }) => type === "resource_link");
  expect(link?.["uri"]).toMatch(/^handrail:\/\/content\/[0-9a-f]{64}$/);
  expect((await ask("resources/list")).result["resources"]).toMatchObject([
    { uri: "handrail://session/tools" },
    { uri: link?.["uri"] },
  ]);
  let text = "";
  let uri: unknown = link?.["uri"];
  for (let parts = 0; uri !== undefined && parts < 40; parts += 1) {
    const { result: got } = await ask("resources/read", { uri });
    const [part] = got["contents"] as readonly JsonObject[];
    text += String(part?.["text"]);
    uri = (part?.["_meta"] as JsonObject | undefined)?.["handrail/next"];
  }
  expect(JSON.parse(text)).toEqual({ text: LARGE });
  const small = (await ask("tools/call", { name: "read_file", arguments: { path: "one.txt" } })).result[
    "content"
  ] as readonly JsonObject[];
  expect(small.some(({ type }) => type === "resource_link")).toBe(false);
});

test("an image of an upstream server has a link where its client follows links, and is read by it", async () => {
  const image = { type: "image", mimeType: "image/png", bytes: Buffer.from("89504e470d0a1a0a", "hex") };
  const drawing = upstreamTool({
    name: "mcp.paint.draw",
    toolName: "draw",
    title: "Draw",
    description: "Draws.",
    parameters: z.strictObject({}),
    effect: "read",
    isUnlisted: false,
    trust: "untrusted",
    call: async () => ({ text: "[image: image/png, 8 bytes, part 1]", parts: [image], isError: false }),
  });
  const { ask, door, kernel } = await place({
    tools: [{ ...drawing, capability: { ...drawing.capability, approval: { level: "auto" } } }],
  });
  const call = { name: "mcp.paint.draw", arguments: {} };
  const content = (await ask("tools/call", call)).result["content"] as readonly JsonObject[];
  expect(content).toMatchObject([
    { type: "text", text: expect.stringContaining("part 1") },
    { type: "text", text: expect.stringContaining("artifact_fetch") },
    { type: "resource_link", mimeType: "image/png", size: 8 },
  ]);
  const { result } = await ask("resources/read", { uri: content[2]?.["uri"] });
  expect(result["contents"]).toMatchObject([{ blob: image.bytes.toString("base64") }]);
  const begun = await post(door, initialize("2025-03-26"), bearer(kernel.token));
  const session = { ...bearer(kernel.token), "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const { text } = await post(door, legacy(1, "tools/call", call), session);
  expect(text).toContain("artifact_fetch");
  expect(text).not.toContain("resource_link");
});

test("a client of a revision without links gets none", async () => {
  const { door, kernel } = await place();
  for (const [revision, has] of [
    ["2025-03-26", false],
    ["2025-06-18", true],
  ] as const) {
    const begun = await post(door, initialize(revision), bearer(kernel.token));
    const session = { ...bearer(kernel.token), "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const { text } = await post(door, legacy(1, "tools/call", ANSWERING), session);
    expect(text.includes('"resource_link"')).toBe(has);
  }
});

test("content of which nobody knows, another address and another's session are refused", async () => {
  const { ask } = await place();
  for (const uri of [
    `handrail://content/${"0".repeat(64)}`,
    "handrail://content/../secret",
    `handrail://content/${"0".repeat(64)}?path=x`,
    "file:///etc/passwd",
  ])
    expect((await ask("resources/read", { uri })).error).toMatchObject({ code: -32602 });
});

test("an address opens nothing once its session was revoked", async () => {
  const { ask, kernel } = await place();
  const { result } = await ask("tools/call", ANSWERING);
  const uri = (result["content"] as readonly JsonObject[]).find(({ type }) => type === "resource_link")?.["uri"];
  const before = kernel.ledger.of("tool_execution_denied").length;
  kernel.time.nowMs += 1;
  await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: kernel.time.nowMs });
  expect((await ask("resources/read", { uri })).error).toBeDefined();
  expect(kernel.ledger.of("tool_execution_denied").length).toBeGreaterThan(before);
});

test("prompts are listed, filled in and refused with what is missing", async () => {
  const { ask } = await place();
  const names = ((await ask("prompts/list")).result["prompts"] as readonly JsonObject[]).map(({ name }) => name);
  expect(names).toEqual(["explain_code", "fix_failing_test", "review_changes", "plan_change"]);
  const got = await ask("prompts/get", { name: "explain_code", arguments: { path: "src/a.ts" } });
  expect(JSON.stringify(got.result["messages"])).toContain("`src/a.ts`");
  for (const params of [
    { name: "explain_code" },
    { name: "explain_code", arguments: { path: " " } },
    { name: "explain_code", arguments: { path: "x".repeat(5_000) } },
    { name: "review_changes", arguments: { path: "x" } },
    { name: "constructor" },
  ])
    expect((await ask("prompts/get", params)).error).toMatchObject({ code: -32602 });
});

test("paths are completed from what the session may list", async () => {
  const { ask } = await place();
  const complete = async (name: string, value: string) => {
    const ref = { type: "ref/prompt", name: "explain_code" };
    const { result } = await ask("completion/complete", { ref, argument: { name, value } });
    return (result["completion"] as JsonObject)["values"];
  };
  expect(await complete("path", "on")).toEqual(["one.txt"]);
  expect(await complete("path", "../")).toEqual([]);
  expect(await complete("task", "on")).toEqual([]);
});
