/** Speaks Ollama's protocol for embeddings: one request to `/api/embed`, answered by one JSON text. */
import { z } from "zod";
import type { ModelProvider } from "../../../model/reach/models.ts";
import type { ProviderRequests } from "./provider-requests.ts";
import { askService } from "./service-question.ts";

/** Numbers of one vector. */
const DIMENSIONS_MAX = 8192;

const answer = z.object({ embeddings: z.array(z.array(z.number()).min(1).max(DIMENSIONS_MAX)) });

/** Texts to embed by one model. */
export interface EmbeddingRequest {
  readonly model: string;
  readonly texts: readonly string[];
}

/** A vector for each text. @throws what `requests` throw, or an error for an answer that cannot be used */
export async function embedByOllama(
  provider: ModelProvider,
  { model, texts }: EmbeddingRequest,
  requests: ProviderRequests,
): Promise<readonly Float32Array[]> {
  const body = { model, input: texts, truncate: true };
  const { embeddings } = answer.parse(await askService(provider, { path: "/api/embed", body }, requests));
  const dimensions = embeddings[0]?.length;
  if (embeddings.length !== texts.length || embeddings.some(({ length }) => length !== dimensions))
    throw new Error(`${embeddings.length} vectors of unequal length or number for ${texts.length} texts`);
  return embeddings.map((numbers) => Float32Array.from(numbers));
}
