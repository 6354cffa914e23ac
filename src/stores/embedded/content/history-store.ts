/**
 * The history of files in `history.db`, and the content that stood there before in files under its hash.
 *
 * Not fsynced: what is noted survives a killed process, and after a failure of the machine's power the changes of the
 * last moments may be missing. INVARIANT: content that a note names is there when it is noted, and stays until no note
 * names it. Opens its database with the first use: most kernels change nothing.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RandomBytes } from "../../../base/ids.ts";
import type {
  ChangingCall,
  HistoryBounds,
  HistoryStore,
  HistorySweep,
  PastChange,
  PastEntry,
  PathChange,
} from "../../../cas/history-store.ts";
import type { FileChange, NotedChanges } from "../../../model/work/file-history.ts";
import { HISTORY_SCHEMA } from "../state/schema.ts";
import { EmbeddedStore, type Lazy, lazily, withRelaxed } from "../state/store.ts";
import { ContentFiles } from "./content-files.ts";
import { HistoryFiles } from "./history-files.ts";
import { type ChangeRow, changeOf, type EntryRow, entryOf } from "./history-rows.ts";

/** Rows that one transaction writes or removes: others wait that long for theirs. */
const ROWS_AT_ONCE = 256;
/** Changes whose content goes at a time when there is too much. */
const LET_GO_AT_ONCE = 16;
const DATABASE = "history.db";

/** What a history is made of. */
export interface HistoryParts {
  readonly stateDirectory: string;
  /** Whose files in the making they are, so that those of dead kernels are removed. */
  readonly instanceId: string;
  readonly random: RandomBytes;
}

/** Opens the history of a state directory; it is looked at with the first use. */
export function openHistoryStore({ stateDirectory, instanceId, random }: HistoryParts): HistoryStore {
  const place = { stateDirectory, file: DATABASE, schema: HISTORY_SCHEMA };
  const names = new ContentFiles(stateDirectory);
  const files = new HistoryFiles(stateDirectory, () =>
    names.temporaryPath(instanceId, Buffer.from(random(12)).toString("hex")),
  );
  const opening = lazily(() => withRelaxed(place, (opened) => new EmbeddedHistory(opened, files)));
  return lazyHistory(opening, files, () => existsSync(join(stateDirectory, DATABASE)));
}

/** @param isThere whether anything was ever noted: else there is nothing to look for */
function lazyHistory(opening: Lazy<EmbeddedHistory>, files: HistoryFiles, isThere: () => boolean): HistoryStore {
  const opened = async () => (isThere() ? opening.open() : undefined);
  return {
    note: async (call, changes, isCut = false) => (await opening.open()).note(call, changes, isCut),
    writer: () => files.writer(),
    ofPath: async (root, path, count) => (await opened())?.ofPath(root, path, count) ?? [],
    ofCall: async (callId) => (await opened())?.ofCall(callId) ?? [],
    earliestSince: async (root, path, sinceMs) => (await opened())?.earliestSince(root, path, sinceMs),
    read: (content) => files.read(content),
    sweep: async (bounds, nowMs, isThorough = true) =>
      (await opened())?.sweep(bounds, nowMs, isThorough) ?? NOTHING_SWEPT,
    close: async () => (await opening.opened())?.close(),
  };
}

const NOTHING_SWEPT: HistorySweep = { entries: 0, contents: 0, bytes: 0 };
const ENTRY = "e.number, e.call_id, e.session_id, e.actor, e.role, e.tool, e.root, e.at_ms, e.made, e.cut";
const CHANGE = "c.number AS change, c.entry, c.file, c.before, c.after, c.unkept";

type Joined = EntryRow & ChangeRow;

class EmbeddedHistory extends EmbeddedStore {
  readonly #files: HistoryFiles;
  readonly #putEntry = this.database.prepare<[string, string, string, string, string, string, number, number]>(
    `INSERT INTO entries (call_id, session_id, actor, role, tool, root, at_ms, made, cut) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)`,
  );
  readonly #putChange = this.database.prepare<
    [number, string, string | null, string | null, string | null, string | null]
  >("INSERT INTO changes (entry, file, before, after, content, unkept) VALUES (?, ?, ?, ?, ?, ?)");
  readonly #putContent = this.database.prepare<[string, number]>("INSERT OR IGNORE INTO contents VALUES (?, ?)");
  readonly #made = this.database.prepare<[number]>("UPDATE entries SET made = 1 WHERE number = ?");
  readonly #changesOf = this.database.prepare<[number, number], ChangeRow>(
    `SELECT ${CHANGE} FROM changes c WHERE c.entry = ? AND c.number > ? ORDER BY c.number LIMIT ${ROWS_AT_ONCE}`,
  );
  readonly #dropChange = this.database.prepare<[number]>("DELETE FROM changes WHERE number = ?");
  readonly #dropEmpty = this.database.prepare<[number]>(
    "DELETE FROM entries WHERE number = ? AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.entry = entries.number)",
  );
  readonly #entriesOf = this.database.prepare<[string], EntryRow>(
    `SELECT ${ENTRY} FROM entries e WHERE e.call_id = ? ORDER BY e.number`,
  );
  readonly #ofFile = this.database.prepare<[string, string, string, number], Joined>(
    `SELECT ${ENTRY}, ${CHANGE} FROM changes c JOIN entries e ON e.number = c.entry
     WHERE c.file = ? OR (c.file > ? AND c.file < ?) ORDER BY c.number DESC LIMIT ?`,
  );
  readonly #earliest = this.database.prepare<[string, number], Joined>(
    `SELECT ${ENTRY}, ${CHANGE} FROM changes c JOIN entries e ON e.number = c.entry
     WHERE c.file = ? AND e.at_ms >= ? ORDER BY c.number LIMIT 1`,
  );
  readonly #old = this.database.prepare<[number], { number: number }>(
    "SELECT number FROM entries WHERE at_ms <= ? ORDER BY at_ms LIMIT 1",
  );
  readonly #allBytes = this.database.prepare<[], { bytes: number | null }>("SELECT sum(bytes) AS bytes FROM contents");
  readonly #bytes = this.database.prepare<[], { bytes: number | null }>(
    "SELECT sum(bytes) AS bytes FROM contents o WHERE EXISTS (SELECT 1 FROM changes c WHERE c.content = o.content)",
  );
  readonly #keeping = this.database.prepare<[], { number: number }>(
    "SELECT number FROM changes WHERE content IS NOT NULL ORDER BY number LIMIT 1",
  );
  readonly #makeRoom = this.database.prepare<[number, number]>(
    "UPDATE changes SET content = NULL, unkept = 'made_room' WHERE content IS NOT NULL AND number BETWEEN ? AND ?",
  );
  readonly #unnamed = this.database.prepare<[string], { content: string; bytes: number }>(
    `SELECT content, bytes FROM contents o WHERE o.content > ?
       AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.content = o.content) ORDER BY o.content LIMIT ${ROWS_AT_ONCE}`,
  );
  readonly #dropContent = this.database.prepare<[string]>("DELETE FROM contents WHERE content = ?");
  readonly #isNamed = this.database.prepare<[string], object>("SELECT 1 FROM contents WHERE content = ?");

  constructor(opened: ConstructorParameters<typeof EmbeddedStore>[0], files: HistoryFiles) {
    super(opened);
    this.#files = files;
  }

  async note(call: ChangingCall, changes: readonly FileChange[], isCut: boolean): Promise<NotedChanges> {
    const { callId, sessionId, actor, role, tool, root, atMs } = call;
    let entry: number | undefined;
    const known = new Set<string>();
    for (let at = 0; at < Math.max(1, changes.length); at += ROWS_AT_ONCE) {
      if (at > 0) await nextTurn();
      entry = this.transaction((): number => {
        const into =
          entry ??
          Number(
            this.#putEntry.run(callId, sessionId, actor, role, tool, root, Math.floor(atMs), isCut ? 1 : 0)
              .lastInsertRowid,
          );
        for (const change of changes.slice(at, at + ROWS_AT_ONCE)) this.#put(into, { root, known }, change);
        return into;
      });
    }
    const noted = entry ?? 0;
    return {
      made: async (isMade) =>
        isMade === undefined ? void this.guarded(() => this.#made.run(noted)) : this.#settle(noted, root, isMade),
      forget: () => this.#settle(noted, root, () => false),
    };
  }

  /** @param known content that is known to be there, and named */
  #put(
    entry: number,
    { root, known }: { readonly root: string; readonly known: Set<string> },
    { path, before, after, unkept }: FileChange,
  ): void {
    const wanted = before?.kind === "directory" ? undefined : before?.content;
    const isKept = wanted !== undefined && unkept === undefined;
    const isLost = isKept && !known.has(wanted) && !this.#files.has(wanted);
    const content = isKept && !isLost ? wanted : null;
    if (content !== null && !known.has(content)) this.#putContent.run(content, before?.bytes ?? 0);
    if (content !== null) known.add(content);
    const sides = [before, after].map((side) => (side === undefined ? null : JSON.stringify(side)));
    const file = root === "/" ? `/${path}` : `${root}/${path}`;
    this.#putChange.run(
      entry,
      file,
      sides[0] ?? null,
      sides[1] ?? null,
      content,
      isLost ? "not_stored" : (unkept ?? null),
    );
  }

  async #settle(entry: number, root: string, isMade: (path: string) => boolean): Promise<void> {
    for (let after = 0, isMore = true; isMore; ) {
      isMore = this.transaction(() => {
        const rows = this.#changesOf.all(entry, after);
        for (const row of rows) {
          after = row.change;
          if (!isMade(changeOf(row, { root, made: 0 }).path)) this.#dropChange.run(row.change);
        }
        if (rows.length === ROWS_AT_ONCE) return true;
        this.#made.run(entry);
        this.#dropEmpty.run(entry);
        return false;
      });
      if (isMore) await nextTurn();
    }
  }

  ofPath(root: string, path: string, count: number): readonly PathChange[] {
    const file = fileOf(root, path);
    const inside = file === "/" ? file : `${file}/`;
    return this.guarded(() => this.#ofFile.all(file, inside, afterAll(inside), count)).map(pathChangeOf);
  }

  ofCall(callId: string): readonly { readonly entry: PastEntry; readonly changes: readonly PastChange[] }[] {
    return this.guarded(() => this.#entriesOf.all(callId)).map((row) => {
      const changes: PastChange[] = [];
      for (let after = 0, isMore = true; isMore; ) {
        const page = this.guarded(() => this.#changesOf.all(row.number, after));
        for (const one of page) changes.push(changeOf(one, row));
        after = page.at(-1)?.change ?? after;
        isMore = page.length === ROWS_AT_ONCE;
      }
      return { entry: entryOf(row), changes };
    });
  }

  earliestSince(root: string, path: string, sinceMs: number): PathChange | undefined {
    const row = this.guarded(() => this.#earliest.get(fileOf(root, path), Math.floor(sinceMs)));
    return row && pathChangeOf(row);
  }

  async sweep({ keepMs, bytesMax }: HistoryBounds, nowMs: number, isThorough: boolean): Promise<HistorySweep> {
    const entries = await this.#dropOld(Math.floor(nowMs - keepMs));
    const hasShrunk = await this.#shrink(bytesMax);
    if (entries === 0 && !hasShrunk && !isThorough) return NOTHING_SWEPT;
    let contents = 0;
    let bytes = 0;
    for (let after = "", isMore = true; isMore; await nextTurn()) {
      isMore = this.transaction(() => {
        const unnamed = this.#unnamed.all(after);
        for (const one of unnamed) {
          after = one.content;
          if (!this.#files.remove(one.content, nowMs)) continue;
          this.#dropContent.run(one.content);
          contents += 1;
          bytes += one.bytes;
        }
        return unnamed.length === ROWS_AT_ONCE;
      });
    }
    if (isThorough) await this.#dropStrays(nowMs);
    return { entries, contents, bytes };
  }

  /** Removes entries that were noted at `untilMs` or before, with their changes. */
  async #dropOld(untilMs: number): Promise<number> {
    let dropped = 0;
    for (let isMore = true; isMore; await nextTurn()) {
      isMore = this.transaction(() => {
        const entry = this.#old.get(untilMs)?.number;
        if (entry === undefined) return false;
        for (const { change } of this.#changesOf.all(entry, 0)) this.#dropChange.run(change);
        dropped += this.#dropEmpty.run(entry).changes;
        return true;
      });
    }
    return dropped;
  }

  /** Lets the oldest content go while there is more than `bytesMax`. @returns whether any went */
  async #shrink(bytesMax: number): Promise<boolean> {
    let hasShrunk = false;
    if ((this.guarded(() => this.#allBytes.get())?.bytes ?? 0) <= bytesMax) return false;
    for (let isMore = true; isMore; await nextTurn()) {
      isMore = this.transaction(() => {
        if ((this.#bytes.get()?.bytes ?? 0) <= bytesMax) return false;
        const oldest = this.#keeping.get()?.number;
        if (oldest === undefined) return false;
        this.#makeRoom.run(oldest, oldest + LET_GO_AT_ONCE - 1);
        hasShrunk = true;
        return true;
      });
    }
    return hasShrunk;
  }

  /** Removes files that a killed kernel left before it noted what they are for. */
  async #dropStrays(nowMs: number): Promise<void> {
    let looked = 0;
    for (const content of this.#files.all()) {
      looked += 1;
      if (looked % ROWS_AT_ONCE === 0) await nextTurn();
      if (this.guarded(() => this.#isNamed.get(content)) !== undefined) continue;
      this.transaction(() => {
        if (this.#isNamed.get(content) === undefined) this.#files.remove(content, nowMs);
      });
    }
  }
}

function fileOf(root: string, path: string): string {
  if (path === "." || path === "") return root;
  return root === "/" ? `/${path}` : `${root}/${path}`;
}

/** A text after every one that begins with `prefix`, which ends with a slash. */
function afterAll(prefix: string): string {
  return `${prefix.slice(0, -1)}0`; // the character after the slash
}

function pathChangeOf(row: Joined): PathChange {
  return { entry: entryOf(row), change: changeOf(row, row) };
}
