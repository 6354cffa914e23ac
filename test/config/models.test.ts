/** `models` in `handrail.yaml`: providers by their servers, and keys by the names of secrets alone. */
import { expect, test } from "vitest";
import { parseSettings } from "../../src/config/config.ts";
import { providersOf } from "../../src/config/sections/tools/models.ts";

const SECRETS = {
  KEY: {
    from: { env: "A" },
    placeholder: "placeholder_of_a_secret",
    bindings: [{ to: "api.openai.com", in: "header Authorization" }],
  },
};
const parse = async (models: object) =>
  providersOf((await parseSettings(JSON.stringify({ models, secrets: SECRETS }), "handrail.yaml")).models);

test("what is not said is the protocol's own provider, two further tries and two minutes", async () => {
  expect(await parse({ openai: { protocol: "openai", secret: "KEY" }, own: { protocol: "ollama" } })).toEqual([
    {
      name: "openai",
      protocol: "openai",
      url: "https://api.openai.com/v1",
      secret: "KEY",
      prices: {},
      timeoutMs: 120_000,
      retries: 2,
    },
    { name: "own", protocol: "ollama", url: "http://127.0.0.1:11434", prices: {}, timeoutMs: 120_000, retries: 2 },
  ]);
});

test.each([
  [{ Openai: { protocol: "openai" } }, /lower-case letters/],
  [{ a: { protocol: "grpc" } }, /protocol/],
  [{ a: { protocol: "openai", url: "ftp://a.example" } }, /must begin with `https:\/\/` or `http:\/\/`/],
  [{ a: { protocol: "openai", url: "https://user:pass@a.example/v1" } }, /carries a user or password/],
  [{ a: { protocol: "openai", url: "https://a.example/v1?key=1" } }, /must not hold `\?` or `#`/],
  [{ a: { protocol: "openai", secret: "OTHER" } }, /`OTHER` is not defined under `secrets`/],
  [{ a: { protocol: "openai", url: "https://a.example/v1", secret: "KEY" } }, /`KEY` is not bound to `a.example:443`/],
  [{ a: { protocol: "ollama", url: "http://api.openai.com", secret: "KEY" } }, /begins with `https` alone/],
  [{ a: { protocol: "openai", key: "sk-1" } }, /key/],
  [{ a: { protocol: "openai", prices: { m: { input: -1, output: 1 } } } }, /prices/],
  [{ a: { protocol: "openai", models: [] } }, /models/],
  [{ a: { protocol: "openai", retries: 11 } }, /retries/],
])("%j is refused", async (models, problem) => {
  await expect(parse(models)).rejects.toThrow(problem);
});
