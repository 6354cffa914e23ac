/** Takes the decisions that lie as files beside requests: each once, however many notice it at the same time. */
import type { Clock } from "../../base/clock.ts";
import { type FileDecision, readDecisionFile } from "./decision-file.ts";
import type { DecisionStore } from "./decision-store.ts";

/** What lies beside a request. */
export type FoundDecision = "none" | "decided" | "forged";

/** A request as its decision has to name it. */
interface Request {
  readonly ref: string;
  readonly code: string;
}

/** What reading needs. */
export interface DecisionReaderParts<Asked extends Request> {
  readonly decisions: DecisionStore;
  readonly clock: Pick<Clock, "nowMs">;
  readonly decide: (ref: string, given: FileDecision & { readonly channel: "file" }) => Promise<unknown>;
  readonly recordForged: (approval: Asked, problem: string) => Promise<void>;
}

/** The decision files of one kernel's requests. */
export class DecisionReader<Asked extends Request> {
  readonly #parts: DecisionReaderParts<Asked>;
  readonly #reading = new Map<string, Promise<FoundDecision>>();

  constructor(parts: DecisionReaderParts<Asked>) {
    this.#parts = parts;
  }

  /** Takes the decision that lies beside a request, if it counts. */
  read(approval: Asked): Promise<FoundDecision> {
    const { ref } = approval;
    const underWay = this.#reading.get(ref);
    if (underWay !== undefined) return underWay;
    const reading = this.#take(approval).finally(() => this.#reading.delete(ref));
    this.#reading.set(ref, reading);
    return reading;
  }

  async #take(approval: Asked): Promise<FoundDecision> {
    const { decisions, clock, decide, recordForged } = this.#parts;
    const hash = approval.ref.slice("blake3:".length);
    const found = await decisions.look(hash);
    if (found.kind === "none") return "none";
    const read =
      found.kind === "found" ? readDecisionFile(found.text, approval) : { ok: false as const, problem: found.problem };
    const scope = read.ok ? read.decision.scope : undefined;
    const isPast = scope !== undefined && "untilMs" in scope && scope.untilMs <= clock.nowMs();
    if (read.ok && !isPast) {
      await decide(approval.ref, { ...read.decision, channel: "file" });
      return "decided";
    }
    // somebody is still writing it
    if (!read.ok && found.kind === "found" && !found.settled && "incomplete" in read) return "none";
    await recordForged(approval, read.ok ? "the time that it names has passed" : read.problem);
    await decisions.setAside(hash);
    return "forged";
  }
}
