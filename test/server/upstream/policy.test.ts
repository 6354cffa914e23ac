/** Policies that name upstream tools: checked before they are loaded, and explained as calls are judged. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { checkPresets } from "../../../src/server/policy/policy-check.ts";
import { testPolicies } from "../../../src/server/policy/policy-test.ts";
import { described, upstreamPlace } from "../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };

const forbidding = (action: string) =>
  `@id("no-say") forbid (principal, action == Handrail::Action::"${action}", resource);\n`;

async function judged(listMax: number) {
  const place = await upstreamPlace(`preset: open\nupstream: { list_max: ${listMax} }\n`);
  place.behave({ tools: [described("say"), described("tell")] });
  await place.bring("double", place.double);
  const check = () => checkPresets({}, place.config, "open");
  const explain = async (tool: string, args: JsonObject) => {
    const who = { workspace: place.workspace, userId: "ann", agentId: "explain" };
    return place.kernel.explain(await place.kernel.administration.imagineSession(who), { tool, args });
  };
  return { place, check, explain };
}

test("a check knows the approved tools of servers, and names a misspelt one with its place", TIMEOUT, async () => {
  for (const listMax of [0, 16]) {
    const { place, check } = await judged(listMax);
    place.put("config/policy/own.cedar", forbidding("mcp.double.say"));
    expect(await check()).toMatchObject({ ok: true }); // control
    for (const wrong of ["mcp.double.sya", "mcp.duoble.say", "mcp.double"]) {
      place.put("config/policy/own.cedar", forbidding(wrong));
      const { ok, presets } = await check();
      expect([ok, presets[0]?.problems.join("\n")]).toEqual([false, expect.stringContaining(wrong)]);
      expect(presets[0]?.problems[0]).toMatch(/^policy\/own\.cedar:1:/);
    }
  }
});

test("examples beside policies name upstream tools as well", TIMEOUT, async () => {
  const { place, check } = await judged(16);
  place.put("config/policy/own.cedar", forbidding("mcp.double.say"));
  place.put(
    "config/policy/own.test.yaml",
    "- deny: mcp.double.say\n  preset: open\n  arguments: { text: a }\n  by: no-say\n" +
      "- allow: mcp.double.tell\n  preset: open\n  arguments: { text: a }\n",
  );
  const { ok, examples } = await check();
  expect([ok, examples]).toEqual([true, []]);
  const { own } = await testPolicies({ environment: {}, configDirectory: place.config });
  expect(own).toMatchObject({ problems: [], results: [{ ok: true }, { ok: true }] });
});

test("explaining call_tool explains the tool that it names, as the pipeline judges it", TIMEOUT, async () => {
  const { place, explain } = await judged(0);
  place.put("config/policy/own.cedar", forbidding("mcp.double.say"));
  await place.reopen();
  const args = { text: "a" };
  const plain = await explain("mcp.double.say", args);
  expect(plain).toMatchObject({ tool: "mcp.double.say", runs: false });
  const named = await explain("call_tool", { name: "mcp.double.say", arguments: args });
  // what each explanation has of its own
  const timeless = (one: object) => JSON.stringify(one).replaceAll(/"time":\d+|ses_[\w-]+/g, "");
  expect(timeless(named)).toBe(timeless(plain));
  expect(JSON.stringify(plain)).toContain("no-say");
  const other = await explain("call_tool", { name: "mcp.double.tell", arguments: args });
  expect(other).toMatchObject({ tool: "mcp.double.tell", runs: true }); // control
  for (const wrong of [{}, { name: "call_tool" }, { name: "mcp.double.say", more: 1 }, { name: "x", arguments: "a" }])
    expect(await explain("call_tool", wrong as JsonObject)).toMatchObject({
      runs: false,
      denial: { ruleId: "SCHEMA:call_tool" },
    });
});
