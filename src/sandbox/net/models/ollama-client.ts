/**
 * Speaks Ollama's own protocol: one request to `/api/chat`, answered by lines of JSON.
 *
 * Ollama's package for it is not used: it sends a key that it finds in the environment, and writes what it cannot read
 * to the terminal.
 */
import { createJsonLinesResponseHandler } from "@ai-sdk/provider-utils";
import { z } from "zod";
import { MIB } from "../../../base/bytes.ts";
import type { ModelFinish } from "../../../model/reach/models.ts";
import { type CompletionClient, keyOf, usageOf } from "./completion.ts";

/** Bytes of one line of an answer. */
const LINE_BYTES_MAX = MIB;

const count = z.int().min(0).optional();
const line = z.union([
  z.object({ error: z.string() }),
  z.object({
    message: z.object({ content: z.string() }).optional(),
    done: z.boolean(),
    done_reason: z.string().optional(),
    prompt_eval_count: count,
    eval_count: count,
  }),
]);

/** By Ollama's protocol. */
export const completeByOllama: CompletionClient = async function* (provider, request, requests) {
  const { model, prompt, system, maxTokens, temperature } = request;
  const body = {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: prompt },
    ],
    stream: true,
    options: { num_predict: maxTokens, ...(temperature !== undefined && { temperature }) },
  };
  const key = keyOf(provider);
  const url = `${provider.url}/api/chat`;
  const response = await requests.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  const read = createJsonLinesResponseHandler(line, { maxLineBytes: LINE_BYTES_MAX });
  const { value: lines } = await read({ response, url, requestBodyValues: {} });
  for await (const one of lines) {
    if ("error" in one) throw new Error(one.error);
    const text = one.message?.content ?? "";
    if (text !== "") yield { kind: "text", text };
    if (!one.done) continue;
    yield {
      kind: "end",
      finish: FINISHES.get(one.done_reason ?? "stop") ?? "other",
      ...usageOf(one.prompt_eval_count, one.eval_count),
    };
    return;
  }
};

const FINISHES: ReadonlyMap<string, ModelFinish> = new Map([
  ["stop", "stop"],
  ["length", "length"],
]);
