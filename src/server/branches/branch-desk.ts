/**
 * Makes, shows, merges and drops branches for people, and finds those that sessions are made for.
 *
 * A person who merges has seen the difference, so that no rule asks about its files; zones hold for them as for
 * everybody. INVARIANT: what a person does with a branch is recorded before it is told.
 */
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { KernelError, storeUnavailable, usageError } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { inSlices } from "../../base/long-steps.ts";
import {
  type FileHistory,
  type KernelSandbox,
  keepableOf,
  loadBranchParts,
  type OpenWorkspace,
  type WorkspaceCatalog,
} from "../../kernel/index.ts";
import { BY_OPERATOR, byPerson } from "../../ledger/actors.ts";
import type { EventSink, EventType, LedgerEvent } from "../../model/outcome/event.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { type Branch, branchNameProblem, RUN_BRANCH } from "../../model/place/branch.ts";
import type { BranchFile } from "../../model/work/branches.ts";
import { NO_REPOSITORY } from "../../model/work/git.ts";
import type { BranchChange } from "../../sandbox/branches/branch-changes.ts";
import { type BranchMaker, withChildren } from "../../sandbox/branches/branch-places.ts";
import type { Merged } from "../../sandbox/branches/branch-work.ts";
import type { Branches } from "../../sandbox/branches/branches.ts";
import type { NewFiles } from "../../sandbox/files/new-files.ts";
import { rootPath } from "../../sandbox/files/places/roots.ts";
import type { Keeping } from "../../sandbox/keeping/keeping.ts";
import type { SessionStore } from "../../session/session-store.ts";

/** What the desk works on. */
export interface BranchDeskParts {
  readonly branches: Branches;
  readonly workspaces: WorkspaceCatalog;
  readonly sessions: SessionStore;
  readonly newFiles: NewFiles;
  /** What runs git, to say what commits bring. */
  readonly sandbox: KernelSandbox;
  /** Where what a merge replaces is kept. */
  readonly history: FileHistory;
  /** Resolves once what dead kernels left of branches was put in order. */
  readonly ready: () => Promise<unknown>;
  readonly ledger: EventSink;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

/** A branch that a session is made for; without a name it is a new one. */
export interface WantedBranch extends Pick<Branch, "serviceRoot" | "userId" | "agentId"> {
  readonly name?: string;
  readonly projectRoot: string;
  /** Ends making it. */
  readonly signal?: AbortSignal | undefined;
}

/** A branch, and what a person would want to know of it. */
export interface ShownBranch extends Branch {
  readonly parent?: string;
  /** Sessions that work on it and have not ended. */
  readonly sessions: number;
  /** `handrail run` made it for one command, and was killed. */
  readonly isLeftByRun?: true;
}

/** A reference of git that a merge moves, for a person. */
export interface ShownReference {
  readonly name: string;
  /** What it names on either side; empty where there is none. */
  readonly before: string;
  readonly after: string;
  /** Whether it is a branch that the operator protects. */
  readonly isProtected: boolean;
  /** Commits and files that it brings, as lines of text. */
  readonly brings: readonly string[];
}

/** What a branch changed, for a person. */
export interface ShownDifference {
  /** Every path; first those that a person should know of before all others. */
  readonly files: readonly BranchFile[];
  /** Whether it holds commits, or other changes of what git keeps. */
  readonly changesRepository: boolean;
  /** References of git that would name something else. */
  readonly references: readonly ShownReference[];
  /** Whether the list of packed references could be read; any may move otherwise. */
  readonly areReferencesKnown: boolean;
  /** Directories with repositories of their own, whose commits a merge does not bring back. */
  readonly nested: readonly string[];
  /** Files of which not all that lands is shown. */
  readonly namedOnly: number;
  /** What was looked at: a merge that is given it merges nothing else. */
  readonly shown: string;
}

/** How a person merges. */
export interface PersonsMerge {
  /** What the person has seen of it (`ShownDifference`); whatever it changes when absent. */
  readonly shown?: string | undefined;
  /** Told once where it is not the person's turn yet: it is tried again for some seconds. Without it nobody waits. */
  readonly onWait?: () => void;
}

/** One act of a person's as the ledger tells it. */
interface RecordedAct {
  readonly begin: () => Promise<void>;
  readonly end: (type: EventType, payload: JsonObject) => Promise<void>;
  /** Does it, and records where it came to nothing. */
  readonly during: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** People's acts on branches. */
export class BranchDesk {
  readonly #parts: BranchDeskParts;

  constructor(parts: BranchDeskParts) {
    this.#parts = parts;
  }

  /** The branches of a workspace, oldest first, or of all. @param serviceRoot a real path */
  async list(serviceRoot?: string): Promise<readonly ShownBranch[]> {
    const all = await this.#all(serviceRoot);
    return await Promise.all(
      all.map(async (branch) => {
        const parent = all.find(({ id }) => id === branch.parentId)?.name;
        const sessions = (await this.#parts.branches.sessionsOn(branch.id)).length;
        const isLeft = isOfRun(branch) && sessions > 0 && !(await this.#parts.branches.isMadeByLiving(branch));
        return { ...branch, ...(parent !== undefined && { parent }), sessions, ...(isLeft && { isLeftByRun: true }) };
      }),
    );
  }

  async #all(serviceRoot?: string): Promise<readonly Branch[]> {
    await this.#parts.ready();
    return await this.#parts.branches.list(serviceRoot);
  }

  /** Where a file of a branch lies, for what cannot be shown. */
  pathOf({ id }: Branch, path: string): string {
    return join(this.#parts.branches.treeOf(id), path);
  }

  /** Finds or makes the branch that a session is made for. @returns its id @throws KernelError USAGE */
  async branchFor({ name, ...wanted }: WantedBranch): Promise<string> {
    const known = (await this.#all(wanted.serviceRoot)).find((branch) => branch.name === name);
    if (known === undefined)
      return (await this.create({ name: name ?? this.#freshName(wanted.agentId), ...wanted }, "session")).id;
    if (known.userId !== wanted.userId)
      throw usageError(`the branch \`${known.name}\` is \`${known.userId}\`'s; choose another name`);
    return known.id;
  }

  /** Makes a branch of a workspace. @throws KernelError USAGE */
  async create(
    { name, serviceRoot, projectRoot, userId, agentId, signal }: WantedBranch & { readonly name: string },
    maker: BranchMaker = "person",
  ): Promise<Branch> {
    const problem = branchNameProblem(name);
    if (problem !== undefined) throw usageError(`the branch's name ${problem}; choose another one`);
    await this.#parts.ready();
    const { workspace, roots } = await this.#parts.workspaces.open({ serviceRoot, projectRoot });
    const isHidden = (path: string) => workspace.zones.classify({ root: "service", path }) === "secret";
    const wish = { name, serviceRoot, userId, agentId, root: roots.service.descriptor, isHidden, maker };
    const branch = await asUsage(() => this.#parts.branches.create(wish, signal ?? new AbortController().signal));
    await this.#record("branch_created", { ...factsOf(branch), entries: branch.entries, way: branch.way });
    return branch;
  }

  /** The branch of that name. @throws KernelError USAGE when there is none */
  async named(serviceRoot: string, name: string): Promise<Branch> {
    const found = (await this.#all(serviceRoot)).find((branch) => branch.name === name);
    if (found !== undefined) return found;
    throw usageError(
      `there is no branch \`${name}\` in \`${serviceRoot}\`; \`handrail branches list\` shows those that there are`,
    );
  }

  /**
   * What a branch changed since it was made, against its parent as it is now.
   * @param only the one path to show, whole @throws KernelError USAGE where that is not changed
   */
  async difference(branch: Branch, only?: string): Promise<ShownDifference> {
    const parent = await this.#parentOf(branch);
    const { branchFiles, isLeftOutOf, isRepositoryPath, noticeOf } = await loadBranchParts();
    return await asUsage(() =>
      this.#parts.branches.compare(branch, { isLeftOut: isLeftOutOf(parent) }, async (found, tree, { nested }) => {
        const all = only === undefined ? found : found.filter(({ path }) => path === only);
        if (only !== undefined && all.length === 0) throw usageError(`\`${only}\` was not changed on the branch`);
        const view = { noticeOf: noticeOf(parent), isWhole: only !== undefined };
        const changes = all.filter(({ path }) => !isRepositoryPath(path));
        const { descriptor } = parent.roots.service;
        const describing = branchFiles({ changes, tree, parent: descriptor, hidden: () => [], view });
        const { result: files } = await inSlices("describing a branch", describing);
        const { factsOf: shownOf } = await import("../../sandbox/branches/branch-work.ts");
        const changesRepository = changes.length < all.length;
        const { references, areReferencesKnown } = await this.#referencesOf(branch, parent, { changes: all, tree });
        const namedOnly = files.filter(({ isNamedOnly }) => isNamedOnly === true).length;
        const known = { files, namedOnly, changesRepository, references, areReferencesKnown };
        return { ...known, nested, shown: await shownOf(all) };
      }),
    );
  }

  async #referencesOf(
    { id, serviceRoot }: Branch,
    parent: OpenWorkspace,
    { changes, tree }: { readonly changes: readonly BranchChange[]; readonly tree: number },
  ): Promise<Pick<ShownDifference, "references" | "areReferencesKnown">> {
    const { isProtectedReference, referenceSummaries, summaryLines } = await loadBranchParts();
    const { movedReferences } = await import("../../sandbox/branches/moved-references.ts");
    const { moved, isKnown } = movedReferences({ tree, parent: parent.roots.service.descriptor }, changes);
    const branch = await this.#parts.workspaces.open({ serviceRoot, projectRoot: serviceRoot, branchId: id });
    const place = { sandbox: this.#parts.sandbox, branch, parent, signal: new AbortController().signal };
    const summaries = await referenceSummaries(place, moved);
    const repository = parent.repository?.(".") ?? NO_REPOSITORY;
    const references = moved.map(({ name, before = "", after = "" }) => ({
      name,
      before,
      after,
      isProtected: isProtectedReference(repository, name),
      brings: after === "" ? [] : summaryLines(summaries.get(name)),
    }));
    return { references, areReferencesKnown: isKnown };
  }

  /**
   * Merges a branch into what it was made from.
   * @throws KernelError USAGE where another one was made from it, or it is not what was shown any more
   */
  async merge(branch: Branch, by: string, { shown, onWait }: PersonsMerge = {}): Promise<Merged> {
    await this.#requireChildless(branch);
    const parent = await this.#parentOf(branch);
    const callId = newId("cal", this.#parts.random);
    const { isLeftOutOf, mayBeMerged, REPOSITORY_RULES } = await loadBranchParts();
    const act = this.#act(branch, { act: "merge", callId, by });
    const merging = () =>
      this.#parts.branches.merge(
        {
          branch,
          parent: parent.roots.service.descriptor,
          parentPath: rootPath(parent.roots.service),
          isLeftOut: isLeftOutOf(parent),
          shown,
          onPlanned: act.begin,
          terms: {
            judge: {
              ...REPOSITORY_RULES,
              entry: (path) => mayBeMerged(parent, path),
              below: () => "write",
              isWhole: () => false,
            },
            newFiles: this.#parts.newFiles,
            keeping: this.#keepingOf(parent, { callId, by }),
          },
        },
        new AbortController().signal,
      );
    const merged = await act.during(() => this.#inTurn(branch, merging, onWait));
    if (merged.kind === "landed" && merged.landed.notKept.length === 0) {
      const { created, changed, removed } = merged.landed;
      await act.end("branch_merged", { callId, created, changed, removed, by });
    } else await act.end("branch_act_ended", { isDone: false });
    return merged;
  }

  /** A branch and all that were made from it, in the order in which they can be dropped. */
  async withChildren(branch: Branch): Promise<readonly ShownBranch[]> {
    const shown = await this.list(branch.serviceRoot);
    return withChildren(shown, branch).flatMap(({ id }) => shown.filter((one) => one.id === id));
  }

  /** Removes a branch with what was changed on it; sessions on it end with their next call. */
  async drop(branch: Branch, by: string, { onWait }: Pick<PersonsMerge, "onWait"> = {}): Promise<void> {
    await this.#requireChildless(branch, ", or drop both with `--with-children`");
    const act = this.#act(branch, { act: "drop", by });
    const dropping = () => this.#parts.branches.drop(branch, act.begin);
    await act.during(() => this.#inTurn(branch, dropping, onWait));
    await act.end("branch_dropped", { by });
  }

  /** Does something at once, or, where somebody is told of it, once it is a person's turn. */
  #inTurn<Result>(branch: Branch, work: () => Promise<Result>, onWait: (() => void) | undefined): Promise<Result> {
    return onWait === undefined ? work() : this.#parts.branches.asPerson(branch, work, onWait);
  }

  /** The records of one act: before it changes anything, and what came of it. */
  #act(branch: Branch, facts: JsonObject): RecordedAct {
    let intent: number | undefined;
    const begin = async () => {
      intent ??= await this.#record("branch_act_begun", { ...factsOf(branch), ...facts }, { intent: true });
    };
    const end = async (type: EventType, payload: JsonObject) => {
      const what = { ...factsOf(branch), ...(type === "branch_act_ended" && facts), ...payload };
      if (intent !== undefined) await this.#record(type, what, { closes: intent });
      else if (type !== "branch_act_ended") await this.#record(type, what);
    };
    const during = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      try {
        return await asUsage(work);
      } catch (error) {
        const isUnknown =
          error instanceof KernelError && error.cause instanceof ToolFailure && error.cause.code === "OUTCOME_UNKNOWN";
        await end("branch_act_ended", {
          ...(!isUnknown && { isDone: false }),
          reason: error instanceof KernelError ? error.code : "unknown",
        });
        throw error;
      }
    };
    return { begin, end, during };
  }

  /** Keeps what a merge replaces, so that it can be undone as a call. */
  #keepingOf(
    { workspace, roots }: OpenWorkspace,
    who: { readonly callId: string; readonly by: string },
  ): Keeping | undefined {
    const { history, clock } = this.#parts;
    const { keepMs, fileBytesMax, callBytesMax } = history.limits;
    if (keepMs === 0) return undefined;
    const root = rootPath(roots.service);
    const call = {
      callId: who.callId,
      sessionId: "",
      actor: byPerson(who.by).actor,
      role: "",
      tool: "merge_branch",
      root,
    };
    return {
      fileBytesMax,
      callBytesMax,
      keepable: (path) => keepableOf(workspace.zones, { root: "service", path }),
      writer: () => history.store.writer(),
      note: (changes, { isCut = false } = {}) => history.note({ ...call, atMs: clock.nowMs() }, changes, isCut),
    };
  }

  #freshName(agentId: string): string {
    const agent = agentId
      .replaceAll(/[^\w.+-]+/g, "-")
      .replace(/^[^\w]+/, "")
      .replace(/\.+$/, "");
    return `${agent.slice(0, 40) || "agent"}/${newId("bra", this.#parts.random).slice(4, 14).replaceAll("-", "_")}`;
  }

  async #parentOf({ serviceRoot, parentId }: Branch): Promise<OpenWorkspace> {
    if (parentId !== undefined && (await this.#parts.branches.ready(parentId)) === undefined)
      throw usageError("the branch that it was made from is gone, so there is nothing to compare it with");
    const place = { serviceRoot, projectRoot: serviceRoot, ...(parentId !== undefined && { branchId: parentId }) };
    return await this.#parts.workspaces.open(place);
  }

  async #requireChildless({ id, name, serviceRoot }: Branch, otherwise = ""): Promise<void> {
    const child = (await this.#all(serviceRoot)).find(({ parentId }) => parentId === id);
    if (child !== undefined)
      throw usageError(`the branch \`${child.name}\` was made from \`${name}\`; merge or drop it first${otherwise}`);
  }

  #record(type: EventType, payload: JsonObject, marks: Pick<LedgerEvent, "intent" | "closes"> = {}): Promise<number> {
    const { ledger, clock } = this.#parts;
    return ledger.record({ type, ...BY_OPERATOR, timeMs: clock.nowMs(), payload, ...marks }, "durable");
  }
}

function isOfRun({ name, agentId }: Branch): boolean {
  return agentId === "cli" && name.startsWith(RUN_BRANCH);
}

function factsOf({ id, name, serviceRoot, parentId = "" }: Branch): JsonObject {
  return { branchId: id, branch: name, serviceRoot, parentId };
}

/** What an agent would be told as a failure, a person is told as one of usage. */
async function asUsage<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const message = `${error.message}; ${error.suggestion}`;
    throw error.code === "OUTCOME_UNKNOWN" ? storeUnavailable(message, error) : usageError(message, error);
  }
}
