/**
 * Tracks whether a running call changed anything through its handles, or may have.
 *
 * Whether the call may be repeated depends on it. Handles are trusted to change nothing when they refuse or fail,
 * unless the failure says that the outcome is unknown.
 *
 * INVARIANT: what a tool began and did not wait for counts as changed.
 */
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";

/** The changes of one call. */
export class Changes {
  #made = false;
  #underWay = 0;

  /** Whether something was changed, or may be changed yet. */
  get any(): boolean {
    return this.#made || this.#underWay > 0;
  }

  /**
   * Does `change`, and notes it.
   * @param hasChanged whether something was changed after all; it was when absent
   */
  async during<T>(change: () => Promise<T>, hasChanged: (result: T) => boolean = () => true): Promise<T> {
    this.#underWay += 1;
    try {
      const result = await change();
      if (hasChanged(result)) this.#made = true;
      return result;
    } catch (error) {
      if (!changedNothing(error)) this.#made = true;
      throw error;
    } finally {
      this.#underWay -= 1;
    }
  }
}

function changedNothing(error: unknown): boolean {
  return error instanceof Refusal || (error instanceof ToolFailure && error.code !== "OUTCOME_UNKNOWN");
}
