/**
 * Claims and kept answers of calls with a dedupe key, in `dedupe.db`, shared by all kernels of a state directory.
 *
 * Apart from sessions, because every change of that database empties their cache; opened with the first such call,
 * because most clients make none. Commits survive a killed process; `begin` waits until its commit, and all before it,
 * are durable. INVARIANT: a row changes hands in one statement that names its holder.
 */
import type { Statement } from "better-sqlite3";
import { GIB } from "../../base/bytes.ts";
import { storeCorrupt, storeUnavailable } from "../../base/errors.ts";
import type {
  ClaimOutcome,
  ClaimRequest,
  DedupeKey,
  DedupeStore,
  HeldClaim,
  KeptRecord,
} from "../../dedupe/dedupe-store.ts";
import { immediately } from "./state/database.ts";
import { DEDUPE_SCHEMA } from "./state/schema.ts";
import { lazily, type SyncedDatabase, SyncedStore, withSynced } from "./state/store.ts";

/**
 * Bytes of kept answers in one state directory; beyond it calls with a dedupe key are refused until old ones are
 * forgotten.
 */
const DEDUPE_STORE_BYTES_MAX = 4 * GIB;
/**
 * Once the store of kept answers is half full, a session that takes this part of it or more makes no further claims, so
 * that others can.
 */
const DEDUPE_SESSION_SHARE = 1 / 16;

/** The dedupe store of a state directory. Touches nothing until it is used. */
export function openDedupeStore(stateDirectory: string, bytesMax: number = DEDUPE_STORE_BYTES_MAX): DedupeStore {
  const place = { stateDirectory, file: "dedupe.db", schema: DEDUPE_SCHEMA };
  const { open, opened } = lazily(() => withSynced(place, (database) => new EmbeddedDedupeStore(database, bytesMax)));
  return {
    claim: async (request) => (await open()).claim(request),
    takeOver: async (request, from) => (await open()).takeOver(request, from),
    supersede: async (request) => (await open()).supersede(request),
    begin: async (key, holder) => (await open()).begin(key, holder),
    prepare: async (key, holder, record) => (await open()).prepare(key, holder, record),
    keep: async (key, holder, record) => (await open()).keep(key, holder, record),
    release: async (key, holder) => (await open()).release(key, holder),
    purge: async (beforeMs, limit) => (await open()).purge(beforeMs, limit),
    heldBefore: async (beforeMs, limit) => (await open()).heldBefore(beforeMs, limit),
    close: async () => (await opened())?.close(),
  };
}

interface Row {
  readonly call: Uint8Array;
  /** Absent once the answer is kept. */
  readonly holder: string | null;
  readonly begun: number;
  readonly at_ms: number;
  readonly answer: string | null;
  readonly bytes: Uint8Array | null;
}

type HeldRow = { readonly session_id: string; readonly dedupe_key: string; readonly holder: string } & Pick<
  Row,
  "begun" | "at_ms"
>;

/** What is bound to the statements, as far as each names it. */
interface Values extends DedupeKey {
  readonly call?: Uint8Array;
  readonly holder?: string;
  readonly from?: string;
  readonly begun?: number;
  readonly nowMs?: number;
  readonly answer?: string;
  readonly bytes?: Uint8Array;
}

const THIS = "session_id = @sessionId AND dedupe_key = @dedupeKey";

class EmbeddedDedupeStore extends SyncedStore {
  private readonly bytesMax: number;
  private readonly find = this.database.prepare<[string, string], Row>(
    "SELECT call, holder, begun, at_ms, answer, bytes FROM calls WHERE session_id = ? AND dedupe_key = ?",
  );
  private readonly claimFree = this.database.prepare<[Values]>(
    `INSERT INTO calls (session_id, dedupe_key, call, holder, begun, at_ms) VALUES (@sessionId, @dedupeKey, @call, @holder, 0, @nowMs)`,
  );
  private readonly moveClaim = this.database.prepare<[Values]>(
    `UPDATE calls SET call = @call, holder = @holder, begun = 0, at_ms = @nowMs, answer = NULL, bytes = NULL
       WHERE ${THIS} AND holder = @from AND begun = @begun`,
  );
  private readonly claimKept = this.database.prepare<[Values]>(
    `UPDATE calls SET call = @call, holder = @holder, begun = 0, at_ms = @nowMs, answer = NULL, bytes = NULL WHERE ${THIS} AND holder IS NULL`,
  );
  private readonly markBegun = this.database.prepare<[Values]>(
    `UPDATE calls SET begun = 1 WHERE ${THIS} AND holder = @holder AND begun = 0`,
  );
  private readonly prepareAnswer = this.database.prepare<[Values]>(
    `UPDATE calls SET answer = @answer, bytes = @bytes WHERE ${THIS} AND holder = @holder AND begun = 1`,
  );
  private readonly keepAnswer = this.database.prepare<[Values]>(
    `UPDATE calls SET holder = NULL, at_ms = @nowMs, answer = @answer, bytes = @bytes WHERE ${THIS} AND holder = @holder`,
  );
  private readonly giveUp = this.database.prepare<[Values]>(`DELETE FROM calls WHERE ${THIS} AND holder = @holder`);
  private readonly deleteKept = this.database.prepare<[number, number]>(
    "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE holder IS NULL AND at_ms < ? ORDER BY at_ms LIMIT ?)",
  );
  private readonly listHeld = this.database.prepare<[number, number], HeldRow>(
    `SELECT session_id, dedupe_key, holder, begun, at_ms FROM calls WHERE holder IS NOT NULL AND at_ms < ? ORDER BY at_ms LIMIT ?`,
  );
  private readonly takenBy = this.database
    .prepare<[string], number>("SELECT size FROM taken WHERE session_id = ?")
    .pluck();
  private readonly pages = this.database.prepare<[], number>("PRAGMA page_count").pluck();
  private readonly freePages = this.database.prepare<[], number>("PRAGMA freelist_count").pluck();
  private readonly pageBytes = Number(this.database.pragma("page_size", { simple: true }));

  constructor(opened: SyncedDatabase, bytesMax: number) {
    super(opened);
    this.bytesMax = bytesMax;
  }

  claim(request: ClaimRequest): ClaimOutcome {
    return this.guarded(() => {
      const known = this.taken(request);
      if (known !== undefined) return known;
      return immediately(this.database, () => {
        // Read again under the write lock: another kernel may have been faster.
        const taken = this.taken(request);
        if (taken !== undefined) return taken;
        if (!this.hasRoom(request.sessionId)) return { kind: "full" };
        this.database.prepare(`DELETE FROM calls WHERE ${THIS}`).run(keyOf(request)); // an answer that counts as gone
        const { call, holder } = request;
        this.claimFree.run({ ...keyOf(request), call, holder, nowMs: Math.floor(request.nowMs) });
        return { kind: "claimed" };
      });
    });
  }

  takeOver(request: ClaimRequest, from: HeldClaim): boolean {
    const { call, holder } = request;
    const values = {
      ...keyOf(request),
      call,
      holder,
      nowMs: Math.floor(request.nowMs),
      from: from.holder,
      begun: from.begun ? 1 : 0,
    };
    return this.changed(this.moveClaim, values);
  }

  supersede(request: ClaimRequest): boolean {
    const { call, holder } = request;
    return this.changed(this.claimKept, { ...keyOf(request), call, holder, nowMs: Math.floor(request.nowMs) });
  }

  async begin(key: DedupeKey, holder: string): Promise<boolean> {
    if (!this.changed(this.markBegun, { ...keyOf(key), holder })) return false;
    await this.log.sync();
    return true;
  }

  prepare(key: DedupeKey, holder: string, { text, bytes }: KeptRecord): boolean {
    return this.changed(this.prepareAnswer, { ...keyOf(key), holder, answer: text, bytes });
  }

  keep(key: DedupeKey, holder: string, { text, bytes, nowMs }: KeptRecord & { readonly nowMs: number }): boolean {
    return this.changed(this.keepAnswer, { ...keyOf(key), holder, answer: text, bytes, nowMs: Math.floor(nowMs) });
  }

  release(key: DedupeKey, holder: string): void {
    this.changed(this.giveUp, { ...keyOf(key), holder });
  }

  purge(beforeMs: number, limit: number): number {
    return this.guarded(() => this.deleteKept.run(Math.floor(beforeMs), limit).changes);
  }

  heldBefore(beforeMs: number, limit: number): readonly (DedupeKey & HeldClaim)[] {
    return this.guarded(() => this.listHeld.all(Math.floor(beforeMs), limit)).map((row) => ({
      sessionId: row.session_id,
      dedupeKey: row.dedupe_key,
      holder: row.holder,
      begun: row.begun === 1,
      sinceMs: row.at_ms,
    }));
  }

  /**
   * What stands in the way of a claim. A clock that went backwards makes no answer old: its time is then later than
   * now.
   */
  private taken({
    sessionId,
    dedupeKey,
    forgetBeforeMs,
  }: ClaimRequest): Exclude<ClaimOutcome, { kind: "claimed" | "full" }> | undefined {
    const row = this.find.get(sessionId, dedupeKey);
    if (row === undefined) return undefined;
    const { call, holder, begun, at_ms: sinceMs, answer, bytes } = row;
    if (holder !== null) {
      const prepared = answer !== null && bytes !== null && { prepared: { text: answer, bytes } };
      return { kind: "held", call, holder, begun: begun === 1, sinceMs, ...prepared };
    }
    if (sinceMs < forgetBeforeMs) return undefined;
    if (answer === null || bytes === null)
      throw storeCorrupt("`dedupe.db` in the state directory holds an answer that is none");
    return { kind: "kept", call, record: { text: answer, bytes } };
  }

  /**
   * Refuses before anything is executed, so that what is executed can be kept. False when only this session must wait.
   */
  private hasRoom(sessionId: string): boolean {
    const used = ((this.pages.get() ?? 0) - (this.freePages.get() ?? 0)) * this.pageBytes;
    if (used < this.bytesMax / 2) return true;
    if (used < this.bytesMax) return (this.takenBy.get(sessionId) ?? 0) < this.bytesMax * DEDUPE_SESSION_SHARE;
    const message =
      "`dedupe.db` in the state directory holds as many answers as it may; it takes more when old ones are forgotten";
    throw storeUnavailable(message);
  }

  private changed(statement: Statement<[Values]>, values: Values): boolean {
    return this.guarded(() => statement.run(values).changes === 1);
  }
}

/** The key alone: SQLite refuses to bind what a statement does not name. */
function keyOf({ sessionId, dedupeKey }: DedupeKey): DedupeKey {
  return { sessionId, dedupeKey };
}
