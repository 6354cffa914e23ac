/** Upstream servers: added, approved, called as tools of the kernel, and refused once they differ from that. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { described, realServer, upstreamPlace } from "../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };

test("a tool is offered once it is approved, is judged by its schema, and answers as a stranger", TIMEOUT, async () => {
  const place = await upstreamPlace();
  place.behave({ tools: [described("say")] });
  const desk = await place.kernel.upstream();
  const shown = await desk.add("double", place.double);
  expect(shown.tools).toMatchObject([{ name: "say", state: "new", suspicions: [] }]);
  await place.reopen();
  expect(await place.call("mcp.double.say", { text: "a" })).toMatchObject({ kind: "denied" });
  await (await place.kernel.upstream()).approve("double", { seen: shown.hash, by: "ann" });
  await place.reopen();
  const outcome = await place.call("mcp.double.say", { text: "a" });
  expect(outcome).toMatchObject({
    kind: "success",
    data: { text: '{"name":"say","arguments":{"text":"a"}}', is_error: false },
    label: { trustLevel: "untrusted" },
  });
  expect(await place.call("mcp.double.say", { text: 1 })).toMatchObject({ kind: "denied" });
  expect(await place.call("mcp.double.say", { text: "a", more: 1 })).toMatchObject({ kind: "denied" });
  expect((await place.kernel.upstream()).list()).toMatchObject([{ name: "double", approvedTools: 1 }]);
  await (await place.kernel.upstream()).remove("double", "ann");
  await place.reopen();
  expect(await place.call("mcp.double.say", { text: "a" })).toMatchObject({ kind: "denied" });
});

test("server-everything adds, and its answer comes back", TIMEOUT, async () => {
  const place = await upstreamPlace();
  await place.bring("everything", realServer("everything"));
  expect(await place.call("mcp.everything.get-sum", { a: 2, b: 3 })).toMatchObject({
    kind: "success",
    data: { text: "The sum of 2 and 3 is 5." },
  });
});

test("an image of server-everything is stored, and the session that called reads it", TIMEOUT, async () => {
  const place = await upstreamPlace();
  await place.bring("everything", realServer("everything"));
  const outcome = await place.call("mcp.everything.get-tiny-image");
  expect(outcome).toMatchObject({
    kind: "success",
    data: { text: expect.stringContaining("[image: image/png"), parts: [{ type: "image", mime_type: "image/png" }] },
  });
  const [part] = (outcome as unknown as { readonly data: { readonly parts: readonly JsonObject[] } }).data.parts;
  const fetched = await place.call("artifact_fetch", {
    content_hash: String(part?.["content_hash"]),
    encoding: "base64",
  });
  expect(fetched).toMatchObject({ kind: "success", data: { content: expect.stringMatching(/^iVBORw0KGgo/) } });
});

test("server-filesystem reads a file of the directory that it was given, and writes none", TIMEOUT, async () => {
  const place = await upstreamPlace();
  await place.bring("files", realServer("filesystem", "/workspace"));
  expect(await place.call("mcp.files.read_text_file", { path: "/workspace/package.json", head: 2 })).toMatchObject({
    kind: "success",
    data: { text: expect.stringContaining("handrail"), is_error: false },
  });
  expect(await place.call("mcp.files.write_file", { path: "/workspace/made.txt", content: "x" })).toMatchObject({
    kind: "success",
    data: { is_error: true },
  });
});

test("server-memory remembers in the sandbox for as long as it runs", TIMEOUT, async () => {
  const place = await upstreamPlace();
  await place.bring("memory", { ...realServer("memory"), environment: { MEMORY_FILE_PATH: "/tmp/memory.jsonl" } });
  const entities = [{ name: "handrail", entityType: "kernel", observations: ["governs"] }];
  expect(await place.call("mcp.memory.create_entities", { entities })).toMatchObject({ kind: "success" });
  expect(await place.call("mcp.memory.read_graph")).toMatchObject({
    kind: "success",
    data: { text: expect.stringContaining("governs") },
  });
});

test("a hundred tools cost a client two tools; what call_tool names is judged as that tool", TIMEOUT, async () => {
  const place = await upstreamPlace();
  const words = ["page", "click", "type", "screenshot", "network"];
  const tools = Array.from({ length: 100 }, (_, n) =>
    described(
      `browser_${words[n % 5]}_${n}`,
      `Does ${words[n % 5]} number ${n} in the browser and waits until it is done.`,
    ),
  );
  place.behave({ tools });
  await place.bring("double", place.double);
  const names = await place.offered();
  expect(names.filter(({ name }) => name.startsWith("mcp."))).toEqual([]);
  const short = names.filter(({ name }) => name === "find_tools" || name === "call_tool");
  expect(short).toHaveLength(2);
  const found = await place.call("find_tools", { query: "click 6" });
  expect(found).toMatchObject({
    kind: "success",
    data: { tools: expect.arrayContaining([expect.objectContaining({ name: "mcp.double.browser_click_6" })]) },
  });
  const given = { name: "mcp.double.browser_click_6", arguments: { text: "a" } };
  expect(await place.call("call_tool", given)).toMatchObject({
    kind: "success",
    data: { text: '{"name":"browser_click_6","arguments":{"text":"a"}}' },
  });
  expect(await place.call("call_tool", { ...given, arguments: { text: 1 } })).toMatchObject({ kind: "denied" });
  expect(await place.call("call_tool", { name: "call_tool" })).toMatchObject({
    denial: { ruleId: "SCHEMA:call_tool" },
  });
  expect(await place.call("call_tool", { name: "read_file", arguments: { path: "/etc/passwd" } })).toMatchObject({
    kind: "denied",
  });
});

test("a policy that forbids a tool's action forbids it through call_tool as well", TIMEOUT, async () => {
  const place = await upstreamPlace("preset: open\nupstream: { list_max: 0 }\n");
  place.put(
    "config/policy/own.cedar",
    '@id("no-say") forbid (principal, action == Handrail::Action::"mcp.double.say", resource);\n',
  );
  place.behave({ tools: [described("say"), described("tell")] });
  await place.bring("double", place.double);
  expect(await place.call("call_tool", { name: "mcp.double.tell", arguments: { text: "a" } })).toMatchObject({
    kind: "success", // control
  });
  for (const [tool, args] of [
    ["mcp.double.say", { text: "a" }],
    ["call_tool", { name: "mcp.double.say", arguments: { text: "a" } }],
  ] as const)
    expect(await place.call(tool, args)).toMatchObject({ kind: "denied", denial: { layer: "policy" } });
});

test("find_tools asks nobody under `dev`; what it found asks", TIMEOUT, async () => {
  const place = await upstreamPlace("preset: dev\nupstream: { list_max: 0 }\n");
  place.behave({ tools: [described("say")] });
  await place.bring("double", place.double);
  expect(await place.call("find_tools", { query: "say" })).toMatchObject({ kind: "success" });
  const ending = new AbortController();
  const given = { name: "mcp.double.say", arguments: { text: "a" } };
  const outcome = place.call("call_tool", given, ending.signal);
  expect(JSON.stringify(await place.asked())).toContain("mcp.double.say");
  ending.abort();
  expect(await outcome).not.toMatchObject({ kind: "success" });
});
