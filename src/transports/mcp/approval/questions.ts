/**
 * Keeps the server's open requests to a legacy client until the client answers them.
 *
 * INVARIANTS: ids are never used twice, a question is answered once, and what was withdrawn cannot be answered any
 * more; their number is limited; whoever asks hears something, at the latest when the client is gone.
 */
import type { JSONRPCResponse, RequestId } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../base/json.ts";

/** Questions that one client shows at a time: no principal has more requests that wait. */
const IN_BAND_QUESTIONS_MAX = 64;

/**
 * How a question ended: `failed`: the client says that it could not be asked; `open`: nobody answered, or could be
 * asked at all.
 */
export type QuestionEnd =
  | { readonly kind: "answered"; readonly result: unknown }
  | { readonly kind: "failed" | "open" };

/** A question: a request to the client, asked in the course of its own request `about`. */
export interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly about?: RequestId;
}

/** The questions to one client. */
export class Questions {
  readonly #send: (line: string, about?: RequestId) => void;
  readonly #waiting = new Map<string, (end: QuestionEnd) => void>();
  #last = 0;
  #closed = false;

  /** @param send writes one line, without its end */
  constructor(send: (line: string, about?: RequestId) => void) {
    this.#send = send;
  }

  /** Sends a request, and withdraws it when `signal` aborts. Never rejects. */
  ask({ method, params, about }: Question, signal: AbortSignal): Promise<QuestionEnd> {
    if (this.#closed || signal.aborted || this.#waiting.size >= IN_BAND_QUESTIONS_MAX)
      return Promise.resolve({ kind: "open" });
    this.#last += 1;
    const id = `handrail-${this.#last}`;
    return new Promise((resolve) => {
      const withdraw = () => {
        const withdrawal = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } };
        this.#send(JSON.stringify(withdrawal), about);
        this.#waiting.get(id)?.({ kind: "open" });
      };
      this.#waiting.set(id, (end) => {
        this.#waiting.delete(id);
        signal.removeEventListener("abort", withdraw);
        resolve(end);
      });
      signal.addEventListener("abort", withdraw, { once: true });
      this.#send(JSON.stringify({ jsonrpc: "2.0", id, method, params }), about);
    });
  }

  /** Takes an answer of the client. @returns whether anybody waited for it */
  take(response: JSONRPCResponse): boolean {
    const end = typeof response.id === "string" ? this.#waiting.get(response.id) : undefined;
    end?.("result" in response ? { kind: "answered", result: response.result } : { kind: "failed" });
    return end !== undefined;
  }

  /** The client is gone. */
  close(): void {
    this.#closed = true;
    for (const end of [...this.#waiting.values()]) end({ kind: "open" });
  }
}
