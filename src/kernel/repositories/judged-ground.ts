/**
 * Holds a run of git to what its call was judged by: references, what is staged, what is under way.
 *
 * INVARIANT: a run changes nothing once that is another, neither when it begins nor when what it changed lands. A run
 * is not tried again on what is there instead: nobody has judged that.
 */
import { assert, KernelError } from "../../base/errors.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import { type GitRepository, type GitRequest, NO_REPOSITORY } from "../../model/work/git.ts";
import type { Running } from "../call/stages.ts";

/** Changes that a message names. */
const SHOWN_MAX = 3;

/** What one run has to find. */
export interface JudgedGround {
  /** @throws ToolFailure RESOURCE_BUSY where something is another already */
  readonly requireStanding: () => void;
  /** Whether all of it stands, asked while others are kept from changing what the run changes. */
  readonly stands: () => boolean;
  /** What the run changed has landed, and others are still kept away. */
  readonly renew: () => void;
  /** Does what writes the same in other bytes: what is staged stays what it was, unless somebody has changed it. */
  readonly whileRewritten: (work: () => Promise<void>) => Promise<void>;
  /** @throws ToolFailure RESOURCE_BUSY where it did not stand when the run was to land, so that nothing has */
  readonly requireStood: () => void;
}

/**
 * The ground of a run, which stands; of one that changes nothing, or begins a repository, none.
 * @throws ToolFailure RESOURCE_BUSY where something is another already
 */
export function judgedGround({ look, caller }: Running, { root, reach }: GitRequest): JudgedGround | undefined {
  if (reach === "nothing" || reach === "new") return undefined;
  look.repository(root);
  const judged = look.judged(root);
  assert(judged, "git runs in a repository that was looked at");
  const now = (): GitRepository => caller.place.repository?.(root) ?? NO_REPOSITORY;
  let changed: readonly string[] = [];
  const compare = () => {
    changed = unlessHeld(
      () => judged.changes(now()),
      () => judged.changes(NO_REPOSITORY),
    );
    return changed.length === 0;
  };
  const demand = () => {
    if (changed.length > 0) throw busy(changed);
  };
  const requireStanding = () => {
    compare();
    demand();
  };
  requireStanding();
  const renew = () =>
    unlessHeld(
      () => judged.renew(now()),
      () => judged.renew(NO_REPOSITORY),
    );
  return {
    requireStanding,
    stands: compare,
    renew,
    async whileRewritten(work) {
      const hasStood = unlessHeld(
        () => judged.standsMarked(now()),
        () => false,
      );
      await work();
      if (hasStood) renew();
    },
    requireStood: demand,
  };
}

/** What cannot be looked at, because another program holds a file of it, is another. */
function unlessHeld<Answer>(look: () => Answer, otherwise: () => Answer): Answer {
  try {
    return look();
  } catch (error) {
    if (error instanceof KernelError && error.code === "WORKSPACE_BUSY") return otherwise();
    throw error;
  }
}

function busy(changed: readonly string[]): FailureWithoutEffect {
  const more = changed.length > SHOWN_MAX ? ` and ${changed.length - SHOWN_MAX} more` : "";
  return new FailureWithoutEffect(
    "RESOURCE_BUSY",
    `somebody has changed ${changed.slice(0, SHOWN_MAX).join(", ")}${more} since the call was judged; nothing was changed`,
    "look at what is there now, and send the call again if it is still right",
  );
}
