/**
 * Claims and kept answers of calls with a dedupe key, in `dedupe.db`, shared by all kernels of a state directory.
 *
 * Apart from sessions, because every change of that database empties their cache; opened with the first such call,
 * because most clients make none. Commits survive a killed process; `begin` waits until its commit, and all before it,
 * are durable. INVARIANT: a row changes hands in one statement that names its holder.
 */
import { join } from "node:path";
import type { Database, Statement } from "better-sqlite3";
import { GIB } from "../../base/bytes.ts";
import { KernelError } from "../../base/errors.ts";
import type {
  ClaimOutcome,
  ClaimRequest,
  DedupeKey,
  DedupeStore,
  HeldClaim,
  KeptRecord,
} from "../../dedupe/dedupe-store.ts";
import { guarded, immediately, openDatabase } from "./state/database.ts";
import { LogSync } from "./state/log-sync.ts";
import { DEDUPE_SCHEMA } from "./state/schema.ts";
import { prepareStateDirectory } from "./state/state-directory.ts";

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
  let opening: Promise<EmbeddedDedupeStore> | undefined;
  const opened = (): Promise<EmbeddedDedupeStore> => {
    opening ??= EmbeddedDedupeStore.open(stateDirectory, bytesMax).catch((error: unknown) => {
      opening = undefined; // what kept it from opening may be gone the next time
      throw error;
    });
    return opening;
  };
  return {
    claim: async (request) => (await opened()).claim(request),
    takeOver: async (request, from) => (await opened()).takeOver(request, from),
    supersede: async (request) => (await opened()).supersede(request),
    begin: async (key, holder) => (await opened()).begin(key, holder),
    prepare: async (key, holder, record) => (await opened()).prepare(key, holder, record),
    keep: async (key, holder, record) => (await opened()).keep(key, holder, record),
    release: async (key, holder) => (await opened()).release(key, holder),
    purge: async (beforeMs, limit) => (await opened()).purge(beforeMs, limit),
    heldBefore: async (beforeMs, limit) => (await opened()).heldBefore(beforeMs, limit),
    close: async () => (await opening)?.close(),
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

class EmbeddedDedupeStore {
  private readonly database: Database;
  private readonly path: string;
  private readonly log: LogSync;
  private readonly bytesMax: number;
  private readonly find: Statement<[string, string], Row>;
  private readonly claimFree: Statement<[Values]>;
  private readonly moveClaim: Statement<[Values]>;
  private readonly claimKept: Statement<[Values]>;
  private readonly markBegun: Statement<[Values]>;
  private readonly prepareAnswer: Statement<[Values]>;
  private readonly keepAnswer: Statement<[Values]>;
  private readonly giveUp: Statement<[Values]>;
  private readonly deleteKept: Statement<[number, number]>;
  private readonly listHeld: Statement<[number, number], HeldRow>;
  private readonly takenBy: Statement<[string], number>;
  private readonly pages: Statement<[], number>;
  private readonly freePages: Statement<[], number>;
  private readonly pageBytes: number;

  static async open(stateDirectory: string, bytesMax: number): Promise<EmbeddedDedupeStore> {
    await prepareStateDirectory(stateDirectory);
    const path = join(stateDirectory, "dedupe.db");
    const database = await openDatabase(path, DEDUPE_SCHEMA, "STORE_UNAVAILABLE");
    try {
      // The log exists from the first read on; commits are made durable by `LogSync` where it matters.
      guarded(path, "STORE_UNAVAILABLE", () => database.pragma("synchronous = NORMAL"));
      guarded(path, "STORE_UNAVAILABLE", () => database.prepare("SELECT count(*) FROM sqlite_schema").get());
      return new EmbeddedDedupeStore(database, await LogSync.open(path), { path, bytesMax });
    } catch (error) {
      database.close();
      throw error;
    }
  }

  private constructor(
    database: Database,
    log: LogSync,
    { path, bytesMax }: { readonly path: string; readonly bytesMax: number },
  ) {
    this.database = database;
    this.path = path;
    this.log = log;
    this.bytesMax = bytesMax;
    this.find = database.prepare(
      "SELECT call, holder, begun, at_ms, answer, bytes FROM calls WHERE session_id = ? AND dedupe_key = ?",
    );
    this.claimFree = database.prepare(
      `INSERT INTO calls (session_id, dedupe_key, call, holder, begun, at_ms) VALUES (@sessionId, @dedupeKey, @call, @holder, 0, @nowMs)`,
    );
    this.moveClaim = database.prepare(
      `UPDATE calls SET call = @call, holder = @holder, begun = 0, at_ms = @nowMs, answer = NULL, bytes = NULL
         WHERE ${THIS} AND holder = @from AND begun = @begun`,
    );
    this.claimKept = database.prepare(
      `UPDATE calls SET call = @call, holder = @holder, begun = 0, at_ms = @nowMs, answer = NULL, bytes = NULL WHERE ${THIS} AND holder IS NULL`,
    );
    this.markBegun = database.prepare(`UPDATE calls SET begun = 1 WHERE ${THIS} AND holder = @holder AND begun = 0`);
    this.prepareAnswer = database.prepare(
      `UPDATE calls SET answer = @answer, bytes = @bytes WHERE ${THIS} AND holder = @holder AND begun = 1`,
    );
    this.keepAnswer = database.prepare(
      `UPDATE calls SET holder = NULL, at_ms = @nowMs, answer = @answer, bytes = @bytes WHERE ${THIS} AND holder = @holder`,
    );
    this.giveUp = database.prepare(`DELETE FROM calls WHERE ${THIS} AND holder = @holder`);
    this.deleteKept = database.prepare(
      "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE holder IS NULL AND at_ms < ? ORDER BY at_ms LIMIT ?)",
    );
    this.listHeld = database.prepare(
      `SELECT session_id, dedupe_key, holder, begun, at_ms FROM calls WHERE holder IS NOT NULL AND at_ms < ? ORDER BY at_ms LIMIT ?`,
    );
    this.takenBy = database.prepare<[string], number>("SELECT size FROM taken WHERE session_id = ?").pluck();
    this.pages = database.prepare<[], number>("PRAGMA page_count").pluck();
    this.freePages = database.prepare<[], number>("PRAGMA freelist_count").pluck();
    this.pageBytes = Number(database.pragma("page_size", { simple: true }));
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

  async close(): Promise<void> {
    await this.log.close();
    this.guarded(() => this.database.close());
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
      throw new KernelError("STORE_CORRUPT", "`dedupe.db` in the state directory holds an answer that is none");
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
    throw new KernelError("STORE_UNAVAILABLE", message);
  }

  private changed(statement: Statement<[Values]>, values: Values): boolean {
    return this.guarded(() => statement.run(values).changes === 1);
  }

  private guarded<T>(work: () => T): T {
    return guarded(this.path, "STORE_UNAVAILABLE", work);
  }
}

/** The key alone: SQLite refuses to bind what a statement does not name. */
function keyOf({ sessionId, dedupeKey }: DedupeKey): DedupeKey {
  return { sessionId, dedupeKey };
}
