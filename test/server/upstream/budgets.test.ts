/** Calls of upstream tools are counted, and names of them are nobody else's. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { ToolRegistry } from "../../../src/kernel/declared/registry.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import { openKernel } from "../../../src/server/compose.ts";
import type { SessionWish } from "../../../src/server/people/administration.ts";
import { listFiles } from "../../../src/tools/file/list-files.ts";
import { described, upstreamPlace } from "../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };

async function counted(settings: JsonObject = {}) {
  const place = await upstreamPlace(JSON.stringify({ preset: "open", upstream: { list_max: 0 }, ...settings }));
  place.behave({ tools: [described("say")], answer: "x".repeat(2000) });
  await place.bring("double", place.double);
  const as = async (more: Partial<SessionWish> = {}) => {
    const who = { workspace: place.workspace, userId: "ann", agentId: "agent", ...more };
    const { token } = await place.kernel.administration.createSession(who);
    let calls = 0;
    return async (isNamed: boolean) => {
      calls += 1;
      const args = { text: "a" };
      const [tool, given] = isNamed
        ? ["call_tool", { name: "mcp.double.say", arguments: args }]
        : ["mcp.double.say", args];
      const call = {
        kind: "call" as const,
        requestId: `${token.slice(-8)}-${calls}`,
        sessionToken: token,
        tool,
        arguments: given as JsonObject,
      };
      const { outcome } = await place.kernel.door.execute(call, new AbortController().signal);
      return outcome.kind === "success" ? "success" : JSON.stringify(outcome);
    };
  };
  return { place, as };
}

test("a budget of calls counts upstream calls, by their names and through call_tool", TIMEOUT, async () => {
  const { as } = await counted();
  const call = await as({ budget: { calls: 2 } });
  expect([await call(false), await call(true)]).toEqual(["success", "success"]); // control
  expect(await call(true)).toContain("budget");
  expect(await call(false)).toContain("budget");
});

test("a budget of bytes counts what upstream servers answer", TIMEOUT, async () => {
  const { as } = await counted();
  const call = await as({ budget: { bytes: 3000 } });
  expect(await call(true)).toBe("success"); // control
  const later = [await call(true), await call(true)];
  expect(later.at(-1)).toContain("budget");
});

test("a rate of an upstream tool is that tool's, however it is called", TIMEOUT, async () => {
  const tools = { "mcp.double.say": { calls_per_minute: 1, burst: 1 } };
  const { as } = await counted({ limits: { rate: { tools } } });
  const call = await as();
  expect(await call(true)).toBe("success"); // control
  expect(await call(false)).toMatch(/rate/i);
});

test("nobody else's tool takes the name of an upstream tool, and two of a name stop the kernel", TIMEOUT, async () => {
  const named = (name: string, more: Partial<Tool> = {}) => ({ ...(listFiles as Tool), name, ...more });
  expect(() => new ToolRegistry().register(named("mcp.double.say"))).toThrow("must match");
  const { place } = await counted();
  await place.kernel.close();
  const open = (tools: readonly Tool[]) =>
    openKernel({
      stateDirectory: place.state,
      configDirectory: place.config,
      environment: {},
      tools,
      onWarning: () => undefined,
    });
  for (const taken of [named("mcp.double.say", { isUpstream: true }), named("find_tools")])
    await expect(open([taken])).rejects.toThrow("already registered");
});
