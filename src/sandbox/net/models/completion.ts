/** Defines what a client of a provider is asked, and what comes of it. */
import type { ModelFinish, ModelProvider, ModelUsage } from "../../../model/reach/models.ts";
import type { ProviderRequests } from "./provider-requests.ts";

/** A completion that is asked for. */
export interface CompletionRequest {
  readonly model: string;
  readonly prompt: string;
  readonly system?: string;
  readonly maxTokens: number;
  readonly temperature?: number;
}

/** A piece of a completion: some of its text, what the provider makes of the request, or its end. */
export type CompletionPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "end"; readonly finish: ModelFinish; readonly usage?: ModelUsage };

/** Speaks one protocol. Throws what `requests` throw, or anything for an answer that cannot be read. */
export type CompletionClient = (
  provider: ModelProvider,
  request: CompletionRequest,
  requests: ProviderRequests,
) => AsyncIterable<CompletionPart>;

/** What stands for the provider's key in a request of its client; empty where it asks for none. */
export function keyOf({ secret }: Pick<ModelProvider, "secret">): string {
  return secret === undefined ? "" : `{{secret:${secret}}}`;
}

/** Tokens that one call can have; whoever says more does not count. */
const COUNT_MAX = 100_000_000;

/** Both numbers, or neither: half a count is none. */
export function usageOf(
  inputTokens: number | undefined,
  outputTokens: number | undefined,
): { readonly usage?: ModelUsage } {
  const isCount = (value = -1) => Number.isSafeInteger(value) && value >= 0 && value <= COUNT_MAX;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return {};
  return { usage: { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 } };
}
