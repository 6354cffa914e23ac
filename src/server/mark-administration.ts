/**
 * What an operator does about marks: looks at what principals have seen, and takes a mark back after looking at it.
 *
 * INVARIANT: a declassification names its reason and is recorded before it takes effect, so that none goes unseen.
 */
import type { Clock } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import { INITIAL_MARK } from "../flow/flow.ts";
import type { MarkOwner, MarkStore, OwnedMark } from "../flow/mark-store.ts";
import type { EventSink } from "../model/event.ts";
import type { Mark } from "../model/label.ts";

/** What the administration of marks works on. */
export interface MarkAdministrationParts {
  readonly marks: MarkStore;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** Which marks a declassification is about; absent members mean every one. */
export interface MarkSelection {
  readonly serviceRoot: string;
  readonly userId?: string;
  readonly agentId?: string;
}

/** A mark before and after a declassification. */
export interface Declassified extends MarkOwner {
  readonly before: Mark;
  readonly after: Mark;
}

/** The operator's acts on the marks of one state directory. */
export class MarkAdministration {
  readonly #parts: MarkAdministrationParts;

  constructor(parts: MarkAdministrationParts) {
    this.#parts = parts;
  }

  /** Marks, last changed first. */
  listMarks(): Promise<readonly OwnedMark[]> {
    return this.#parts.marks.listMarks();
  }

  /**
   * Sets the selected marks to `to`; what is absent of it becomes what a principal begins with.
   * @param by who declassifies, for the record
   * @throws KernelError USAGE without a reason, or when no mark is selected
   */
  async declassify(selection: MarkSelection, to: Partial<Mark>, reason: string, by: string): Promise<readonly Declassified[]> {
    const { marks, ledger, clock } = this.#parts;
    if (reason.trim() === "") throw new KernelError("USAGE", "a declassification needs a reason; say why with --reason");
    const selected = (await marks.listMarks()).filter((owned) => isSelected(owned, selection));
    if (selected.length === 0) throw new KernelError("USAGE", "nobody is marked there; `handrail labels list` shows who is");
    const after: Mark = { ...INITIAL_MARK, ...to };
    const done: Declassified[] = [];
    for (const { userId, agentId, serviceRoot, mark: before } of selected) {
      const payload = { userId, agentId, serviceRoot, before: { ...before }, after: { ...after }, reason, severity: "warning" };
      const timeMs = clock.nowMs();
      await ledger.record({ type: "declassified", sessionId: "", actor: `operator:${by}`, requestId: "", timeMs, payload }, "durable");
      await marks.replaceMark({ userId, agentId, serviceRoot }, after, timeMs);
      done.push({ userId, agentId, serviceRoot, before, after });
    }
    return done;
  }
}

function isSelected(owned: MarkOwner, { serviceRoot, userId, agentId }: MarkSelection): boolean {
  return owned.serviceRoot === serviceRoot && (userId ?? owned.userId) === owned.userId && (agentId ?? owned.agentId) === owned.agentId;
}
