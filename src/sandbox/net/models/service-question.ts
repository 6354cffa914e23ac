/** Asks a service with one JSON text, and reads the one that it answers. */
import { MIB } from "../../../base/bytes.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { ServiceAddress } from "../../../model/reach/models.ts";
import { keyOf } from "./completion.ts";
import type { ProviderRequests } from "./provider-requests.ts";

/** Bytes of one answer. */
const ANSWER_BYTES_MAX = 16 * MIB;

/** What a service is asked. */
export interface ServiceQuestion {
  /** Below the service's address; begins with `/`. */
  readonly path: string;
  readonly body: JsonObject;
}

/** What it answers, which is anything. @throws what `requests` throw, or an error for an answer that is no JSON */
export async function askService(
  service: ServiceAddress,
  { path, body }: ServiceQuestion,
  requests: ProviderRequests,
): Promise<unknown> {
  const key = keyOf(service);
  const response = await requests.fetch(`${service.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  return JSON.parse(await boundedText(response));
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
