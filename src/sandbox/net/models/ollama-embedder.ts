/** Speaks Ollama's protocol for embeddings: one request to `/api/embed`, answered by one JSON text. */
import { z } from "zod";
import { MIB } from "../../../base/bytes.ts";
import type { ModelProvider } from "../../../model/reach/models.ts";
import { keyOf } from "./completion.ts";
import type { ProviderRequests } from "./provider-requests.ts";

/** Bytes of one answer. */
const ANSWER_BYTES_MAX = 16 * MIB;
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
  const key = keyOf(provider);
  const response = await requests.fetch(`${provider.url}/api/embed`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, input: texts, truncate: true }),
  });
  const { embeddings } = answer.parse(JSON.parse(await boundedText(response)));
  const dimensions = embeddings[0]?.length;
  if (embeddings.length !== texts.length || embeddings.some(({ length }) => length !== dimensions))
    throw new Error(`${embeddings.length} vectors of unequal length or number for ${texts.length} texts`);
  return embeddings.map((numbers) => Float32Array.from(numbers));
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
