/**
 * Asks clients at which a person sits, and takes their answers.
 *
 * Trusts the operator about who is attended, and the store to count answers. INVARIANTS: a client that is not attended
 * is never asked, and its answers never count; an answer counts once; whatever does not count leaves the request to
 * others, and is recorded.
 */

import { readApprovalDocument } from "../model/approval/approval-document.ts";
import type { InBandAnswer, InBandAsker, InBandClient, InBandQuestion } from "./in-band.ts";
import type { ApprovalDecision, ApprovalStore, DecideOutcome, StoredApproval } from "./requests/approval-store.ts";

/**
 * In-band answers to one request that decide nothing, after which its client is not asked again: it does not know how,
 * or nobody is there.
 */
export const IN_BAND_ANSWERS_MAX = 3;

/** An answer as the client that asked for the call brought it. */
export interface InBandReply {
  readonly ref: string;
  readonly sessionId: string;
  readonly from: InBandClient;
  readonly answer: InBandAnswer;
  /** Answers that had been given when the client was asked: another one since makes this one a repetition. */
  readonly answersBefore: number;
}

/** What came of an in-band answer. */
export type InBandOutcome =
  | DecideOutcome
  | {
      readonly kind: "not_counted";
      readonly why: "unattended" | "not_in_band" | "cancelled" | "malformed" | "repeated";
    };

/** What the desk works with. */
export interface InBandParts {
  readonly store: Pick<ApprovalStore, "countInBandAnswer">;
  readonly attendedClients: () => ReadonlySet<string>;
  readonly find: (ref: string) => Promise<StoredApproval | undefined>;
  readonly decide: (ref: string, given: Omit<ApprovalDecision, "atMs">) => Promise<DecideOutcome>;
  readonly recordIgnored: (approval: StoredApproval, client: InBandClient, why: string) => Promise<void>;
}

/** The in-band questions of one kernel. */
export class InBandDesk {
  readonly #parts: InBandParts;
  /** Questions that a client shows just now, by their request. */
  readonly #open = new Map<string, AbortController>();

  constructor(parts: InBandParts) {
    this.#parts = parts;
  }

  /**
   * What a client may be asked about a request; `undefined` when it may not, or has answered often enough without
   * deciding.
   */
  question(approval: StoredApproval, { client }: Pick<InBandClient, "client">): InBandQuestion | undefined {
    const { ref, state, inBand, inBandAnswers, document } = approval;
    if (state !== "pending" || !inBand || inBandAnswers >= IN_BAND_ANSWERS_MAX || !this.#isAttended(client))
      return undefined;
    const request = readApprovalDocument(ref, document);
    return request && { ref, request };
  }

  /**
   * Asks a client while calls wait, once for all of them. @returns whether it answered in a way that decides, or is
   * being asked already
   */
  async ask(approval: StoredApproval, asker: Extract<InBandAsker, { channel: "elicitation" }>): Promise<boolean> {
    const { ref, sessionId, inBandAnswers } = approval;
    if (this.#open.has(ref)) return true;
    const question = this.question(approval, asker);
    if (question === undefined) return false;
    const asking = new AbortController();
    this.#open.set(ref, asking);
    try {
      const answer = await asker.ask(question, asking.signal);
      if (answer === undefined) return asking.signal.aborted;
      return (
        (await this.answer({ ref, sessionId, from: asker, answer, answersBefore: inBandAnswers })).kind !==
        "not_counted"
      );
    } finally {
      if (this.#open.get(ref) === asking) this.#open.delete(ref);
    }
  }

  /** Nobody waits for an answer any more. */
  withdraw(ref: string): void {
    this.#open.get(ref)?.abort();
    this.#open.delete(ref); // whoever asks next asks anew
  }

  /**
   * Takes the answer of the client that asked for the call. It counts for an attended client alone, and only about what
   * may be answered in band.
   */
  async answer({ ref, sessionId, from, answer, answersBefore }: InBandReply): Promise<InBandOutcome> {
    const approval = await this.#parts.find(ref);
    if (approval === undefined || approval.sessionId !== sessionId) return { kind: "unknown" };
    if (!approval.inBand) return this.#ignore(approval, from, "not_in_band");
    if (!(await this.#parts.store.countInBandAnswer(ref, answersBefore)))
      return this.#ignore(approval, from, "repeated");
    if (!this.#isAttended(from.client)) return this.#ignore(approval, from, "unattended");
    if (answer.kind === "cancel") return this.#ignore(approval, from, "cancelled");
    if (answer.kind === "malformed") return this.#ignore(approval, from, "malformed");
    const by = `client:${from.client}`;
    const { channel } = from;
    if (answer.kind === "deny") return this.#parts.decide(ref, { approved: false, by, channel });
    return this.#parts.decide(ref, { approved: true, by, channel, scope: { kind: answer.scope } });
  }

  #isAttended(client: string): boolean {
    return this.#parts.attendedClients().has(client);
  }

  async #ignore(
    approval: StoredApproval,
    from: InBandClient,
    why: Extract<InBandOutcome, { kind: "not_counted" }>["why"],
  ): Promise<InBandOutcome> {
    await this.#parts.recordIgnored(approval, from, why);
    return { kind: "not_counted", why };
  }
}
