/**
 * Speaks to providers by packages of the AI SDK: OpenAI's protocol, which many others speak, and Anthropic's.
 *
 * The packages read the answers; keys, tries and errors are not theirs.
 */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4FinishReason } from "@ai-sdk/provider";
import type { ModelFinish, ModelProvider } from "../../../model/reach/models.ts";
import { type CompletionClient, type CompletionPart, keyOf, usageOf } from "./completion.ts";
import type { ProviderRequests } from "./provider-requests.ts";

/** By OpenAI's protocol, or Anthropic's. */
export const completeByAiSdk: CompletionClient = async function* (provider, request, requests) {
  const { model, prompt, system, maxTokens, temperature } = request;
  const { stream } = await modelOf(provider, model, requests).doStream({
    prompt: [
      ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
      { role: "user" as const, content: [{ type: "text" as const, text: prompt }] },
    ],
    maxOutputTokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
  });
  for await (const part of stream) {
    switch (part.type) {
      case "text-delta":
        yield { kind: "text", text: part.delta };
        break;
      case "stream-start":
        yield* part.warnings.map(
          (warning): CompletionPart => ({
            kind: "note",
            text: "message" in warning ? warning.message : `${warning.feature}: ${warning.details ?? warning.type}`,
          }),
        );
        break;
      case "finish":
        if (part.finishReason.unified === "interrupted") throw new Error("the stream ended before the completion did");
        yield {
          kind: "end",
          finish: FINISHES[part.finishReason.unified] ?? "other",
          ...usageOf(part.usage.inputTokens.total, part.usage.outputTokens.total),
        };
        break;
      case "error":
        throw part.error instanceof Error ? part.error : new Error(errorWords(part.error));
      default:
    }
  }
};

function modelOf(provider: ModelProvider, model: string, { fetch }: ProviderRequests): LanguageModelV4 {
  const { name, protocol, url: baseURL } = provider;
  const apiKey = keyOf(provider);
  if (protocol === "anthropic") return createAnthropic({ baseURL, apiKey, fetch, name }).languageModel(model);
  const settings = { name, baseURL, fetch, includeUsage: true, ...(apiKey !== "" && { apiKey }) };
  return createOpenAICompatible(settings).chatModel(model);
}

const FINISHES: Readonly<Partial<Record<LanguageModelV4FinishReason["unified"], ModelFinish>>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
};

function errorWords(error: unknown): string {
  return typeof error === "string" ? error : JSON.stringify(error);
}
