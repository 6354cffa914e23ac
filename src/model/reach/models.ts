/** Defines the providers of models, what a tool asks of a model, and what comes of it. */
import type { Label } from "../outcome/label.ts";

/** Protocols by which providers are spoken to. */
export const MODEL_PROTOCOLS = ["openai", "anthropic", "ollama"] as const;
/** One of them; `openai` is the one that many others speak, too. */
export type ModelProtocol = (typeof MODEL_PROTOCOLS)[number];

/** What tokens cost: millionths of the unit that costs are counted in, for each token. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** A server that the kernel itself sends requests to. */
export interface ServiceAddress {
  /** As it is named to people. */
  readonly name: string;
  /** Where its interface begins, without `/` at the end. */
  readonly url: string;
  /** The name of the secret that it asks for; none when absent. */
  readonly secret?: string;
  /** Of one call, further tries and reading included. */
  readonly timeoutMs: number;
  /** Further tries after an answer that invites to them. */
  readonly retries: number;
}

/** A provider as the operator names it. */
export interface ModelProvider extends ServiceAddress {
  readonly protocol: ModelProtocol;
  /** Models that may be asked; all when absent. */
  readonly models?: readonly string[];
  /** By model. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
}

/** What a tool asks of a model; the texts are stored content, by their hashes (CTR-0018). */
export interface ModelRequest {
  readonly provider: string;
  readonly model: string;
  readonly promptHash: string;
  readonly systemPromptHash?: string;
  readonly maxTokens: number;
  /** As the provider counts it; the provider's own choice when absent. */
  readonly temperature?: number;
}

/** Why a completion ended: it was finished, at the limit of tokens, by a filter of the provider's, or otherwise. */
export type ModelFinish = "stop" | "length" | "content_filter" | "other";

/** Tokens as the provider counted them. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What came of it. */
export interface ModelAnswer {
  /** Without secrets. */
  readonly completion: string;
  /** By which the same text is stored. */
  readonly completionHash: string;
  readonly finish: ModelFinish;
  /** Absent where the provider does not count. */
  readonly usage?: ModelUsage;
  /** Absent where nobody named a price, or the provider does not count. */
  readonly costMicros?: number;
  /** What of the request the provider does not take as it was asked. */
  readonly notes: readonly string[];
  /** Of the texts that were sent. */
  readonly label: Label;
}

/** Models, for one call. */
export interface ModelAccess {
  /**
   * Asks a model that analysis named, with content that analysis named.
   * @throws ToolFailure RATE_LIMITED, TIMEOUT, IO_ERROR and others where no answer came; Refusal where it may not be
   * asked, or a text cannot be read
   */
  readonly complete: (request: ModelRequest) => Promise<ModelAnswer>;
}

/** What the operator says that a model costs; nothing where no price is named. */
export function priceOf({ prices }: Pick<ModelProvider, "prices">, model: string): ModelPrice | undefined {
  return Object.hasOwn(prices, model) ? prices[model] : undefined;
}

/** What so many tokens cost, as micro-units. */
export function costOf({ input, output }: ModelPrice, { inputTokens, outputTokens }: ModelUsage): number {
  return Math.ceil(inputTokens * input + outputTokens * output);
}
