/**
 * Makes, compares, merges and drops the branches of a state directory.
 *
 * A branch is a copy of its parent in a directory of its own, so that files, searches, git and commands meet it as they
 * meet a workspace. What it was copied from is noted, so that what was changed since is known on both sides.
 *
 * INVARIANTS: of two that make, merge or drop one branch at once, one alone does; a merge lands as a whole or not at
 * all; what was written on a branch while it was merged, or by a call that is at work on it, is never thrown away.
 */
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errorCode } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import type { Branch } from "../../model/place/branch.ts";
import { removeTree } from "../files/remove-tree.ts";
import type { LandingTerms, Review } from "../landing/land-view.ts";
import type { ViewDirectories } from "../layers/view-directories.ts";
import type { BranchStore } from "../ports/branch-store.ts";
import { BranchCalls } from "./branch-calls.ts";
import type { BranchChange } from "./branch-changes.ts";
import { type BranchMaker, whyNoPlace } from "./branch-places.ts";
import type { BranchPlace, Compared, Comparing, Merged, MergedBranch } from "./branch-work.ts";
import { PeopleFirst } from "./people-first.ts";

/** What branches are made with. */
export interface BranchParts {
  /** Where they lie, absolute. */
  readonly directory: string;
  readonly store: BranchStore;
  /** Where merges are put together. */
  readonly views: () => Promise<ViewDirectories>;
  readonly instanceId: string;
  readonly isAlive: (instanceId: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** What a file was when the branch was made, where that was kept. */
  readonly baseOf?: (branch: Branch, path: string) => Promise<Uint8Array | undefined>;
}

/** What a branch is made of. */
export interface BranchWish extends Pick<Branch, "name" | "serviceRoot" | "parentId" | "userId" | "agentId"> {
  /** An open descriptor of its parent. */
  readonly root: number;
  /** What is not in it. */
  readonly isHidden: (path: string) => boolean;
  /** Not all find a place where there are many. */
  readonly maker: BranchMaker;
}

/** What is merged into its parent. */
export interface MergeWish {
  readonly branch: Branch;
  /** An open descriptor of its parent, and its real path. */
  readonly parent: number;
  readonly parentPath: string;
  readonly isLeftOut: (path: string) => boolean;
  readonly terms: Omit<LandingTerms, "isWhole" | "review"> & {
    /** As `LandingTerms` has it; it ends once a person wants to do something with the branch. */
    readonly review?: (...asked: [...Parameters<Review>, wanted: AbortSignal]) => ReturnType<Review>;
  };
  /** As `MergedBranch` has them. */
  readonly shown?: string | undefined;
  readonly onPlanned?: MergedBranch["onPlanned"];
  /** The call that merges it, as `enter` was told; a person when absent. */
  readonly by?: object;
}

const OWNER_ONLY = 0o700;
const PASSED_THROUGH = 0o711;
/** How the name of a branch's directory begins once nobody may find it any more. */
const DROPPED = "dropped-";

/** The branches of one kernel's state directory. */
export class Branches {
  readonly #parts: BranchParts;
  /** Those that are looked at for the last time before they are removed. */
  readonly #closing = new Set<string>();

  readonly #calls: BranchCalls;
  readonly #people: PeopleFirst;

  constructor(parts: BranchParts) {
    this.#parts = parts;
    this.#calls = new BranchCalls(parts);
    this.#people = new PeopleFirst(parts);
  }

  /** Does a person's act on a branch, before calls and for some seconds again where it is busy. */
  asPerson<Result>(branch: Branch, work: () => Promise<Result>, onWait: () => void): Promise<Result> {
    return this.#people.act(branch, work, onWait);
  }

  /**
   * Says that a call begins to work on a branch, which stays until it has ended.
   * @param by is the call to `merge`
   * @returns what is done at its end
   * @throws ToolFailure RESOURCE_BUSY where nobody can work on it any more
   */
  async enter(branch: Branch, tool: string, by: object): Promise<() => void> {
    const leave = this.#calls.note(branch.id, tool, by);
    try {
      await this.#people.requireNone(branch);
      const now = await this.find(branch.id);
      if (now !== undefined && this.isFree(now)) return leave;
      throw busy({ ...branch, state: "merging" });
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** The directory in which a branch's files lie, absolute. */
  treeOf(id: string): string {
    return join(this.#parts.directory, id, "tree");
  }

  /** The branch of that id, however it stands. */
  find(id: string): Promise<Branch | undefined> {
    return this.#parts.store.findBranch(id);
  }

  /** Whether it can be worked on: a call that merges it is asked about again while it does. */
  isFree({ id, state, instanceId }: Branch): boolean {
    if (state === "ready") return true;
    return state === "merging" && instanceId === this.#parts.instanceId && !this.#closing.has(id);
  }

  /** A branch that can be worked on. @throws ToolFailure RESOURCE_BUSY while it is made or merged */
  async ready(id: string): Promise<Branch | undefined> {
    const branch = await this.find(id);
    if (branch === undefined || this.isFree(branch)) return branch;
    throw busy(branch);
  }

  /** Those of a workspace, oldest first. */
  list(serviceRoot?: string): Promise<readonly Branch[]> {
    return this.#parts.store.listBranches(serviceRoot);
  }

  /** Ids of the sessions that work on it and have not ended. */
  sessionsOn(id: string): Promise<readonly string[]> {
    return this.#parts.store.sessionsOn(id, this.#parts.clock.nowMs());
  }

  /** Whether the kernel that made it, or merged it last, is still there. */
  isMadeByLiving({ instanceId }: Branch): Promise<boolean> {
    return this.#parts.isAlive(instanceId);
  }

  /**
   * Makes one.
   * @throws ToolFailure FILE_EXISTS for a name that is taken, NOT_SUPPORTED where there is no place for it, or for too
   * much to copy
   */
  async create({ root, isHidden, maker, ...wish }: BranchWish, signal: AbortSignal): Promise<Branch> {
    const { store, instanceId, clock, random } = this.#parts;
    const id = newId("bra", random);
    const making: Branch = {
      ...wish,
      id,
      state: "making",
      instanceId,
      way: "",
      entries: 0,
      createdAtMs: clock.nowMs(),
    };
    const refusal = await store.insertBranch(making, (others) => whyNoPlace(others, { ...wish, maker }));
    if (refusal !== undefined) throw refusal === "taken" ? taken(wish.name) : refusal;
    try {
      const made = await this.#copy(id, { root, isHidden }, signal);
      const ready = await store.changeBranch(id, { from: "making", to: "ready", instanceId, ...made });
      if (ready === undefined) throw gone(wish.name);
      return ready;
    } catch (error) {
      await removeTree(join(this.#parts.directory, id)).catch(refusedOnly); // on a full disk nothing can be noted
      await store.removeBranch(id);
      throw error;
    }
  }

  async #copy(id: string, wish: Pick<BranchWish, "root" | "isHidden">, signal: AbortSignal) {
    const isRoot = process.geteuid?.() === 0; // the user of root's commands passes through
    const place = this.#placeOf(id);
    const { copyBranch, unmade } = await load();
    try {
      for (const directory of [this.#parts.directory, dirname(place.tree)])
        mkdirSync(directory, { recursive: true, mode: isRoot ? PASSED_THROUGH : OWNER_ONLY });
      mkdirSync(place.tree, { mode: OWNER_ONLY });
    } catch (error) {
      throw unmade(error);
    }
    return await copyBranch({ ...wish, place }, signal);
  }

  /**
   * What was changed on a branch since it was made, sorted by path.
   * @param work gets it with an open descriptor of the branch's tree
   */
  async compare<Result>(
    branch: Branch,
    comparing: Comparing,
    work: (changes: readonly BranchChange[], tree: number, compared: Compared) => Promise<Result>,
  ): Promise<Result> {
    const { compareBranch } = await load();
    return await compareBranch(this.#placeOf(branch.id), comparing, work);
  }

  /**
   * Merges a branch into its parent and removes it; where it is in conflict, nothing happens.
   * @throws ToolFailure RESOURCE_BUSY while calls work on it
   */
  async merge({ branch, by, terms, ...wish }: MergeWish, signal: AbortSignal): Promise<Merged> {
    const { store, instanceId, views, baseOf } = this.#parts;
    if (by !== undefined) await this.#people.requireNone(branch);
    const merging = await store.changeBranch(branch.id, { from: "ready", to: "merging", instanceId });
    if (merging === undefined) throw busy(branch);
    let isRemoved = false;
    try {
      const others = await this.#calls.others(branch.id, by);
      if (others.length > 0) throw occupied(branch, others);
      const { mergeBranch } = await load();
      const merged = await mergeBranch(
        {
          place: this.#placeOf(branch.id),
          views,
          baseOf: async (path) => await baseOf?.(branch, path),
          // from now on no call begins to work on it
          onLanded: async () => {
            this.#closing.add(branch.id);
            return (await this.#calls.others(branch.id, by)).length > 0 || (await this.#hasChild(branch));
          },
          terms: { ...terms, review: this.#givingWay(branch, terms.review) },
          ...wish,
        },
        signal,
      );
      if (merged.kind === "landed" && !merged.isLeft) isRemoved = await this.#retire(branch.id);
      return merged;
    } finally {
      if (!isRemoved) await store.changeBranch(branch.id, { from: "merging", to: "ready", instanceId });
      this.#closing.delete(branch.id);
    }
  }

  /** Asks for no longer than no person wants to do something with the branch. */
  #givingWay(branch: Branch, review: MergeWish["terms"]["review"]): Review | undefined {
    return (
      review &&
      (async (effects, open) => {
        const { signal, end } = this.#people.watch(branch);
        try {
          return await review(effects, open, signal);
        } finally {
          end();
        }
      })
    );
  }

  async #hasChild({ id, serviceRoot }: Branch): Promise<boolean> {
    return (await this.list(serviceRoot)).some(({ parentId }) => parentId === id);
  }

  /**
   * Removes a branch with what was changed on it.
   * @param before is done once nobody else may have it, and before anything of it goes
   * @throws ToolFailure RESOURCE_BUSY while it is made or merged
   */
  async drop(branch: Branch, before?: () => Promise<void>): Promise<void> {
    const { store, instanceId } = this.#parts;
    const held = await store.changeBranch(branch.id, { from: "ready", to: "merging", instanceId });
    if (held === undefined) throw busy(branch);
    let isRemoved = false;
    try {
      await before?.();
      isRemoved = await this.#retire(branch.id);
    } finally {
      if (!isRemoved) await store.changeBranch(branch.id, { from: "merging", to: "ready", instanceId });
    }
  }

  /**
   * Puts in order what dead kernels left: what they were making goes, what they were merging can be worked on.
   * @returns directories with branches that are whole and of which the store knows nothing, as when an older one was
   * put back: they stay
   */
  async settle(): Promise<readonly string[]> {
    const { store, isAlive, instanceId } = this.#parts;
    for (const { id, state, instanceId: fromInstanceId } of await this.list()) {
      if (state === "ready" || fromInstanceId === instanceId || (await isAlive(fromInstanceId))) continue;
      const own = await store.changeBranch(id, { from: state, to: "ready", fromInstanceId, instanceId });
      const isWhole = existsSync(join(this.#parts.directory, id, "fork")) && state === "merging";
      if (own === undefined || isWhole) continue;
      await this.#retire(id);
    }
    const unknown: string[] = [];
    // whoever makes one notes it before its directory, and its record is the last of it
    for (const name of existsSync(this.#parts.directory) ? readdirSync(this.#parts.directory) : []) {
      const path = join(this.#parts.directory, name);
      if (await store.findBranch(name)) continue;
      if (!name.startsWith(DROPPED) && existsSync(join(path, "fork"))) unknown.push(path);
      else
        await removeTree(path).catch((error: unknown) => {
          if (errorCode(error) !== "ENOENT") throw error; // another kernel removes it, too
        });
    }
    return unknown;
  }

  /**
   * Forgets a branch and removes it. Its directory has another name first, so that no call finds it half removed, and
   * one that no store knows is never taken for one that was dropped. What was merged or dropped is so whatever becomes
   * of the directory: what stays of it is removed by the next kernel.
   * @returns whether it was known
   */
  async #retire(id: string): Promise<boolean> {
    const path = join(this.#parts.directory, id);
    const away = join(this.#parts.directory, `${DROPPED}${id}`);
    const isAside = unlessRefused(() => renameSync(path, away));
    let isRemoved = false;
    try {
      isRemoved = await this.#parts.store.removeBranch(id);
    } finally {
      if (!isRemoved && isAside) renameSync(away, path);
    }
    if (isRemoved) await removeTree(isAside ? away : path).catch(refusedOnly);
    return isRemoved;
  }

  #placeOf(id: string): BranchPlace {
    return { tree: this.treeOf(id), fork: join(this.#parts.directory, id, "fork") };
  }
}

/** Does what the machine may refuse. @returns whether it was done */
function unlessRefused(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    refusedOnly(error);
    return false;
  }
}

function refusedOnly(error: unknown): void {
  if (errorCode(error) === "unknown") throw error;
}

/** What copies, compares and merges is loaded with its first use. */
function load(): Promise<typeof import("./branch-work.ts")> {
  return import("./branch-work.ts");
}

function busy({ name, state }: Branch): ToolFailure {
  const what = state === "making" ? "made" : "merged or dropped";
  return new FailureWithoutEffect("RESOURCE_BUSY", `the branch \`${name}\` is being ${what} right now`, {
    suggestion: "try again in a moment",
    retryAfterMs: 1000,
  });
}

/** Tools that a failure names. */
const TOOLS_MAX = 5;

function occupied({ name }: Branch, tools: readonly string[]): ToolFailure {
  const named = [...new Set(tools)].slice(0, TOOLS_MAX).map((tool) => `\`${tool}\``);
  const what = tools.length === 1 ? "a call works" : `${tools.length} calls work`;
  return new FailureWithoutEffect(
    "RESOURCE_BUSY",
    `${what} on the branch \`${name}\` right now (${named.join(", ")}); nothing was merged`,
    { suggestion: "merge it once they have ended", retryAfterMs: 1000 },
  );
}

function gone(name: string): ToolFailure {
  return new ToolFailure("RESOURCE_BUSY", `the branch \`${name}\` was dropped while it was made`, "make it again");
}

function taken(name: string): ToolFailure {
  return new FailureWithoutEffect(
    "FILE_EXISTS",
    `there is a branch \`${name}\` in this workspace already`,
    "choose another name; `list_branches` shows those that are there",
  );
}
