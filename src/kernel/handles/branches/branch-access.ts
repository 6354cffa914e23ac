/**
 * Branches for one call: makes, lists, compares, merges and drops those of the session's user in its workspace.
 *
 * INVARIANTS: a session that was made for a branch stays on it, and neither merges nor drops it. What a merge brings is
 * judged effect by effect, shown as a whole where a rule asks, and lands as a whole.
 */
import { inSlices } from "../../../base/long-steps.ts";
import { FailureWithoutEffect, Refusal, ToolFailure } from "../../../model/outcome/failure.ts";
import type { Branch } from "../../../model/place/branch.ts";
import type { BranchAccess, BranchDiff, BranchFacts, BranchMerged } from "../../../model/work/branches.ts";
import type { BranchChange } from "../../../sandbox/branches/branch-changes.ts";
import type { Branches } from "../../../sandbox/branches/branches.ts";
import { movedReferences } from "../../../sandbox/branches/moved-references.ts";
import { rootPath } from "../../../sandbox/files/places/roots.ts";
import type { ReviewedEffect } from "../../../sandbox/sandbox.ts";
import { type AskedEffects, type Reviewed, reviewEffects } from "../../ask/review.ts";
import type { OpenWorkspace } from "../../call/parts.ts";
import type { Granted } from "../../call/stages.ts";
import { keepingOf } from "../../keeping/call-keeping.ts";
import { type CommandGround, execScope } from "../exec-scope.ts";
import type { HandleParts } from "../handle-parts.ts";
import { RepositoryHistories } from "../repository-history.ts";
import { requireAllowed } from "../still-allowed.ts";
import { branchFiles } from "./branch-files.ts";
import { order, withSummary } from "./merge-review.ts";
import { isLeftOutOf, isRepositoryPath, type MergedReferences, mergeAccesses, mergeScope } from "./merge-scope.ts";
import { referenceSummaries } from "./reference-summaries.ts";

/** No command runs while branches are compared. */
const NOTHING_HAPPENS: CommandGround = { hasReached: () => false, isLost: () => false };

/** Branches for one call. */
export function createBranchAccess(handle: HandleParts): BranchAccess {
  const access = new BranchesOfCall(handle);
  return {
    create: (name) => access.create(name),
    list: () => access.list(),
    diff: (name) => access.diff(name),
    merge: (name) => access.merge(name),
    drop: (name) => access.drop(name),
  };
}

class BranchesOfCall {
  readonly #handle: HandleParts;

  constructor(handle: HandleParts) {
    this.#handle = handle;
  }

  async create(name: string): Promise<BranchFacts> {
    const { running, signal } = this.#handle;
    const { session, place } = running.caller;
    this.#requireFree("makes no other one");
    await requireAllowed(this.#handle);
    const { zones } = place.workspace;
    return await this.#changing(async () => {
      const branch = await this.#branches.create(
        {
          name,
          serviceRoot: session.serviceRoot,
          ...(session.branchId !== undefined && { parentId: session.branchId }),
          userId: session.userId,
          agentId: session.agentId,
          maker: "call",
          root: place.roots.service.descriptor,
          isHidden: (path) => zones.classify({ root: "service", path }) === "secret",
        },
        signal,
      );
      await this.#sessions.updateSession(session.id, { branchId: branch.id });
      return await this.#factsOf(branch, branch.id);
    });
  }

  async list(): Promise<readonly BranchFacts[]> {
    const own = await this.#own();
    return await Promise.all(own.map((branch) => this.#factsOf(branch)));
  }

  async diff(name: string): Promise<BranchDiff> {
    const { running, signal } = this.#handle;
    const branch = await this.#named(name);
    const parent = await this.#parentOf(branch);
    const scope = execScope(running, new RepositoryHistories(running.caller, running.receivedAtMs), NOTHING_HAPPENS);
    const described = await this.#branches.compare(
      branch,
      { isLeftOut: isLeftOutOf(parent), signal },
      async (all, tree, { nested }) => {
        const changes = all.filter(({ path }) => !isRepositoryPath(path));
        const shown = changes.filter(
          ({ path, is, was }) => scope.entry(path, (is ?? was) === "directory") !== "hidden",
        );
        const { descriptor } = parent.roots.service;
        const hidden = (bytes: Uint8Array) => running.redaction.hidden(bytes);
        const describing = branchFiles({ changes: shown, tree, parent: descriptor, hidden });
        const { result: files } = await inSlices("describing a branch", describing, signal);
        const named = files.reduce((sum, { from }) => sum + (from === undefined ? 1 : 2), 0);
        return { files, filesOmitted: shown.length - named, filesHidden: changes.length - shown.length, nested };
      },
    );
    return { branch: await this.#factsOf(branch), ...described };
  }

  async merge(name: string): Promise<BranchMerged> {
    const { running, signal, kernel } = this.#handle;
    const branch = await this.#named(name);
    this.#requireFree("merges none");
    const parent = await this.#parentOf(branch);
    const there = onParent(running, parent, branch.parentId);
    await this.#requireChildless(branch);
    await requireAllowed(this.#handle);
    const parentName = await this.#parentName(branch);
    const into = parentName ?? WORKSPACE;
    const lands = `the branch \`${name}\` into ${parentName === undefined ? WORKSPACE : `the branch \`${parentName}\``}`;
    let effects = 0;
    let later: unknown;
    let references: MergedReferences = { moved: [], isKnown: true, summaries: new Map() };
    const merged = await this.#changing(
      () =>
        this.#branches.merge(
          {
            branch,
            by: running.run,
            parent: parent.roots.service.descriptor,
            parentPath: rootPath(parent.roots.service),
            isLeftOut: isLeftOutOf(parent),
            onPlanned: async (changes, tree) => {
              references = await this.#referencesOf(branch, parent, { changes, tree });
            },
            terms: {
              judge: mergeScope(there, () => references),
              newFiles: kernel.parts.newFiles,
              keeping: keepingOf(kernel.parts, there),
              onLanded: (landed) => {
                effects = landed.length;
              },
              review: async (asked, open, wanted) => {
                const question = { ...askedOf(there, asked, references), open, lands };
                const reviewed = await this.#reviewed(question, wanted);
                if (reviewed.answer === "later") later = reviewed.why;
                return reviewed.answer;
              },
            },
          },
          signal,
        ),
      (done) => done.kind === "landed" && done.landed.created + done.landed.changed + done.landed.removed > 0,
    );
    if (later !== undefined) throw later instanceof ToolFailure ? later : new Refusal(later as Refusal["denial"]);
    if (merged.kind === "conflict") return { branch: name, into, ...NOTHING_MERGED, conflicts: merged.conflicts };
    if (merged.landed.isCut) throw cancelled();
    const { created, changed, removed, notKept } = merged.landed;
    const counts = { created, changed, removed };
    await kernel.evidence.note(running, {
      category: "branch",
      event: "branch_merged",
      fields: { branch: name, into, ...counts, effects, notKept: notKept.length },
    });
    const { isLeft, nested } = merged;
    if (!isLeft) await this.#moveSessions(branch);
    return { branch: name, into, ...counts, notKept, conflicts: [], isLeft, nested };
  }

  /** Asks a person about a merge, for as long as none wants to do something with the branch. */
  async #reviewed(question: AskedEffects, wanted: AbortSignal): Promise<Reviewed> {
    const signal = AbortSignal.any([this.#handle.signal, wanted]);
    const reviewed = await reviewEffects(this.#handle.kernel, question, { ...this.#handle, signal });
    if (reviewed.answer === "later") return wanted.aborted ? { ...reviewed, why: wanted.reason } : reviewed;
    await requireAllowed(this.#handle);
    return reviewed;
  }

  /** The references of git that the merge moves, and what it brings to them. */
  async #referencesOf(
    branch: Branch,
    parent: OpenWorkspace,
    { changes, tree }: { readonly changes: readonly BranchChange[]; readonly tree: number },
  ): Promise<MergedReferences> {
    const { kernel, running, signal } = this.#handle;
    const found = movedReferences({ tree, parent: parent.roots.service.descriptor }, changes);
    const opened = await kernel.parts.workspaces.open({ ...running.caller.session, branchId: branch.id });
    const place = { sandbox: kernel.parts.sandbox, branch: opened, parent, signal };
    return { ...found, summaries: await referenceSummaries(place, found.moved) };
  }

  async drop(name: string): Promise<BranchFacts> {
    const branch = await this.#named(name);
    this.#requireFree("drops none");
    if (branch.id !== this.#handle.running.caller.session.branchId) throw notOn(branch.name);
    await this.#requireChildless(branch);
    await this.#requireUnused(branch);
    await requireAllowed(this.#handle);
    return await this.#changing(async () => {
      const facts = await this.#factsOf(branch);
      await this.#branches.drop(branch);
      await this.#moveSessions(branch);
      return facts;
    });
  }

  get #branches(): Branches {
    const { branches } = this.#handle.kernel.parts;
    if (branches !== undefined) return branches;
    throw new FailureWithoutEffect("NOT_SUPPORTED", "this kernel keeps no branches", "work without one");
  }

  get #sessions() {
    return this.#handle.kernel.parts.sessions;
  }

  #changing<T>(work: () => Promise<T>, hasChanged?: (result: T) => boolean): Promise<T> {
    return this.#handle.running.run.changes.during(work, hasChanged);
  }

  /** The branches of the session's user in its workspace. */
  async #own(): Promise<readonly Branch[]> {
    const { userId, serviceRoot } = this.#handle.running.caller.session;
    return (await this.#branches.list(serviceRoot)).filter((branch) => branch.userId === userId);
  }

  async #named(name: string): Promise<Branch> {
    const found = (await this.#own()).find((branch) => branch.name === name);
    if (found === undefined) throw unknown(name);
    return (await this.#branches.ready(found.id)) ?? found;
  }

  /** The workspace or branch that a branch was made from, opened. */
  async #parentOf({ parentId }: Branch): Promise<OpenWorkspace> {
    const { kernel, running } = this.#handle;
    const { branchId: _own, ...session } = running.caller.session;
    if (parentId !== undefined && (await this.#branches.ready(parentId)) === undefined) throw orphaned();
    return await kernel.parts.workspaces.open(parentId === undefined ? session : { ...session, branchId: parentId });
  }

  async #parentName({ parentId }: Branch): Promise<string | undefined> {
    return parentId === undefined ? undefined : (await this.#own()).find(({ id }) => id === parentId)?.name;
  }

  async #factsOf(branch: Branch, current = this.#handle.running.caller.session.branchId): Promise<BranchFacts> {
    const { name, state, entries, way, createdAtMs, agentId } = branch;
    const parent = await this.#parentName(branch);
    const isCurrent = branch.id === current;
    return { name, ...(parent !== undefined && { parent }), isCurrent, state, entries, way, createdAtMs, agentId };
  }

  /** Sessions on a branch that is gone go on where it came from. */
  async #moveSessions({ id, parentId }: Branch): Promise<void> {
    for (const session of await this.#branches.sessionsOn(id))
      await this.#sessions.updateSession(session, { branchId: parentId ?? null });
  }

  #requireFree(what: string): void {
    const { caller } = this.#handle.running;
    if (caller.session.isBranchBound === true) throw bound(caller.branch?.name ?? "", what);
  }

  async #requireChildless({ id, name }: Branch): Promise<void> {
    const child = (await this.#own()).find(({ parentId }) => parentId === id);
    if (child !== undefined) throw hasChild(name, child.name);
  }

  /** What others work on is not taken from them. */
  async #requireUnused({ id, name }: Branch): Promise<void> {
    const own = this.#handle.running.caller.session.id;
    const others = (await this.#branches.sessionsOn(id)).filter((session) => session !== own);
    if (others.length > 0) throw used(name, others.length);
  }
}

const WORKSPACE = "the workspace";
const NOTHING_MERGED = { created: 0, changed: 0, removed: 0, notKept: [], isLeft: true, nested: [] };

/** What a person is asked about: many objects of git are one reference. */
function askedOf(
  granted: Granted,
  asked: readonly ReviewedEffect[],
  references: MergedReferences,
): Omit<AskedEffects, "open"> {
  const effects = asked
    .map((effect) => withSummary(effect, references))
    .sort((one, other) => order(one.path, references) - order(other.path, references));
  return {
    granted,
    effects,
    accessesOf: (effect) => mergeAccesses(granted, effect, references),
    rankOf: ({ path }) => order(path, references),
    reached: [],
  };
}

/** The call as if its session worked where the branch was made from: that is where a merge lands, and is judged. */
function onParent<G extends Granted>(granted: G, place: OpenWorkspace, parentId: string | undefined): G {
  const { branchId: _own, isBranchBound: _too, ...session } = granted.caller.session;
  const there = { ...session, ...(parentId !== undefined && { branchId: parentId }) };
  return { ...granted, caller: { ...granted.caller, place, session: there } };
}

function unknown(name: string): ToolFailure {
  return new FailureWithoutEffect(
    "FILE_NOT_FOUND",
    `there is no branch \`${name}\` of yours in this workspace`,
    "`list_branches` shows those that there are",
  );
}

function orphaned(): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    "the branch that it was made from is gone, so it cannot be merged",
    "ask the operator to take over what is needed by hand",
  );
}

function bound(name: string, what: string): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `the session was made for the branch \`${name}\` and ${what}`,
    "leave the branch for a person, who merges or drops it with `handrail branches`",
  );
}

function hasChild(name: string, child: string): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `the branch \`${child}\` was made from \`${name}\` and would be left without it`,
    "merge or drop that one first",
  );
}

function notOn(name: string): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `the session does not work on the branch \`${name}\`, and drops no other one`,
    "leave it to a person, who drops it with `handrail branches drop`",
  );
}

function used(name: string, count: number): ToolFailure {
  const others = count === 1 ? "another session works" : `${count} other sessions work`;
  return new FailureWithoutEffect("RESOURCE_BUSY", `${others} on the branch \`${name}\``, "leave it to a person");
}

function cancelled(): ToolFailure {
  return new FailureWithoutEffect("CANCELLED", "the merge was cancelled; nothing was merged", "send it again");
}
