/**
 * Defines the section `knowledge` of `handrail.yaml`: whether questions are also answered by meaning, and by which model.
 *
 * INVARIANT: what is indexed goes to no other machine unless the operator says so in a word of its own.
 */
import * as z from "zod";
import type { ModelProvider } from "../../model/reach/models.ts";
import { classOfHost } from "../../names/address-class.ts";
import { webAddress } from "../../names/web-address.ts";

/** The schema of `knowledge`. */
export const knowledgeSettings = z.strictObject({
  embeddings: z
    .strictObject({
      /** A provider under `models` that speaks Ollama's protocol. */
      provider: z.string().min(1).max(64),
      model: z.string().min(1).max(256),
      allow_remote: z.boolean().default(false),
    })
    .optional(),
});

/** Parsed `knowledge`. */
export type KnowledgeSettings = z.infer<typeof knowledgeSettings>;

/** Why the model cannot be used, for messages. */
export function problemOfEmbeddings(
  { embeddings }: KnowledgeSettings,
  providers: readonly ModelProvider[],
): string | undefined {
  if (embeddings === undefined) return undefined;
  const { provider: name, allow_remote: allowsRemote } = embeddings;
  const provider = providers.find((one) => one.name === name);
  if (provider === undefined) return `\`${name}\` is not defined under \`models\`; define it there`;
  if (provider.protocol !== "ollama") return `\`${name}\` does not speak \`ollama\`; name a provider that does`;
  if (allowsRemote || isLoopback(provider.url)) return undefined;
  return `\`${name}\` is on another machine, which would get what is indexed; add \`allow_remote: true\` if it may`;
}

function isLoopback(url: string): boolean {
  const address = webAddress(url);
  if ("problem" in address) return true; // said of the address itself
  return classOfHost(address.host) === "loopback";
}
