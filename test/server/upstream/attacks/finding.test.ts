/** Sessions that search for tools which they may not call: they find what their list of tools would show. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { UNRESTRICTED_SCOPE } from "../../../../src/model/people/lease.ts";
import type { SessionWish } from "../../../../src/server/people/administration.ts";
import { described, upstreamPlace } from "../../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };

/** A lease for those tools alone. */
const tools = (names: readonly string[]) => ({ ...UNRESTRICTED_SCOPE, tools: [names] });

/** A kernel with a server that reads and one that runs, none of whose tools is listed. */
async function searched() {
  const place = await upstreamPlace("preset: open\nupstream: { list_max: 0 }\n");
  place.behave({ tools: [described("peek"), described("run")] });
  await place.bring("reading", { ...place.double, effect: "read" });
  await place.bring("running", { ...place.double, effect: "exec" });
  const as = async (more: Partial<SessionWish>) => {
    const who = { workspace: place.workspace, userId: "ann", agentId: "agent", ...more };
    const { token } = await place.kernel.administration.createSession(who);
    let calls = 0;
    const call = async (tool: string, args: JsonObject) => {
      calls += 1;
      const given = { requestId: `${token.slice(-8)}-${calls}`, sessionToken: token, tool, arguments: args };
      return (await place.kernel.door.execute({ kind: "call", ...given }, new AbortController().signal)).outcome;
    };
    const listed = (await place.kernel.door.offered(token)).map(({ name }) => name);
    const found = async (query: string) => {
      const outcome = await call("find_tools", { query });
      expect(outcome).toMatchObject({ kind: "success" });
      const { data } = outcome as unknown as {
        readonly data: { tools: readonly { readonly name: string }[]; more: number };
      };
      return { names: data.tools.map(({ name }) => name).sort(), more: data.more };
    };
    return { call, listed, found };
  };
  return { as };
}

const ALL = ["mcp.reading.peek", "mcp.reading.run", "mcp.running.peek", "mcp.running.run"];

test("a reader finds no tool that runs anything, by no words; who may run them does (control)", TIMEOUT, async () => {
  const { as } = await searched();
  const open = await as({});
  expect(await open.found("")).toEqual({ names: ALL, more: 0 }); // control
  const reader = await as({ preset: "reader" });
  for (const query of ["", "mcp", "running", "mcp.running.run", "told"]) {
    const { names, more } = await reader.found(query);
    expect([names.filter((name) => name.startsWith("mcp.running.")), more]).toEqual([[], 0]);
  }
  expect((await reader.found("")).names).toEqual(["mcp.reading.peek", "mcp.reading.run"]);
  const named = { name: "mcp.running.run", arguments: { text: "a" } };
  expect(await reader.call("call_tool", named)).toMatchObject({ kind: "denied" });
  expect(await open.call("call_tool", named)).toMatchObject({ kind: "success" }); // control
});

test(
  "a session whose lease names tools finds those, and one that may call none is offered no search",
  TIMEOUT,
  async () => {
    const { as } = await searched();
    const some = await as({ scope: tools(["find_tools", "mcp.running.peek"]) });
    expect(await some.found("")).toEqual({ names: ["mcp.running.peek"], more: 0 });
    expect(some.listed.filter((name) => name.endsWith("_tools") || name === "call_tool")).toEqual([
      "call_tool",
      "find_tools",
    ]);
    const none = await as({ scope: tools(["find_tools", "read_file"]) });
    expect(none.listed).toEqual(["read_file"]);
  },
);
