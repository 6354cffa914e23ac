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

const EMBEDDINGS = { provider: "here", model: "small" };
const parseVectors = async (vectors: object, more: object = { embeddings: EMBEDDINGS }) =>
  (await parseSettings(JSON.stringify({ models: MODELS, knowledge: { vectors, ...more } }), "handrail.yaml")).knowledge;

test("Chroma on this machine needs no other word", async () => {
  expect((await parseVectors({ store: "chroma" })).vectors).toEqual({
    store: "chroma",
    tenant: "default_tenant",
    database: "default_database",
    allow_remote: false,
    timeout_seconds: 10,
  });
});

test("Chroma on another machine needs `allow_remote`, wherever the model is", async () => {
  const vectors = { store: "chroma", url: "http://vectors.lan:8000" };
  await expect(parseVectors(vectors)).rejects.toThrow("allow_remote");
  await expect(parseVectors(vectors, { embeddings: { ...EMBEDDINGS, allow_remote: true } })).rejects.toThrow(
    "allow_remote",
  );
  expect((await parseVectors({ ...vectors, allow_remote: true })).vectors).toMatchObject({ url: vectors.url });
});

test.each([
  [{ store: "chroma" }, {}, "needs a model"],
  [{ store: "chroma", tenant: "../other" }, { embeddings: EMBEDDINGS }, "tenant"],
  [{ store: "chroma", secret: "CHROMA" }, { embeddings: EMBEDDINGS }, "https"],
  [{ store: "pinecone" }, { embeddings: EMBEDDINGS }, "store"],
])("the vectors %j are refused", async (vectors, more, words) => {
  await expect(parseVectors(vectors, more)).rejects.toThrow(words);
});
