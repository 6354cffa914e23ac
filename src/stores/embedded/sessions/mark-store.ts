/**
 * Marks in `state.db`. They are looked up with every call and rise a few times in the life of a principal, so they
 * share the connection and the cache of the sessions.
 *
 * INVARIANT: a mark that is absent and one that was found absent are told apart, so that a principal without a mark
 * costs no query either.
 */
import { storeCorrupt } from "../../../base/errors.ts";
import { STORE_LIST_MAX } from "../../../base/limits.ts";
import type {
  MarkChange,
  MarkOwner,
  MarkRaise,
  MarkSelection,
  MarkStore,
  OwnedMark,
  RaisedMark,
} from "../../../flow/mark-store.ts";
import { combineMarks, covers, equalMarks, type Mark, markOf } from "../../../model/outcome/label.ts";
import { ownerKey } from "../../../model/people/owner-key.ts";
import { CachedStore } from "../state/cached-store.ts";

interface MarkRow {
  readonly user_id: string;
  readonly agent_id: string;
  readonly service_root: string;
  readonly trust_level: string;
  readonly data_class: string;
  readonly changed_at_ms: number;
}

/** The marks of an open `state.db`. */
export class EmbeddedMarkStore extends CachedStore<Mark | undefined> implements MarkStore {
  readonly #find = this.database.prepare<[string, string, string], MarkRow>(
    "SELECT * FROM marks WHERE user_id = ? AND agent_id = ? AND service_root = ?",
  );
  readonly #put = this.database.prepare<[string, string, string, string, string, number]>(
    "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?, ?)",
  );

  async findMark(owner: MarkOwner): Promise<Mark | undefined> {
    return this.cached(ownerKey(owner), () => this.#read(owner));
  }

  async raiseMark(owner: MarkOwner, { initial, seen }: MarkRaise, atMs: number): Promise<RaisedMark> {
    return this.change(() => {
      const before = this.#read(owner) ?? initial;
      if (covers(before, seen)) return { before, after: before };
      const after = combineMarks(before, seen);
      this.#write(owner, after, atMs);
      return { before, after };
    });
  }

  async replaceMark(owner: MarkOwner, { expected, mark }: MarkChange, atMs: number): Promise<Mark | undefined> {
    return this.change(() => {
      const before = this.#read(owner);
      if (before !== undefined && equalMarks(before, expected)) this.#write(owner, mark, atMs);
      return before;
    });
  }

  async listMarks(selection: MarkSelection): Promise<readonly OwnedMark[]> {
    const sql = `SELECT * FROM marks
      WHERE (@userId IS NULL OR user_id = @userId) AND (@agentId IS NULL OR agent_id = @agentId)
        AND (@serviceRoot IS NULL OR service_root = @serviceRoot)
      ORDER BY changed_at_ms DESC, user_id, agent_id, service_root LIMIT ${STORE_LIST_MAX}`;
    const wanted = { userId: null, agentId: null, serviceRoot: null, ...selection };
    const rows = this.guarded(() => this.database.prepare<[typeof wanted], MarkRow>(sql).all(wanted));
    return rows.map((row) => ({
      userId: row.user_id,
      agentId: row.agent_id,
      serviceRoot: row.service_root,
      mark: markIn(row),
      changedAtMs: row.changed_at_ms,
    }));
  }

  #read({ userId, agentId, serviceRoot }: MarkOwner): Mark | undefined {
    const row = this.#find.get(userId, agentId, serviceRoot);
    return row === undefined ? undefined : markIn(row);
  }

  #write({ userId, agentId, serviceRoot }: MarkOwner, { trustLevel, dataClass }: Mark, atMs: number): void {
    this.#put.run(userId, agentId, serviceRoot, trustLevel, dataClass, atMs);
  }
}

function markIn(row: MarkRow): Mark {
  const mark = markOf({ trustLevel: row.trust_level, dataClass: row.data_class });
  if (mark === undefined) throw storeCorrupt("a mark in the state directory names a level that does not exist");
  return mark;
}
