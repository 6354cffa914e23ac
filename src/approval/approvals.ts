/**
 * Approvals of one kernel: what stands about a call, asking people, waiting for them, using what they allowed.
 *
 * Trusts the store to decide between kernels, and whoever hands in a decision to have checked who made it. INVARIANTS:
 * a request is recorded before anybody is told of it, a decision before it counts, and a use before anything is
 * executed by it; whatever fails, nothing is approved by that. A stored request that is not what its reference names
 * any more is ended, recorded, and approves nothing, whatever the channel.
 */
import { usageError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { APPROVAL_WAIT_MAX_MS } from "../base/limits.ts";
import { isLasting } from "../model/approval/approval.ts";
import { keepDecision } from "./approval-documents.ts";
import { ApprovalEvidence } from "./approval-evidence.ts";
import { type ApprovalsParts, isEnded } from "./approvals-parts.ts";
import { type Asked, Asking, hashOf } from "./asking.ts";
import { DecisionReader } from "./decisions/decision-reader.ts";
import type { ApprovalManager } from "./handler.ts";
import type { InBandAsker, InBandClient, InBandQuestion } from "./in-band.ts";
import { InBandDesk, type InBandOutcome, type InBandReply } from "./in-band-desk.ts";
import type {
  ApprovalDecision,
  ApprovalOwner,
  ApprovalUse,
  DecideOutcome,
  StoredApproval,
} from "./requests/approval-store.ts";
import type { CallBinding } from "./requests/binding.ts";
import { coveringOf, type KindOfCall } from "./requests/covering.ts";
import { isIntact, requestIn, type Wanted } from "./requests/request.ts";
import { judgeStanding, type Standing } from "./requests/standing.ts";
import { type WaitEnd, Waiting } from "./waiting.ts";

/** Milliseconds that requests which are over are kept to be looked at: a week; the ledger keeps what was decided. */
const APPROVAL_KEPT_MS = 7 * 24 * 3_600_000;
/** Requests that one sweep closes or forgets. */
const APPROVAL_SWEEP_ROWS_MAX = 64;
/** Milliseconds between two sweeps of one kernel. */
const APPROVAL_SWEEP_PAUSE_MS = 10_000;

/** The approvals of one kernel. */
export class Approvals {
  readonly #parts: ApprovalsParts;
  readonly #waiting: Waiting;
  readonly #asking: Asking;
  /** Requests that the handler is being asked about. */
  readonly #inHand = new Set<string>();
  readonly #desk: InBandDesk;
  readonly #reader: DecisionReader<StoredApproval>;
  readonly #evidence: ApprovalEvidence;
  #sweepAtMs = 0;

  constructor(parts: ApprovalsParts) {
    this.#parts = parts;
    this.#evidence = new ApprovalEvidence(parts.ledger, parts.clock);
    this.#asking = new Asking(parts, this.#evidence);
    this.#waiting = new Waiting({
      bell: parts.bell,
      decisions: parts.decisions,
      find: (ref) => this.find(ref),
      onFile: (ref) => this.#onFile(ref),
      onInternalError: parts.onInternalError,
    });
    this.#reader = new DecisionReader({
      decisions: parts.decisions,
      clock: parts.clock,
      decide: (ref, given) => this.decide(ref, given),
      recordForged: (approval, problem) =>
        this.#evidence.record("approval_forged", { approval }, { problem, severity: "critical" }),
    });
    this.#desk = new InBandDesk({
      store: parts.store,
      attendedClients: () => parts.settings().attendedClients,
      find: (ref) => this.find(ref),
      decide: (ref, given) => this.decide(ref, given),
      recordIgnored: (approval, { client, channel }, why) =>
        this.#evidence.record("approval_answer_ignored", { approval }, { by: `client:${client}`, channel, why }),
    });
  }

  /**
   * What stands about a call; `forged` when a decision lies there that does not count, `damaged` when the request is
   * not what it was. What is over is noted.
   */
  async look(
    call: CallBinding,
  ): Promise<Standing["verdict"] | { readonly kind: "forged" | "damaged"; readonly approval: StoredApproval }> {
    const { store, clock, onInternalError } = this.#parts;
    await this.#sweep().catch(onInternalError); // a store that is down says so to what follows
    const { verdict, over } = judgeStanding(await store.live(call.call, clock.nowMs()), call);
    for (const approval of over) await this.#end(approval, approval.state === "expired" ? "expired" : "void");
    if (verdict.kind !== "pending" && verdict.kind !== "granted") return verdict;
    if (await this.#isDamaged(verdict.approval)) return { kind: "damaged", approval: verdict.approval };
    if (verdict.kind === "granted") return verdict;
    const file = await this.#reader.read(verdict.approval);
    if (file === "none") return verdict;
    if (file === "forged") return { kind: "forged", approval: verdict.approval };
    return judgeStanding(await store.live(call.call, clock.nowMs()), call).verdict;
  }

  /** The lasting answer that covers a call, if there is one. */
  async lastingFor(owner: ApprovalOwner, kind: KindOfCall): Promise<StoredApproval | undefined> {
    if (kind.covers.length === 0) return undefined;
    return coveringOf(await this.#parts.store.lasting(owner, this.#parts.clock.nowMs()), kind);
  }

  /**
   * Asks people about a call, or joins those who ask about it already. `describe` is called only when there is room.
   * @param joins whether it may wait for the answer to another call of its kind instead
   */
  ask(wanted: Wanted, joins: boolean): Promise<Asked> {
    return this.#asking.ask(wanted, joins);
  }

  /**
   * Waits for a decision as long as the settings say; somebody who can be asked from here is asked once. A call that is
   * asked about between its rounds does not wait.
   */
  async wait(approval: StoredApproval, signal: AbortSignal, inBand?: InBandAsker): Promise<WaitEnd> {
    const { ref, sessionId, expiresAtMs } = approval;
    const asker = inBand && this.#desk.question(approval, inBand) !== undefined ? inBand : undefined;
    // A timer may be a moment early.
    const expiresInMs = expiresAtMs - this.#parts.clock.nowMs() + 1;
    const patienceMs = Math.min(await this.#patienceMs(asker), expiresInMs);
    const end = await this.#waiting.wait({ ref, sessionId }, { patienceMs, signal }, () => {
      this.#askHere(approval, asker).catch((error: unknown) => {
        this.#parts.onInternalError(error);
        this.#waiting.end(ref, { kind: "failed" });
      });
    });
    if (this.#waiting.isWaitedFor(ref)) return end;
    this.#asking.leave(ref);
    this.#desk.withdraw(ref);
    return end;
  }

  /**
   * The requests as they are now that sessions may have ended: an ended session sends no call again, so that what it
   * asked is over. One that was made for one call leaves its request to the same call of the next one.
   */
  async settle(approvals: readonly StoredApproval[]): Promise<readonly StoredApproval[]> {
    const settled: StoredApproval[] = [];
    for (const approval of approvals) {
      const isOver =
        isOpen(approval) &&
        approval.decision?.scope?.kind !== "project" &&
        isEnded(await this.#parts.sessionOf(approval.sessionId));
      if (isOver) await this.#end(approval, "void");
      settled.push(isOver ? ((await this.find(approval.ref)) ?? approval) : approval);
    }
    return settled;
  }

  /** The request, as it is now. */
  find(ref: string): Promise<StoredApproval | undefined> {
    return this.#parts.store.find(ref, this.#parts.clock.nowMs());
  }

  /**
   * Takes a decision. The first one stands, but a denial takes an approval back that still lets something through.
   * Whoever calls has made sure of `by`.
   */
  async decide(ref: string, wanted: Omit<ApprovalDecision, "atMs">): Promise<DecideOutcome> {
    const { store, clock, decisions, bell, onInternalError } = this.#parts;
    const found = await this.find(ref);
    if (found === undefined) return { kind: "unknown" };
    const [before = found] = await this.settle([found]);
    const given = await this.#fitting(before, wanted);
    const atMs = clock.nowMs();
    if (given.approved && (await this.#isDamaged(before)))
      return { kind: "stands", approval: (await this.find(ref)) ?? before };
    const holds = before.state === "pending" || (before.state === "approved" && !given.approved);
    if (holds) {
      // Its kernel may have ended between storing and recording it.
      if (!(await store.isRecorded(ref))) await this.#evidence.requestedLate(before);
      const document = await this.#keepDecision(before, { ...given, atMs });
      await this.#evidence.decided(before, { ...given, document }, true);
    }
    const outcome = await store.decide(ref, { ...given, atMs }).catch(async (error: unknown) => {
      if (holds) await this.#evidence.decided(before, given, false).catch(onInternalError);
      throw error;
    });
    if (outcome.kind === "stands") await this.#evidence.decided(outcome.approval, given, false);
    if (outcome.kind !== "decided") return outcome;
    this.#waiting.end(ref, { kind: "settled", approval: outcome.approval });
    await bell.ring("approvals").catch(onInternalError); // it stands; those who were not woken find it when they look
    await decisions.withdraw(hashOf(ref)).catch(onInternalError);
    return outcome;
  }

  /**
   * What a client at which a person sits may be asked about a request, and after how many answers; `undefined` when it
   * may not.
   */
  inBandQuestion(approval: StoredApproval, from: Pick<InBandClient, "client">): InBandQuestion | undefined {
    return this.#desk.question(approval, from);
  }

  /** Takes the answer that the asking client gives itself; see `InBandDesk.answer`. */
  answerInBand(reply: InBandReply): Promise<InBandOutcome> {
    return this.#desk.answer(reply);
  }

  /**
   * Uses an approval for one execution, recorded; false when it lets none through any more. `onUsed` is called as soon
   * as it is used: from then on it is to be given back, should nothing come of it.
   */
  async consume(approval: StoredApproval, use: Omit<ApprovalUse, "ref">, onUsed: () => void): Promise<boolean> {
    const { store, clock } = this.#parts;
    if (await this.#isDamaged(approval)) return false;
    if (!(await store.consume({ ...use, ref: approval.ref }, clock.nowMs()))) return false;
    onUsed();
    const { by = "", channel = "", scope } = approval.decision ?? {};
    const facts = { by, channel, ...(scope && { scope: { ...scope } }) };
    await this.#evidence.record("approval_consumed", { approval, requestId: use.requestId }, facts);
    return true;
  }

  /** Takes back the use by a call that never began. Never rejects: what cannot be given back is spent. */
  async giveBack(ref: string, requestId: string): Promise<void> {
    try {
      if (!(await this.#parts.store.giveBack(ref, requestId))) return;
      const approval = await this.find(ref);
      if (approval) await this.#evidence.record("approval_returned", { approval, requestId }, {});
    } catch (error) {
      this.#parts.onInternalError(error);
    }
  }

  /** Ends a request whose time is over, or which can never fit again; recorded. */
  async close(approval: StoredApproval, state: "expired" | "void"): Promise<void> {
    await this.#end(approval, state);
  }

  /** Whether the session that asked was made for one call, so that nothing can be granted for its time. */
  async isOfOneCall({ sessionId }: StoredApproval): Promise<boolean> {
    return (await this.#parts.sessionOf(sessionId))?.isOneCall === true;
  }

  /** Ends all waits. */
  shutDown(): void {
    this.#waiting.close();
  }

  /** Keeps the document of a decision; a refusal holds without one. */
  async #keepDecision(approval: StoredApproval, decision: ApprovalDecision): Promise<JsonObject> {
    const { documents, onInternalError } = this.#parts;
    try {
      return await keepDecision(documents, approval, decision);
    } catch (error) {
      if (decision.approved) throw error;
      onInternalError(error);
      return {};
    }
  }

  /**
   * The session of one call is one execution: what is granted for it covers no second one. Nor is a call without a kind
   * answered for more than itself.
   */
  async #fitting(
    approval: StoredApproval,
    given: Omit<ApprovalDecision, "atMs">,
  ): Promise<Omit<ApprovalDecision, "atMs">> {
    const { scope } = given;
    const isOfSession = scope?.kind === "session" || scope?.kind === "kind";
    const isTooWide = isLasting(scope) && approval.kind === "";
    return isTooWide || (isOfSession && (await this.isOfOneCall(approval)))
      ? { ...given, scope: { kind: "once" } }
      : given;
  }

  async #patienceMs(asker: InBandAsker | undefined): Promise<number> {
    if (asker?.channel === "multi_round_trip") return 0;
    const { waitMs } = this.#parts.settings();
    if (waitMs !== undefined) return Math.min(waitMs, APPROVAL_WAIT_MAX_MS);
    return asker !== undefined || (await this.#canOthersAnswer()) ? APPROVAL_WAIT_MAX_MS : 0;
  }

  /** Whether somebody can be asked who is not the client. */
  async #canOthersAnswer(): Promise<boolean> {
    const { manager, hasApprovers } = this.#parts;
    return manager?.hasHandler === true || (await hasApprovers());
  }

  /**
   * Asks whoever can be asked from this process: the handler of the embedding program, and the client where a person
   * attends it.
   */
  async #askHere(approval: StoredApproval, asker: InBandAsker | undefined): Promise<void> {
    const { manager } = this.#parts;
    await Promise.all([
      manager?.hasHandler === true && this.#askHandler(manager, approval),
      asker?.channel === "elicitation" && this.#askClient(asker, approval),
    ]);
  }

  /** A client that does not decide leaves the call to others; where there are none, it does not wait any longer. */
  async #askClient(asker: Extract<InBandAsker, { channel: "elicitation" }>, approval: StoredApproval): Promise<void> {
    if (await this.#desk.ask(approval, asker)) return;
    if (this.#parts.settings().waitMs === undefined && !(await this.#canOthersAnswer()))
      this.#waiting.end(approval.ref, { kind: "late" });
  }

  async #askHandler(manager: ApprovalManager, approval: StoredApproval): Promise<void> {
    const { ref } = approval;
    if (this.#inHand.has(ref)) return;
    this.#inHand.add(ref);
    try {
      const answer: unknown = await manager.request(requestIn(approval));
      if (typeof answer !== "boolean") throw usageError("the approval handler answered neither true nor false");
      await this.decide(ref, {
        approved: answer,
        by: "handler",
        channel: "handler",
        ...(answer && { scope: { kind: "once" } }),
      });
    } finally {
      this.#inHand.delete(ref);
    }
  }

  async #onFile(ref: string): Promise<void> {
    const approval = await this.find(ref);
    if (approval?.state !== "pending") return;
    if ((await this.#reader.read(approval)) === "forged") this.#waiting.end(ref, { kind: "forged" });
  }

  /** Notes what has expired and forgets what is long over, now and then. */
  async #sweep(): Promise<void> {
    const { store, clock, decisions } = this.#parts;
    if (clock.monotonicMs() < this.#sweepAtMs) return;
    this.#sweepAtMs = clock.monotonicMs() + APPROVAL_SWEEP_PAUSE_MS;
    const nowMs = clock.nowMs();
    // What expired a moment ago is left for the call that comes back for it, which is told.
    const { expired, forgotten } = await store.sweep(
      nowMs - this.#parts.settings().lifetimeMs,
      nowMs - APPROVAL_KEPT_MS,
      APPROVAL_SWEEP_ROWS_MAX,
    );
    if (expired.length === APPROVAL_SWEEP_ROWS_MAX) this.#sweepAtMs = 0;
    for (const approval of expired) await this.#evidence.record("approval_expired", { approval }, {});
    for (const ref of [...expired.map((approval) => approval.ref), ...forgotten]) await decisions.withdraw(hashOf(ref));
  }

  /**
   * Whether a request is not what its reference names; one that still could let something through is ended by that, and
   * recorded.
   */
  async #isDamaged(approval: StoredApproval): Promise<boolean> {
    if (isIntact(approval)) return false;
    const { state } = approval;
    if (state !== "pending" && state !== "approved") return true;
    const problem = "what is stored is not what the reference names";
    await this.#evidence.record("approval_forged", { approval }, { problem, severity: "critical" });
    await this.#end(approval, "void");
    return true;
  }

  async #end(approval: StoredApproval, state: "expired" | "void"): Promise<void> {
    const { store, decisions, bell, onInternalError } = this.#parts;
    if (!(await store.end(approval.ref, state))) return;
    await this.#evidence.record(state === "expired" ? "approval_expired" : "approval_void", { approval }, {});
    await decisions.withdraw(hashOf(approval.ref)).catch(onInternalError);
    await bell.ring("approvals").catch(onInternalError);
  }
}

function isOpen({ state }: StoredApproval): boolean {
  return state === "pending" || state === "approved";
}
