/** Times the stages of one call, where somebody observes. */
import type { Clock } from "../../base/clock.ts";
import type { Stage } from "../../model/tool/observation.ts";

/** The times of one call's stages. */
export class StageTimes {
  readonly times: Partial<Record<Stage, number>> = {};
  readonly #clock: Pick<Clock, "monotonicMs">;
  #sinceMs: number;

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** The stage has ended, and with it everything since the one before. */
  end(stage: Stage): void {
    const nowMs = this.#clock.monotonicMs();
    this.times[stage] = (this.times[stage] ?? 0) + nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
  }
}
