/**
 * Makes requests for approval: each call once, as many as people can be asked, and told to those who answer.
 *
 * INVARIANTS: a request is recorded before anybody is told of it. Calls that are the same share one request. A call
 * joins another one of its kind only while that one is waited for here, so that nobody is kept behind a prompt that
 * nobody waits for.
 */
import { ToolFailure } from "../model/outcome/failure.ts";
import { keepRequest } from "./approval-documents.ts";
import type { ApprovalEvidence } from "./approval-evidence.ts";
import type { ApprovalsParts } from "./approvals-parts.ts";
import type {
  AddOutcome,
  ApprovalOwner,
  AskingLimits,
  NewApproval,
  StoredApproval,
} from "./requests/approval-store.ts";
import { newApproval, type Wanted } from "./requests/request.ts";

/** Requests of one principal in one workspace that wait for an answer at a time: more than anybody looks through. */
const APPROVALS_PENDING_MAX = 64;
/** Requests that wait for an answer in one state directory. */
const APPROVALS_PENDING_TOTAL_MAX = 10_000;

const PENDING_LIMITS: Pick<AskingLimits, "pendingMax" | "pendingTotalMax"> = {
  pendingMax: APPROVALS_PENDING_MAX,
  pendingTotalMax: APPROVALS_PENDING_TOTAL_MAX,
};

/** What came of asking. */
export type Asked =
  | { readonly kind: "asked"; readonly approval: StoredApproval }
  /** Another call of the same kind waits for an answer: what is said of that may cover this one, too. */
  | { readonly kind: "joined"; readonly approval: StoredApproval }
  | { readonly kind: "crowded"; readonly retryAfterMs: number };

/** Makes the requests of one kernel. */
export class Asking {
  readonly #parts: ApprovalsParts;
  readonly #evidence: ApprovalEvidence;
  /** Requests that this kernel is about to make, by their binding: the calls that share one describe it once. */
  readonly #making = new Map<string, Promise<Asked>>();
  /** Requests about which calls of this kernel wait, or are about to: others of their kind join them. */
  readonly #awaited = new Set<string>();

  constructor(parts: ApprovalsParts, evidence: ApprovalEvidence) {
    this.#parts = parts;
    this.#evidence = evidence;
  }

  /** See `Approvals.ask`. */
  ask(wanted: Wanted, joins: boolean): Promise<Asked> {
    const key = `${wanted.call} ${wanted.binding}`;
    const known = this.#making.get(key);
    // Whoever described it may have gone away meanwhile; the others then ask for themselves.
    if (known !== undefined)
      return known.catch((error: unknown) => (isCancelled(error) ? this.ask(wanted, joins) : Promise.reject(error)));
    const making = this.#make(wanted, joins).finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }

  /** Notes that no call of this kernel waits for the request any more. */
  leave(ref: string): void {
    this.#awaited.delete(ref);
  }

  async #make(wanted: Wanted, joins: boolean): Promise<Asked> {
    const { store, clock, random, settings, decisions, bell, onInternalError } = this.#parts;
    const owner: ApprovalOwner = wanted.caller;
    const limits = this.#parts.limits ?? { ...PENDING_LIMITS, ...settings().prompts };
    const retryAfterMs = await store.room(owner, limits, clock.nowMs());
    if (retryAfterMs > 0) return { kind: "crowded", retryAfterMs };
    const described = await wanted.describe();
    const made = newApproval(wanted, described, { nowMs: clock.nowMs(), lifetimeMs: settings().lifetimeMs, random });
    const added = await this.#add(made, limits, joins);
    if (added.kind === "crowded" || added.kind === "joined") return added;
    if (added.kind === "shared") return { kind: "asked", approval: added.approval };
    const approval: StoredApproval = { ...made, state: "pending", uses: 0, inBandAnswers: 0, joined: 0 };
    await this.#record(approval, wanted, described.id).catch(async (error: unknown) => {
      this.leave(made.ref);
      await store.end(made.ref, "void").catch(onInternalError); // nobody is to decide what no record asks for
      throw error;
    });
    const { ref, code, document } = made;
    await store.noteRecorded(ref).catch(onInternalError); // whoever decides records it once more then
    // People who look for files do without it; the others are told.
    await decisions
      .announce(hashOf(ref), `{"approval_ref":"${ref}","code":"${code}","request":${document}}\n`)
      .catch(onInternalError);
    await bell.ring("approvals").catch(onInternalError);
    return { kind: "asked", approval };
  }

  /** Keeps the request as a document, then records it. */
  async #record(approval: StoredApproval, { requestId, rules }: Wanted, approvalId: string): Promise<void> {
    const kept = await keepRequest(this.#parts.documents, approval, requestId);
    const facts = { rules: [...rules], approvalId, ...kept };
    await this.#evidence.record("approval_requested", { approval, requestId }, facts);
  }

  /** Adds a request; it counts as waited for before it is there, because the next one of its kind may come at once. */
  async #add(made: NewApproval, limits: AskingLimits, joins: boolean): Promise<AddOutcome> {
    this.#awaited.add(made.ref);
    let isAdded = false;
    try {
      const mayJoin = joins ? (ref: string) => this.#awaited.has(ref) : undefined;
      const added = await this.#parts.store.add(made, limits, mayJoin);
      isAdded = added.kind === "added";
      return added;
    } finally {
      if (!isAdded) this.leave(made.ref);
    }
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof ToolFailure && error.code === "CANCELLED";
}

/** The hash that a reference names. */
export function hashOf(ref: string): string {
  return ref.slice("blake3:".length);
}
