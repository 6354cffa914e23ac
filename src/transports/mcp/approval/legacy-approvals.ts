/**
 * Approval in the legacy era: while a call waits, the client is asked by `elicitation/create`.
 *
 * Whether it is asked, and whether its answer counts, is the kernel's to decide. INVARIANT: an answer to what is not
 * asked (any more), or was never asked, is recorded and does nothing.
 */
import type { JSONRPCResponse, RequestId } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import type { InBandAsker, KernelDoor } from "../../../kernel/index.ts";
import type { PersonAnswer } from "../../../model/tool/person-question.ts";
import { answerIn, approvalForm } from "./approval-form.ts";
import { askedInSession } from "./asked-client.ts";
import { Questions } from "./questions.ts";

/** The approvals of one legacy client. */
export class LegacyApprovals {
  readonly #door: Pick<KernelDoor, "recordRefusal">;
  readonly #questions: Questions;
  #handshake: unknown;
  #revision: string | undefined;
  /** The client's name, if it can be asked. */
  #client: string | undefined;

  /** @param send writes one line to the client, without its end; it belongs to the request `about` */
  constructor(door: Pick<KernelDoor, "recordRefusal">, send: (line: string, about?: RequestId) => void) {
    this.#door = door;
    this.#questions = new Questions(send);
  }

  /** How the client can be asked for the call of the request `about`; `undefined` when it cannot. */
  asker(about: RequestId): InBandAsker | undefined {
    return this.#client === undefined ? undefined : this.#askerOf(this.#client, about);
  }

  /** What the client says that it can do. */
  get capabilities(): unknown {
    return isJsonObject(this.#handshake) ? this.#handshake["capabilities"] : undefined;
  }

  /** How a tool that may asks the client, in the course of the request `about`. */
  askFor(about: RequestId, signal: AbortSignal): (method: string, params: JsonObject) => Promise<unknown> {
    return async (method, params) => {
      const end = await this.#questions.ask({ method, params, about }, signal);
      if (end.kind === "answered") return end.result;
      throw new Error("the client did not answer");
    };
  }

  /** The client begins a session with these parameters of `initialize`. */
  begin(handshake: unknown): void {
    this.#handshake = handshake;
    this.#client = undefined;
  }

  /** They agreed on a revision. */
  agree(revision: string): void {
    this.#revision = revision;
    this.#client = askedInSession(this.#handshake, this.#revision);
  }

  /** Takes an answer of the client. */
  take(response: JSONRPCResponse): void {
    if (!this.#questions.take(response)) void this.#door.recordRefusal(UNASKED);
  }

  /** The client is gone. */
  close(): void {
    this.#questions.close();
  }

  #askerOf(client: string, about: RequestId): InBandAsker {
    return {
      client,
      channel: "elicitation",
      ask: async (question, signal) => {
        const form = approvalForm(question);
        const end = form && (await this.#questions.ask({ method: "elicitation/create", params: form, about }, signal));
        if (end?.kind === "answered") return answerIn(end.result);
        return end?.kind === "failed" ? { kind: "cancel" } : undefined;
      },
      askForm: async ({ message, schema: requestedSchema }, signal) => {
        const params = { message, requestedSchema };
        const end = await this.#questions.ask({ method: "elicitation/create", params, about }, signal);
        return end.kind === "answered" ? personAnswer(end.result) : { kind: "cancel" };
      },
    };
  }
}

/** An answer that is none counts as nobody's. */
function personAnswer(result: unknown): PersonAnswer {
  const { action, content } = isJsonObject(result) ? result : ({} as JsonObject);
  if (action === "accept" && isJsonObject(content)) return { kind: "accept", content };
  return { kind: action === "decline" ? "decline" : "cancel" };
}

/** An answer to nothing that is asked just now. */
const UNASKED = {
  layer: "approval",
  reason: "tool_approval_invalid",
  ruleId: "APPROVAL:unasked",
  message: "an answer came to a question that is not open: it was answered or withdrawn before, or never asked",
} as const;
