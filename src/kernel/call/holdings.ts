/**
 * Keeps what a call must settle or give back, however it ends.
 *
 * INVARIANT: each thing is taken at most once and is noted in the step that takes it, so a failure later in that step
 * loses nothing.
 */
import { assert } from "../../base/errors.ts";
import type { Claim } from "../../dedupe/dedupe.ts";
import type { ApprovedTargets } from "./pre-image.ts";
import type { Spending } from "./spending.ts";

/** An approval that a call goes on by. */
export interface UsedApproval {
  readonly ref: string;
  /** meao's name of the kind: `<tool>:execute` or `<tool>:danger`. */
  readonly id: string;
  /** Rules that it was asked for. */
  readonly rules: ReadonlySet<string>;
  /** The files that it was given for, as they were. */
  readonly targets: ApprovedTargets;
}

/** What was reserved for a call, and by which limits that was decided. */
export interface Payment {
  /** Names the limits. */
  readonly limits: string;
  /** What was reserved, where something is limited. */
  readonly spending: Spending | undefined;
}

/** The holdings of one call. */
export class Holdings {
  #claim: Claim | undefined;
  #approval: UsedApproval | undefined;
  #payment: Payment | undefined;
  #endTurn: (() => void) | undefined;

  /** The right to execute a call with a dedupe key; settled with the answer. */
  get claim(): Claim | undefined {
    return this.#claim;
  }

  /** The approval that the call uses; given back when it never begins. */
  get approval(): UsedApproval | undefined {
    return this.#approval;
  }

  /** What the call pays with; settled with the answer. */
  get payment(): Payment | undefined {
    return this.#payment;
  }

  takeClaim(claim: Claim): void {
    assert(this.#claim === undefined, "a call claims its key once");
    this.#claim = claim;
  }

  takeApproval(approval: UsedApproval): void {
    assert(this.#approval === undefined, "a call uses one approval");
    this.#approval = approval;
  }

  /** @param end gives the turn back */
  takeTurn(end: () => void): void {
    assert(this.#endTurn === undefined, "a call takes one turn");
    this.#endTurn = end;
  }

  /** Gives the call's turn back, if it has one. */
  endTurn(): void {
    const end = this.#endTurn;
    this.#endTurn = undefined;
    end?.();
  }

  takePayment(payment: Payment): void {
    assert(this.#payment === undefined, "a call reserves once");
    this.#payment = payment;
  }
}
