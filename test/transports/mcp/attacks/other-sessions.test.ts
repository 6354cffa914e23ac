// No session reads another's content, links, tasks, cursors or held calls: over HTTP, and through the relay.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import type { JsonObject } from "../../../../src/base/json.ts";
import type { KernelDoor } from "../../../../src/kernel/index.ts";
import { mintSession } from "../../../../src/session/session.ts";
import { PAGE_ENTRIES_MAX } from "../../../../src/transports/mcp/features/pages.ts";
import { sessionFeatures } from "../../../../src/transports/mcp/features/session-features.ts";
import { LineRelay } from "../../../../src/transports/mcp/relay/line-relay.ts";
import { openLines, parseKernelAddress } from "../../../../src/transports/mcp/relay/lines-connection.ts";
import { answering } from "../../../support/answering-tool.ts";
import { ASKING } from "../../../support/asking.ts";
import { type Line, META, modern } from "../../../support/mcp-connection.ts";
import { BOUND, kernelOf, ONCE } from "../../../support/mcp-desk.ts";
import { bearer, type McpPlace, modernHeaders, post, serveMcpPlace } from "../../../support/mcp-http-place.ts";
import { factsOf } from "../../../support/mcp-result.ts";
import { testTool } from "../../../support/memory-kernel.ts";

const LARGE = "0123456789abcde\n".repeat(80_000);

type Answer = Line & { readonly result: JsonObject };
type Ask = (method: string, params?: object) => Promise<Answer>;

const SAYS = {
  ...META,
  "io.modelcontextprotocol/clientInfo": { name: "desk", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {
    elicitation: { form: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  },
};

/** One kernel with the sessions of two users, whose tools are many. */
async function place() {
  let runs = 0;
  const slow = testTool(
    "slow",
    (_, { signal }) => {
      runs += 1;
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve({ kind: "data", data: {} }));
      });
    },
    { effect: "read" },
  );
  const kernel = await kernelOf({ tools: [answering(() => ({ text: LARGE })), slow] });
  writeFileSync(join(kernel.root, "a.txt"), "x\n");
  const { id: _id, tokenHash: _hash, createdAtMs, expiresAtMs, ...same } = kernel.session;
  const second = await mintSession(
    kernel.sessions,
    { ...same, agentId: "another", userId: "another", lifetimeMs: expiresAtMs - createdAtMs },
    { nowMs: createdAtMs, random: systemRandom },
  );
  const door: KernelDoor = {
    ...kernel.door,
    offered: async (token) => {
      const [one, ...rest] = await kernel.door.offered(token);
      const many = Array.from({ length: PAGE_ENTRIES_MAX }, (_, index) => ({ ...one, name: `many_${index}` }));
      return [...many, one, ...rest] as never;
    },
  };
  let last = 0;
  const newRequestId = () => `o${++last}`;
  const served = await serveMcpPlace(door, {
    offers: (sessionToken) => ({
      features: sessionFeatures({ door, sessionToken, newRequestId }),
      heldAfterMs: 50,
    }),
  });
  return { kernel, served, tokens: [kernel.token, second.token] as const, runs: () => runs };
}

function overHttp(served: McpPlace, token: string, meta: object): Ask {
  return async (method, params = {}) => {
    const message = modern(1, method, params, meta);
    const { taskId } = params as { readonly taskId?: string };
    const headers = { ...modernHeaders(message), ...(taskId !== undefined && { "mcp-name": taskId }) };
    return (await post(served, message, { ...headers, ...bearer(token) })).messages.at(-1) as Answer;
  };
}

function overRelay(served: McpPlace, token: string, meta: object): Ask {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const address = parseKernelAddress(`http://127.0.0.1:${served.port}`);
  const relay = new LineRelay(
    { open: () => openLines(address, token), report: () => undefined, retryMs: [1, 1] },
    output,
  );
  const over = relay.run(input);
  onTestFinished(async () => {
    input.end();
    await over;
  });
  let text = "";
  output.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  let last = 0;
  return async (method, params = {}) => {
    last += 1;
    const id = last;
    input.write(`${JSON.stringify(modern(id, method, params, meta))}\n`);
    return vi.waitFor(() => {
      const lines = text.split("\n").filter((line) => line !== "");
      const answer = lines.map((line) => JSON.parse(line) as Answer).find((line) => line.id === id);
      if (answer === undefined) throw new Error("no answer");
      return answer;
    }, BOUND);
  };
}

describe.each([
  ["over HTTP", overHttp],
  ["through the relay", overRelay],
])("another session, %s", (_, connect) => {
  async function both(meta: object = SAYS) {
    const { served, tokens, runs, kernel } = await place();
    const [owner, other] = tokens.map((token) => connect(served, token, meta)) as [Ask, Ask];
    return { owner, other, runs, kernel };
  }

  test("is shown no link of its results, and reads none of their content", async () => {
    const { owner, other } = await both();
    const { result } = await owner("tools/call", { name: "answering", arguments: {} });
    const content = result["content"] as readonly JsonObject[];
    const uri = String(content.find(({ type }) => type === "resource_link")?.["uri"]);
    const listed = async (ask: Ask) => JSON.stringify((await ask("resources/list")).result["resources"]);
    expect(await listed(other)).not.toContain(uri);
    expect((await other("resources/read", { uri })).error).toMatchObject({ code: -32602 });
    // the controls: whose they are
    expect(await listed(owner)).toContain(uri);
    expect((await owner("resources/read", { uri })).result["contents"]).toHaveLength(1);
  });

  test("reads, answers and ends none of its tasks", async () => {
    const { owner, other } = await both();
    const { taskId } = (await owner("tools/call", { name: "write_file", arguments: ASKING })).result;
    const asked = (await owner("tasks/get", { taskId })).result["inputRequests"] as JsonObject;
    const inputResponses = Object.fromEntries(Object.keys(asked).map((key) => [key, ONCE]));
    for (const [method, params] of [
      ["tasks/get", { taskId }],
      ["tasks/update", { taskId, inputResponses }],
      ["tasks/cancel", { taskId }],
    ] as const)
      expect((await other(method, params)).error).toMatchObject({ code: -32602 });
    // the control: whose it is answers it
    expect((await owner("tasks/get", { taskId })).result["status"]).toBe("input_required");
    await owner("tasks/update", { taskId, inputResponses });
    await vi.waitFor(async () => {
      expect((await owner("tasks/get", { taskId })).result["status"]).toBe("completed");
    }, BOUND);
  });

  test("goes on in none of its lists", async () => {
    const { owner, other } = await both();
    const { nextCursor: cursor } = (await owner("tools/list")).result;
    expect((await other("tools/list", { cursor })).error).toMatchObject({ code: -32602 });
    expect((await owner("tools/list", { cursor })).result["tools"]).not.toEqual([]); // the control
  });

  test("waits for none of its held calls", async () => {
    const { owner, other, runs } = await both(META);
    const call = { name: "slow", arguments: { path: "a.txt" } };
    expect(factsOf((await owner("tools/call", call)).result).status).toBe("running");
    expect(factsOf((await other("tools/call", call)).result).status).toBe("running");
    expect(runs()).toBe(2); // a run of its own
    await owner("tools/call", call);
    expect(runs()).toBe(2); // the control: whose it is waits for the one that runs
  });
});
