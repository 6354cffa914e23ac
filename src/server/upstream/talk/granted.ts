/**
 * Answers what an upstream server asks of its client, as far as the operator granted it.
 *
 * INVARIANTS: what was not granted is refused. A question belongs to the one call that is open, and is shown as the
 * words of a stranger; without such a call, or after too many, nobody is asked.
 */
import type { Client, ClientCapabilities, ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../base/json.ts";
import type { AskPerson } from "../../../model/tool/person-question.ts";
import { visibleLines } from "../../../text/foreign-text.ts";
import type { UpstreamGrant } from "../records/pins.ts";

/** Questions of one call, and characters of one. */
const QUESTIONS_MAX = 4;
const QUESTION_CHARACTERS_MAX = 16_384;
/** Where a server finds what it may see. */
const ROOT = { uri: "file:///workspace", name: "workspace" };

/** The call that is open, and how its person is asked. */
export interface AskingCall {
  readonly signal: AbortSignal;
  readonly askPerson?: AskPerson | undefined;
}

/** What a client offers that grants these. */
export function capabilitiesOf(grants: readonly UpstreamGrant[]): ClientCapabilities {
  return {
    ...(grants.includes("roots") && { roots: {} }),
    ...(grants.includes("elicitation") && { elicitation: { form: {} } }),
  };
}

/** What one server is granted. */
export class Granted {
  readonly #name: string;
  #call: AskingCall | undefined;
  #asked = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** Lets `client` answer. */
  answerFor(client: Client, grants: readonly UpstreamGrant[]): void {
    if (grants.includes("roots")) client.setRequestHandler("roots/list", () => ({ roots: [ROOT] }));
    if (grants.includes("elicitation"))
      client.setRequestHandler("elicitation/create", ({ params }) => this.#elicit(params));
  }

  /** Does `work` as the open call; of several at once, none is asked for. */
  async during<Answer>(call: AskingCall, work: () => Promise<Answer>): Promise<Answer> {
    this.#call = call;
    this.#asked = 0;
    try {
      return await work();
    } finally {
      this.#call = undefined;
    }
  }

  async #elicit(params: ElicitRequestParams): Promise<ElicitResult> {
    const call = this.#call;
    if (call?.askPerson === undefined || call.signal.aborted) return { action: "cancel" };
    this.#asked += 1;
    // an address to open is a way round all that Handrail shows
    if (!("requestedSchema" in params) || this.#asked > QUESTIONS_MAX) return { action: "decline" };
    const schema = params.requestedSchema as unknown as JsonObject;
    if (JSON.stringify(params).length > QUESTION_CHARACTERS_MAX) return { action: "decline" };
    const message = [
      `The server \`${this.#name}\`, a program of somebody else's, asks you this. What you answer goes to it.`,
      ...visibleLines(params.message).map((line) => `│ ${line}`),
    ].join("\n");
    const answer = await call.askPerson({ message, schema }, call.signal);
    if (answer.kind !== "accept") return { action: answer.kind };
    return { action: "accept", content: answer.content as NonNullable<ElicitResult["content"]> };
  }
}
