/**
 * Bounds the branches of a workspace: how many there are, whose they are, and how deep they nest.
 *
 * INVARIANT: calls of agents never take the last places, so that people and new sessions find room.
 */
import { FailureWithoutEffect, type ToolFailure } from "../../model/outcome/failure.ts";
import type { Branch } from "../../model/place/branch.ts";

/** Branches that one workspace has at once. */
export const BRANCHES_MAX = 32;
/** Branches that calls of one agent of one user may have made, and still make one. */
export const BRANCHES_OF_AGENT_MAX = 8;
/** Branches that stand one in another: the first is made of the workspace itself. */
export const BRANCHES_DEEP_MAX = 4;

/** Up to how many branches a workspace has room: for calls of agents, for new sessions, for people. */
const ROOM = { call: 24, session: 30, person: BRANCHES_MAX } as const;

/** What makes a branch. */
export type BranchMaker = keyof typeof ROOM;

/** Who would make a branch of what. */
export interface PlaceWish extends Pick<Branch, "parentId" | "userId" | "agentId"> {
  readonly maker: BranchMaker;
}

/** Why there is no place for one more branch beside `others`, which are all of the workspace. */
export function whyNoPlace(others: readonly Branch[], wish: PlaceWish): ToolFailure | undefined {
  const { maker, userId, agentId } = wish;
  if (maker === "call") {
    const own = others.filter((one) => one.userId === userId && one.agentId === agentId);
    if (own.length >= BRANCHES_OF_AGENT_MAX) return ofOneAgent(own.length);
  }
  if (others.length >= ROOM[maker]) return noRoom(others.length, maker);
  return depthOf(others, wish.parentId) >= BRANCHES_DEEP_MAX ? tooDeep() : undefined;
}

/** How many branches stand one in another down to the one of that id. */
function depthOf(branches: readonly Branch[], id: string | undefined): number {
  const parents = new Map(branches.map((branch) => [branch.id, branch.parentId]));
  let depth = 0;
  // no more steps than there are branches: nothing that is stored can make it go round
  for (let at = id; at !== undefined && depth <= branches.length; at = parents.get(at)) depth += 1;
  return depth;
}

/** A branch and all that were made from it, innermost first. */
export function withChildren(all: readonly Branch[], branch: Branch): readonly Branch[] {
  const family = new Map([[branch.id, branch]]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const one of all) if (one.parentId !== undefined && family.has(one.parentId)) family.set(one.id, one);
  }
  const depth = (one: Branch) => depthOf(all, one.id);
  return [...family.values()].sort((one, other) => depth(other) - depth(one));
}

const BY_A_PERSON = "`handrail branches list`, `merge` and `drop NAME --with-children`";

function ofOneAgent(count: number): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `there are ${count} branches of this agent in the workspace; one agent makes no more than ${BRANCHES_OF_AGENT_MAX}`,
    `merge the branch that you work on, or leave it with \`drop_branch\`; else the operator does (${BY_A_PERSON})`,
  );
}

const KEPT_FOR = {
  call: ", and the places that are left are for people and new sessions",
  session: ", and the places that are left are for people",
  person: "",
} as const satisfies Record<BranchMaker, string>;

function noRoom(count: number, maker: BranchMaker): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `the workspace has ${count} branches of at most ${BRANCHES_MAX}${KEPT_FOR[maker]}`,
    `merge or drop one first, or ask the operator to (${BY_A_PERSON})`,
  );
}

function tooDeep(): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `the branch would be made from one that is ${BRANCHES_DEEP_MAX} deep, and branches nest no deeper`,
    "go on with the branch that you work on, or merge or drop it and make another one from where it came from",
  );
}
