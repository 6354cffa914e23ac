/** `inference` as the operator's `handrail.yaml` switches it on and off, with its key, while a kernel runs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blake3Hex } from "../../../src/base/hash.ts";
import { until } from "../../support/command-line.ts";
import { dataOf, MODEL_HOSTS, MODEL_KEY, MODEL_PLACEHOLDER } from "../../support/model-place.ts";
import { type AskedModel, openaiServer } from "../../support/model-servers.ts";
import { secretPlace } from "../../support/secret-place.ts";

const PROMPT = "say hello";
const CALL = { provider: "openai", model: "m-1", prompt_hash: blake3Hex(Buffer.from(PROMPT)), max_tokens: 10 };

test("the section `models` makes the tool, and its key is the broker's; without the section there is none", async () => {
  const seen: AskedModel[] = [];
  const server = openaiServer({ pieces: ["Hello"], inputTokens: 2, outputTokens: 1, key: MODEL_KEY, seen });
  const models = { openai: { protocol: "openai", url: `https://${MODEL_HOSTS.openai}/v1`, secret: "MODEL_KEY" } };
  const { place, kernel, call } = await secretPlace(
    { [MODEL_HOSTS.openai]: server },
    {
      MODEL_KEY: {
        value: MODEL_KEY,
        placeholder: MODEL_PLACEHOLDER,
        bindings: [{ to: MODEL_HOSTS.openai, path: "/v1", in: "header Authorization" }],
      },
    },
    { models },
  );
  dataOf(await call("put_content", { content: PROMPT }));
  expect(dataOf(await call("inference", CALL))).toMatchObject({ completion: "Hello", output_tokens: 1 });
  expect(seen[0]?.headers.authorization).toBe(`Bearer ${MODEL_KEY}`);

  const settings = JSON.parse(readFileSync(join(place.config, "handrail.yaml"), "utf8")) as Record<string, unknown>;
  place.put("config/handrail.yaml", JSON.stringify({ ...settings, models: {} }));
  const gone = { kind: "denied", denial: { reason: "tool_spec_missing" } };
  await until(async () => (await call("inference", CALL)).kind === "denied");
  expect(await call("inference", CALL)).toMatchObject(gone);
  place.put("config/handrail.yaml", JSON.stringify(settings));
  await until(async () => (await call("inference", CALL)).kind === "success");
  await kernel.close();
});
