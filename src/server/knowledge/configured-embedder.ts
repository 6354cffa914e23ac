/** Makes the embedder that the operator names, over the provider's server as models are asked. */

import type { Settings } from "../../config/config.ts";
import { providersOf } from "../../config/sections/tools/models.ts";
import type { KernelParts } from "../../kernel/index.ts";
import type { Embedder } from "../../knowledge/embedder.ts";
import type { Redactor } from "../../redact/redact.ts";
import type { SecretBroker } from "../../sandbox/net/broker/broker.ts";

/** What the model is reached with. */
export interface EmbedderParts {
  readonly models: KernelParts["models"];
  readonly redactor: () => Redactor | Promise<Redactor>;
  readonly brokerBy: (redactor: Redactor) => SecretBroker | undefined;
}

/** The embedder of `settings`; nothing where they name no model. */
export function configuredEmbedder(settings: Settings, parts: EmbedderParts): Embedder | undefined {
  const { embeddings } = settings.knowledge;
  const provider = providersOf(settings.models).find(({ name }) => name === embeddings?.provider);
  if (embeddings === undefined || provider === undefined) return undefined;
  const { model } = embeddings;
  return {
    name: `${provider.name}/${model}`,
    async embed(texts, signal) {
      const caller = await parts.models.open();
      const broker = parts.brokerBy(await parts.redactor());
      const rules = { judge: () => Promise.resolve(), record: () => undefined, broker, signal };
      return await caller.embed(provider, { model, texts }, rules);
    },
  };
}
