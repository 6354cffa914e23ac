/** `inference` against servers that speak the protocols of providers. */
import { describe, expect, onTestFinished, test } from "vitest";
import { blake3Hex } from "../../../src/base/hash.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Outcome } from "../../../src/model/tool/call.ts";
import { dataOf, MODEL_KEY, type ModelPlaceOptions, modelPlace, storeLabelled } from "../../support/model-place.ts";
import {
  type AskedModel,
  anthropicServer,
  type Completing,
  json,
  ollamaServer,
  openaiServer,
} from "../../support/model-servers.ts";

const COMPLETING = { pieces: ["Hello", ", ", "world. "], inputTokens: 12, outputTokens: 5 };

const SERVERS = { openai: openaiServer, anthropic: anthropicServer, ollama: ollamaServer };
const NAMES = { openai: "openai", anthropic: "anthropic", ollama: "local" };
type Protocol = keyof typeof SERVERS;
const PROTOCOLS = Object.keys(SERVERS) as Protocol[];

async function place(protocol: Protocol, completing: Partial<Completing> = {}, more: ModelPlaceOptions = {}) {
  const seen: AskedModel[] = [];
  const key = protocol === "ollama" ? {} : { key: MODEL_KEY };
  const server = SERVERS[protocol]({ ...COMPLETING, ...key, seen, ...completing });
  const opened = await modelPlace({ [protocol]: server, ...more });
  const provider = NAMES[protocol];
  return {
    ...opened,
    seen,
    provider,
    ask: async (args: JsonObject = {}) =>
      opened.ask({ provider, model: "m-1", prompt_hash: await opened.store("say hello"), max_tokens: 100, ...args }),
  };
}

describe.each(PROTOCOLS)("by the protocol of %s", (protocol) => {
  test("a completion comes, is counted, and is stored", async () => {
    const { kernel, ask, store, seen, provider } = await place(protocol);
    const system_prompt_hash = await store("be brief");
    const data = dataOf(await ask({ system_prompt_hash, temperature_scaled: 70 }));
    expect(data).toEqual({
      provider,
      model: "m-1",
      finish_reason: "stop",
      input_tokens: 12,
      output_tokens: 5,
      completion_hash: blake3Hex(Buffer.from("Hello, world. ")),
      completion_bytes: 14,
      completion: "Hello, world. ",
    });
    const fetched = await kernel.call("artifact_fetch", { content_hash: String(data["completion_hash"]) });
    expect(dataOf(fetched.outcome)["content"]).toBe("Hello, world. ");
    const [asked] = seen;
    expect(JSON.stringify(asked?.body)).toMatch(/be brief.*say hello|say hello.*be brief/);
    const sent = (asked?.body ?? {}) as { temperature?: number; options?: { temperature?: number } };
    expect(sent.temperature ?? sent.options?.temperature).toBe(0.7); // CTR-0017
  });

  test("the end at the limit of tokens is told", async () => {
    const { ask } = await place(protocol, { isCut: true });
    expect(dataOf(await ask())["finish_reason"]).toBe("length");
  });
});

describe.each(PROTOCOLS)("what goes wrong, by the protocol of %s", (protocol) => {
  const failing = async (instead: Completing["instead"], more: ModelPlaceOptions = {}) => {
    const opened = await place(protocol, { ...(instead && { instead }) }, { provider: { retries: 0 }, ...more });
    return { ...opened, outcome: await opened.ask() };
  };
  const errorOf = (outcome: Outcome) => {
    if (outcome.kind !== "error") throw new Error(JSON.stringify(outcome));
    return outcome;
  };

  test("a provider that has no room says when to try again", async () => {
    const { outcome } = await failing((_, response) => {
      json(response, 429, { error: { message: "slow down" } }, { "retry-after": "7" });
      return true;
    });
    expect(errorOf(outcome)).toMatchObject({ code: "RATE_LIMITED", retryable: true, retryAfterMs: 7000 });
  });

  test("one that fails can be tried again, and one that refuses cannot", async () => {
    const answering = (status: number) =>
      failing((_, response) => {
        json(response, status, { error: { message: "no such thing" } });
        return true;
      });
    const kinds = [];
    for (const status of [500, 503, 529, 400, 401, 403, 404]) {
      const { code, retryable, message } = errorOf((await answering(status)).outcome);
      expect(message).toContain(`${status}: no such thing`);
      kinds.push(`${status} ${code} ${retryable}`);
    }
    expect(kinds).toEqual([
      "500 IO_ERROR true",
      "503 IO_ERROR true",
      "529 IO_ERROR true",
      "400 IO_ERROR false",
      "401 PERMISSION_DENIED false",
      "403 PERMISSION_DENIED false",
      "404 NOT_SUPPORTED false",
    ]);
  });

  test.each([
    ["nothing", ""],
    ["garbage", "\u0000\u0001 {[ not what was asked"],
    ["garbage as events", 'data: {"no\n\ndata: ]]]\n\n'],
    ["another kind of JSON", 'data: {"choices": 7}\n\n'],
    ["a line of JSON that is another", '{"done": "yes"}\n'],
    ["a page", "<html><body>Sign in to continue</body></html>"],
  ])("%s is no completion", async (_, body) => {
    const { outcome, kernel } = await failing((__, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(body);
      return true;
    });
    expect(errorOf(outcome)).toMatchObject({ code: "IO_ERROR", retryable: true });
    expect(errorOf(outcome).message.length).toBeLessThan(1000);
    expect(kernel.ledger.of("network_reached")).toHaveLength(1);
  });

  test("a completion that breaks off is none", async () => {
    const { outcome } = await failing((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(protocol === "ollama" ? '{"message":{"content":"half"},"done":false}\n' : ": half\n\n", () =>
        response.destroy(),
      );
      return true;
    });
    expect(errorOf(outcome)).toMatchObject({ code: "IO_ERROR", retryable: true });
  });

  test("one that never answers ends with its time", async () => {
    const { outcome } = await failing(() => true, { provider: { retries: 0, timeout_seconds: 1 } });
    expect(errorOf(outcome)).toMatchObject({ code: "TIMEOUT", retryable: true });
  });

  test("a redirect is not followed", async () => {
    const { outcome, seen } = await failing((_, response) => {
      response.writeHead(307, { location: "/elsewhere" }).end();
      return true;
    });
    expect([errorOf(outcome).code, seen.length]).toEqual(["IO_ERROR", 1]);
  });
});

describe.each(["openai", "anthropic"] as const)("a stream that stays open, by the protocol of %s", (protocol) => {
  test("is ended where an event of it never ends", async () => {
    const { ask } = await place(protocol, {
      instead(_, response) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const more = () => {
          while (!response.destroyed && response.write("data:a\n".repeat(1000)));
        };
        response.on("drain", more);
        more();
        return true;
      },
    });
    expect(await ask()).toMatchObject({ kind: "error", code: "OUTPUT_LIMIT" });
  });

  test("with an error in it is answered and recorded at once, and its connection is free for others", async () => {
    let count = 0;
    const error = { type: "error", error: { type: "overloaded_error", message: "no room at all" } };
    const { ask, kernel } = await place(protocol, {
      instead(_, response) {
        count += 1;
        if (count > 20) return false;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
        return true;
      },
    });
    for (let number = 1; number <= 20; number += 1) {
      expect(await ask()).toMatchObject({
        kind: "error",
        code: "IO_ERROR",
        message: expect.stringContaining("no room"),
      });
      expect(kernel.ledger.of("network_reached")).toHaveLength(number);
    }
    expect((await ask()).kind).toBe("success");
  });
});

describe("further tries", () => {
  test("follow an answer that invites to them, each judged and recorded, and then it goes well", async () => {
    let tries = 0;
    const opened = await place("openai", {
      instead(_, response) {
        tries += 1;
        if (tries > 2) return false;
        json(response, tries === 1 ? 429 : 503, {}, { "retry-after": "0" });
        return true;
      },
    });
    expect(dataOf(await opened.ask())["completion"]).toBe("Hello, world. ");
    const reached = opened.kernel.ledger.of("network_reached").map(({ payload }) => payload);
    expect(reached).toHaveLength(3);
    for (const one of reached)
      expect(one).toMatchObject({ host: "api.openai.test", port: 443, secrets: ["MODEL_KEY"] });
  });

  test("end: a storm of refusals is answered as one", async () => {
    const { ask, seen } = await place("openai", {
      instead(_, response) {
        json(response, 429, {}, { "retry-after": "0" });
        return true;
      },
    });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(outcomes.map((outcome) => outcome.kind === "error" && outcome.code)).toEqual(Array(20).fill("RATE_LIMITED"));
    expect(seen).toHaveLength(60); // the first and two further ones, of each
  });

  test("are not made where the provider asks for a longer wait than a call can take", async () => {
    const { ask, seen } = await place("openai", {
      instead(_, response) {
        json(response, 429, {}, { "retry-after": "900" });
        return true;
      },
    });
    const outcome = await ask();
    expect(outcome.kind === "error" && outcome.retryAfterMs).toBe(900_000);
    expect(seen).toHaveLength(1);
  });
});

describe("the key", () => {
  test("goes to its provider alone, and comes back from nowhere", async () => {
    const { ask, seen, kernel } = await place("openai", {
      instead({ headers }, response) {
        json(response, 401, { error: { message: `wrong key: ${String(headers.authorization)}` } });
        return true;
      },
    });
    const outcome = await ask();
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${MODEL_KEY}`);
    expect(JSON.stringify([outcome, kernel.ledger.events])).not.toContain(MODEL_KEY);
    expect(JSON.stringify(outcome)).toContain("wrong key: Bearer");
  });

  test("is hidden in completions that hold it, in what is stored of them, and in what is shown on the way", async () => {
    const { ask, kernel } = await place("openai", {
      pieces: ["the key is ", MODEL_KEY.slice(0, 20), MODEL_KEY.slice(20), "."],
    });
    const data = dataOf(await ask());
    expect(JSON.stringify(data)).not.toContain(MODEL_KEY);
    const fetched = await kernel.call("artifact_fetch", { content_hash: String(data["completion_hash"]) });
    expect(dataOf(fetched.outcome)["content"]).toBe(data["completion"]);
  });

  test.each([460, 480, 490, 499])("is cut out of words that are cut, too, escaped, from %i on", async (before) => {
    const words = `${"x".repeat(before)}${MODEL_KEY}`;
    const escaped = JSON.stringify({ error: { message: words } }).replace("-9rT4", "\\u002d9rT4");
    const { ask } = await place("openai", {
      instead(_, response) {
        response.writeHead(400, { "content-type": "application/json" }).end(escaped);
        return true;
      },
    });
    const outcome = await ask();
    expect(JSON.stringify(outcome)).not.toContain(MODEL_KEY.slice(0, 12));
  });

  test("of nobody is sent where the operator names none, whatever the environment holds", async () => {
    process.env["ANTHROPIC_API_KEY"] = "sk-ant-of-somebody";
    process.env["ANTHROPIC_AUTH_TOKEN"] = "of-somebody";
    onTestFinished(() => {
      delete process.env["ANTHROPIC_API_KEY"];
      delete process.env["ANTHROPIC_AUTH_TOKEN"];
    });
    const { ask, seen } = await place("anthropic", {}, { provider: { secret: undefined } as unknown as JsonObject });
    await ask();
    expect(JSON.stringify(seen[0]?.headers)).not.toMatch(/of-somebody|MODEL_KEY/);
    expect(seen[0]?.headers["x-api-key"]).toBeUndefined();
  });
});

describe("the prompt", () => {
  test("that is not stored is missing, before anybody is asked (CTR-0018)", async () => {
    const { ask, seen, kernel } = await place("openai", {}, { asks: true });
    const outcome = await ask({ prompt_hash: "00".repeat(32) });
    expect(outcome).toMatchObject({
      kind: "denied",
      denial: { reason: "tool_input_read_failed", ruleId: "INPUT:content" },
    });
    expect([seen.length, kernel.ledger.of("approval_requested").length]).toEqual([0, 0]);
  });

  test("of another user is missing, too", async () => {
    const { ask, kernel, seen } = await place("openai");
    const seenByAll = { trustLevel: "user", dataClass: "internal" } as const;
    const hash = await storeLabelled(kernel, "the other's prompt", seenByAll, "eve");
    expect(await ask({ prompt_hash: hash })).toMatchObject({
      kind: "denied",
      denial: { reason: "tool_input_read_failed" },
    });
    expect(seen).toEqual([]);
  });

  test("that is no text is refused", async () => {
    const { ask, kernel, seen } = await place("openai");
    await kernel.call("put_content", { content: "/4D/", encoding: "base64" });
    const outcome = await ask({ prompt_hash: blake3Hex(Buffer.from("/4D/", "base64")) });
    expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "tool_input_read_failed" } });
    expect(seen).toEqual([]);
  });
});
