/** What a hundred tools of upstream servers cost a client, in tokens of a real tokenizer, before its first call. */
import { Tiktoken } from "js-tiktoken/lite";
import ranks from "js-tiktoken/ranks/o200k_base";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { describeTool } from "../../../src/transports/mcp/answers/tool-list.ts";
import { upstreamPlace } from "../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };
const TOKENS_MAX = 2000;
const tokenizer = new Tiktoken(ranks);
const tokensOf = (value: unknown) => tokenizer.encode(JSON.stringify(value)).length;

const VERBS = "click type hover drag select upload press wait read close".split(" ");
const THINGS = "page frame element table row form dialog menu tab canvas".split(" ");

/** Tools with as many words and arguments as those of browsers and trackers have. */
const TOOLS = VERBS.flatMap((verb) =>
  THINGS.map(
    (thing): JsonObject => ({
      name: `browser_${verb}_${thing}`,
      title: `${verb} ${thing}`,
      description:
        `Performs the action "${verb}" on a ${thing} of the current page and waits until the page has settled. ` +
        `Use the reference that the last snapshot gave for the ${thing}, not its text.`,
      inputSchema: {
        type: "object",
        properties: {
          element: { type: "string", maxLength: 500, description: `Human-readable description of the ${thing}.` },
          ref: { type: "string", maxLength: 100, description: "Exact reference from the page snapshot." },
          button: { type: "string", enum: ["left", "right", "middle"], description: "Button to use, left by default." },
          timeout_ms: { type: "integer", minimum: 0, maximum: 60_000, description: "How long to wait at most." },
        },
        required: ["element", "ref"],
      },
    }),
  ),
);

/** The tokens of `tools/list`, with the tools listed up to `listMax`. */
async function listTokens(listMax: number, tools: JsonObject[]) {
  const place = await upstreamPlace(`preset: open\nupstream: { list_max: ${listMax} }\n`);
  if (tools.length > 0) {
    place.behave({ tools });
    await place.bring("double", place.double);
  }
  const listed = (await place.offered()).map(describeTool);
  return { tokens: tokensOf(listed), count: listed.length, place };
}

test(
  "a hundred tools cost at most 2,000 tokens before the first call, and the plain list many times that",
  TIMEOUT,
  async () => {
    expect(TOOLS).toHaveLength(100);
    const none = await listTokens(16, []);
    const short = await listTokens(16, TOOLS);
    const plain = await listTokens(10_000, TOOLS);
    const found = await short.place.call("find_tools", { query: "click table" });
    const figures = {
      plain: plain.tokens - none.tokens,
      short: short.tokens - none.tokens,
      search: tokensOf((found as unknown as JsonObject)["data"]),
    };
    expect([short.count, plain.count]).toEqual([none.count + 2, none.count + 100]);
    expect(figures.short).toBeLessThanOrEqual(TOKENS_MAX);
    expect(figures.plain).toBeGreaterThan(5 * TOKENS_MAX); // control: the plain list
    expect(figures.short + figures.search).toBeLessThanOrEqual(TOKENS_MAX);
  },
);
