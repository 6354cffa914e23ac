/** The operator's acts on upstream servers: recorded, and checked; and what a kernel keeps for itself. */
import { expect, test } from "vitest";
import { ToolRegistry } from "../../../src/kernel/declared/registry.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import { hashOf, readOffered } from "../../../src/server/upstream/records/pins.ts";
import { listFiles } from "../../../src/tools/file/list-files.ts";
import { readEvidence } from "../../support/evidence.ts";
import { bareServer, described, upstreamPlace } from "../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };
const TOOLS = [described("say")];
const [SAY] = readOffered(TOOLS) as Exclude<ReturnType<typeof readOffered>, string>;
if (SAY === undefined) throw new Error("the double offers a tool");
const PIN = { name: "say", hash: hashOf(SAY) };
const signal = () => new AbortController().signal;

test("adding, approving and removing a server are recorded, with who and what", TIMEOUT, async () => {
  const place = await upstreamPlace();
  place.behave({ tools: TOOLS });
  await place.bring("double", place.double);
  await (await place.kernel.upstream()).remove("double", "ben");
  await place.kernel.close();
  const acts = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType.startsWith("upstream_"));
  expect(acts.map(({ entry, payload }) => [entry.eventType, payload])).toMatchObject([
    ["upstream_added", { server: "double", by: "ann", program: "node" }],
    ["upstream_approved", { server: "double", by: "ann", tools: { say: PIN.hash } }],
    ["upstream_removed", { server: "double", by: "ben" }],
  ]);
});

test("a check names what differs from what was approved, and what does not answer", TIMEOUT, async () => {
  const place = await upstreamPlace();
  place.behave({ tools: TOOLS });
  await place.bring("double", place.double);
  expect(await (await place.kernel.upstream()).check()).toEqual([{ name: "double", differs: [] }]);
  place.behave({ tools: [described("say", "Says something else.")] });
  await place.reopen();
  expect(await (await place.kernel.upstream()).check("double")).toEqual([{ name: "double", differs: ["say"] }]);
  place.behave({ tools: TOOLS, dieAtStart: true });
  await place.reopen();
  const [dead] = await (await place.kernel.upstream()).check();
  expect(dead).toMatchObject({ name: "double", problem: expect.stringContaining("no licence") });
});

test("a call that was cancelled while tools were listed spoils no later one", TIMEOUT, async () => {
  const { server, behave } = bareServer();
  behave({ tools: TOOLS });
  await server.list(signal());
  behave({ tools: TOOLS, hangList: true });
  const ending = new AbortController();
  const first = server.call(PIN, { text: "a" }, { signal: ending.signal });
  setTimeout(() => ending.abort(), 300);
  await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
  behave({ tools: TOOLS });
  expect(await server.call(PIN, { text: "b" }, { signal: signal() })).toMatchObject({ isError: false });
});

test("no tool of the library or of a plugin takes the name by which other tools are called", () => {
  const registry = new ToolRegistry();
  registry.register({ ...(listFiles as Tool), name: "call_tools" }); // control
  expect(() => registry.register({ ...(listFiles as Tool), name: "call_tool" })).toThrow("stands for the tool");
});
