/**
 * meao's way to ask: an embedding program sets a handler, which is asked once about each request.
 *
 * The handler is the embedding program's own code, and that program is the operator: its `true` approves one execution.
 * INVARIANT: a handler that throws, or answers anything but `true` or `false`, has not answered; one that never answers
 * keeps nobody longer than a call may wait.
 */
import type { ApprovalRequest } from "../model/approval/approval.ts";

/** Asks a person, or decides for one. Resolves with whether the call may run once. */
export interface ApprovalHandler {
  request(approval: ApprovalRequest): Promise<boolean>;
}

/** Where an embedding program says who answers. */
export class ApprovalManager {
  #handler: ApprovalHandler | undefined;

  /** From now on `handler` is asked; it takes the place of one before. */
  setHandler(handler: ApprovalHandler): void {
    this.#handler = handler;
  }

  /** Whether somebody answers. */
  get hasHandler(): boolean {
    return this.#handler !== undefined;
  }

  /** Asks the handler. @throws Error without a handler, or what the handler throws */
  async request(approval: ApprovalRequest): Promise<boolean> {
    if (this.#handler === undefined) throw new Error("No approval handler set");
    return this.#handler.request(approval);
  }
}
