/**
 * Records as evidence the hosts that an agent's programs tried to reach.
 *
 * INVARIANTS: each attempt is reported once, when it has ended. After `EGRESS_RECORDS_MAX` attempts they are only
 * counted, so that a program that tries without end cannot fill the ledger.
 */

import type { AddressProblem } from "./address.ts";

/** Attempts of one command, after which every further one is refused: the largest installations make some thousands. */
const EGRESS_ATTEMPTS_MAX = 20_000;
/** Attempts of one command that are recorded one by one; the rest is counted. */
const EGRESS_RECORDS_MAX = 1000;

/** Why an attempt did not go through, or not to its end. */
export type EgressReason =
  /** The request cannot be read, or could be read in two ways. */
  | "malformed"
  /** The call may not reach the host. */
  | "denied"
  /** The decision itself failed. */
  | "undecided"
  | "blocked_port"
  /** The host is no part of the public internet. */
  | `address_${AddressProblem}`
  /** No address is known for the name. */
  | "unknown_host"
  | "no_connection"
  | "no_answer"
  /** The server did not prove to be the host. */
  | "certificate"
  /** The client ended a tunnel without a request: it does not believe the kernel, which speaks for a bound server. */
  | "client_certificate"
  /** A secret stands where it is not for. */
  | "secret_binding"
  /** The value of a secret cannot be read. */
  | "secret_unavailable"
  /** Inside a tunnel another server was named, or none that can be read. */
  | "server_name"
  | "too_many"
  | "too_many_bytes"
  | "timeout"
  /** The proxy itself made a mistake. */
  | "fault"
  /** The command ended, or went away, before there was an answer. */
  | "closed";

/** One attempt, allowed or not. */
export interface EgressAttempt {
  /** In its one form; empty when it could not be read. */
  readonly host: string;
  readonly port: number;
  readonly via: "request" | "tunnel";
  /** `failed`: it was allowed and did not come about. */
  readonly outcome: "allowed" | "refused" | "failed";
  readonly reason?: EgressReason;
  /** The address that was connected to, or for which the host was refused. */
  readonly address?: string;
  /** The server that the client named inside the tunnel, where that is another. */
  readonly serverName?: string;
  /** Names of the secrets that went with the request. */
  readonly secrets?: readonly string[];
  readonly bytesOut: number;
  readonly bytesIn: number;
  readonly durationMs: number;
}

/** All attempts of one command. */
export interface EgressTotals {
  readonly allowed: number;
  readonly refused: number;
  readonly failed: number;
  /** Attempts that were counted and not reported. */
  readonly unreported: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
}

/** The attempts of one command. */
export class AttemptLog {
  readonly #report: (attempt: EgressAttempt) => void;
  readonly #totals = { allowed: 0, refused: 0, failed: 0, unreported: 0, bytesOut: 0, bytesIn: 0 };
  #begun = 0;
  #reported = 0;

  /** @param report must not throw */
  constructor(report: (attempt: EgressAttempt) => void) {
    this.#report = report;
  }

  /** Begins an attempt. */
  begin(via: EgressAttempt["via"]): Attempt {
    this.#begun += 1;
    return new Attempt(via, (attempt) => this.#take(attempt));
  }

  /** Whether the command has made more attempts than any is allowed. */
  get isExhausted(): boolean {
    return this.#begun > EGRESS_ATTEMPTS_MAX;
  }

  /** What was so far. */
  get totals(): EgressTotals {
    return { ...this.#totals };
  }

  #take(attempt: EgressAttempt): void {
    this.#totals[attempt.outcome] += 1;
    this.#totals.bytesOut += attempt.bytesOut;
    this.#totals.bytesIn += attempt.bytesIn;
    if (this.#reported >= EGRESS_RECORDS_MAX) {
      this.#totals.unreported += 1;
      return;
    }
    this.#reported += 1;
    this.#report(attempt);
  }
}

type Detail = Partial<Pick<EgressAttempt, "address" | "serverName" | "secrets">>;

/** An attempt while it lasts. */
export class Attempt {
  readonly #via: EgressAttempt["via"];
  readonly #take: (attempt: EgressAttempt) => void;
  readonly #startedMs = performance.now();
  #host = "";
  #port = 0;
  #bytes = { bytesOut: 0, bytesIn: 0 };
  #isEnded = false;

  constructor(via: EgressAttempt["via"], take: (attempt: EgressAttempt) => void) {
    this.#via = via;
    this.#take = take;
  }

  /** Where to, once that can be read. */
  to(host: string, port: number): void {
    this.#host = host;
    this.#port = port;
  }

  /** What went both ways until now. */
  moved(bytesOut: number, bytesIn: number): void {
    this.#bytes = { bytesOut, bytesIn };
  }

  /** Ends it; what is said after the first end is not heard. */
  end(outcome: EgressAttempt["outcome"], reason: EgressReason | undefined, detail: Detail = {}): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#take({
      host: this.#host,
      port: this.#port,
      via: this.#via,
      outcome,
      ...(reason !== undefined && { reason }),
      ...detail,
      ...this.#bytes,
      durationMs: performance.now() - this.#startedMs,
    });
  }
}
