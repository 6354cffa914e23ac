/** Makes the embedder that the operator names, over the provider's server as models are asked. */
import type { Settings } from "../../config/config.ts";
import { providersOf } from "../../config/sections/models.ts";
import type { KernelParts } from "../../kernel/index.ts";
import type { Embedder } from "../../knowledge/embedder.ts";
import type { SecretBroker } from "../../sandbox/net/broker/broker.ts";

/** What the model is named and reached by. */
export interface EmbedderParts {
  readonly settings: () => Settings;
  readonly models: KernelParts["models"];
  readonly broker: () => Promise<SecretBroker | undefined>;
}

/** The embedder by the configuration in force; nothing where it names no model. */
export function configuredEmbedder({ settings, models, broker }: EmbedderParts): () => Embedder | undefined {
  return () => {
    const { knowledge, models: named } = settings();
    const { embeddings } = knowledge;
    const provider = providersOf(named).find(({ name }) => name === embeddings?.provider);
    if (embeddings === undefined || provider === undefined) return undefined;
    const { model } = embeddings;
    return {
      name: `${provider.name}/${model}`,
      async embed(texts, signal) {
        const caller = await models.open();
        const rules = { judge: () => Promise.resolve(), record: () => undefined, broker: await broker(), signal };
        return await caller.embed(provider, { model, texts }, rules);
      },
    };
  };
}
