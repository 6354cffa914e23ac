/** What limits `inference`: policy and leases by provider and model, budgets of tokens and costs, and people. */
import { describe, expect, test } from "vitest";
import { newId, systemRandom } from "../../../src/base/ids.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { ProgressReport } from "../../../src/model/outcome/progress.ts";
import type { LeaseScope } from "../../../src/model/people/lease.ts";
import { approve, pending } from "../../support/asking.ts";
import { dataOf, MODEL_KEY, type ModelPlaceOptions, modelPlace, storeLabelled } from "../../support/model-place.ts";
import { type AskedModel, type Completing, json, openaiServer } from "../../support/model-servers.ts";

const PROMPT = "say hello";
const CALL = { provider: "openai", model: "m-1", max_tokens: 100 };

async function place(options: ModelPlaceOptions = {}, completing: Partial<Completing> = {}) {
  const seen: AskedModel[] = [];
  const server = openaiServer({
    pieces: ["Hello"],
    inputTokens: 12,
    outputTokens: 5,
    key: MODEL_KEY,
    seen,
    ...completing,
  });
  const opened = await modelPlace({ openai: server, ...options });
  const ask = async (args: JsonObject = {}) =>
    opened.ask({ ...CALL, prompt_hash: args["prompt_hash"] ?? (await opened.store(PROMPT)), ...args });
  return { ...opened, seen, ask };
}

const permit = (id: string, conditions: string) => `@id("${id}")
@message("m")
@waives("*")
permit (principal, action == Handrail::Action::"inference", resource is Handrail::Model)
when { ${conditions} };
`;

describe("CTR-0019: policy and leases restrict providers, models and cost", () => {
  test("a lease by its providers and models", async () => {
    const lease = async (scope: Partial<LeaseScope>) => {
      const { ask, seen } = await place({ scope });
      const outcome = await ask();
      return [outcome.kind === "denied" ? [outcome.denial.reason, outcome.denial.message] : outcome.kind, seen.length];
    };
    expect(await lease({ providers: [["openai"]], models: [["m-1"]] })).toEqual(["success", 1]);
    expect(await lease({ providers: [["anthropic"]] })).toEqual([
      ["lease_scope", "the lease does not cover the provider `openai`"],
      0,
    ]);
    expect(await lease({ models: [["other"]] })).toEqual([
      ["lease_scope", "the lease does not cover the model `m-1`"],
      0,
    ]);
  });

  test("a policy by both, each with its reason", async () => {
    const by = async (conditions: string) => {
      const { ask, seen, kernel } = await place({
        asks: true,
        preset: "reader",
        policies: permit("test.one", conditions),
      });
      const seenByAll = { trustLevel: "user", dataClass: "internal" } as const;
      const prompt_hash = await storeLabelled(kernel, PROMPT, seenByAll, kernel.session.userId);
      const outcome = await ask({ ...CALL, prompt_hash });
      return [outcome.kind === "denied" ? outcome.denial.reason : outcome.kind, seen.length];
    };
    expect(await by(`resource.provider == "openai" && resource.model == "m-1"`)).toEqual(["success", 1]);
    expect(await by(`resource.model == "m-2"`)).toEqual(["inference_denied", 0]);
    expect(await by(`resource.provider == "anthropic"`)).toEqual(["inference_denied", 0]);
  });

  test("a budget of costs is settled with what the provider counted, and ends what costs more", async () => {
    const provider = { prices: { "m-1": { input: 2, output: 10 } } };
    const { ask, seen } = await place({ provider, budget: { costMicros: 1500 } });
    // at most 9 + 64 tokens read and 100 written
    expect(dataOf(await ask())["cost_micros"]).toBe(12 * 2 + 5 * 10);
    for (let left = 1500 - 74; left >= 2 * 73 + 1000; left -= 74) expect((await ask()).kind).toBe("success");
    expect(await ask()).toMatchObject({
      kind: "denied",
      denial: { reason: "budget_exceeded", ruleId: "LEASE:lea_test" },
    });
    expect(seen).toHaveLength(1 + Math.floor((1500 - 74 - 1146) / 74) + 1);
  });

  test.each(["m-1", "constructor", "__proto__", "toString"])(
    "a cost that nobody can count is refused where costs are limited: %s",
    async (model) => {
      const { ask: asking, seen } = await place({ budget: { costMicros: 1_000_000 } });
      const ask = () => asking({ model });
      expect(await ask()).toMatchObject({
        kind: "denied",
        denial: { reason: "budget_exceeded", ruleId: "LIMITS:price" },
      });
      expect(seen).toEqual([]);
    },
  );
});

describe("a budget of tokens", () => {
  test("is reserved for the longest prompt and completion there can be, and settled with what was counted", async () => {
    const { ask, seen } = await place({ budget: { tokens: 190 } });
    expect(await ask()).toMatchObject({ kind: "success" }); // 173 reserved, 17 spent
    expect(await ask()).toMatchObject({ kind: "success" }); // 173 of the 173 that are left
    expect(await ask()).toMatchObject({ kind: "denied", denial: { reason: "budget_exceeded" } });
    expect((await ask({ max_tokens: 50 })).kind).toBe("success");
    expect(seen).toHaveLength(3);
  });

  test("stays reserved where the provider does not count", async () => {
    const { ask } = await place({ budget: { tokens: 190 } }, { uncounted: true });
    const data = dataOf(await ask());
    expect([data["input_tokens"], data["output_tokens"]]).toEqual([undefined, undefined]);
    expect(await ask({ max_tokens: 1 })).toMatchObject({ kind: "denied", denial: { reason: "budget_exceeded" } });
  });

  test("is given back where the provider refused, and not where its answer broke off", async () => {
    let turn = 0;
    const { ask } = await place(
      { budget: { tokens: 190 }, provider: { retries: 0 } },
      {
        instead(_, response) {
          turn += 1;
          if (turn <= 3) json(response, 429, {});
          else if (turn === 4) {
            response.writeHead(200, { "content-type": "text/event-stream" });
            response.write(": half\n\n", () => response.destroy());
          }
          return turn <= 4;
        },
      },
    );
    for (let count = 0; count < 3; count += 1)
      expect(await ask()).toMatchObject({ kind: "error", code: "RATE_LIMITED" });
    expect(await ask()).toMatchObject({ kind: "error", code: "IO_ERROR" });
    expect(await ask()).toMatchObject({ kind: "denied", denial: { reason: "budget_exceeded" } });
  });

  test("stays reserved where the provider got the request, and nobody waited for its answer", async () => {
    const late = await place({ budget: { tokens: 190 }, provider: { timeout_seconds: 1 } }, { instead: () => true });
    expect(await late.ask()).toMatchObject({ kind: "error", code: "TIMEOUT" });
    expect(await late.ask()).toMatchObject({ kind: "denied", denial: { reason: "budget_exceeded" } });

    const ending = new AbortController();
    const asked = () => {
      ending.abort();
      return true;
    };
    const cancelled = await place({ budget: { tokens: 190 } }, { instead: asked });
    const prompt_hash = await cancelled.store(PROMPT);
    const { kernel, seen } = cancelled;
    await kernel.call("inference", { ...CALL, prompt_hash }, { signal: ending.signal });
    expect(await cancelled.ask()).toMatchObject({ kind: "denied", denial: { reason: "budget_exceeded" } });
    expect(seen).toHaveLength(1);
  });

  test("is what `budget_consumed` answers in, limited or not", async () => {
    const { kernel, store } = await place();
    const { budgetConsumed } = await kernel.call("inference", { ...CALL, prompt_hash: await store(PROMPT) });
    expect(budgetConsumed).toBe(17);
  });
});

describe("what is asked for", () => {
  test("a model that the operator does not name is refused, and the one that was meant is named", async () => {
    const { ask, seen } = await place({ provider: { models: ["m-1", "m-large"] } });
    expect(await ask({ model: "m-larg" })).toMatchObject({
      kind: "denied",
      denial: {
        reason: "tool_input_invalid",
        violations: [{ field: "model", message: expect.stringContaining("`m-large`") }],
      },
    });
    expect(await ask({ provider: "other" })).toMatchObject({
      kind: "denied",
      denial: { reason: "tool_input_invalid", violations: [{ field: "provider" }] },
    });
    expect(seen).toEqual([]);
  });

  test("CTR-0017: 0 is a temperature, and absent is the provider's own; 0 tokens are the usual number", async () => {
    const { ask, seen } = await place();
    await ask({ temperature_scaled: 0, max_tokens: 0 });
    await ask();
    expect(seen.map(({ body }) => [body["temperature"], body["max_tokens"]])).toEqual([
      [0, 4096],
      [undefined, 100],
    ]);
  });

  test("tokens up to a million, and no more (INV-0028)", async () => {
    const { ask } = await place();
    expect((await ask({ max_tokens: 1_000_000 })).kind).toBe("success");
    expect((await ask({ max_tokens: 1_000_001 })).kind).toBe("denied");
  });
});

test("a person who is asked sees what is sent, to whom, and what hides in it", async () => {
  const opened = await place({ asks: true, approvers: true });
  const prompt_hash = await opened.store("summarise this\nthe plan for next year");
  const asked = opened.ask({ prompt_hash });
  const { ref, request } = (await pending(opened.kernel)) as unknown as { ref: string; request: JsonObject };
  const shown = JSON.stringify(request ?? (await pending(opened.kernel)));
  expect(shown).toContain("the plan for next year");
  expect(shown).toContain("openai");
  expect(opened.seen).toEqual([]);
  await approve(opened.kernel, ref);
  expect((await asked).kind).toBe("success");
});

test("what comes is shown while it comes, without secrets", async () => {
  const { kernel, store } = await place({}, { pieces: ["one ", "two ", `key ${MODEL_KEY} `, "three"] });
  const reports: ProgressReport[] = [];
  const submission = {
    kind: "call",
    requestId: newId("req", systemRandom),
    sessionToken: kernel.token,
    tool: "inference",
    arguments: { ...CALL, prompt_hash: await store(PROMPT) },
  } as const;
  const { outcome } = await kernel.door.execute(submission, new AbortController().signal, {
    listener: (report) => void reports.push(report),
  });
  expect(outcome.kind).toBe("success");
  const text = Buffer.concat(reports.flatMap((one) => (one.kind === "output" ? [one.bytes] : []))).toString();
  expect(text).toMatch(/^one two key .*three$/);
  expect(text).not.toContain(MODEL_KEY);
});
