/** Upstream servers: added, approved, called as tools of the kernel, and refused once they differ from that. */
import { expect, test } from "vitest";
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
  await (await place.kernel.upstream()).remove("double");
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
