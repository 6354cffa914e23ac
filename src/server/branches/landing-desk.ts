/**
 * Shows, continues and drops landings that stopped halfway, for people.
 *
 * INVARIANT: what a person does with one is recorded before it is done, and what came of it before it is told.
 */
import type { Clock } from "../../base/clock.ts";
import { KernelError, usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { byPerson } from "../../ledger/actors.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { Continued, InterruptedLanding } from "../../sandbox/landing/recovery/interrupted.ts";

/** What the desk works on. */
export interface LandingDeskParts {
  /** Where views lie, absolute. */
  readonly directory: string;
  /** Resolves once what dead kernels had begun to land was taken back, or kept. */
  readonly ready: () => Promise<unknown>;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** All that are kept, and those that cannot be read. */
export interface KeptLandings {
  readonly landings: readonly InterruptedLanding[];
  /** Directories whose journal cannot be read, absolute. */
  readonly unread: readonly string[];
}

/** What people do with landings that stopped halfway. */
export class LandingDesk {
  readonly #parts: LandingDeskParts;

  constructor(parts: LandingDeskParts) {
    this.#parts = parts;
  }

  /** All that are kept, by name. */
  async list(): Promise<KeptLandings> {
    await this.#parts.ready();
    const { interruptedLandings } = await loadInterrupted();
    const unread: string[] = [];
    return { landings: interruptedLandings(this.#parts.directory, (path) => unread.push(path)), unread };
  }

  /** The one with that name. @throws KernelError USAGE where none has it */
  async named(name: string): Promise<InterruptedLanding> {
    const { landings, unread } = await this.list();
    const found = landings.find((one) => one.name === name);
    if (found !== undefined) return found;
    const bad = unread.find((path) => path.endsWith(`/${name}`));
    throw usageError(
      bad === undefined
        ? `no landing is kept under the name \`${name}\`; list them with \`handrail landings list\``
        : `the journal in \`${bad}\` cannot be read: take what you need of \`upper\` and \`side\`, then remove it`,
    );
  }

  /**
   * Does what of it can be done yet.
   * @throws KernelError USAGE where nothing can be done any more
   */
  async continue(landing: InterruptedLanding, by: string): Promise<Continued> {
    if (landing.closed !== undefined) throw usageError(`${WHY_CLOSED[landing.closed]}: ${BY_HAND}`);
    await this.#record("landing_act_begun", landing, { act: "continue", by });
    const { continueLanding } = await loadInterrupted();
    const done = continueLanding(landing);
    const [landed, left] = [done.landed.length, done.left.length];
    const isLocked = done.isLocked === true && { isLocked: true };
    await this.#record("landing_act_ended", landing, { act: "continue", by, landed, left, ...isLocked });
    if (done.isLocked)
      throw new KernelError(
        "USAGE",
        "another program holds a lock in the workspace, such as git's `index.lock`: end it, then try again",
      );
    return done;
  }

  /** Removes both sides of it; the workspace stays as it is. */
  async drop(landing: InterruptedLanding, by: string): Promise<void> {
    await this.#record("landing_act_begun", landing, { act: "drop", by });
    const { dropLanding } = await loadInterrupted();
    await dropLanding(landing);
    await this.#record("landing_act_ended", landing, { act: "drop", by });
  }

  async #record(
    type: "landing_act_begun" | "landing_act_ended",
    { root, path }: InterruptedLanding,
    facts: JsonObject & { readonly by: string },
  ): Promise<void> {
    const { ledger, clock } = this.#parts;
    const payload = { root, kept: path, ...facts };
    await ledger.record({ type, ...byPerson(facts.by), timeMs: clock.nowMs(), payload }, "durable");
  }
}

/** Read when somebody asks: no call needs it. */
function loadInterrupted() {
  return import("../../sandbox/landing/recovery/interrupted.ts");
}

const WHY_CLOSED = {
  gone: "its workspace is gone, or another directory has its name",
  elsewhere: "its view lies on another file system than the workspace",
} as const;
const BY_HAND =
  "take what you need of `upper` (what the command wrote) and `side` (what stood there before), then drop it";
