/**
 * Performs what people do with the history of files: shows what calls changed, and brings back what stood there before.
 *
 * INVARIANT: an undo is recorded before it changes anything, and in the history like any other change, so that it can
 * be undone. No session token reaches this desk. INVARIANT: paths leave it, and are recorded, without their secrets.
 */
import type { Clock } from "../../base/clock.ts";
import { usageError } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import type { HistorySweep, PastChange, PastEntry, PathChange } from "../../cas/history-store.ts";
import { type FileHistory, keepableOf } from "../../kernel/index.ts";
import { byPerson } from "../../ledger/actors.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { Redactor } from "../../redact/redact.ts";
import type { NewFiles } from "../../sandbox/files/new-files.ts";
import type { Keeping } from "../../sandbox/keeping/keeping.ts";
import type { ViewNames } from "../../sandbox/layers/view-directories.ts";
import type { LockStore } from "../../sandbox/ports/lock-store.ts";
import type { Undone } from "../../sandbox/undo/undo.ts";
import { chosenChanges, type PlannedUndo, type WholeChange, wholeChanges } from "../../sandbox/undo/undo-plan.ts";
import { planWorkspace, type WorkspaceRules, workspaceBy } from "../workspace/workspace-catalog.ts";

export type { PathChange } from "../../cas/history-store.ts";
export type { PlannedUndo } from "../../sandbox/undo/undo-plan.ts";

/** What the desk works with. */
export interface UndoAdministrationParts {
  readonly history: FileHistory;
  readonly redactor: () => Redactor | Promise<Redactor>;
  /** What a killed kernel had begun is taken back by then. */
  readonly ready: () => Promise<unknown>;
  readonly ledger: EventSink;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly instanceId: string;
  readonly locks: LockStore;
  readonly newFiles: NewFiles;
  readonly viewsDirectory: string;
  readonly viewNames: ViewNames;
  /** The operator's rules for workspaces, and directories that belong to no workspace. */
  readonly rules: WorkspaceRules;
  readonly hidden: readonly string[];
}

/** Which call is undone, and how much of it. */
export interface UndoWish {
  readonly callId: string;
  /** The call's session, where several used its id. */
  readonly session?: string;
  /** The root of its workspace, a real path, where it changed files of several. */
  readonly root?: string;
  /** Below the root; all of the call when empty. */
  readonly paths: readonly string[];
  readonly dryRun: boolean;
  /** Who undoes it. */
  readonly by: string;
}

/** What came of an undo. */
export interface UndoReport {
  readonly root: string;
  readonly planned: readonly PlannedUndo[];
  readonly isUndone: boolean;
  /** Paths that somebody changed while it was undone, so that nothing was. */
  readonly meanwhile: readonly string[];
  /** The id by which the undo is undone itself. */
  readonly undoId?: string;
}

/** A change, and until when it can be brought back. */
export interface HistoryLine extends PathChange {
  readonly untilMs: number;
}

/** What is known of one call in one workspace. */
interface FoundCall {
  readonly root: string;
  readonly sessionId: string;
  readonly changes: readonly WholeChange[];
}

/** The desk. */
export class UndoAdministration {
  readonly #parts: UndoAdministrationParts;

  constructor(parts: UndoAdministrationParts) {
    this.#parts = parts;
  }

  /** Changes of `path` below `root` and of all below it, newest first. */
  async history(root: string, path: string, count: number): Promise<readonly HistoryLine[]> {
    const { store, limits } = this.#parts.history;
    const found = await store.ofPath(root, path, count);
    const oldestMs = this.#parts.clock.nowMs() - limits.keepMs;
    const shown = await this.#shown();
    return found
      .filter(({ entry }) => entry.atMs > oldestMs)
      .map(({ entry, change }) => ({
        entry,
        change: { ...change, path: shown(change.path) },
        untilMs: entry.atMs + limits.keepMs,
      }));
  }

  /** Removes what is too old or too much. */
  sweep(): Promise<HistorySweep> {
    return this.#parts.history.sweep();
  }

  /**
   * Undoes what a call changed.
   * @throws KernelError USAGE for a call that is not known, is ambiguous, or changed nothing of what is named
   */
  async undo(wish: UndoWish): Promise<UndoReport> {
    await this.#parts.ready();
    const call = await this.#find(wish);
    const changes = chosenChanges(call.changes, wish.paths);
    if (changes.length === 0)
      throw usageError("the call changed nothing of what `--path` names; leave it out to see all that it changed");
    const { lookAtUndo } = await import("../../sandbox/undo/undo.ts");
    const shown = await this.#shown();
    if (wish.dryRun) {
      const planned = await lookAtUndo(call.root, changes);
      return { root: call.root, planned: shownOf(planned, shown), isUndone: false, meanwhile: [] };
    }
    const undoId = newId("und", this.#parts.random);
    const { planned, isUndone, meanwhile } = await this.#undone(wish, { ...call, changes }, undoId);
    return {
      root: call.root,
      planned: shownOf(planned, shown),
      isUndone,
      meanwhile: meanwhile.map(shown),
      ...(isUndone && { undoId }),
    };
  }

  /** How paths are shown. */
  async #shown(): Promise<(path: string) => string> {
    const redactor = await this.#parts.redactor();
    return redactor.shownPath;
  }

  async #undone(wish: UndoWish, { root, sessionId, changes }: FoundCall, undoId: string): Promise<Undone> {
    const { history, clock, random, instanceId, locks, newFiles, viewsDirectory, viewNames } = this.#parts;
    const { undoChanges } = await import("../../sandbox/undo/undo.ts");
    const keeping = await this.#keepingOf(wish.by, root, undoId);
    const shown = await this.#shown();
    const facts = { call: wish.callId, callSession: sessionId, workspace: root, undo: undoId };
    let intent: number | undefined;
    const ended = async (payload: JsonObject) => {
      if (intent !== undefined)
        await this.#record("undo_ended", wish.by, { payload: { ...facts, ...payload }, closes: intent });
    };
    const before = async (planned: readonly PlannedUndo[]) => {
      const payload = { ...facts, ...countsOf(shownOf(planned, shown)) };
      intent = await this.#record("undo_begun", wish.by, { payload, intent: true });
    };
    const parts = {
      rootPath: root,
      viewsDirectory,
      viewNames,
      newFiles,
      keeping,
      read: (content: string) => history.store.read(content),
      before,
      locks,
      lockOwner: instanceId,
      clock,
      random,
      signal: new AbortController().signal,
      onLockBroken: () => undefined, // its holder was silent for too long, and cannot go on without it
      recheck: async () => undefined,
    };
    const undone = await undoChanges(parts, changes).catch(async (error: unknown) => {
      await ended({ isUndone: false, reason: error instanceof Error ? error.name : "unknown" });
      throw error;
    });
    await ended({ isUndone: undone.isUndone, meanwhile: undone.meanwhile.length });
    return undone;
  }

  /** The call, its changes each path once. */
  async #find({ callId, session, root }: UndoWish): Promise<FoundCall> {
    const { store, limits } = this.#parts.history;
    const oldestMs = this.#parts.clock.nowMs() - limits.keepMs;
    const found = (await store.ofCall(callId)).filter(
      ({ entry }) =>
        entry.atMs > oldestMs &&
        (session === undefined || entry.sessionId === session) &&
        (root === undefined || entry.root === root),
    );
    const [first] = found;
    if (first === undefined)
      throw usageError(
        `nothing is known of a call \`${callId}\` that changed files, or not any more; \`handrail history PATH\` lists calls`,
      );
    requireOne(found, (entry) => entry.sessionId, "several sessions made a call of that id; name one with `--session`");
    requireOne(
      found,
      (entry) => entry.root,
      "the call changed files of several workspaces; name one with `--workspace`",
    );
    if (found.some(({ entry }) => entry.isCut))
      throw usageError("the call changed more files than are kept of one call, so that it cannot be undone as a whole");
    const changes = wholeChanges(found.flatMap((one) => one.changes));
    return { root: first.entry.root, sessionId: first.entry.sessionId, changes };
  }

  /** Keeps what the undo itself replaces, by the zones as they are now. */
  async #keepingOf(by: string, root: string, undoId: string): Promise<Keeping | undefined> {
    const { history, clock, rules, hidden } = this.#parts;
    const { keepMs, fileBytesMax, callBytesMax } = history.limits;
    const session = { serviceRoot: root, projectRoot: root };
    const plan = await planWorkspace(rules, session, { hidden });
    if (keepMs === 0) return undefined;
    const { zones } = workspaceBy(plan.rules, session);
    const call = { callId: undoId, sessionId: "", actor: byPerson(by).actor, role: "", tool: "undo", root };
    return {
      fileBytesMax,
      callBytesMax,
      keepable: (path) => keepableOf(zones, { root: "service", path }),
      writer: () => history.store.writer(),
      note: (changes, { isCut = false } = {}) => history.note({ ...call, atMs: clock.nowMs() }, changes, isCut),
    };
  }

  #record(
    type: "undo_begun" | "undo_ended",
    by: string,
    what: { readonly payload: JsonObject; readonly intent?: true; readonly closes?: number },
  ): Promise<number> {
    const { ledger, clock } = this.#parts;
    return ledger.record({ type, ...byPerson(by), timeMs: clock.nowMs(), ...what }, "durable");
  }
}

interface Noted {
  readonly entry: PastEntry;
  readonly changes: readonly PastChange[];
}

function requireOne(found: readonly Noted[], of: (entry: PastEntry) => string, message: string): void {
  if (new Set(found.map(({ entry }) => of(entry))).size > 1) throw usageError(message);
}

function shownOf(planned: readonly PlannedUndo[], shown: (path: string) => string): readonly PlannedUndo[] {
  return planned.map(({ change, ...rest }) => ({ ...rest, change: { ...change, path: shown(change.path) } }));
}

/** Paths that the ledger names of one undo; it counts all. */
const RECORDED_PATHS_MAX = 100;

function countsOf(planned: readonly PlannedUndo[]): JsonObject {
  const paths = planned.filter(({ state }) => state === "ready").map(({ change }) => change.path);
  return { files: paths.length, paths: paths.slice(0, RECORDED_PATHS_MAX) };
}
