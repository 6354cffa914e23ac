/**
 * Performs the operator's acts on marks: shows what principals have seen, and takes a mark back.
 *
 * A mark is taken back after the operator has looked at it.
 *
 * INVARIANT: a declassification names its reason and is recorded before it takes effect, so that none goes unseen.
 *
 * INVARIANT: it takes back the mark that it was decided about and that it records. What rose meanwhile stands.
 */

import type { Clock } from "../../base/clock.ts";
import { type KernelError, usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { STORE_LIST_MAX } from "../../base/limits.ts";
import { INITIAL_MARK } from "../../flow/flow.ts";
import type { MarkOwner, MarkSelection, MarkStore, OwnedMark } from "../../flow/mark-store.ts";
import { byPerson } from "../../ledger/actors.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import { equalMarks, type Mark } from "../../model/outcome/label.ts";

/** What the administration of marks works on. */
export interface MarkAdministrationParts {
  readonly marks: MarkStore;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** A mark before and after a declassification. */
export interface Declassified extends MarkOwner {
  readonly before: Mark;
  readonly after: Mark;
}

/** Why a mark is declassified, and by whom. */
interface Declassification {
  readonly reason: string;
  readonly by: string;
}

/** The operator's acts on the marks of one state directory. */
export class MarkAdministration {
  readonly #parts: MarkAdministrationParts;

  constructor(parts: MarkAdministrationParts) {
    this.#parts = parts;
  }

  /** What a principal has seen in a workspace; `undefined` for one that has seen nothing. */
  findMark(owner: MarkOwner): Promise<Mark | undefined> {
    return this.#parts.marks.findMark(owner);
  }

  /** Marks, last changed first. */
  listMarks(): Promise<readonly OwnedMark[]> {
    return this.#parts.marks.listMarks({});
  }

  /**
   * Sets the selected marks to `to`; what is absent of it becomes what a principal begins with.
   * @param why the reason, and who declassifies, for the record
   * @throws KernelError USAGE without a reason, when no mark is selected or too many are, and, after all others are
   * done, when
   * one changed before it could be taken back
   */
  async declassify(
    selection: MarkSelection & Pick<MarkOwner, "serviceRoot">,
    to: Partial<Mark>,
    why: Declassification,
  ): Promise<readonly Declassified[]> {
    const { marks } = this.#parts;
    if (why.reason.trim() === "") throw usageError("a declassification needs a reason; say why with --reason");
    const selected = await marks.listMarks(selection);
    if (selected.length === 0) throw usageError("nobody is marked there; `handrail labels list` shows who is");
    if (selected.length >= STORE_LIST_MAX) throw usageError("too many are marked there; name the user or the agent");
    const after: Mark = { ...INITIAL_MARK, ...to };
    const done: Declassified[] = [];
    const changed: string[] = [];
    for (const { userId, agentId, serviceRoot, mark: before } of selected) {
      const one = { userId, agentId, serviceRoot, before, after };
      if (await this.#takeBack(one, why)) done.push(one);
      else changed.push(`\`${userId}/${agentId}\``);
    }
    if (changed.length > 0) throw changedMeanwhile(changed, done.length);
    return done;
  }

  /** Records and makes one declassification; false, and recorded as void, when the mark is not `before` any more. */
  async #takeBack({ before, after, ...owner }: Declassified, { reason, by }: Declassification): Promise<boolean> {
    const { marks, clock } = this.#parts;
    const facts = { ...owner, before: { ...before }, after: { ...after }, reason };
    await this.#record("declassified", facts, by);
    const found = await marks.replaceMark(owner, { expected: before, mark: after }, clock.nowMs());
    if (found !== undefined && equalMarks(found, before)) return true;
    await this.#record("declassification_void", { ...facts, ...(found && { found: { ...found } }) }, by);
    return false;
  }

  async #record(type: "declassified" | "declassification_void", facts: JsonObject, by: string): Promise<void> {
    const { ledger, clock } = this.#parts;
    const payload = { ...facts, severity: "warning" };
    await ledger.record({ type, ...byPerson(by), timeMs: clock.nowMs(), payload }, "durable");
  }
}

/** Principals that the refusal names; the rest are counted. */
const NAMED_MAX = 8;

function changedMeanwhile(principals: readonly string[], done: number): KernelError {
  const more = principals.length > NAMED_MAX ? ` and ${principals.length - NAMED_MAX} more` : "";
  const others = done === 0 ? "" : ` (${done} others were taken back)`;
  return usageError(
    `the mark of ${principals.slice(0, NAMED_MAX).join(", ")}${more} changed meanwhile and stands as it is${others}; look again with \`handrail labels list\``,
  );
}
