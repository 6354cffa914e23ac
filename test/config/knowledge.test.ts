/** `knowledge` in `handrail.yaml`: a model for meaning, on this machine unless the operator says otherwise. */
import { expect, test } from "vitest";
import { parseSettings } from "../../src/config/config.ts";

const MODELS = {
  here: { protocol: "ollama" },
  named: { protocol: "ollama", url: "http://localhost:11434" },
  there: { protocol: "ollama", url: "http://models.lan:11434" },
  inside: { protocol: "ollama", url: "http://192.168.1.5:11434" },
  other: { protocol: "openai", models: ["a"] },
};
const parse = async (embeddings: object) =>
  (await parseSettings(JSON.stringify({ models: MODELS, knowledge: { embeddings } }), "handrail.yaml")).knowledge;

test.each(["here", "named"])("a model of this machine, `%s`, needs no other word", async (provider) => {
  expect(await parse({ provider, model: "small" })).toEqual({
    embeddings: { provider, model: "small", allow_remote: false },
  });
});

test.each(["there", "inside"])("one on another machine, `%s`, needs `allow_remote`", async (provider) => {
  await expect(parse({ provider, model: "small" })).rejects.toThrow("allow_remote");
  expect(await parse({ provider, model: "small", allow_remote: true })).toMatchObject({ embeddings: { provider } });
});

test.each([
  ["nobody", "not defined"],
  ["other", "does not speak"],
])("the provider `%s` is refused", async (provider, words) => {
  await expect(parse({ provider, model: "small", allow_remote: true })).rejects.toThrow(words);
});
