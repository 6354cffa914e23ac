/**
 * Servers that speak the protocols of model providers as those do: streams of events and lines, counts, errors.
 *
 * Each checks the key and the shape of what it is asked, so that a client that speaks otherwise gets no completion.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** A request as such a server has read it. */
export interface AskedModel {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

/** What a server does instead of completing: answers, and says whether it has. */
export type Instead = (asked: AskedModel, response: ServerResponse) => boolean;

/** What the server says, and counts. */
export interface Completing {
  readonly pieces: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Asked for in the protocol's own header; nobody is asked when absent. */
  readonly key?: string;
  readonly instead?: Instead;
  /** Takes note of each request. */
  readonly seen?: AskedModel[];
  /** The completion ended at the limit of tokens. */
  readonly isCut?: boolean;
  /** The provider does not count. */
  readonly uncounted?: boolean;
}

function listening(
  completing: Completing,
  {
    path,
    keyOf,
    complete,
  }: {
    readonly path: string;
    readonly keyOf: (headers: IncomingMessage["headers"]) => unknown;
    readonly complete: (body: Record<string, unknown>, response: ServerResponse) => void;
  },
): RequestListener {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const piece of request) text += piece;
    const body = JSON.parse(text) as Record<string, unknown>;
    const asked = { path: request.url ?? "", headers: request.headers, body };
    completing.seen?.push(asked);
    if (request.method !== "POST" || asked.path !== path) return void response.writeHead(404).end("not here");
    if (completing.instead?.(asked, response) === true) return;
    if (completing.key !== undefined && keyOf(request.headers) !== completing.key)
      return void json(response, 401, {
        error: { message: `Incorrect API key provided: ${String(keyOf(request.headers))}` },
      });
    complete(body, response);
  };
  return (request, response) =>
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** OpenAI's chat completions, streamed. */
export function openaiServer(completing: Completing): RequestListener {
  return listening(completing, {
    path: "/v1/chat/completions",
    keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
    complete({ model, messages, stream, max_tokens: max }, response) {
      if (stream !== true || !Array.isArray(messages) || typeof max !== "number")
        return json(response, 400, { error: { message: "you must stream", type: "invalid_request_error" } });
      response.writeHead(200, { "content-type": "text/event-stream" });
      const frame = (choices: unknown[], more: object = {}) =>
        response.write(
          `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model, choices, ...more })}\n\n`,
        );
      frame([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]);
      for (const content of completing.pieces) frame([{ index: 0, delta: { content }, finish_reason: null }]);
      frame([{ index: 0, delta: {}, finish_reason: completing.isCut ? "length" : "stop" }]);
      const { inputTokens: prompt_tokens, outputTokens: completion_tokens } = completing;
      const total_tokens = prompt_tokens + completion_tokens;
      if (completing.uncounted !== true) frame([], { usage: { prompt_tokens, completion_tokens, total_tokens } });
      response.end("data: [DONE]\n\n");
    },
  });
}

/** Anthropic's messages, streamed. */
export function anthropicServer(completing: Completing): RequestListener {
  return listening(completing, {
    path: "/v1/messages",
    keyOf: ({ "x-api-key": key }) => key,
    complete({ model, messages, stream, max_tokens: max }, response) {
      if (stream !== true || !Array.isArray(messages) || typeof max !== "number")
        return json(response, 400, {
          type: "error",
          error: { type: "invalid_request_error", message: "you must stream" },
        });
      response.writeHead(200, { "content-type": "text/event-stream" });
      const event = (type: string, more: object) =>
        response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
      const { inputTokens: input_tokens, outputTokens: output_tokens } = completing;
      event("message_start", {
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens, output_tokens: 1 },
        },
      });
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      event("ping", {});
      for (const text of completing.pieces)
        event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
      event("content_block_stop", { index: 0 });
      event("message_delta", {
        delta: { stop_reason: completing.isCut ? "max_tokens" : "end_turn", stop_sequence: null },
        usage: { output_tokens },
      });
      event("message_stop", {});
      response.end();
    },
  });
}

/** Ollama's chat, in lines. */
export function ollamaServer(completing: Completing): RequestListener {
  return listening(completing, {
    path: "/api/chat",
    keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
    complete({ model, messages, stream }, response) {
      if (stream !== true || !Array.isArray(messages)) return json(response, 400, { error: "you must stream" });
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      const line = (more: object) =>
        response.write(`${JSON.stringify({ model, created_at: "2026-01-01T00:00:00Z", ...more })}\n`);
      for (const content of completing.pieces) line({ message: { role: "assistant", content }, done: false });
      line({
        message: { role: "assistant", content: "" },
        done: true,
        done_reason: completing.isCut ? "length" : "stop",
        total_duration: 5,
        ...(completing.uncounted !== true && {
          prompt_eval_count: completing.inputTokens,
          eval_count: completing.outputTokens,
        }),
      });
      response.end();
    },
  });
}
